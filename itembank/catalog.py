"""Every query on exams, blueprints and items.

What takes `db` runs a bounded number of statements, however many rows it is asked for; plural nouns return a Select.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col, select
from sqlmodel.sql.expression import SelectOfScalar

from itembank.content import (
    ExamContent,
    MisconceptionLink,
    ObjectiveContent,
    Reference,
    Scale,
    Stage,
    VersionContent,
    VersionMedia,
    VersionOption,
    VersionReading,
)
from itembank.errors import NotFound
from itembank.models import (
    Article,
    Blueprint,
    BlueprintNode,
    Exam,
    Item,
    ItemMedia,
    ItemTag,
    ItemVersion,
    Media,
    Misconception,
    Objective,
    Option,
)
from itembank.store import Db

IDS_AT_ONCE = 10_000  # SQLite takes 32,766 parameters in a statement, PostgreSQL 65,535
TAG_SEPARATOR = " "  # no tag has one


# Exams and blueprints


def exams(tenant_id: int, *, after: int = 0) -> SelectOfScalar[Exam]:
    """A tenant's exams in id order; pass the last id seen as `after` to page."""
    return select(Exam).where(Exam.tenant_id == tenant_id, col(Exam.id) > after).order_by(col(Exam.id))


def find_exam(db: Db, tenant_id: int, slug: str, *, lock: bool = False) -> Exam | None:
    query = select(Exam).where(Exam.tenant_id == tenant_id, Exam.slug == slug)
    return db.exec(_locked(query) if lock else query).one_or_none()


def get_exam(db: Db, tenant_id: int, slug: str, *, lock: bool = False) -> Exam:
    exam = find_exam(db, tenant_id, slug, lock=lock)
    if exam is None:
        raise NotFound("exam", slug)
    return exam


def exam_slug(db: Db, exam_id: int) -> str:
    return db.exec(select(Exam.slug).where(Exam.id == exam_id)).one()


def exam_content(exam: Exam, blueprint: tuple[ObjectiveContent, ...] = ()) -> ExamContent:
    return ExamContent(
        slug=exam.slug,
        title=exam.title,
        description=exam.description,
        scale=Scale(exam.scale_mean, exam.scale_sd, exam.scale_minimum, exam.scale_maximum),
        cut_score=exam.cut_score,
        prior_mean=exam.prior_mean,
        prior_sd=exam.prior_sd,
        blueprint=blueprint,
    )


def grow_bank_revision(db: Db, exam_id: int) -> None:
    """Say that what is served may have changed, so that the next session looks for a new pool."""
    db.execute(sa.update(Exam).where(col(Exam.id) == exam_id).values(bank_revision=col(Exam.bank_revision) + 1))


def find_blueprint(db: Db, exam_id: int) -> Blueprint | None:
    """The current one."""
    query = select(Blueprint).where(Blueprint.exam_id == exam_id).order_by(col(Blueprint.number).desc()).limit(1)
    return db.exec(query).one_or_none()


def get_blueprint(db: Db, exam: Exam) -> Blueprint:
    blueprint = find_blueprint(db, exam.id)
    if blueprint is None:
        raise NotFound("blueprint of exam", exam.slug)
    return blueprint


def blueprint_content(db: Db, blueprint: Blueprint) -> tuple[ObjectiveContent, ...]:
    """Domains with their objectives, in the author's order."""
    query = (
        sa.select(
            col(BlueprintNode.objective_id),
            col(BlueprintNode.parent_id),
            col(Objective.code),
            col(BlueprintNode.title),
            col(BlueprintNode.weight),
        )
        .join(Objective, col(Objective.id) == col(BlueprintNode.objective_id))
        .where(col(BlueprintNode.blueprint_id) == blueprint.id)
        .order_by(col(BlueprintNode.position))
    )
    children: dict[int | None, list[tuple[int, str, str, float]]] = defaultdict(list)
    for objective_id, parent_id, code, title, weight in db.execute(query):
        children[parent_id].append((objective_id, code, title, weight))

    def below(parent_id: int | None) -> tuple[ObjectiveContent, ...]:
        return tuple(
            ObjectiveContent(code, title, weight, below(key)) for key, code, title, weight in children[parent_id]
        )

    return below(None)


