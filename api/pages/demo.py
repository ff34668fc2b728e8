"""`/demo`: practise in a browser. Only where the setting `NEXTITEM_DEMO` is on.

What the page may not do by itself, since it has no API key, is done here: starting a session and making a token for it.
From then on it is a client of the REST API like any other. There is no cookie, so no other site can act for a learner.
"""

import secrets
from datetime import timedelta
from typing import Any
from uuid import uuid4

from flask import Blueprint, Response, current_app, render_template

from api import context
from api.auth import tokens
from api.context import writes
from api.schemas.base import Id, Strict, format_moment
from api.schemas.parsing import Parser
from engine import delivery
from engine.selection import Mode
from itembank import catalog, clients
from itembank.errors import NotFound
from itembank.models import Exam
from itembank.store import Db

blp = Blueprint("demo", __name__, template_folder="templates")

TENANT = "demo"  # what `nextitem demo` calls the tenant whose exam is practised
SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",  # images are fetched with the token
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


class VisitSchema(Strict):
    """Body of `POST /demo/sessions`. It is required, so that other sites can't send it without being asked first."""

    learner = Id(required=True, allow_none=True)


VISIT, PARSER = VisitSchema(), Parser()


@blp.route("/demo")
def page() -> Response:
    reply = Response(render_template("demo.html"), content_type="text/html; charset=utf-8")
    reply.headers["Content-Security-Policy"] = SECURITY_POLICY
    reply.cache_control.no_cache = True
    return reply


@blp.route("/demo/sessions", methods=["POST"])
@writes
def start() -> Any:
    """Begin a practice session for whoever sits at the browser, known by a random id that only this browser keeps."""
    body = PARSER.parse(VISIT)
    db, now, config = context.db(), context.now(), context.config()
    client, exam = _host(db)
    learner = body["learner"] or uuid4()
    session = delivery.start(
        db,
        tenant_id=client.tenant_id,
        exam=exam,
        learner=f"demo-{learner}",
        mode=Mode.practice,
        changes={},
        objectives=(),
        seed=secrets.randbelow(delivery.LARGEST_SEED + 1),
        actor=client.name,
        now=now,
    )
    expires_at = now + timedelta(minutes=config.learner_token_minutes)
    claims = tokens.SessionToken(session.uuid, client.client_uuid, client.tenant_uuid, expires_at)
    reply: dict[str, Any] = {
        "learner": str(learner),
        "session": str(session.uuid),
        "token": tokens.issue(claims, secret_key=config.secret_key or "", now=now),
        "expires_at": format_moment(expires_at),
        "exam": {"title": exam.title, "scale": {"minimum": exam.scale_minimum, "maximum": exam.scale_maximum}},
    }
    response = current_app.json.response(reply)
    response.status_code = 201
    return response


def _host(db: Db) -> tuple[clients.Identity, Exam]:
    """The client on whose behalf visitors practise, and the exam: the demo's tenant has one of each."""
    tenant = clients.get_tenant(db, TENANT)
    exam = db.exec(catalog.exams(tenant.id).limit(1)).first()
    client = next((clients.find_client(db, uuid) for uuid in clients.clients(db, tenant.id)), None)
    if exam is None or client is None:
        raise NotFound("exam" if exam is None else "client", f"of tenant {TENANT}")
    return client, exam
