"""Diagnostic, practice and review on a real database: what each serves, and what it leaves alone."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from engine import delivery, loading, replaying
from engine.answers import Given, Step
from engine.errors import NothingDue
from engine.selection import Mode
from itembank import authoring
from itembank.content import ExamContent, ExposureClass, ObjectiveContent, RelationKind, Stage
from itembank.models import Exam, Item, ItemTiming, LearnerItem, LearnerState, Response, Session
from itembank.store import Db
from tests.factories.bank import item_content, make_exam, make_items, make_tenant, move

DAY = timedelta(days=1)


@pytest.fixture
def exam(db: Db) -> Exam:
    return make_exam(db, make_tenant(db))


@pytest.fixture
def items(db: Db, exam: Exam) -> list[Item]:
    made = make_items(db, exam, 18)
    db.refresh(exam)
    return made


@pytest.fixture
def begin(db: Db, exam: Exam) -> Callable[..., Session]:
    def start(mode: Mode, at: datetime, learner: str = "ada", seed: int = 7, **changes: Any) -> Session:
        db.refresh(exam)
        who = {"tenant_id": exam.tenant_id, "exam": exam, "learner": learner, "actor": "test"}
        return delivery.start(db, **who, mode=mode, changes=changes, objectives=(), seed=seed, now=at)

    return start


def answer(db: Db, session: Session, at: datetime, *, right: bool = True, time_ms: int | None = None) -> Step:
    db.refresh(session)
    served = delivery.current(db, session)
    options = [option.id for option in served.item.question.options]
    chosen = next(option for option in options if (option in served.item.keys) is right)
    given = Given(served.position, served.item.question.id, (chosen,), time_ms)
    return delivery.answer(db, session.tenant_id, session.uuid, given, now=at)


def course(db: Db, session: Session, at: datetime, rights: Iterator[bool] | list[bool]) -> list[Step]:
    steps: list[Step] = []
    for place, right in enumerate(rights):
        steps.append(answer(db, session, at + timedelta(seconds=place + 1), right=right))
        if steps[-1].stop_reason is not None:
            break
    db.refresh(session)
    db.expire_all()
    return steps


def responses(db: Db, session: Session) -> list[Response]:
    return list(db.scalars(sa.select(Response).where(Response.session_id == session.id).order_by(Response.position)))


def uuids(steps: list[Step]) -> list[str]:
    return [step.served.item.question.id for step in steps]


def replays(db: Db, session: Session) -> bool:
    db.refresh(session)
    loading.forget(db.get_bind().engine)
    return replaying.replay(db, session, tolerance=0.0) == []


def test_a_diagnostic_touches_every_domain_in_proportion_whatever_its_objectives(
    db: Db, begin: Callable[..., Session], now: datetime
) -> None:
    leaves = [ObjectiveContent(f"1.{k}", f"Part {k}", 0.02) for k in range(1, 31)]
    few = [ObjectiveContent(f"2.{k}", f"Side {k}", 0.1) for k in range(1, 5)]
    blueprint = (ObjectiveContent("1", "Wide", 0.6, tuple(leaves)), ObjectiveContent("2", "Narrow", 0.4, tuple(few)))
    exam = authoring.create_exam(
        db, make_tenant(db, "other").id, ExamContent(slug="wide", title="Wide", blueprint=blueprint), actor="t", now=now
    )
    for leaf in (*leaves, *few):
        for place in range(2 if leaf in leaves else 5):
            content = item_content(f"item-{leaf.code.replace('.', '-')}-{place}", objective=leaf.code)
            item = authoring.submit(db, exam, content, external_id=f"{leaf.code}-{place}", actor="t", now=now)
            move(db, item, Stage.IN_REVIEW, Stage.APPROVED, Stage.OPERATIONAL)
    db.refresh(exam)
    who = {"tenant_id": exam.tenant_id, "exam": exam, "learner": "ada", "actor": "test"}
    session = delivery.start(db, **who, mode=Mode.diagnostic, changes={}, objectives=(), seed=7, now=now)
    steps = course(db, session, now, [True, False] * 13)
    domains = [step.served.item.question.objective[0] for step in steps]
    assert len(steps) <= 25
    for length in range(1, len(steps) + 1):
        assert abs(domains[:length].count("1") - 0.6 * length) < 1
    assert replays(db, session)


def test_review_serves_what_is_due_most_overdue_first_and_moves_memory_only(
    db: Db, items: list[Item], begin: Callable[..., Session], now: datetime
) -> None:
    first = course(db, begin(Mode.practice, now), now, [False])
    second = course(db, begin(Mode.practice, now + 2 * DAY, review_share=0), now + 2 * DAY, [False])
    [state] = db.scalars(sa.select(LearnerState))
    known, at = state.gaussian, now + 9 * DAY
    session = begin(Mode.review, at)
    steps = course(db, session, at, [True] * 5)
    db.refresh(state)
    assert uuids(steps) == uuids(first) + uuids(second)
    assert (steps[-1].stop_reason, steps[-1].next) == ("nothing_due", None)
    assert (state.gaussian, {step.theta for step in steps}) == (known, {steps[0].theta})
    assert [each.exposure_class for each in responses(db, session)] == [ExposureClass.REPEAT_REVEALED] * 2
    memories = list(db.scalars(sa.select(LearnerItem)))
    assert all(memory.due_at is not None and memory.due_at > at and memory.reviews == 2 for memory in memories)
    assert replays(db, session)


def test_a_review_with_nothing_due_says_when_there_will_be(
    db: Db, items: list[Item], begin: Callable[..., Session], now: datetime
) -> None:
    with pytest.raises(NothingDue, match="none was answered yet"):
        begin(Mode.review, now)
    course(db, begin(Mode.practice, now), now, [False, True])
    due = min(memory.due_at for memory in db.scalars(sa.select(LearnerItem)) if memory.due_at is not None)
    with pytest.raises(NothingDue) as caught:
        begin(Mode.review, now + timedelta(hours=1))
    assert caught.value.next_due_at == due.isoformat()
    assert due >= now + DAY


def test_a_wrong_answer_comes_back_no_sooner_than_the_next_day_and_its_sibling_sooner(
    db: Db, items: list[Item], begin: Callable[..., Session], now: datetime
) -> None:
    session = begin(Mode.practice, now, randomesque=1)
    opened = delivery.current(db, session).item.item_id
    sibling = next(item for item in items if item.id != opened)
    first = next(item for item in items if item.id == opened)
    authoring.relate(db, first, sibling, RelationKind.SIBLING, actor="test", now=now)
    session = begin(Mode.practice, now, learner="grace", randomesque=1)
    steps = course(db, session, now, [False] + [True] * 6)
    assert uuids(steps).index(str(sibling.uuid)) == 5  # four others lie between
    assert [each.trace["turn"] for each in responses(db, session)].count("sibling") == 1
    assert uuids(steps).count(uuids(steps)[0]) == 1
    later = course(db, begin(Mode.practice, now + 2 * DAY, learner="grace"), now + 2 * DAY, [True] * 4)
    assert uuids(steps)[0] in uuids(later)
    assert replays(db, session)


def test_practice_mixes_due_items_in_by_their_share(
    db: Db, items: list[Item], begin: Callable[..., Session], now: datetime
) -> None:
    course(db, begin(Mode.practice, now), now, [False] * 8)
    session = begin(Mode.practice, now + 3 * DAY)
    course(db, session, now + 3 * DAY, [True] * 9)
    turns = [each.trace["turn"] for each in responses(db, session)]
    assert turns.count("due") in (2, 3)  # of nine, by a share of 0.3
    assert {each.exposure_class for each in responses(db, session) if each.trace["turn"] == "due"} == {
        ExposureClass.REPEAT_REVEALED
    }
    assert replays(db, session)


def test_pretest_items_take_their_slots_and_say_nothing_of_ability(
    db: Db, exam: Exam, items: list[Item], begin: Callable[..., Session], now: datetime
) -> None:
    for name in ("new-1", "new-2"):
        content = item_content(name, objective="1.2")
        item = authoring.submit(db, exam, content, external_id=name, actor="test", now=now)
        move(db, item, Stage.IN_REVIEW, Stage.APPROVED, Stage.PRETEST)
    session = begin(
        Mode.adaptive_test, now, pretest_slots=[2, 4, 6], minimum_length=1, maximum_length=7, standard_error=None
    )
    steps = course(db, session, now, [True] * 7)
    rows = responses(db, session)
    assert [row.position for row in rows if row.trace["turn"] == "pretest"] == [2, 4]  # there are two of them
    assert [row.position for row in rows if row.exposure_class is ExposureClass.PRETEST] == [2, 4]
    assert [row.moves_ability for row in rows] == [True, False, True, False, True, True, True]
    assert steps[1].theta == steps[0].theta
    [state] = db.scalars(sa.select(LearnerState))
    assert state.answers == 5
    pool = loading.get_pool(db, session.pool_id)
    assert np.count_nonzero(pool.pretest) == 2
    assert replays(db, session)


def test_without_slots_no_pretest_item_is_ever_served(
    db: Db, exam: Exam, items: list[Item], begin: Callable[..., Session], now: datetime
) -> None:
    item = authoring.submit(db, exam, item_content("new"), external_id="new", actor="test", now=now)
    move(db, item, Stage.IN_REVIEW, Stage.APPROVED, Stage.PRETEST)
    steps = course(db, begin(Mode.practice, now), now, [True] * 18)
    assert len(steps) == 18
    assert str(item.uuid) not in uuids(steps)


def test_a_rapid_guess_is_kept_and_labelled_and_moves_nothing(
    db: Db, exam: Exam, items: list[Item], begin: Callable[..., Session], now: datetime
) -> None:
    session = begin(Mode.practice, now)
    for version in loading.get_pool(db, session.pool_id).item_versions.tolist():
        db.add(ItemTiming(item_version_id=version, times=200, median_ms=20_000.0, measured_at=now))
    db.flush()
    loading.forget(db.get_bind().engine)
    guess = answer(db, session, now + timedelta(seconds=1), right=True, time_ms=2_999)
    honest = answer(db, session, now + timedelta(seconds=9), right=True, time_ms=3_000)
    rows = responses(db, session)
    assert [row.exposure_class for row in rows] == [ExposureClass.RAPID_GUESS, ExposureClass.CLEAN_FIRST]
    assert (guess.theta, rows[0].moves_ability) == (rows[0].theta_before, False)
    assert honest.theta > guess.theta
    memories = {memory.item_id: memory for memory in db.scalars(sa.select(LearnerItem))}
    assert [memories[step.served.item.item_id].reviews for step in (guess, honest)] == [0, 1]
    assert replays(db, session)


def test_a_learners_state_is_made_anew_from_the_log_where_it_is_missing(
    db: Db, items: list[Item], begin: Callable[..., Session], now: datetime
) -> None:
    course(db, begin(Mode.practice, now), now, [True, False, True])
    [state] = db.scalars(sa.select(LearnerState))
    db.execute(sa.update(LearnerState).values(gaussian=None))
    db.expire_all()
    session = begin(Mode.practice, now + DAY)
    [again] = db.scalars(sa.select(LearnerState))
    answer(db, session, now + DAY)
    db.refresh(again)
    assert again.gaussian is not None
    assert state.id == again.id
    assert again.answers == 4
