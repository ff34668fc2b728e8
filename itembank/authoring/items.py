"""Items: submitting, revising, relating. Rows are inserted in bulk: one item and ten thousand go the same way."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import SQLModel, col

from itembank import articles, catalog, clients, rules
from itembank.authoring._changes import insert, lock, refuse
from itembank.content import ItemContent, OptionContent, RelationKind, Stage, digest
from itembank.errors import AlreadyExists, Issue
from itembank.models import Exam, Item, ItemMedia, ItemRelation, ItemTag, ItemVersion, Option
from itembank.store import Db, insert_for, table_of, uuid7

SYMMETRIC = frozenset({RelationKind.ENEMY, RelationKind.SIBLING, RelationKind.DUPLICATE_OF})


@dataclass(frozen=True, slots=True)
class Links:
    """What content may point at, with the ids of its rows: by code, code and SHA-256; anchors as (slug, anchor)."""

    objectives: Mapping[str, int]
    misconceptions: Mapping[str, int]
    media: Mapping[str, int]
    anchors: frozenset[tuple[str, str]]

    def problems(self, content: ItemContent) -> tuple[Issue, ...]:
        known = rules.Known(self.objectives, self.misconceptions, self.anchors, self.media)
        return rules.link_problems(content, known)


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version about to be stored; every option of `content` has its uuid."""

    item_id: int
    number: int
    stage: Stage
    content: ItemContent


def submit(
    db: Db, exam: Exam, content: ItemContent, *, external_id: str | None = None, actor: str, now: datetime
) -> Item:
    """A new item, as a draft. An option without a key gets one."""
    content = rules.cleaned(replace(content, options=name_options(content.options, ())))
    links = links_of(db, exam.tenant_id, exam.id, [content])
    options, issues = resolve(content.options, ())
    refuse((*rules.external_id_problems(external_id), *rules.problems(content), *links.problems(content), *issues))
    if external_id is not None and catalog.find_item(db, exam.id, external_id) is not None:
        raise AlreadyExists("item", external_id)
    item = Item(tenant_id=exam.tenant_id, exam_id=exam.id, external_id=external_id, created_at=now, updated_at=now)
    insert(db, item, "item", external_id)
    version = NewVersion(item.id, 1, Stage.DRAFT, replace(content, options=options))
    insert_versions(db, [version], links, author=actor, now=now)
    audit(db, item, "item.submit", actor, now, version=1)
    return item


def revise(db: Db, item: Item, content: ItemContent, *, actor: str, now: datetime) -> Item:
    """A new version of the item, as a draft; what is served stays until the new one goes live.

    An option is the same as before if it has the same uuid or, without one, the same key. The same content again
    changes nothing.
    """
    links = links_of(db, item.tenant_id, item.exam_id, [content])
    lock(db, item)
    known = known_options(db, [item.id])[item.id]
    content = rules.cleaned(replace(content, options=name_options(content.options, known)))
    options, issues = resolve(content.options, known)
    refuse((*rules.problems(content), *links.problems(content), *issues))
    content = replace(content, options=options)
    if _says(db, item) == (digest(content), tuple(option.uuid for option in options)):
        return item
    item.version += 1
    item.revision += 1
    item.updated_at = now
    db.add(item)
    db.flush()
    version = NewVersion(item.id, item.version, Stage.DRAFT, content)
    insert_versions(db, [version], links, author=actor, now=now)
    audit(db, item, "item.revise", actor, now, version=item.version)
    return item


def relate(db: Db, item: Item, other: Item, kind: RelationKind, *, actor: str, now: datetime) -> bool:
    """Relate two items of one exam; False if they are related so already."""
    if item.exam_id != other.exam_id or item.id == other.id:
        refuse([Issue("/item", "must be another item of the same exam")])
    if not insert_relations(db, [(item.id, other.id, kind)], now):
        return False
    catalog.grow_bank_revision(db, item.exam_id)
    audit(db, item, "item.relate", actor, now, other=str(other.uuid), kind=kind)
    return True