def objective_ids(db: Db, exam_id: int) -> dict[str, int]:
    """Code → id of all objectives and domains the exam ever had."""
    return _pairs(db, sa.select(col(Objective.code), col(Objective.id)).where(col(Objective.exam_id) == exam_id))


def current_objectives(db: Db, exam_id: int) -> dict[str, int]:
    """Code → id of what an item may be about: the objectives of the current blueprint, and domains that have none."""
    node, below = aliased(BlueprintNode), aliased(BlueprintNode)
    newest = sa.select(sa.func.max(col(Blueprint.number))).where(col(Blueprint.exam_id) == exam_id).scalar_subquery()
    is_parent = sa.exists().where(
        col(below.blueprint_id) == col(node.blueprint_id), col(below.parent_id) == col(node.objective_id)
    )
    query = (
        sa.select(col(Objective.code), col(Objective.id))
        .join(node, col(node.objective_id) == col(Objective.id))
        .join(Blueprint, col(Blueprint.id) == col(node.blueprint_id))
        .where(col(Blueprint.exam_id) == exam_id, col(Blueprint.number) == newest, ~is_parent)
    )
    return _pairs(db, query)


def current_nodes(db: Db, exam_id: int) -> dict[str, int]:
    """Code → id of all objectives and domains in the current blueprint."""
    newest = sa.select(sa.func.max(col(Blueprint.number))).where(col(Blueprint.exam_id) == exam_id).scalar_subquery()
    query = (
        sa.select(col(Objective.code), col(Objective.id))
        .join(BlueprintNode, col(BlueprintNode.objective_id) == col(Objective.id))
        .join(Blueprint, col(Blueprint.id) == col(BlueprintNode.blueprint_id))
        .where(col(Blueprint.exam_id) == exam_id, col(Blueprint.number) == newest)
    )
    return _pairs(db, query)


def live_objectives(db: Db, exam_id: int) -> set[str]:
    """Codes that pretest, operational or suspended items are about."""
    stages = (Stage.PRETEST, Stage.OPERATIONAL, Stage.SUSPENDED)
    query = (
        sa.select(col(Objective.code))
        .distinct()
        .join(ItemVersion, col(ItemVersion.objective_id) == col(Objective.id))
        .where(col(Objective.exam_id) == exam_id, col(ItemVersion.stage).in_(stages))
    )
    return set(db.scalars(query))


# Items


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """An item as its author sees it: one of its versions, and the number of the one that is served, if any."""

    item: Item
    content: VersionContent
    live_version: int | None


def items(
    exam_id: int,
    *,
    stage: Stage | None = None,
    objective: str | None = None,
    tag: str | None = None,
    external_id: str | None = None,
    after: int = 0,
) -> sa.Select[Item, int, int | None]:
    """(item, id of its newest version, number of its live one), in id order; filters look at the newest version.

    objective : code of an objective, or of a domain to find what is below it
    after : the last `Item.id` seen, to page
    """
    query = (
        sa.select(Item, col(ItemVersion.id), live_number())
        .join(ItemVersion, sa.and_(col(ItemVersion.item_id) == col(Item.id), _is_newest()))
        .where(col(Item.exam_id) == exam_id, col(Item.id) > after)
        .order_by(col(Item.id))
    )
    if stage is not None:
        query = query.where(col(ItemVersion.stage) == stage)
    if external_id is not None:
        query = query.where(col(Item.external_id) == external_id)
    if tag is not None:
        query = query.where(
            sa.exists().where(col(ItemTag.item_version_id) == col(ItemVersion.id), col(ItemTag.tag) == tag)
        )
    if objective is not None:
        query = query.where(col(ItemVersion.objective_id).in_(_objective_and_below(exam_id, objective)))
    return query


def records(db: Db, query: sa.Select[Item, int, int | None]) -> list[ItemRecord]:
    """What `items` selects, with the content: at most five statements."""
    rows = db.execute(query).all()
    contents = item_contents(db, [version_id for _, version_id, _ in rows])
    return [ItemRecord(item, contents[version_id], live) for item, version_id, live in rows]


