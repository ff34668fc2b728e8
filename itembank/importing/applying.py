"""Carrying out a plan. Statements are bulk: their number does not grow with the items."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlmodel import col

from itembank import articles, catalog
from itembank.authoring import (
    add_article,
    add_media,
    create_exam,
    put_blueprint,
    put_exam,
    put_misconception,
    revise_article,
)
from itembank.authoring.items import (
    NewVersion,
    insert_relations,
    insert_rows,
    insert_versions,
    known_options,
    links_of,
    resolve,
)
from itembank.authoring.stages import retire_older
from itembank.content import ExamContent, ItemContent, RelationKind, Stage
from itembank.errors import Invalid
from itembank.formats.bundle import ItemPart, Part
from itembank.importing.planning import Outcome, Plan, Step
from itembank.models import AuditEntry, Exam, Item, ItemVersion
from itembank.store import Db, table_of, uuid7

AnyPart = TypeVar("AnyPart", bound=Part[Any])


def apply(db: Db, plan: Plan, *, actor: str, now: datetime) -> Exam:
    """Carry out a plan made in the same transaction; things with issues are left out. Returns the exam."""
    part = plan.bundle.exam
    if part is None or plan.exam.outcome == Outcome.REFUSED:
        raise Invalid(plan.issues)
    exam = _apply_exam(db, plan.tenant_id, part.content, actor, now)
    for article in _chosen(plan.bundle.articles, plan.articles):
        found = articles.find_article(db, exam.id, article.content.slug)
        if found is None:
            add_article(db, exam, article.content, actor=actor, now=now)
        else:
            revise_article(db, found, article.content, actor=actor, now=now)
    for misconception in _chosen(plan.bundle.misconceptions, plan.misconceptions):
        put_misconception(db, exam, misconception.content, actor=actor, now=now)
    _apply_items(db, exam, plan, actor, now)
    return exam


def _apply_exam(db: Db, tenant_id: int, content: ExamContent, actor: str, now: datetime) -> Exam:
    exam = catalog.find_exam(db, tenant_id, content.slug, lock=True)
    if exam is None:
        return create_exam(db, tenant_id, content, actor=actor, now=now)
    put_exam(db, exam, content, actor=actor, now=now)
    put_blueprint(db, exam, content.blueprint, actor=actor, now=now, at="/blueprint")
    return exam


def _chosen(parts: Sequence[AnyPart], steps: Sequence[Step]) -> list[AnyPart]:
    """The parts that are to be stored."""
    wanted = (Outcome.CREATED, Outcome.CHANGED)
    return [part for part, step in zip(parts, steps, strict=True) if step.outcome in wanted]


def _apply_items(db: Db, exam: Exam, plan: Plan, actor: str, now: datetime) -> None:
    pairs = list(zip(plan.bundle.items, plan.items, strict=True))
    created = [part for part, step in pairs if step.outcome == Outcome.CREATED]
    changed = [(part, step) for part, step in pairs if step.outcome == Outcome.CHANGED]
    revised = [(part, step) for part, step in changed if not step.promotes]
    promoted = [step.item_id or 0 for _, step in changed if step.promotes]
    contents = [part.content for part in (*created, *(part for part, _ in revised))]
    for sha256 in sorted({use.media for content in contents for use in content.media}):
        add_media(db, exam.tenant_id, plan.bundle.media[sha256], actor=actor, now=now)
    links = links_of(db, exam.tenant_id, exam.id, contents) if contents else None
    versions = [
        NewVersion(item_id, 1, plan.stage, _resolved(part.content, ()))
        for part, item_id in zip(created, _insert_items(db, exam, created, now), strict=True)
    ]
    known = known_options(db, [step.item_id or 0 for _, step in revised])
    for part, step in revised:
        item_id = step.item_id or 0
        versions.append(NewVersion(item_id, step.version + 1, plan.stage, _resolved(part.content, known[item_id])))
    if links:
        insert_versions(db, versions, links, author=actor, now=now)
    touched = [step.item_id or 0 for _, step in revised]
    _bump(db, touched, {"version": Item.version + 1, "revision": Item.revision + 1, "updated_at": now})
    _bump(db, promoted, {"revision": Item.revision + 1, "updated_at": now})
    _promote(db, promoted)
    if plan.stage == Stage.OPERATIONAL:
        retire_older(db, [*touched, *promoted])
    related = _apply_relations(db, exam, plan, now)
    if related or (plan.stage == Stage.OPERATIONAL and (created or changed)):
        catalog.grow_bank_revision(db, exam.id)
    _audit(db, exam, plan, actor, now)


def _resolved(content: ItemContent, known: Sequence[Any]) -> ItemContent:
    return replace(content, options=resolve(content.options, known)[0])


def _insert_items(db: Db, exam: Exam, parts: Sequence[ItemPart], now: datetime) -> list[int]:
    if not parts:
        return []
    rows = [
        {
            "uuid": uuid7(),
            "tenant_id": exam.tenant_id,
            "exam_id": exam.id,
            "external_id": part.key,
            "version": 1,
            "revision": 1,
            "created_at": now,
            "updated_at": now,
        }
        for part in parts
    ]
    return insert_rows(db, Item, rows)


def _bump(db: Db, item_ids: Sequence[int], changes: Mapping[str, Any]) -> None:
    for start in range(0, len(item_ids), catalog.IDS_AT_ONCE):
        chunk = item_ids[start : start + catalog.IDS_AT_ONCE]
        statement = sa.update(Item).where(col(Item.id).in_(chunk)).values(**changes)
        db.execute(statement.execution_options(synchronize_session=False))


def _promote(db: Db, item_ids: Sequence[int]) -> None:
    """The newest versions of items become operational."""
    newest = sa.select(col(Item.version)).where(col(Item.id) == col(ItemVersion.item_id)).scalar_subquery()
    for start in range(0, len(item_ids), catalog.IDS_AT_ONCE):
        db.execute(
            sa.update(ItemVersion)
            .where(col(ItemVersion.item_id).in_(item_ids[start : start + catalog.IDS_AT_ONCE]))
            .where(col(ItemVersion.number) == newest)
            .values(stage=Stage.OPERATIONAL)
            .execution_options(synchronize_session=False)
        )


def _apply_relations(db: Db, exam: Exam, plan: Plan, now: datetime) -> int:
    """How many are new. Relations that the bundle doesn't name stay: somebody may have added them here."""
    parts = [part for part, step in zip(plan.bundle.items, plan.items, strict=True) if step.outcome != Outcome.REFUSED]
    named = {part.key for part in parts} | {other for part in parts for other in (*part.enemies, *part.siblings)}
    if not any(part.enemies or part.siblings for part in parts):
        return 0
    ids = catalog.item_ids(db, exam.id, sorted(named))
    relations = [
        (ids[part.key], ids[other], RelationKind.ENEMY) for part in parts for other in part.enemies if other in ids
    ]
    relations += [
        (ids[part.key], ids[other], RelationKind.SIBLING) for part in parts for other in part.siblings if other in ids
    ]
    return insert_relations(db, relations, now)


def _audit(db: Db, exam: Exam, plan: Plan, actor: str, now: datetime) -> None:
    outcomes = {step.key: step for step in plan.items if step.outcome in (Outcome.CREATED, Outcome.CHANGED)}
    rows = []
    keys = sorted(outcomes)
    for start in range(0, len(keys), catalog.IDS_AT_ONCE):
        query = sa.select(col(Item.external_id), col(Item.uuid), col(Item.version)).where(
            col(Item.exam_id) == exam.id, col(Item.external_id).in_(keys[start : start + catalog.IDS_AT_ONCE])
        )
        for external_id, uuid, version in db.execute(query):
            rows.append(
                {
                    "tenant_id": exam.tenant_id,
                    "actor": actor,
                    "action": "item.import",
                    "entity": "item",
                    "entity_uuid": uuid,
                    "detail": {
                        "version": version,
                        "stage": plan.stage,
                        "outcome": outcomes[external_id or ""].outcome,
                        "promoted": outcomes[external_id or ""].promotes,
                    },
                    "at": now,
                }
            )
    if rows:
        db.execute(sa.insert(table_of(AuditEntry)), rows)
