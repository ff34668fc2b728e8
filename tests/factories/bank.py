"""Exams with items to serve, made by the same functions that authors' requests go through."""

from datetime import UTC, datetime

from sqlmodel import select

from itembank import authoring, catalog, clients, importing
from itembank.content import (
    ExamContent,
    ItemContent,
    ItemKind,
    ObjectiveContent,
    OptionContent,
    RelationKind,
    Stage,
)
from itembank.formats.base import Origin
from itembank.formats.bundle import Bundle, ItemPart, Part
from itembank.models import Exam, Item, ItemTiming, ItemVersion, Tenant
from itembank.store import Db

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
TO_OPERATIONAL = (Stage.IN_REVIEW, Stage.APPROVED, Stage.OPERATIONAL)
BLUEPRINT = (
    ObjectiveContent(
        "1", "Foundations", 0.6, (ObjectiveContent("1.1", "Terms", 0.4), ObjectiveContent("1.2", "Uses", 0.2))
    ),
    ObjectiveContent("2", "Practice", 0.4, (ObjectiveContent("2.1", "Running it", 0.4),)),
)
OBJECTIVES = ("1.1", "1.2", "2.1")


def make_tenant(db: Db, name: str = "acme", *, now: datetime = START) -> Tenant:
    return clients.create_tenant(db, name, now=now)


def make_exam(db: Db, tenant: Tenant, slug: str = "exam", *, now: datetime = START) -> Exam:
    content = ExamContent(slug=slug, title="An exam", blueprint=BLUEPRINT)
    return authoring.create_exam(db, tenant.id, content, actor="test", now=now)


def item_content(
    name: str = "item", *, objective: str = "1.1", angoff: float | None = 0.6, options: int = 4
) -> ItemContent:
    """A single-choice item whose first option is the key."""
    return ItemContent(
        kind=ItemKind.SINGLE_CHOICE,
        objective=objective,
        stem=f"What is {name}?",
        options=tuple(
            OptionContent(f"{name}-{place}", f"Answer {place} to {name}", place == 0, f"Why {place} is so for {name}.")
            for place in range(options)
        ),
        short_explanation=f"In short: {name}.",
        full_explanation=f"At length: {name}.",
        tags=("bloom:apply",),
        angoff=angoff,
    )


def make_item(
    db: Db, exam: Exam, name: str = "item", *, objective: str = "1.1", angoff: float | None = 0.6, now: datetime = START
) -> Item:
    """An operational item."""
    content = item_content(name, objective=objective, angoff=angoff)
    item = authoring.submit(db, exam, content, external_id=name, actor="test", now=now)
    return move(db, item, *TO_OPERATIONAL, now=now)


def move(db: Db, item: Item, *stages: Stage, now: datetime = START) -> Item:
    for stage in stages:
        authoring.transition(db, item, stage, actor="test", now=now)
    return item


def make_items(db: Db, exam: Exam, count: int, *, now: datetime = START) -> list[Item]:
    """Operational items spread over the objectives, from easy to hard; imported, which is the fast way to many."""
    parts = tuple(
        ItemPart(
            key=f"item-{place}",
            origin=Origin("items.yaml"),
            issues=(),
            content=item_content(
                f"item-{place}",
                objective=OBJECTIVES[place % len(OBJECTIVES)],
                angoff=0.9 - 0.5 * place / max(count - 1, 1),
            ),
        )
        for place in range(count)
    )
    stored = catalog.blueprint_content(db, catalog.get_blueprint(db, exam))
    content = catalog.exam_content(exam, stored)
    bundle = Bundle(Part(exam.slug, Origin("exam.yaml"), (), content), items=parts)
    plan = importing.plan(db, exam.tenant_id, bundle, stage=Stage.OPERATIONAL)
    importing.apply(db, plan, actor="test", now=now)
    found = {item.external_id: item for item in db.exec(select(Item).where(Item.exam_id == exam.id))}
    return [found[part.key] for part in parts]


def make_enemies(db: Db, one: Item, other: Item, *, now: datetime = START) -> None:
    authoring.relate(db, one, other, RelationKind.ENEMY, actor="test", now=now)


def make_timings(db: Db, median_ms: float, *, times: int = 50, now: datetime = START) -> None:
    """Say of every version that half of this many answers took longer than `median_ms`."""
    versions = db.exec(select(ItemVersion.id)).all()
    db.add_all(
        ItemTiming(item_version_id=version, times=times, median_ms=median_ms, measured_at=now) for version in versions
    )
