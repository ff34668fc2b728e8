"""Importing a bundle: what is created, changed, left alone and refused."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from itembank import articles, authoring, catalog, importing
from itembank.content import RelationKind, Stage
from itembank.errors import Invalid
from itembank.formats import bundle
from itembank.importing import Outcome, Plan
from itembank.models import (
    ArticleVersion,
    AuditEntry,
    Exam,
    Item,
    ItemRelation,
    ItemVersion,
    Media,
    Misconception,
    Option,
    Tenant,
)
from itembank.store import Db
from tests.factories.bank import move
from tests.factories.bundles import Documents, broken, documents, item, write

TABLES = (Exam, Item, ItemVersion, Option, ItemRelation, ArticleVersion, Misconception, Media, AuditEntry)


@pytest.fixture
def load(db: Db, tenant: Tenant, tmp_path: Path, now: datetime) -> Callable[..., Plan]:
    """Import the small bundle after a change, and say what the plan was."""
    count = iter(range(100))

    def run(change: Callable[[Documents], object] = lambda files: None, stage: Stage = Stage.OPERATIONAL) -> Plan:
        folder = broken(tmp_path / str(next(count)), change)
        plan = importing.plan(db, tenant.id, bundle.read(folder), stage=stage)
        importing.apply(db, plan, actor="ann", now=now + timedelta(minutes=next(count)))
        db.expire_all()
        return plan

    return run


def counts(db: Db) -> list[Any]:
    return [db.scalar(sa.select(sa.func.count()).select_from(table)) for table in TABLES]


def outcomes(plan: Plan) -> list[Outcome]:
    return [step.outcome for step in plan.items]


def get(db: Db, tenant: Tenant, name: str = "one") -> Item:
    exam = catalog.get_exam(db, tenant.id, "small")
    found = catalog.find_item(db, exam.id, name)
    assert found is not None
    return found


def test_everything_is_created(db: Db, tenant: Tenant, load: Callable[..., Plan]) -> None:
    plan = load()
    assert plan.issues == ()
    assert outcomes(plan) == [Outcome.CREATED, Outcome.CREATED]
    record = catalog.get_record(db, get(db, tenant))
    assert (record.content.stage, record.live_version, record.content.author) == (Stage.OPERATIONAL, 1, "ann")
    assert [option.key for option in record.content.options] == ["right", "wrong", "other"]
    assert record.content.options[1].misconception is not None
    assert record.content.media[0].alt == "a line"
    relation = db.scalars(sa.select(ItemRelation)).one()
    assert relation.kind == RelationKind.ENEMY


def test_importing_twice_changes_nothing(db: Db, tenant: Tenant, load: Callable[..., Plan]) -> None:
    load()
    before, revision = counts(db), catalog.get_exam(db, tenant.id, "small").bank_revision
    plan = load()
    assert {step.outcome for step in (plan.exam, *plan.articles, *plan.misconceptions, *plan.items)} == {
        Outcome.UNCHANGED
    }
    assert counts(db) == before
    assert catalog.get_exam(db, tenant.id, "small").bank_revision == revision


def test_without_the_right_to_skip_review_items_are_drafts(db: Db, tenant: Tenant, load: Callable[..., Plan]) -> None:
    load(stage=Stage.DRAFT)
    record = catalog.get_record(db, get(db, tenant))
    assert (record.content.stage, record.live_version) == (Stage.DRAFT, None)


def test_drafts_go_live_when_they_are_imported_again_with_that_right(
    db: Db, tenant: Tenant, load: Callable[..., Plan]
) -> None:
    load(stage=Stage.DRAFT)
    assert outcomes(load()) == [Outcome.CHANGED, Outcome.CHANGED]
    assert catalog.get_record(db, get(db, tenant)).live_version == 1
    assert outcomes(load()) == [Outcome.UNCHANGED, Outcome.UNCHANGED]


def test_what_was_suspended_or_retired_stays_so(
    db: Db, tenant: Tenant, load: Callable[..., Plan], now: datetime
) -> None:
    load()
    move(db, get(db, tenant, "one"), Stage.SUSPENDED)
    move(db, get(db, tenant, "two"), Stage.RETIRED)
    assert outcomes(load()) == [Outcome.UNCHANGED, Outcome.UNCHANGED]


def new_stem(files: Documents) -> None:
    files["items/first.yaml"][0]["stem"] = "Now what?"


def test_a_changed_item_is_a_new_version_that_takes_over(db: Db, tenant: Tenant, load: Callable[..., Plan]) -> None:
    load()
    before = catalog.get_record(db, get(db, tenant))
    revision = before.item.revision
    assert outcomes(load(new_stem)) == [Outcome.CHANGED, Outcome.UNCHANGED]
    record = catalog.get_record(db, get(db, tenant))
    assert (record.content.stem, record.content.number, record.live_version) == ("Now what?", 2, 2)
    assert catalog.get_record(db, record.item, 1).content.stage == Stage.RETIRED
    assert record.item.revision == revision + 1
    assert [option.uuid for option in record.content.options] == [option.uuid for option in before.content.options]


def test_a_changed_item_imported_as_a_draft_leaves_the_live_one(
    db: Db, tenant: Tenant, load: Callable[..., Plan]
) -> None:
    load()
    load(new_stem, stage=Stage.DRAFT)
    record = catalog.get_record(db, get(db, tenant))
    assert (record.content.number, record.content.stage, record.live_version) == (2, Stage.DRAFT, 1)


def test_a_bundle_that_says_what_is_live_leaves_a_newer_draft_alone(
    db: Db, tenant: Tenant, load: Callable[..., Plan]
) -> None:
    load()
    load(new_stem, stage=Stage.DRAFT)
    assert outcomes(load()) == [Outcome.UNCHANGED, Outcome.UNCHANGED]


def test_only_serving_changes_grow_the_bank_revision(db: Db, tenant: Tenant, load: Callable[..., Plan]) -> None:
    def revision() -> int:
        return catalog.get_exam(db, tenant.id, "small").bank_revision

    load()
    first = revision()
    load(new_stem, stage=Stage.DRAFT)
    assert revision() == first
    load(new_stem)
    assert revision() == first + 1


def dangling(files: Documents) -> None:
    one = files["items/first.yaml"][0]
    one |= {"objective": "9.9", "read": [{"article": "lesson", "anchor": "gone"}], "siblings": ["nobody"]}
    one["options"][1]["misconception"] = "gone"


def test_links_to_nothing_are_refused_with_their_lines_and_the_rest_is_stored(
    db: Db, tenant: Tenant, load: Callable[..., Plan]
) -> None:
    plan = load(dangling)
    assert outcomes(plan) == [Outcome.REFUSED, Outcome.CREATED]
    assert [issue.pointer for issue in plan.items[0].issues] == [
        *("/0/objective", "/0/options/1/misconception", "/0/read/0", "/0/siblings/0")
    ]
    assert all(issue.source.startswith("items/first.yaml:") for issue in plan.issues)
    assert catalog.find_item(db, catalog.get_exam(db, tenant.id, "small").id, "one") is None


def test_what_depends_on_a_refused_part_is_refused_too(load: Callable[..., Plan]) -> None:
    def change(files: Documents) -> None:
        files["articles/mistakes.md"] = files["articles/mistakes.md"].replace("title: Mistakes", "title: ''")

    plan = load(change)
    assert [step.outcome for step in (*plan.articles, *plan.misconceptions, *plan.items)] == [
        *(Outcome.CREATED, Outcome.REFUSED, Outcome.REFUSED, Outcome.REFUSED, Outcome.REFUSED)
    ]


def test_without_a_usable_exam_nothing_is_stored(db: Db, load: Callable[..., Plan]) -> None:
    with pytest.raises(Invalid):
        load(lambda files: files["exam.yaml"].update(slug="Not A Slug"))
    assert counts(db) == [0] * len(TABLES)


def test_an_item_without_a_rationale_can_only_be_a_draft(load: Callable[..., Plan]) -> None:
    def change(files: Documents) -> None:
        del files["items/first.yaml"][1]["options"][2]["rationale"]

    assert outcomes(load(change)) == [Outcome.CREATED, Outcome.REFUSED]
    assert outcomes(load(change, stage=Stage.DRAFT)) == [Outcome.UNCHANGED, Outcome.CREATED]


def test_what_the_bundle_no_longer_names_stays(db: Db, tenant: Tenant, load: Callable[..., Plan]) -> None:
    load()
    plan = load(lambda files: files["items/first.yaml"].pop())
    assert outcomes(plan) == [Outcome.UNCHANGED]
    assert catalog.get_record(db, get(db, tenant, "two")).live_version == 1


def test_a_relation_to_an_item_that_is_in_the_bank_already(db: Db, load: Callable[..., Plan]) -> None:
    load()
    plan = load(lambda files: files.update({"items/first.yaml": [item("three", enemies=["one"])]}))
    assert plan.issues == ()
    assert len(db.scalars(sa.select(ItemRelation)).all()) == 2


def test_an_anchor_that_a_misconception_needs_is_not_lost(load: Callable[..., Plan]) -> None:
    load()

    def change(files: Documents) -> None:
        files["articles/mistakes.md"] = files["articles/mistakes.md"].replace("anchor: so", "anchor: thus")
        files["misconceptions/all.yaml"][0]["entry"] = "thus"

    plan = load(change)
    assert next(str(issue).partition(":")[0] for issue in plan.issues) == "articles/mistakes.md"


def test_an_objective_of_live_items_is_not_lost(db: Db, tenant: Tenant, load: Callable[..., Plan]) -> None:
    load()

    def change(files: Documents) -> None:
        files["exam.yaml"]["blueprint"] = [{"code": "1", "title": "All", "weight": 1}]
        files["items/first.yaml"] = [item("one", objective="1", options=item("one")["options"])]
        files["misconceptions/all.yaml"][0]["objective"] = "1"
        files["articles/mistakes.md"] = files["articles/mistakes.md"].replace("'1.1'", "'1'")

    with pytest.raises(Invalid, match=r"1\.1"):
        load(change)


def test_articles_and_misconceptions_change_too(db: Db, tenant: Tenant, load: Callable[..., Plan]) -> None:
    load()

    def change(files: Documents) -> None:
        files["articles/lesson.md"] = files["articles/lesson.md"].replace("Text.", "Other text.")
        files["misconceptions/all.yaml"][0]["statement"] = "It is otherwise."

    plan = load(change)
    assert [step.outcome for step in (*plan.articles, *plan.misconceptions, *plan.items)] == [
        *(Outcome.CHANGED, Outcome.UNCHANGED, Outcome.CHANGED, Outcome.UNCHANGED, Outcome.UNCHANGED)
    ]
    exam = catalog.get_exam(db, tenant.id, "small")
    lesson = articles.find_article(db, exam.id, "lesson")
    assert lesson is not None
    assert articles.get_article_record(db, lesson).content.sections[0].body == "Other text."


def test_another_tenants_exam_of_the_same_name_is_not_touched(
    db: Db, load: Callable[..., Plan], tenant: Tenant, now: datetime
) -> None:
    from tests.factories.bank import make_tenant

    load()
    other = make_tenant(db, "other")
    plan = importing.plan(db, other.id, bundle.Bundle(None), stage=Stage.DRAFT)
    assert plan.exam.outcome == Outcome.REFUSED


def test_the_number_of_statements_does_not_grow_with_the_items(
    db: Db, tenant: Tenant, tmp_path: Path, now: datetime
) -> None:
    def statements(size: int) -> int:
        files = documents()
        files["exam.yaml"]["slug"] = f"exam-{size}"
        files["items/first.yaml"] = [item(f"item-{i}", enemies=[f"item-{(i + 1) % size}"]) for i in range(size)]
        read = bundle.read(write(tmp_path / str(size), files))
        seen: list[str] = []
        listener = lambda *args: seen.append(args[2])  # noqa: E731
        sa.event.listen(db.get_bind().engine, "before_cursor_execute", listener)
        try:
            plan = importing.plan(db, tenant.id, read, stage=Stage.OPERATIONAL)
            importing.apply(db, plan, actor="ann", now=now)
            db.flush()
        finally:
            sa.event.remove(db.get_bind().engine, "before_cursor_execute", listener)
        return len(seen)

    assert statements(120) <= statements(3) + 5


def test_authors_and_imports_say_the_same(db: Db, tenant: Tenant, load: Callable[..., Plan], now: datetime) -> None:
    load()
    one = get(db, tenant)
    content = catalog.get_record(db, one).content.as_content()
    authoring.revise(db, one, content, actor="ann", now=now)
    assert one.version == 1
