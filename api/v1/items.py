"""Items: create, read, list, revise, move through the life cycle."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from api import context
from api.auth import requires
from api.context import creates, reads, writes
from api.schemas.blueprint import Blueprint
from api.schemas.conditional import etag, not_modified, require_match
from api.schemas.items import (
    CreateItemSchema,
    ItemQuery,
    ItemSchema,
    ItemsQuery,
    ReviseItemSchema,
    TransitionSchema,
    VersionSchema,
    VersionsQuery,
    version_json,
)
from api.schemas.paging import page, page_of, place
from api.v1._replies import created, listed, reply
from itembank import articles, authoring, catalog
from itembank.catalog import ItemRecord
from itembank.content import ItemContent
from itembank.errors import Invalid, Issue
from itembank.formats import author_json
from itembank.models import Item

blp = Blueprint("items", __name__, url_prefix="/v1", description="Questions, with all that explains them.")

OPTIONS_EXAMPLE = [
    {
        "key": "holds-more-state",
        "text": "Training holds gradients and optimizer state beside the weights",
        "correct": True,
        "rationale": "A training step needs all of them; serving needs the weights only.",
        "misconception": None,
    },
    {
        "key": "needs-the-same",
        "text": "Both need the same memory, since the model is the same",
        "correct": False,
        "rationale": "The model is the same, what is kept beside it is not.",
        "misconception": "same-hardware-for-both",
    },
]
OPTION_IDS = ("5f0c9c3e-8a34-4f0e-9b5e-0d6f7f3b9a11", "c2f1b7de-3f3a-4f57-8a0e-6a2f8f1f0b22")
BODY_EXAMPLE = {
    "external_id": "primary-hardware-difference",
    "kind": "single_choice",
    "objective": "1.1",
    "stem": "Which statement describes the main difference in hardware demands?",
    "options": OPTIONS_EXAMPLE,
    "short_explanation": "Training keeps several values for each weight, serving keeps one.",
    "full_explanation": "With Adam, a weight comes with a gradient and two moments …",
    "tags": ["bloom:analyze"],
    "angoff": 0.62,
    "shuffle": True,
    "media": [],
    "references": [{"citation": "Training and inference, a primer", "url": "https://example.org/primer"}],
    "reading": [{"article": "training-mistakes", "anchor": "one-box-fits-both"}],
}
WITH_IDS = [{"id": key, **option} for key, option in zip(OPTION_IDS, OPTIONS_EXAMPLE, strict=True)]
ITEM_EXAMPLE = {
    "id": "0197a3f0-5a3c-7c1e-9d4b-2f6f0c8e1a52",
    "exam": "ai-infrastructure",
    "stage": "draft",
    "version": 1,
    "live_version": None,
    **BODY_EXAMPLE,
    "options": WITH_IDS,
    "author": "editor",
    "created_at": "2026-01-05T09:00:00.000Z",
    "updated_at": "2026-01-05T09:00:00.000Z",
}
VERSION_EXAMPLE = {
    "id": "0197a3f0-6c5d-7e4f-8a3b-2c1d0e9f8a7b",
    "version": 1,
    "stage": "operational",
    "author": "editor",
    "created_at": "2026-01-05T09:00:00.000Z",
}
Body = tuple[str | None, ItemContent]


@blp.route("/exams/<exam>/items")
@requires("items:read")
@reads
@blp.arguments(ItemsQuery, location="query")
@blp.response(200, page_of(ItemSchema), example={"data": [ITEM_EXAMPLE], "next_cursor": None})
def list_items(query: dict[str, Any], exam: str) -> Any:
    """List an exam's items

    In the order they were created, each with its newest version.
    """
    db, at = context.db(), place(query)
    found = catalog.get_exam(db, context.caller().tenant_id, exam)
    records = catalog.records(db, catalog.items(found.id, after=at.after or 0, **at.filters).limit(at.fetch))
    body = page(records, at, key=lambda record: record.item.id)
    return listed(body | {"data": [_json(record, exam) for record in body["data"]]})


@blp.route("/exams/<exam>/items", methods=["POST"])
@requires("items:write")
@creates
@blp.arguments(CreateItemSchema, example=BODY_EXAMPLE)
@blp.response(201, ItemSchema, example=ITEM_EXAMPLE)
def create_item(body: Body, exam: str) -> Any:
    """Create an item

    It is a draft; move it through its stages to have it served.
    """
    db, who = context.db(), context.caller()
    external_id, content = body
    item = authoring.submit(
        db,
        catalog.get_exam(db, who.tenant_id, exam),
        _with_images(content),
        external_id=external_id,
        actor=who.actor,
        now=context.now(),
    )
    record = catalog.get_record(db, item)
    return created(_json(record, exam), location=f"/v1/items/{item.uuid}", etag=etag(item.revision))


@blp.route("/items/<uuid:item>")
@requires("items:read")
@reads
@blp.if_none_match
@blp.arguments(ItemQuery, location="query")
@blp.response(200, ItemSchema, example=ITEM_EXAMPLE)
def get_item(query: dict[str, Any], item: UUID) -> Any:
    """Read an item

    Its newest version, or the one you name. `live_version` says which is served.
    """
    db = context.db()
    found = catalog.get_item(db, context.caller().tenant_id, item)
    tag = etag(found.revision)
    record = catalog.get_record(db, found, int(query["version"]) if "version" in query else None)
    return not_modified(tag) or reply(_json(record, catalog.exam_slug(db, found.exam_id)), etag=tag)


@blp.route("/items/<uuid:item>", methods=["PUT"])
@requires("items:write")
@writes
@blp.if_match
@blp.arguments(ReviseItemSchema, example={**BODY_EXAMPLE, "options": WITH_IDS})
@blp.response(200, ItemSchema, example=ITEM_EXAMPLE | {"version": 2, "live_version": 1})
def revise_item(body: Body, item: UUID) -> Any:
    """Revise an item

    What you send becomes a new version, a draft; the one that is served stays until the new one goes live. An option
    stays the same option if it keeps its `id` or, without one, its `key`. The same content again changes nothing.
    """
    db, who = context.db(), context.caller()
    found = catalog.get_item(db, who.tenant_id, item, lock=True)
    require_match(etag(found.revision))
    external_id, content = body
    if external_id is not None and external_id != found.external_id:
        raise Invalid((Issue("/external_id", f"can't change, it is {found.external_id!r}"),))
    found = authoring.revise(db, found, _with_images(content), actor=who.actor, now=context.now())
    return _item_reply(found)


@blp.route("/items/<uuid:item>/versions")
@requires("items:read")
@reads
@blp.arguments(VersionsQuery, location="query")
@blp.response(200, page_of(VersionSchema), example={"data": [VERSION_EXAMPLE], "next_cursor": None})
def list_item_versions(query: dict[str, Any], item: UUID) -> Any:
    """List an item's versions

    Newest first.
    """
    db, at = context.db(), place(query)
    found = catalog.get_item(db, context.caller().tenant_id, item)
    rows = db.exec(catalog.versions(found.id, before=at.after).limit(at.fetch)).all()
    body = page(rows, at, key=lambda version: version.number)
    return listed(body | {"data": [version_json(version) for version in body["data"]]})


@blp.route("/items/<uuid:item>/transitions", methods=["POST"])
@requires("items:review")
@creates
@blp.arguments(TransitionSchema, example={"to": "in_review", "comment": "Please check the second distractor."})
@blp.response(200, ItemSchema, example=ITEM_EXAMPLE | {"stage": "in_review"})
def move_item(body: dict[str, Any], item: UUID) -> Any:
    """Move an item to another stage

    `draft`, `in_review`, `approved`, then `operational`, which is served from the next session on; the version
    that was served before becomes `retired`. `pretest` items are not served yet in this release. `changes_requested`
    leads back to `draft`; `suspended` takes an item out of all sessions at once and can be taken back. `409` says
    where the item can go from where it is.
    """
    db, who = context.db(), context.caller()
    found = catalog.get_item(db, who.tenant_id, item, lock=True)
    moved = authoring.transition(
        db,
        found,
        body["to"],
        actor=who.actor,
        now=context.now(),
        comment=body["comment"],
        version=body["version"],
    )
    return _item_reply(found, moved.number)


def _item_reply(item: Item, number: int | None = None) -> Any:
    db = context.db()
    record = catalog.get_record(db, item, number)
    return reply(_json(record, catalog.exam_slug(db, item.exam_id)), etag=etag(item.revision))


def _json(record: ItemRecord, exam: str) -> dict[str, Any]:
    return author_json.document(
        record.content, exam=exam, live_version=record.live_version, updated_at=record.item.updated_at
    )


def _with_images(content: ItemContent) -> ItemContent:
    """Images by digest, as the bank knows them; an unknown id stays, and is refused as a missing image."""
    if not content.media:
        return content
    uuids = {UUID(use.media) for use in content.media}
    digests = articles.media_digests(context.db(), context.caller().tenant_id, uuids)
    uses = tuple(replace(use, media=digests.get(UUID(use.media), use.media)) for use in content.media)
    return replace(content, media=uses)
