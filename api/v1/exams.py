"""Exams and their blueprints."""

from dataclasses import replace
from typing import Any

from api import context
from api.auth import requires
from api.context import creates, reads, writes
from api.schemas.blueprint import Blueprint
from api.schemas.conditional import etag, not_modified, require_match
from api.schemas.exams import (
    BlueprintSchema,
    CreateExamSchema,
    ExamSchema,
    PutBlueprintSchema,
    PutExamSchema,
    blueprint_json,
    exam_json,
)
from api.schemas.paging import PageQuery, page, page_of, place
from api.v1._replies import created, listed, reply
from itembank import authoring, catalog
from itembank.content import ExamContent, ObjectiveContent

blp = Blueprint("exams", __name__, url_prefix="/v1/exams", description="Exams and their content outlines.")

BODY_EXAMPLE = {
    "title": "AI infrastructure and operations",
    "description": "What training and inference need, and how to run it.",
    "scale": {"mean": 500.0, "sd": 100.0, "minimum": 200.0, "maximum": 800.0},
    "cut_score": 0.0,
    "prior": {"mean": 0.0, "sd": 1.0},
}
EXAM_EXAMPLE = {
    "id": "0197a3ef-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
    "slug": "ai-infrastructure",
    **BODY_EXAMPLE,
    "created_at": "2026-01-05T09:00:00.000Z",
    "updated_at": "2026-01-05T09:00:00.000Z",
}
DOMAINS_EXAMPLE = {
    "domains": [
        {
            "code": "1",
            "title": "Essential knowledge",
            "weight": 1.0,
            "objectives": [
                {"code": "1.1", "title": "Compare training and inference", "weight": 0.6},
                {"code": "1.2", "title": "Explain accelerators", "weight": 0.4},
            ],
        }
    ]
}
BLUEPRINT_EXAMPLE = {"id": "0197a3ef-2b3c-7d4e-8f5a-6b7c8d9e0f1a", "version": 1, **DOMAINS_EXAMPLE}


class ExamsQuery(PageQuery):
    """Exams, page by page."""


@blp.route("")
@requires("items:read")
@reads
@blp.arguments(ExamsQuery, location="query")
@blp.response(200, page_of(ExamSchema), example={"data": [EXAM_EXAMPLE], "next_cursor": None})
def list_exams(query: dict[str, Any]) -> Any:
    """List exams"""
    at = place(query)
    rows = context.db().exec(catalog.exams(context.caller().tenant_id, after=at.after or 0).limit(at.fetch)).all()
    body = page(rows, at, key=lambda exam: exam.id)
    return listed(body | {"data": [exam_json(exam) for exam in body["data"]]})


@blp.route("", methods=["POST"])
@requires("items:write")
@creates
@blp.arguments(CreateExamSchema, example={"slug": "ai-infrastructure", **BODY_EXAMPLE})
@blp.response(201, ExamSchema, example=EXAM_EXAMPLE)
def create_exam(content: ExamContent) -> Any:
    """Create an exam

    It has no blueprint yet; put one next, since items are about its objectives.
    """
    who = context.caller()
    exam = authoring.create_exam(context.db(), who.tenant_id, content, actor=who.actor, now=context.now())
    return created(exam_json(exam), location=f"/v1/exams/{exam.slug}", etag=etag(exam.revision))


@blp.route("/<exam>")
@requires("items:read")
@reads
@blp.if_none_match
@blp.response(200, ExamSchema, example=EXAM_EXAMPLE)
def get_exam(exam: str) -> Any:
    """Read an exam"""
    found = catalog.get_exam(context.db(), context.caller().tenant_id, exam)
    tag = etag(found.revision)
    return not_modified(tag) or reply(exam_json(found), etag=tag)


@blp.route("/<exam>", methods=["PUT"])
@requires("items:write")
@writes
@blp.if_match
@blp.arguments(PutExamSchema, example=BODY_EXAMPLE)
@blp.response(200, ExamSchema, example=EXAM_EXAMPLE)
def put_exam(content: ExamContent, exam: str) -> Any:
    """Change an exam

    All of it: what is left out becomes the default. A new cut score or prior counts from the next session on.
    """
    db, who = context.db(), context.caller()
    found = catalog.get_exam(db, who.tenant_id, exam, lock=True)
    require_match(etag(found.revision))
    content = replace(content, slug=content.slug or exam)
    found = authoring.put_exam(db, found, content, actor=who.actor, now=context.now())
    return reply(exam_json(found), etag=etag(found.revision))


@blp.route("/<exam>/blueprint")
@requires("items:read")
@reads
@blp.if_none_match
@blp.response(200, BlueprintSchema, example=BLUEPRINT_EXAMPLE)
def get_blueprint(exam: str) -> Any:
    """Read an exam's blueprint

    The current version: domains with their objectives and weights. An exam without a blueprint has version 0, with no
    domains.
    """
    db = context.db()
    found = catalog.find_blueprint(db, catalog.get_exam(db, context.caller().tenant_id, exam).id)
    domains = () if found is None else catalog.blueprint_content(db, found)
    tag = etag(0 if found is None else found.number)
    return not_modified(tag) or reply(blueprint_json(found, domains), etag=tag)


@blp.route("/<exam>/blueprint", methods=["PUT"])
@requires("items:write")
@writes
@blp.if_match
@blp.arguments(PutBlueprintSchema, example=DOMAINS_EXAMPLE)
@blp.response(200, BlueprintSchema, example=BLUEPRINT_EXAMPLE)
def put_blueprint(domains: tuple[ObjectiveContent, ...], exam: str) -> Any:
    """Replace an exam's blueprint

    The new version counts from the next session on. Objectives that live items are about have to stay; give them weight
    0 if you must. The `ETag` of an exam without a blueprint is `"0"`.
    """
    db, who = context.db(), context.caller()
    found = catalog.get_exam(db, who.tenant_id, exam, lock=True)
    current = catalog.find_blueprint(db, found.id)
    require_match(etag(0 if current is None else current.number))
    blueprint = authoring.put_blueprint(db, found, domains, actor=who.actor, now=context.now())
    return reply(blueprint_json(blueprint, domains), etag=etag(blueprint.number))