def find_item(db: Db, exam_id: int, external_id: str) -> Item | None:
    return db.exec(select(Item).where(Item.exam_id == exam_id, Item.external_id == external_id)).one_or_none()


def item_ids(db: Db, exam_id: int, external_ids: Sequence[str]) -> dict[str, int]:
    """External id → row id; unknown ones are left out."""
    found: dict[str, int] = {}
    for start in range(0, len(external_ids), IDS_AT_ONCE):
        named = col(Item.external_id).in_(external_ids[start : start + IDS_AT_ONCE])
        query = sa.select(col(Item.external_id), col(Item.id)).where(col(Item.exam_id) == exam_id, named)
        found |= {external_id or "": item_id for external_id, item_id in db.execute(query)}
    return found


def public_ids(db: Db, exam_id: int) -> dict[int, UUID]:
    """What the outside calls the items of an exam, by id."""
    return dict(db.execute(sa.select(col(Item.id), col(Item.uuid)).where(col(Item.exam_id) == exam_id)).all())


def get_item(db: Db, tenant_id: int, uuid: UUID, *, lock: bool = False) -> Item:
    """`lock` : hold the row until the transaction ends, so that two changes can't both think they are the next"""
    query = select(Item).where(Item.tenant_id == tenant_id, Item.uuid == uuid)
    item: Item | None = db.exec(_locked(query) if lock else query).one_or_none()
    if item is None:
        raise NotFound("item", uuid)
    return item


def get_record(db: Db, item: Item, number: int | None = None) -> ItemRecord:
    """An item with its newest version, or the one that has the number."""
    number = number or item.version
    query = (
        sa.select(col(ItemVersion.id), live_number())
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(col(ItemVersion.item_id) == item.id, col(ItemVersion.number) == number)
    )
    row = db.execute(query).one_or_none()
    if row is None:
        raise NotFound("version of the item", number)
    return ItemRecord(item, item_contents(db, [row[0]])[row[0]], row[1])


def versions(item_id: int, *, before: int | None = None) -> SelectOfScalar[ItemVersion]:
    """All versions of an item, newest first; pass the last number seen as `before` to page."""
    query = select(ItemVersion).where(ItemVersion.item_id == item_id).order_by(col(ItemVersion.number).desc())
    return query if before is None else query.where(col(ItemVersion.number) < before)


def live_number() -> sa.ScalarSelect[int | None]:
    """The number of the served version of the `Item` in the enclosing query."""
    version = aliased(ItemVersion)
    return (
        sa.select(sa.func.max(col(version.number)))
        .where(col(version.item_id) == col(Item.id), col(version.stage) == Stage.OPERATIONAL)
        .correlate(Item)
        .scalar_subquery()
    )


# What versions say


def item_contents(db: Db, version_ids: Collection[int]) -> dict[int, VersionContent]:
    """What versions of items say, by their id (unknown ones left out): at most four statements for 10,000."""
    found: dict[int, VersionContent] = {}
    ordered = sorted(set(version_ids))
    for start in range(0, len(ordered), IDS_AT_ONCE):
        found |= _contents(db, ordered[start : start + IDS_AT_ONCE])
    return found


def _contents(db: Db, ids: Sequence[int]) -> dict[int, VersionContent]:
    tags = (
        sa.select(sa.func.aggregate_strings(col(ItemTag.tag), TAG_SEPARATOR))
        .where(col(ItemTag.item_version_id) == col(ItemVersion.id))
        .scalar_subquery()
    )
    query = (
        sa.select(
            *_columns(ItemVersion, "id uuid item_id number stage kind stem short_explanation full_explanation"),
            *_columns(ItemVersion, "angoff shuffle author created_at"),
            col(ItemVersion.references),
            col(ItemVersion.reading),
            col(Item.uuid).label("item_uuid"),
            col(Item.exam_id),
            col(Item.external_id),
            col(Objective.code).label("objective"),
            tags.label("tags"),
        )
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .join(Objective, col(Objective.id) == col(ItemVersion.objective_id))
        .where(col(ItemVersion.id).in_(ids))
        .order_by(col(ItemVersion.id))
    )
    rows = [dict(row) for row in db.execute(query).mappings()]
    options, media, articles = _options(db, ids), _media(db, ids), _article_uuids(db, rows)
    contents = {}
    for row in rows:
        row["tags"] = tuple(sorted((row["tags"] or "").split()))
        row["references"] = tuple(Reference(**reference) for reference in row["references"])
        row["reading"] = tuple(
            VersionReading(link["article"], articles.get((row["exam_id"], link["article"])), link["anchor"])
            for link in row["reading"]
        )
        contents[row["id"]] = VersionContent(
            **row, options=tuple(options.get(row["id"], ())), media=tuple(media.get(row["id"], ()))
        )
    return contents


