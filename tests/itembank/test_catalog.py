"""Lists of items: filters and pages."""

from dataclasses import replace
from datetime import datetime

import pytest

from itembank import authoring, catalog
from itembank.content import Stage
from itembank.models import Exam, Item
from itembank.store import Db
from tests.factories.bank import item_content, make_exam, make_item, make_items


@pytest.fixture
def three(db: Db, exam: Exam) -> list[Item]:
    return make_items(db, exam, 3)


def found(db: Db, exam: Exam, **filters: object) -> list[str | None]:
    records = catalog.records(db, catalog.items(exam.id, **filters))  # type: ignore[arg-type]
    return [record.item.external_id for record in records]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["item-0", "item-1", "item-2"]),
        ({"stage": Stage.OPERATIONAL}, ["item-0", "item-1", "item-2"]),
        ({"stage": Stage.DRAFT}, []),
        ({"objective": "1.2"}, ["item-1"]),
        ({"objective": "1"}, ["item-0", "item-1"]),
        ({"objective": "9"}, []),
        ({"tag": "bloom:apply"}, ["item-0", "item-1", "item-2"]),
        ({"tag": "bloom"}, []),
        ({"external_id": "item-2"}, ["item-2"]),
    ],
)
def test_items_are_found(
    db: Db, exam: Exam, three: list[Item], filters: dict[str, object], expected: list[str]
) -> None:
    make_item(db, make_exam(db, _tenant(db, exam), "other"))
    assert found(db, exam, **filters) == expected


def test_filters_look_at_the_newest_version(db: Db, exam: Exam, three: list[Item], now: datetime) -> None:
    content = replace(item_content("item-1"), objective="2.1", tags=("topic:new",))
    authoring.revise(db, three[1], content, actor="ann", now=now)
    assert found(db, exam, tag="topic:new") == found(db, exam, stage=Stage.DRAFT) == ["item-1"]
    assert found(db, exam, objective="1.2") == []


def test_pages_begin_after_the_last_id_seen(db: Db, exam: Exam, three: list[Item]) -> None:
    assert found(db, exam, after=three[0].id) == ["item-1", "item-2"]


def _tenant(db: Db, exam: Exam) -> object:
    from itembank.models import Tenant

    return db.get(Tenant, exam.tenant_id)
