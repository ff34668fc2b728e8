"""Images."""

from typing import Any
from uuid import UUID

from flask import Response

from api import context
from api.auth import requires
from api.context import reads
from api.schemas.blueprint import Blueprint
from api.schemas.conditional import etag, not_modified
from api.v1._replies import SANDBOX
from engine.selection import Feedback, Policy
from itembank import articles, sessions
from itembank.content import MediaRole, SessionStatus
from itembank.errors import NotFound
from itembank.models import Media, Session

blp = Blueprint("media", __name__, url_prefix="/v1/media", description="Images in items.")

KEPT = "private, max-age=31536000, immutable"  # an id stands for the same bytes for ever
TYPES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp")
CONTENT = {
    name: {"schema": {"type": "string", "format": "binary"}, "example": "<svg …/>" if "svg" in name else "…"}
    for name in TYPES
}


@blp.route("/<uuid:media>")
@requires("items:read", learner=True)
@reads
@blp.if_none_match
@blp.response(200, {"type": "string", "format": "binary"}, content_type=TYPES[0], example="<svg …/>")
@blp.doc(responses={200: {"content": CONTENT}})  # type: ignore[untyped-decorator]  # flask-smorest has no types
def get_media(media: UUID) -> Any:
    """Read an image

    A learner's token opens the images of the items its session has served, those of explanations only after the answer.
    """
    db, who = context.db(), context.caller()
    found = articles.get_media(db, who.tenant_id, media)
    if who.session_uuid is not None and not _is_shown(found, sessions.get(db, who.tenant_id, who.session_uuid)):
        raise NotFound("image", media)
    response = not_modified(etag(found.sha256))
    if response is None:
        response = Response(found.content, content_type=found.media_type)
        response.headers["ETag"] = etag(found.sha256)
        response.headers["Content-Security-Policy"] = SANDBOX
    response.headers["Cache-Control"] = KEPT
    return response


def _is_shown(media: Media, session: Session) -> bool:
    """Whether a session has come so far that its learner may see the image."""
    roles = articles.media_roles(context.db(), media, session.administered)
    open_version = session.administered[-1] if session.current is not None else None
    explains = Policy.from_json(session.policy).feedback is Feedback.immediate
    explains = explains or session.status is SessionStatus.FINISHED
    return any(role is MediaRole.STEM or (explains and version_id != open_version) for version_id, role in roles)