def _options(db: Db, ids: Sequence[int]) -> dict[int, list[VersionOption]]:
    query = (
        sa.select(
            *_columns(Option, "item_version_id uuid position key text is_key rationale"),
            *_columns(Misconception, "code statement anchor"),
            col(Article.slug),
            col(Article.uuid).label("article_uuid"),
        )
        .outerjoin(Misconception, col(Misconception.id) == col(Option.misconception_id))
        .outerjoin(Article, col(Article.id) == col(Misconception.article_id))
        .where(col(Option.item_version_id).in_(ids))
        .order_by(col(Option.item_version_id), col(Option.position))
    )
    found: dict[int, list[VersionOption]] = defaultdict(list)
    for version_id, uuid, position, key, text, is_key, rationale, code, statement, anchor, slug, article in db.execute(
        query
    ):
        link = None if code is None else MisconceptionLink(code, statement, slug, article, anchor)
        found[version_id].append(VersionOption(uuid, position, key, text, is_key, rationale, link))
    return found


def _media(db: Db, ids: Sequence[int]) -> dict[int, list[VersionMedia]]:
    query = (
        sa.select(
            col(ItemMedia.item_version_id),
            *_columns(Media, "uuid sha256"),
            *_columns(ItemMedia, "role alt description"),
        )
        .join(Media, col(Media.id) == col(ItemMedia.media_id))
        .where(col(ItemMedia.item_version_id).in_(ids))
        .order_by(col(ItemMedia.item_version_id), col(ItemMedia.position))
    )
    found: dict[int, list[VersionMedia]] = defaultdict(list)
    for version_id, *use in db.execute(query):
        found[version_id].append(VersionMedia(*use))
    return found


def _article_uuids(db: Db, rows: Sequence[Mapping[str, Any]]) -> dict[tuple[int, str], UUID]:
    """(exam id, slug) → uuid of the articles that the versions in `rows` say to read."""
    exam_ids = {row["exam_id"] for row in rows if row["reading"]}
    slugs = {link["article"] for row in rows for link in row["reading"]}
    if not slugs:
        return {}
    query = sa.select(col(Article.exam_id), col(Article.slug), col(Article.uuid)).where(
        col(Article.exam_id).in_(exam_ids), col(Article.slug).in_(slugs)
    )
    return {(exam_id, slug): uuid for exam_id, slug, uuid in db.execute(query)}


# Helpers


def _is_newest() -> sa.ColumnElement[bool]:
    return col(ItemVersion.number) == col(Item.version)


def _objective_and_below(exam_id: int, code: str) -> sa.Select[int]:
    objective = sa.select(col(Objective.id)).where(col(Objective.exam_id) == exam_id, col(Objective.code) == code)
    below = sa.select(col(BlueprintNode.objective_id)).where(col(BlueprintNode.parent_id).in_(objective))
    return sa.select(col(Objective.id)).where(sa.or_(col(Objective.id).in_(objective), col(Objective.id).in_(below)))


def _columns(model: type[Any], names: str) -> Iterator[Any]:
    return (getattr(model, name) for name in names.split())


def _pairs(db: Db, query: sa.Select[str, Any]) -> dict[str, int]:
    return {code: key for code, key in db.execute(query).all()}  # noqa: C416  # for mypy, a Row is no tuple


def _locked(query: Any) -> Any:
    """Rows stay ours until the end, and are read anew; SQLite's writers have the whole database anyway."""
    return query.with_for_update().execution_options(populate_existing=True)
