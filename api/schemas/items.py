"""Items as their authors send and read them. What a learner gets of an item is in `schemas.sessions`."""

from typing import Any

from marshmallow import fields, post_load, validate

from api.schemas.base import Flag, Id, Integer, Moment, Number, Prose, Query, Reply, Strict, Text, format_moment
from api.schemas.paging import PageQuery
from itembank.content import (
    ItemContent,
    ItemKind,
    MediaRole,
    MediaUse,
    OptionContent,
    Reading,
    Reference,
    Stage,
)
from itembank.models import ItemVersion


class AuthoredOptionSchema(Strict):
    key = Text(
        length=120,
        load_default="",
        metadata={"description": "names the option's idea and is never shown; `option-1`, … if you send none"},
    )
    text = Prose(required=True, metadata={"description": "Markdown"})
    correct = Flag(load_default=False)
    rationale = Prose(load_default="", metadata={"description": "Markdown; why it is right or wrong"})
    misconception = Text(
        length=120,
        load_default=None,
        allow_none=True,
        metadata={"description": "code of the misconception that who chooses it may hold"},
    )


class RevisedOptionSchema(AuthoredOptionSchema):
    id = Id(load_default=None, metadata={"description": "of the option as it was; without one, `key` finds it"})


class MediaUseSchema(Strict):
    id = Id(required=True)
    role = fields.Enum(MediaRole, by_value=True, required=True, metadata={"description": "where it is shown"})
    alt = Prose(required=True, metadata={"description": "text alternative"})
    description = Prose(load_default="", metadata={"description": "all that it shows, in words"})


class ReferencedSchema(Strict):
    citation = Prose(required=True)
    url = Prose(load_default="")


class ReadingSchema(Strict):
    article = Text(required=True, length=120, metadata={"description": "slug of the article"})
    anchor = Text(required=True, length=120, metadata={"description": "of a section or an entry in it"})


class ItemBody(Strict):
    """What creating an item and revising it have in common; `options` differ."""

    external_id = Text(
        length=200, load_default=None, allow_none=True, metadata={"description": "your id for it; it can't change"}
    )
    kind = fields.Enum(ItemKind, by_value=True, required=True)
    objective = Text(required=True, length=40, metadata={"description": "code of an objective in the blueprint"})
    stem = Prose(required=True, metadata={"description": "Markdown"})
    short_explanation = Prose(load_default="", metadata={"description": "Markdown"})
    full_explanation = Prose(load_default="", metadata={"description": "Markdown"})
    tags = fields.List(
        Text(length=120), load_default=list, metadata={"description": "namespace:value, such as bloom:apply"}
    )
    angoff = Number(
        load_default=None,
        allow_none=True,
        metadata={"description": "share of just-qualified candidates expected to answer right, between 0 and 1"},
    )
    shuffle = Flag(load_default=True, metadata={"description": "whether the order of options may change"})
    media = fields.List(fields.Nested(MediaUseSchema), load_default=list)
    references = fields.List(fields.Nested(ReferencedSchema), load_default=list)
    reading = fields.List(fields.Nested(ReadingSchema), load_default=list)

    @post_load
    def to_content(self, data: dict[str, Any], **_: Any) -> tuple[str | None, ItemContent]:
        """The external id and the content; images are named by their ids, which the view turns into digests."""
        content = ItemContent(
            kind=data["kind"],
            objective=data["objective"],
            stem=data["stem"],
            options=tuple(
                OptionContent(
                    key=option["key"],
                    text=option["text"],
                    correct=option["correct"],
                    rationale=option["rationale"],
                    misconception=option["misconception"],
                    uuid=option.get("id"),
                )
                for option in data["options"]
            ),
            short_explanation=data["short_explanation"],
            full_explanation=data["full_explanation"],
            tags=tuple(data["tags"]),
            angoff=data["angoff"],
            shuffle=data["shuffle"],
            media=tuple(MediaUse(str(use["id"]), use["role"], use["alt"], use["description"]) for use in data["media"]),
            references=tuple(Reference(**reference) for reference in data["references"]),
            reading=tuple(Reading(**link) for link in data["reading"]),
        )
        return data["external_id"], content


