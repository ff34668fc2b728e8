"""Items: submitting, revising, relating; what stays the same through versions."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from itembank import authoring, catalog, clients
from itembank.content import (
    ItemContent,
    MediaRole,
    MediaUse,
    Reading,
    Reference,
    RelationKind,
    Stage,
)
from itembank.errors import AlreadyExists, Invalid, NotFound
from itembank.models import Exam, Item, ItemRelation, ItemVersion
from itembank.store import Db
from tests.factories.articles import PNG, lesson, make_mistakes
from tests.factories.bank import item_content, make_item, make_items, make_tenant


def current(db: Db, item: Item) -> ItemContent:
    return catalog.get_record(db, item).content.as_content()


def without_uuids(content: ItemContent) -> ItemContent:
    return replace(content, options=tuple(replace(option, uuid=None) for option in content.options))


def uuids(db: Db, item: Item) -> dict[str, UUID]:
    return {option.key: option.uuid for option in catalog.get_record(db, item).content.options}


def full_content(db: Db, exam: Exam, now: datetime) -> ItemContent:
    make_mistakes(db, exam)
    authoring.add_article(db, exam, lesson(), actor="test", now=now)
    media = authoring.add_media(db, exam.tenant_id, PNG, actor="test", now=now)
    content = item_content()
    options = (content.options[0], replace(content.options[1], misconception="one-size"), *content.options[2:])
    return replace(
        content,
        options=options,
        tags=("bloom:apply", "topic:sizing"),
        shuffle=False,
        media=(MediaUse(media.sha256, MediaRole.EXPLANATION, "a picture", "all of it"),),
        references=(Reference("A book", "https://example.org/book"), Reference("Another")),
        reading=(Reading("lesson", "second"), Reading("mistakes", "one-size-fits-all")),
    )


def test_an_item_comes_back_as_it_was_submitted(db: Db, exam: Exam, now: datetime) -> None:
    content = full_content(db, exam, now)
    item = authoring.submit(db, exam, content, external_id="x", actor="ann", now=now)
    db.expire_all()
    record = catalog.get_record(db, item)
    assert without_uuids(record.content.as_content()) == content
    assert (record.content.stage, record.content.author, record.live_version) == (Stage.DRAFT, "ann", None)


def test_links_in_content_carry_what_delivery_needs(db: Db, exam: Exam, now: datetime) -> None:
    item = authoring.submit(db, exam, full_content(db, exam, now), actor="ann", now=now)
    content = catalog.get_record(db, item).content
    link = content.options[1].misconception
    assert link is not None
    assert (link.code, link.article, link.anchor) == ("one-size", "mistakes", "one-size-fits-all")
    assert link.article_uuid == content.reading[1].article_uuid is not None
    assert content.keys == {content.options[0].uuid}


def test_contents_of_many_items_take_four_statements(db: Db, exam: Exam, now: datetime) -> None:
    content = full_content(db, exam, now)
    for i in range(12):
        authoring.submit(db, exam, replace(content, stem=f"Stem {i}"), actor="ann", now=now)
    ids = list(db.scalars(sa.select(ItemVersion.id)))  # type: ignore[call-overload]
    statements: list[str] = []
    listener = lambda *args: statements.append(args[2])  # noqa: E731
    sa.event.listen(db.get_bind().engine, "before_cursor_execute", listener)
    try:
        contents = catalog.item_contents(db, ids)
    finally:
        sa.event.remove(db.get_bind().engine, "before_cursor_execute", listener)
    assert sorted(c.stem for c in contents.values()) == sorted(f"Stem {i}" for i in range(12))
    assert len(statements) == 4


def test_everything_wrong_with_an_item_is_said_at_once_and_nothing_stored(db: Db, exam: Exam, now: datetime) -> None:
    content = replace(item_content(objective="9.9"), stem="", reading=(Reading("gone", "gone"),))
    with pytest.raises(Invalid) as refused:
        authoring.submit(db, exam, content, external_id=" ", actor="ann", now=now)
    assert {issue.pointer for issue in refused.value.issues} == {"/stem", "/objective", "/reading/0", "/external_id"}
    assert db.scalar(sa.select(sa.func.count()).select_from(Item)) == 0


def test_a_domain_with_objectives_is_no_objective_of_an_item(db: Db, exam: Exam, now: datetime) -> None:
    with pytest.raises(Invalid, match="'1'"):
        authoring.submit(db, exam, item_content(objective="1"), actor="ann", now=now)


def test_html_is_sanitised_on_the_way_in(db: Db, exam: Exam, now: datetime) -> None:
    content = replace(item_content(), stem="<script>alert(1)</script>What <b onclick=x>now</b>?")
    item = authoring.submit(db, exam, content, actor="ann", now=now)
    assert current(db, item).stem == "<div>What <b>now</b>?</div>"


def test_an_external_id_is_taken_once_per_exam(db: Db, exam: Exam, now: datetime) -> None:
    authoring.submit(db, exam, item_content(), external_id="x", actor="ann", now=now)
    with pytest.raises(AlreadyExists):
        authoring.submit(db, exam, item_content(), external_id="x", actor="ann", now=now)


def test_revising_adds_a_draft_and_leaves_the_live_version(db: Db, exam: Exam, now: datetime) -> None:
    item = make_item(db, exam)
    revision, bank_revision = item.revision, exam.bank_revision
    authoring.revise(db, item, replace(item_content(), stem="Better?"), actor="ann", now=now)
    db.refresh(exam)
    record = catalog.get_record(db, item)
    assert (record.content.number, record.content.stage, record.live_version) == (2, Stage.DRAFT, 1)
    assert (item.revision, exam.bank_revision) == (revision + 1, bank_revision)
    assert catalog.get_record(db, item, 1).content.stem == "What is item?"


def test_the_same_content_again_is_no_new_version(db: Db, exam: Exam, now: datetime) -> None:
    item = authoring.submit(db, exam, replace(item_content(), tags=("b:b", "a:a")), actor="ann", now=now)
    again = replace(item_content(), tags=("a:a", "b:b"))
    authoring.revise(db, item, again, actor="ann", now=now)
    assert (item.version, item.revision) == (1, 1)


def test_an_option_keeps_its_id_by_key_and_by_id(db: Db, exam: Exam, now: datetime) -> None:
    item = authoring.submit(db, exam, item_content(), actor="ann", now=now)
    before = uuids(db, item)
    first, second, third, _ = item_content().options
    options = (
        replace(first, text="by key"),
        replace(second, key="renamed", uuid=before["item-1"]),
        replace(third, key="quite-new"),
    )
    authoring.revise(db, item, replace(item_content(), options=options), actor="ann", now=now)
    after = uuids(db, item)
    assert after["item-0"] == before["item-0"]
    assert after["renamed"] == before["item-1"]
    assert after["quite-new"] not in before.values()


def test_an_option_that_comes_back_is_the_same_one(db: Db, exam: Exam, now: datetime) -> None:
    item = authoring.submit(db, exam, item_content(), actor="ann", now=now)
    before = uuids(db, item)
    fewer = replace(item_content(), options=item_content().options[:3])
    authoring.revise(db, item, fewer, actor="ann", now=now)
    authoring.revise(db, item, item_content(), actor="ann", now=now)
    assert uuids(db, item) == before


def test_option_ids_of_other_items_are_refused(db: Db, exam: Exam, now: datetime) -> None:
    item, other = make_items(db, exam, 2)
    stolen = next(iter(uuids(db, other).values()))
    content = current(db, item)
    for uuid in (stolen, uuid4()):
        options = (replace(content.options[0], uuid=uuid), *content.options[1:])
        with pytest.raises(Invalid) as refused:
            authoring.revise(db, item, replace(content, options=options), actor="ann", now=now)
        assert [issue.pointer for issue in refused.value.issues] == ["/options/0/id"]


def test_one_id_for_two_options_is_refused(db: Db, exam: Exam, now: datetime) -> None:
    item = make_item(db, exam)
    content = current(db, item)
    options = tuple(replace(option, uuid=content.options[0].uuid) for option in content.options)
    with pytest.raises(Invalid, match="more than once"):
        authoring.revise(db, item, replace(content, options=options), actor="ann", now=now)


def test_the_id_of_an_option_tells_nothing_of_when_it_was_written(db: Db, exam: Exam) -> None:
    assert {uuid.version for uuid in uuids(db, make_item(db, exam)).values()} == {4}


def test_enemies_are_stored_once_whoever_names_them(db: Db, exam: Exam, now: datetime) -> None:
    one, other = make_items(db, exam, 2)
    before = exam.bank_revision
    assert authoring.relate(db, other, one, RelationKind.ENEMY, actor="ann", now=now)
    assert not authoring.relate(db, one, other, RelationKind.ENEMY, actor="ann", now=now)
    rows = db.scalars(sa.select(ItemRelation)).all()
    assert [(row.item_id, row.other_item_id) for row in rows] == [(one.id, other.id)]
    db.refresh(exam)
    assert exam.bank_revision == before + 1
    assert authoring.unrelate(db, other, one, RelationKind.ENEMY, actor="ann", now=now)
    assert not authoring.unrelate(db, other, one, RelationKind.ENEMY, actor="ann", now=now)


def test_derived_from_has_a_direction(db: Db, exam: Exam, now: datetime) -> None:
    one, other = make_items(db, exam, 2)
    authoring.relate(db, other, one, RelationKind.DERIVED_FROM, actor="ann", now=now)
    row = db.scalars(sa.select(ItemRelation)).one()
    assert (row.item_id, row.other_item_id) == (other.id, one.id)


def test_an_item_is_not_its_own_enemy(db: Db, exam: Exam, now: datetime) -> None:
    item = make_item(db, exam)
    with pytest.raises(Invalid):
        authoring.relate(db, item, item, RelationKind.ENEMY, actor="ann", now=now)


def test_another_tenants_item_is_not_there(db: Db, exam: Exam) -> None:
    item = make_item(db, exam)
    with pytest.raises(NotFound):
        catalog.get_item(db, make_tenant(db, "other").id, item.uuid)


def test_every_change_is_in_the_audit_log(db: Db, exam: Exam, now: datetime) -> None:
    item = make_item(db, exam)
    authoring.revise(db, item, replace(item_content(), stem="New?"), actor="ann", now=now)
    db.flush()
    entries = db.exec(clients.audit_entries(exam.tenant_id, "item", item.uuid)).all()
    assert [entry.action for entry in entries] == ["item.submit", *["item.transition"] * 3, "item.revise"]
    assert entries[3].detail["from"] == "approved"
    assert (entries[4].actor, entries[4].detail) == ("ann", {"version": 2})