def unrelate(db: Db, item: Item, other: Item, kind: RelationKind, *, actor: str, now: datetime) -> bool:
    """Take a relation back; False if there is none."""
    first, second = _ordered(item.id, other.id, kind)
    relation = table_of(ItemRelation)
    gone = db.execute(
        sa.delete(relation)
        .where(relation.c.item_id == first, relation.c.other_item_id == second, relation.c.kind == kind)
        .returning(relation.c.id)
    ).all()
    if not gone:
        return False
    catalog.grow_bank_revision(db, item.exam_id)
    audit(db, item, "item.unrelate", actor, now, other=str(other.uuid), kind=kind)
    return True


# In bulk, for these and for imports


def links_of(db: Db, tenant_id: int, exam_id: int, contents: Iterable[ItemContent]) -> Links:
    """Look up all that the contents point at: at most five statements."""
    codes = {option.misconception for content in contents for option in content.options if option.misconception}
    digests = {use.media for content in contents for use in content.media}
    slugs = {link.article for content in contents for link in content.reading}
    return Links(
        objectives=catalog.current_objectives(db, exam_id),
        misconceptions=articles.misconception_ids(db, exam_id, codes) if codes else {},
        media=articles.media_ids(db, tenant_id, digests) if digests else {},
        anchors=frozenset(articles.anchors(db, exam_id, slugs) if slugs else ()),
    )


def known_options(db: Db, item_ids: Sequence[int]) -> dict[int, list[tuple[UUID, str]]]:
    """(uuid, key) of all options that items ever had, oldest version first."""
    found: dict[int, list[tuple[UUID, str]]] = {}
    for start in range(0, len(item_ids), catalog.IDS_AT_ONCE):
        query = (
            sa.select(col(ItemVersion.item_id), col(Option.uuid), col(Option.key))
            .join(ItemVersion, col(ItemVersion.id) == col(Option.item_version_id))
            .where(col(ItemVersion.item_id).in_(item_ids[start : start + catalog.IDS_AT_ONCE]))
            .order_by(col(ItemVersion.item_id), col(ItemVersion.number), col(Option.position))
        )
        for item_id, uuid, key in db.execute(query):
            found.setdefault(item_id, []).append((uuid, key))
    return found


def name_options(options: Sequence[OptionContent], known: Sequence[tuple[UUID, str]]) -> tuple[OptionContent, ...]:
    """Give every option that has no key the one its uuid had, else the first of option-1, option-2, … that is free."""
    by_uuid: dict[UUID | None, str] = dict(known)
    named = [option if option.key else replace(option, key=by_uuid.get(option.uuid, "")) for option in options]
    taken = {option.key for option in named}
    free = (key for key in (f"option-{number}" for number in count(1)) if key not in taken)
    return tuple(option if option.key else replace(option, key=next(free)) for option in named)


def resolve(
    options: Sequence[OptionContent], known: Sequence[tuple[UUID, str]]
) -> tuple[tuple[OptionContent, ...], list[Issue]]:
    """Give every option its uuid: the one it came with, else the one its key had last, else a new one."""
    given = [option.uuid for option in options if option.uuid is not None]
    uuids = {uuid for uuid, _ in known}
    by_key = {key: uuid for uuid, key in known}
    taken = set(given)
    resolved, issues = [], []
    for i, option in enumerate(options):
        uuid = option.uuid
        if uuid is None:
            uuid = by_key.get(option.key)
            if uuid is None or uuid in taken:
                uuid = uuid4()  # random: an ordered one would tell which option was written first
            taken.add(uuid)
        elif uuid not in uuids:
            issues.append(Issue(f"/options/{i}/id", f"the item has no option {uuid}"))
        elif given.count(uuid) > 1:
            issues.append(Issue(f"/options/{i}/id", f"{uuid} occurs more than once"))
        resolved.append(replace(option, uuid=uuid))
    return tuple(resolved), issues


