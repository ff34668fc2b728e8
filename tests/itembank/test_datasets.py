"""Exports: what is in the rows, what bounds them, and that they come as a stream."""

import csv
import io
import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from itembank import authoring, datasets
from itembank.content import ExposureClass, SessionStatus
from itembank.errors import Invalid, NotFound
from itembank.models import (
    Blueprint,
    Exam,
    ItemVersion,
    Learner,
    Option,
    ParameterRelease,
    Pool,
    Response,
    Score,
    Session,
)
from itembank.store import Db
from tests.factories.bank import item_content, make_item, make_items, make_tenant


@pytest.fixture
def log(db: Db, exam: Exam, now: datetime) -> list[Response]:
    """Three answers of one learner to one item, an hour apart; the second is right."""
    item = make_item(db, exam)
    version = db.scalars(sa.select(ItemVersion).where(ItemVersion.item_id == item.id)).one()  # type: ignore[arg-type]
    learner = Learner(tenant_id=exam.tenant_id, external_id="pupil-7", created_at=now)
    release = ParameterRelease(exam_id=exam.id, number=3, created_at=now)
    blueprint = db.scalars(sa.select(Blueprint)).one()
    db.add_all([learner, release])
    db.flush()
    pool = Pool(
        exam_id=exam.id, bank_revision=1, release_id=release.id, blueprint_id=blueprint.id, enemies=[], created_at=now
    )
    db.add(pool)
    db.flush()
    sitting = Session(
        tenant_id=exam.tenant_id,
        exam_id=exam.id,
        learner_id=learner.id,
        pool_id=pool.id,
        mode="practice",
        policy={},
        objectives=[],
        seed=1,
        status=SessionStatus.IN_PROGRESS,
        start_log_posterior=b"",
        log_posterior=b"",
        excluded=b"",
        resting=b"",
        administered=[],
        started_at=now,
        updated_at=now,
    )
    db.add(sitting)
    db.flush()
    options = list(db.scalars(sa.select(Option).order_by(Option.position)))  # type: ignore[arg-type]
    responses = []
    for i in range(3):
        response = Response(
            session_id=sitting.id,
            position=i + 1,
            item_version_id=version.id,
            selected=[str(options[i].uuid)],
            response_time_ms=None if i else 1500,
            exposure_class=ExposureClass.CLEAN_FIRST if i == 0 else ExposureClass.REPEAT,
            moves_ability=i == 0,
            theta_before=0.0,
            standard_error_before=1.0,
            theta_after=0.25,
            standard_error_after=0.9,
            trace={"option_order": [2, 0, 1, 3], "criterion": "posterior_information"},
            served_at=now,
            answered_at=now + timedelta(hours=i),
        )
        db.add(response)
        db.flush()
        db.add(Score(response_id=response.id, score=float(i == 1), correct=i == 1, created_at=now))
        responses.append(response)
    db.flush()
    return responses


def rows(db: Db, exam: Exam, now: datetime, **asked: Any) -> list[dict[str, str]]:
    export = datasets.request(db, exam, dataset="responses", file_format="csv", now=now, **asked)
    return list(csv.DictReader(io.StringIO(b"".join(datasets.stream(db, export)).decode())))


def test_a_row_says_all_of_an_answer(db: Db, exam: Exam, log: list[Response], now: datetime) -> None:
    row = rows(db, exam, now)[0]
    options = [str(uuid) for uuid in db.scalars(sa.select(Option.uuid).order_by(Option.position))]  # type: ignore[call-overload]
    assert row["selected"] == options[0]
    assert row["option_order"].split("|") == [options[2], options[0], options[1], options[3]]
    expected = {
        "mode": "practice",
        "position": "1",
        "item_external_id": "item",
        "item_version": "1",
        "objective": "1.1",
        "correct": "false",
        "score": "0.0",
        "response_time_ms": "1500",
        "exposure_class": "clean_first",
        "theta_after": "0.25",
        "criterion": "posterior_information",
        "parameter_release": "3",
        "served_at": "2026-01-05T09:00:00.000Z",
    }
    assert expected.items() <= row.items()