class CreateItemSchema(ItemBody):
    """Body of `POST /v1/exams/{exam}/items`."""

    options = fields.List(fields.Nested(AuthoredOptionSchema), required=True)


class ReviseItemSchema(ItemBody):
    """Body of `PUT /v1/items/{item}`: all that the new version says."""

    options = fields.List(fields.Nested(RevisedOptionSchema), required=True)


class TransitionSchema(Strict):
    """Body of `POST /v1/items/{item}/transitions`."""

    to = fields.Enum(Stage, by_value=True, required=True)
    comment = Text(length=2000, load_default="", metadata={"description": "kept in the audit log"})
    version = Integer(
        minimum=1,
        load_default=None,
        allow_none=True,
        metadata={"description": "the version to move; if you send none, the newest that has such a move"},
    )


class ItemsQuery(PageQuery):
    """Which items to list; all that is given must hold, of the newest version."""

    stage = fields.Enum(Stage, by_value=True, metadata={"description": "where the version stands in its life"})
    objective = Text(length=40, metadata={"description": "code of an objective, or of a domain for all below it"})
    tag = Text(length=120, metadata={"description": "a whole tag, such as bloom:apply"})
    external_id = Text(length=200, metadata={"description": "your id for the item"})


class VersionsQuery(PageQuery):
    """An item's versions, page by page."""


class ItemQuery(Query):
    version = Text(
        length=10,
        validate=validate.Regexp(r"[1-9][0-9]{0,8}\Z", error="Must be a version's number."),
        metadata={
            "description": "number of the version to read; the newest if you send none",
            "pattern": "^[1-9][0-9]{0,8}$",
        },
    )


class ItemOptionSchema(Reply):
    id = fields.UUID(required=True)
    key = fields.String(required=True)
    text = fields.String(required=True)
    correct = fields.Boolean(required=True)
    rationale = fields.String(required=True)
    misconception = fields.String(required=True, allow_none=True)


class ItemMediaSchema(Reply):
    id = fields.UUID(required=True)
    role = fields.Enum(MediaRole, by_value=True, required=True)
    alt = fields.String(required=True)
    description = fields.String(required=True)


class ItemSchema(Reply):
    """An item as its author reads it: one version, all prose in Markdown."""

    id = fields.UUID(required=True)
    external_id = fields.String(required=True, allow_none=True)
    exam = fields.String(required=True, metadata={"description": "slug"})
    stage = fields.Enum(Stage, by_value=True, required=True, metadata={"description": "of this version"})
    version = fields.Integer(required=True)
    live_version = fields.Integer(
        required=True, allow_none=True, metadata={"description": "number of the version that is served"}
    )
    kind = fields.Enum(ItemKind, by_value=True, required=True)
    objective = fields.String(required=True)
    stem = fields.String(required=True)
    options = fields.List(fields.Nested(ItemOptionSchema), required=True)
    short_explanation = fields.String(required=True)
    full_explanation = fields.String(required=True)
    tags = fields.List(fields.String(), required=True)
    angoff = fields.Float(required=True, allow_none=True)
    shuffle = fields.Boolean(required=True)
    media = fields.List(fields.Nested(ItemMediaSchema), required=True)
    references = fields.List(fields.Nested(ReferencedSchema), required=True)
    reading = fields.List(fields.Nested(ReadingSchema), required=True)
    author = fields.String(required=True)
    created_at = Moment(required=True, metadata={"description": "of this version"})
    updated_at = Moment(required=True, metadata={"description": "of the item"})


class VersionSchema(Reply):
    """A version of an item, without what it says."""

    id = fields.UUID(required=True)
    version = fields.Integer(required=True)
    stage = fields.Enum(Stage, by_value=True, required=True)
    author = fields.String(required=True)
    created_at = Moment(required=True)


def version_json(version: ItemVersion) -> dict[str, Any]:
    return {
        "id": str(version.uuid),
        "version": version.number,
        "stage": version.stage.value,
        "author": version.author,
        "created_at": format_moment(version.created_at),
    }