def insert_versions(db: Db, versions: Sequence[NewVersion], links: Links, *, author: str, now: datetime) -> list[int]:
    """Store versions with their options, tags and images: four statements, run for batches of rows."""
    if not versions:
        return []
    version_rows = [
        {
            "uuid": uuid7(),
            "item_id": version.item_id,
            "number": version.number,
            "stage": version.stage,
            "kind": version.content.kind,
            "objective_id": links.objectives[version.content.objective],
            "stem": version.content.stem,
            "short_explanation": version.content.short_explanation,
            "full_explanation": version.content.full_explanation,
            "angoff": version.content.angoff,
            "shuffle": version.content.shuffle,
            "references": [asdict(reference) for reference in version.content.references],
            "reading": [asdict(link) for link in version.content.reading],
            "content_hash": digest(version.content),
            "author": author,
            "created_at": now,
        }
        for version in versions
    ]
    ids = insert_rows(db, ItemVersion, version_rows)
    stored = list(zip(ids, (version.content for version in versions), strict=True))
    _insert(db, Option, [row for key, content in stored for row in _option_rows(key, content, links)])
    _insert(db, ItemTag, [{"item_version_id": key, "tag": tag} for key, content in stored for tag in content.tags])
    _insert(db, ItemMedia, [row for key, content in stored for row in _media_rows(key, content, links)])
    return ids


def insert_rows(db: Db, model: type[SQLModel], rows: Sequence[dict[str, Any]]) -> list[int]:
    """Insert rows that have uuids, in batches; returns their ids in the same order.

    The ids are told apart by uuid: asking SQLite to return them in order would insert one by one.
    """
    table = table_of(model)
    ids = {uuid: key for key, uuid in db.execute(sa.insert(table).returning(table.c.id, table.c.uuid), rows)}
    return [ids[row["uuid"]] for row in rows]


def insert_relations(db: Db, relations: Iterable[tuple[int, int, RelationKind]], now: datetime) -> int:
    """Store relations between items (by row id) that aren't there yet; returns how many were new."""
    ordered = dict.fromkeys((*_ordered(first, second, kind), kind) for first, second, kind in relations)
    new = 0
    for start in range(0, len(pairs := list(ordered)), 1000):
        rows = [
            {"item_id": first, "other_item_id": second, "kind": kind, "created_at": now}
            for first, second, kind in pairs[start : start + 1000]
        ]
        statement = insert_for(db, ItemRelation).values(rows).on_conflict_do_nothing()
        new += len(db.execute(statement.returning(table_of(ItemRelation).c.id)).all())
    return new


def audit(db: Db, item: Item, action: str, actor: str, now: datetime, **detail: Any) -> None:
    clients.audit(
        db, item.tenant_id, actor=actor, action=action, entity="item", entity_uuid=item.uuid, now=now, detail=detail
    )


def _says(db: Db, item: Item) -> tuple[str, tuple[UUID, ...]]:
    """The hash of the newest version, and its options' uuids in order."""
    query = (
        sa.select(col(ItemVersion.content_hash), col(Option.uuid))
        .join(Option, col(Option.item_version_id) == col(ItemVersion.id))
        .where(col(ItemVersion.item_id) == item.id, col(ItemVersion.number) == item.version)
        .order_by(col(Option.position))
    )
    rows = db.execute(query).all()
    return rows[0][0], tuple(uuid for _, uuid in rows)


def _ordered(first: int, second: int, kind: RelationKind) -> tuple[int, int]:
    return (min(first, second), max(first, second)) if kind in SYMMETRIC else (first, second)


def _option_rows(version_id: int, content: ItemContent, links: Links) -> Iterable[dict[str, Any]]:
    for position, option in enumerate(content.options):
        yield {
            "item_version_id": version_id,
            "uuid": option.uuid,
            "position": position,
            "key": option.key,
            "text": option.text,
            "is_key": option.correct,
            "rationale": option.rationale,
            "misconception_id": links.misconceptions[option.misconception] if option.misconception else None,
        }


def _media_rows(version_id: int, content: ItemContent, links: Links) -> Iterable[dict[str, Any]]:
    for position, use in enumerate(content.media):
        yield {
            "item_version_id": version_id,
            "media_id": links.media[use.media],
            "position": position,
            "role": use.role,
            "alt": use.alt,
            "description": use.description,
        }


def _insert(db: Db, model: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        db.execute(sa.insert(table_of(model)), rows)