def test_the_learner_is_a_pseudonym(db: Db, exam: Exam, log: list[Response], now: datetime) -> None:
    export = datasets.request(db, exam, dataset="responses", file_format="jsonl", now=now)
    text = b"".join(datasets.stream(db, export)).decode()
    assert "pupil-7" not in text
    assert json.loads(text.splitlines()[0])["learner"] == str(db.scalars(sa.select(Learner)).one().uuid)


def test_since_is_in_and_until_is_not(db: Db, exam: Exam, log: list[Response], now: datetime) -> None:
    hour = timedelta(hours=1)
    found = rows(db, exam, now, since=now + hour, until=now + 2 * hour)
    assert [row["position"] for row in found] == ["2"]


def test_an_answer_after_the_export_was_asked_for_is_not_in_it(
    db: Db, exam: Exam, log: list[Response], now: datetime
) -> None:
    export = datasets.request(db, exam, dataset="responses", file_format="csv", now=now)
    export.last_row = log[1].id
    assert len(b"".join(datasets.stream(db, export)).splitlines()) == 3


def test_a_corrected_key_shows_in_the_score(db: Db, exam: Exam, log: list[Response], now: datetime) -> None:
    db.add(Score(response_id=log[0].id, key_version=2, score=1.0, correct=True, created_at=now))
    db.flush()
    found = rows(db, exam, now)
    assert [row["correct"] for row in found] == ["true", "true", "false"]


def test_another_exams_answers_are_not_in_it(db: Db, exam: Exam, log: list[Response], now: datetime) -> None:
    from itembank.content import ExamContent

    other = authoring.create_exam(db, exam.tenant_id, ExamContent("other", "Other"), actor="ann", now=now)
    export = datasets.request(db, other, dataset="responses", file_format="csv", now=now)
    export.last_row = log[-1].id
    assert len(b"".join(datasets.stream(db, export)).splitlines()) == 1


def test_items_are_what_an_author_reads(db: Db, exam: Exam, now: datetime) -> None:
    make_items(db, exam, 2)
    authoring.submit(db, exam, replace(item_content("draft"), tags=("a:b",)), actor="ann", now=now)
    export = datasets.request(db, exam, dataset="items", file_format="jsonl", now=now)
    documents = [json.loads(line) for line in b"".join(datasets.stream(db, export)).splitlines()]
    assert [(d["external_id"], d["stage"], d["live_version"]) for d in documents] == [
        *(("item-0", "operational", 1), ("item-1", "operational", 1), (None, "draft", None))
    ]
    assert documents[0]["options"][0].keys() == {"id", "key", "text", "correct", "rationale", "misconception"}


def test_items_come_in_batches(db: Db, exam: Exam, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "ITEM_BATCH", 2)
    make_items(db, exam, 5)
    export = datasets.request(db, exam, dataset="items", file_format="csv", now=now)
    make_item(db, exam, "later")
    text = b"".join(datasets.stream(db, export)).decode()
    assert [row["external_id"] for row in csv.DictReader(io.StringIO(text))] == [f"item-{i}" for i in range(5)]


def test_answers_come_in_batches(
    db: Db, exam: Exam, log: list[Response], now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "BATCH", 1)
    assert len(rows(db, exam, now)) == 3


def test_what_can_not_be_asked_for(db: Db, exam: Exam, now: datetime) -> None:
    with pytest.raises(Invalid) as refused:
        datasets.request(db, exam, dataset="learners", file_format="xml", since=now, until=now, now=now)
    assert [issue.pointer for issue in refused.value.issues] == ["/dataset", "/format", "/until"]


def test_another_tenants_export_is_not_there(db: Db, exam: Exam, now: datetime) -> None:
    export = datasets.request(db, exam, dataset="items", file_format="csv", now=now)
    assert datasets.get_export(db, exam.tenant_id, export.uuid)[0].id == export.id
    for tenant_id, uuid in ((make_tenant(db, "other").id, export.uuid), (exam.tenant_id, uuid4())):
        with pytest.raises(NotFound):
            datasets.get_export(db, tenant_id, uuid)


def test_every_column_is_described() -> None:
    for dataset in datasets.DATASETS.values():
        assert len({column.name for column in dataset.columns}) == len(dataset.columns)
        assert all(column.meaning for column in dataset.columns)
