"""Items and what they say. An item is an identity; each of its versions has frozen content and its own stage."""

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from itembank.content import ItemKind, MediaRole, RelationKind, Stage
from itembank.models._columns import UUID, datetime, moment, primary_key, prose, public_id, reference
from itembank.store import EnumText, Json


class Item(SQLModel, table=True):
    """`version` is the number of the newest version; `revision` grows with every change and makes the ETag."""

    __table_args__ = (sa.UniqueConstraint("exam_id", "external_id"),)

    id: int = primary_key()
    uuid: UUID = public_id()
    tenant_id: int = reference("tenant.id")
    exam_id: int = reference("exam.id", index=False)
    external_id: str | None = Field(max_length=200, default=None)
    version: int = 1
    revision: int = 1
    created_at: datetime = moment()
    updated_at: datetime = moment()


class Misconception(SQLModel, table=True):
    """A wrong idea that a distractor reveals; `anchor` names the mistake entry of `article` that explains it."""

    __table_args__ = (sa.UniqueConstraint("exam_id", "code"),)

    id: int = primary_key()
    uuid: UUID = public_id()
    exam_id: int = reference("exam.id", index=False)
    code: str = Field(max_length=120)
    objective_id: int = reference("objective.id")
    statement: str = prose()
    article_id: int | None = reference("article.id", default=None, nullable=True)
    anchor: str | None = Field(max_length=120, default=None)


class ItemVersion(SQLModel, table=True):
    """`withdrawn_at` is set by a suspension and emptied only by resuming: what was fixed or retired stays away."""

    __tablename__ = "item_version"
    __table_args__ = (
        sa.UniqueConstraint("item_id", "number"),
        sa.CheckConstraint("angoff IS NULL OR (angoff > 0 AND angoff < 1)", name="angoff_is_a_share"),
    )

    id: int = primary_key()
    uuid: UUID = public_id()
    item_id: int = reference("item.id", index=False)
    number: int
    stage: Stage = Field(sa_type=EnumText(Stage), index=True)
    kind: ItemKind = Field(sa_type=EnumText(ItemKind))
    objective_id: int = reference("objective.id")
    stem: str = prose()
    short_explanation: str = prose(default="")
    full_explanation: str = prose(default="")
    angoff: float | None = None
    shuffle: bool = True
    references: list[dict[str, str]] = Field(sa_type=Json, default_factory=list)
    reading: list[dict[str, str]] = Field(sa_type=Json, default_factory=list)
    withdrawn_at: datetime | None = moment(default=None)
    content_hash: str = Field(max_length=64)
    author: str = Field(max_length=200)
    created_at: datetime = moment()


class Option(SQLModel, table=True):
    """`uuid` is random, not time-ordered: keys are often written first, and an ordered id would tell.

    It stays the same through the versions of an item, so that answers to both can be compared.
    """

    __table_args__ = (
        sa.UniqueConstraint("item_version_id", "uuid"),
        sa.UniqueConstraint("item_version_id", "position"),
    )

    id: int = primary_key()
    item_version_id: int = reference("item_version.id", index=False)
    uuid: UUID = Field(sa_type=sa.Uuid, index=True)
    position: int
    key: str = Field(max_length=120)
    text: str = prose()
    is_key: bool
    rationale: str = prose(default="")
    misconception_id: int | None = reference("misconception.id", default=None, nullable=True)


class ItemTag(SQLModel, table=True):
    __tablename__ = "item_tag"

    item_version_id: int = reference("item_version.id", index=False, primary_key=True)
    tag: str = Field(max_length=120, primary_key=True, index=True)


class ItemMedia(SQLModel, table=True):
    """Where a version shows an image: in its stem, or only with the explanation."""

    __tablename__ = "item_media"
    __table_args__ = (sa.UniqueConstraint("item_version_id", "position"),)

    id: int = primary_key()
    item_version_id: int = reference("item_version.id", index=False)
    media_id: int = reference("media.id")
    position: int
    role: MediaRole = Field(sa_type=EnumText(MediaRole))
    alt: str = prose()
    description: str = prose(default="")


class ItemRelation(SQLModel, table=True):
    """Enemies, siblings, …; a symmetric relation is stored once, lower item id first."""

    __tablename__ = "item_relation"
    __table_args__ = (
        sa.UniqueConstraint("item_id", "other_item_id", "kind"),
        sa.CheckConstraint("item_id <> other_item_id", name="two_items"),
    )

    id: int = primary_key()
    item_id: int = reference("item.id", index=False)
    other_item_id: int = reference("item.id")
    kind: RelationKind = Field(sa_type=EnumText(RelationKind))
    created_at: datetime = moment()


class ItemTiming(SQLModel, table=True):
    """How long a version takes: the median of known response times, and how many there are of them."""

    __tablename__ = "item_timing"

    item_version_id: int = reference("item_version.id", index=False, primary_key=True)
    times: int
    median_ms: float
    measured_at: datetime = moment()
