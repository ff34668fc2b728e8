"""The success model and response times, measured from answers in a real database and from the Spanish log."""

import gzip
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from sqlmodel import select

from engine import delivery, loading, tuning
from engine.irt import normal_log_prior
from engine.learner.fitting import assess, fit
from engine.selection import Mode
from itembank.content import ExposureClass
from itembank.models import Exam, ItemTiming, PracticeModel, Response, Score
from itembank.store import Db
from tests.factories.bank import make_exam, make_items, make_tenant

ANSWERS = 130  # of each learner


@pytest.fixture
def exam(db: Db) -> Exam:
    exam = make_exam(db, make_tenant(db))
    make_items(db, exam, 12)
    db.refresh(exam)
    return exam


@pytest.fixture
def answered(db: Db, exam: Exam, now: datetime) -> Callable[..., None]:
    """A function by which so many learners answer everything again and again; the more often, the better."""

    def log(learners: int, **changes: Any) -> None:
        rng = np.random.default_rng(learners)
        for number in range(learners):
            who: dict[str, Any] = {"tenant_id": exam.tenant_id, "exam": exam, "learner": f"learner-{number}"}
            how: dict[str, Any] = {"mode": Mode.practice, "changes": {}, "objectives": (), "seed": 7, "actor": "test"}
            session = delivery.start(db, **who, **how, now=now)
            versions = loading.get_pool(db, session.pool_id).item_versions.tolist()
            for position in range(1, ANSWERS + 1):
                round_number = (position - 1) // len(versions)
                right = bool(rng.random() < 0.3 + 0.06 * round_number)
                fields: dict[str, Any] = {
                    "session_id": session.id,
                    "position": position,
                    "item_version_id": versions[position % len(versions)],
                    "selected": [],
                    "response_time_ms": 1000 * (position % len(versions) + 1),
                    "exposure_class": ExposureClass.REPEAT if round_number else ExposureClass.CLEAN_FIRST,
                    "moves_ability": round_number == 0,
                    "trace": {},
                    "served_at": now,
                    "answered_at": now + timedelta(minutes=position),
                }
                zeros = dict.fromkeys(
                    ("theta_before", "standard_error_before", "theta_after", "standard_error_after"), 0.0
                )
                response = Response(**(fields | zeros | changes))
                db.add(response)
                db.flush()
                db.add(Score(response_id=response.id, score=float(right), correct=right, created_at=now))
        db.flush()

    return log


def run(db: Db, exam: Exam, now: datetime) -> tuning.Tuned:
    return tuning.tune(db, exam, actor="test", now=now)


def test_each_tuning_adds_a_model_and_judges_it_on_learners_held_out(
    db: Db, exam: Exam, answered: Callable[..., None], now: datetime
) -> None:
    assert tuning.newest(db, exam.id) is None
    answered(5)
    read: list[int] = []
    first = tuning.tune(db, exam, actor="test", now=now, progress=read.append)
    assert first.refusal is None
    assert first.model is not None
    assert (first.answers, first.learners, sum(read)) == (5 * ANSWERS, 5, 5 * ANSWERS)
    quality = first.model.quality
    assert (quality["answers"], quality["learners"]) == (ANSWERS, 1)
    assert quality["auc"] > 0.6
    assert len(quality["calibration"]) > 1
    assert run(db, exam, now).model is not None
    assert db.exec(select(PracticeModel.number).order_by(PracticeModel.number)).all() == [1, 2]
    found = tuning.newest(db, exam.id)
    assert found is not None
    assert (found[0], found[1].answers) == (2, 4 * ANSWERS)


def test_too_few_answers_are_refused_with_what_is_needed_and_the_times_are_kept(
    db: Db, exam: Exam, answered: Callable[..., None], now: datetime
) -> None:
    answered(1)
    found = run(db, exam, now)
    assert (found.model, found.timings) == (None, 12)
    assert found.refusal is not None
    assert "130 answers to fit to" in found.refusal
    assert "500 of at least 5 learners are needed" in found.refusal
    assert tuning.newest(db, exam.id) is None


def test_times_are_medians_and_replace_the_former_ones(
    db: Db, exam: Exam, answered: Callable[..., None], now: datetime
) -> None:
    answered(1)
    db.execute(sa.insert(ItemTiming).from_select(["item_version_id", "times", "median_ms", "measured_at"], _old(now)))
    run(db, exam, now + timedelta(days=1))
    rows = db.exec(select(ItemTiming)).all()
    assert sorted(row.median_ms for row in rows) == [1000.0 * (place + 1) for place in range(12)]
    assert sum(row.times for row in rows) == ANSWERS
    assert {row.measured_at for row in rows} == {now + timedelta(days=1)}


def _old(now: datetime) -> sa.Select[Any]:
    return sa.select(
        Response.item_version_id, sa.literal(1), sa.literal(5.0), sa.literal(now, Response.answered_at.type)
    ).limit(1)


def test_rapid_guesses_teach_nothing(db: Db, exam: Exam, answered: Callable[..., None], now: datetime) -> None:
    answered(5, exposure_class=ExposureClass.RAPID_GUESS, moves_ability=False)
    found = run(db, exam, now)
    assert found.refusal is not None
    assert "has 0 answers" in found.refusal
    assert found.answers == 5 * ANSWERS


def test_an_exam_without_answers_has_nothing_to_tell(db: Db, exam: Exam, now: datetime) -> None:
    found = run(db, exam, now)
    assert (found.answers, found.learners, found.timings, found.model) == (0, 0, 0, None)


def test_ability_before_an_answer_rests_on_the_clean_ones_of_the_same_learner() -> None:
    table = np.zeros(5, dtype=tuning.TABLE)
    table["learner"], table["right"] = [1, 1, 1, 2, 2], [True, False, True, True, True]
    table["counts"], table["a"], table["d"] = [True, False, True, True, True], 1.0, 1.0
    found = tuning.abilities_before(table, normal_log_prior())
    assert found[[0, 3]] == pytest.approx(0.0, abs=1e-9)
    assert found[1] == pytest.approx(found[2])
    assert found[1] == pytest.approx(found[4])
    assert found[1] > 0.3


def test_the_spanish_log_is_forecast_as_well_as_by_best_lr(shared: Path) -> None:
    """Held out are the learners whose number is divisible by 5; difficulties are of the others' first answers."""
    with gzip.open(shared / "data" / "responses" / "spanish_wcrp_37students.csv.gz", "rt") as file:
        log = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64)
    log = log[np.lexsort((log[:, 1], log[:, 0]))]
    table = np.zeros(len(log), dtype=tuning.TABLE)
    for name, column in zip(("learner", "hour", "item", "objective", "right"), log.T, strict=True):
        table[name] = column
    _, place = np.unique(table["learner"] * 1_000 + table["item"], return_index=True)
    table["counts"][place] = True
    table["a"], table["d"] = 1.0, 1.0
    held_out = table["learner"] % 5 == 0
    known = table[table["counts"] & ~held_out]
    count, right = (np.bincount(known["item"], weights, 409) for weights in (None, known["right"]))
    table["b"] = np.log((count - right + 1.0) / (right + 1.0))[table["item"]]
    people = np.unique(table["learner"])
    pieces = [tuning.rows_of(table[table["learner"] == each], normal_log_prior()) for each in people]
    rows = np.concatenate(pieces)
    model = fit(rows[~held_out], table["right"][~held_out])
    found = assess(table["right"][held_out], model.predict(rows[held_out]))
    assert found.auc >= 0.862
    assert found.brier < 0.12
