"""Data out: ask for an export, then fetch its file as a stream."""

from collections.abc import Generator
from itertools import chain
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from flask import Response

from api import context
from api.auth import requires
from api.context import creates, reads
from api.schemas.blueprint import Blueprint
from api.schemas.conditional import etag, not_modified
from api.schemas.exports import ExportSchema, RequestExportSchema, export_json
from api.v1._replies import created, reply
from itembank import catalog, datasets
from itembank.models import Export
from itembank.store import transaction

blp = Blueprint("exports", __name__, url_prefix="/v1", description="Answers and items as files.")

REQUEST_EXAMPLE = {"dataset": "responses", "format": "csv", "since": "2026-01-01T00:00:00Z"}
EXPORT_EXAMPLE = {
    "id": "0197a3f1-0a1b-7c2d-8e3f-4a5b6c7d8e9f",
    "exam": "ai-infrastructure",
    "dataset": "responses",
    "format": "csv",
    "since": "2026-01-01T00:00:00.000Z",
    "until": None,
    "created_at": "2026-01-05T09:00:00.000Z",
    "file": "/v1/exports/0197a3f1-0a1b-7c2d-8e3f-4a5b6c7d8e9f/file",
}
CONTENT = {
    "text/csv": {"schema": {"type": "string"}, "example": "learner,session,mode,position\r\n"},
    "application/jsonl": {"schema": {"type": "string"}, "example": '{"id":"0197a3f0-5a3c-7c1e-9d4b-2f6f0c8e1a52"}\n'},
}


@blp.route("/exams/<exam>/exports", methods=["POST"])
@requires("exports:read")
@creates
@blp.arguments(RequestExportSchema, example=REQUEST_EXAMPLE)
@blp.response(201, ExportSchema, example=EXPORT_EXAMPLE)
def create_export(body: dict[str, Any], exam: str) -> Any:
    """Ask for an export

    It has what is there now; what comes later is not in its file, whenever you fetch that. To go on from there, ask for
    another one with `since`.
    """
    db, who = context.db(), context.caller()
    found = catalog.get_exam(db, who.tenant_id, exam)
    export = datasets.request(
        db,
        found,
        dataset=body["dataset"],
        file_format=body["format"],
        since=body["since"],
        until=body["until"],
        now=context.now(),
    )
    return created(export_json(export, found), location=f"/v1/exports/{export.uuid}", etag=etag(1))


@blp.route("/exports/<uuid:export>")
@requires("exports:read")
@reads
@blp.if_none_match
@blp.response(200, ExportSchema, example=EXPORT_EXAMPLE)
def get_export(export: UUID) -> Any:
    """Read what an export was asked for"""
    found, exam = datasets.get_export(context.db(), context.caller().tenant_id, export)
    return not_modified(etag(1)) or reply(export_json(found, exam), etag=etag(1))


@blp.route("/exports/<uuid:export>/file")
@requires("exports:read")
@reads
@blp.response(200, {"type": "string"}, content_type="text/csv", example=CONTENT["text/csv"]["example"])
@blp.doc(responses={200: {"content": CONTENT}})  # type: ignore[untyped-decorator]  # flask-smorest has no types
def get_export_file(export: UUID) -> Any:
    """Fetch an export's file

    The rows are read as they are sent. Columns are described in the documentation of the data set.
    """
    found, exam = datasets.get_export(context.db(), context.caller().tenant_id, export)
    chunks = _stream(context.engine(), found)
    first = next(chunks)  # so that a database that is gone is still a problem, and not half a file
    response = Response(chain([first], chunks), content_type=datasets.FORMATS[found.format].media_type)
    response.call_on_close(chunks.close)
    name = f"{exam.slug}-{found.dataset}.{found.format}"
    response.headers["Content-Disposition"] = f"attachment; filename=\"{name}\"; filename*=UTF-8''{name}"
    return response


def _stream(engine: sa.Engine, export: Export) -> Generator[bytes, None, None]:
    """In a transaction of its own, since the request's ends before the first byte is sent."""
    with transaction(engine, writes=False) as db:
        yield from datasets.stream(db, export)
