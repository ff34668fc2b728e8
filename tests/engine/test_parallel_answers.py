"""What happens to an answer when something else changes what it rests on: in order, and between its two statements."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime

import numpy as np
import pytest
import sqlalchemy as sa
from sqlmodel import select

from engine import delivery, progress
from engine.answers import Given, Step
from engine.errors import PositionConflict, SessionFinished
from engine.selection import Mode
from itembank import learners, sessions
from itembank.content import ExposureClass
from itembank.models import Exam, Learner, LearnerItem, LearnerState, Response, Session
from itembank.store import Db, autocommitted, transaction
from tests.factories.bank import make_exam, make_items, make_tenant

BLOCKED_S = 0.5  # long enough to have sent the statement that waits


@pytest.fixture
def pair(engine: sa.Engine, now: datetime) -> Sequence[Session]:
    """Two sessions of one learner that begin with the same item."""
    with transaction(engine, writes=True) as db:
        exam = make_exam(db, make_tenant(db))
        make_items(db, exam, 12)
    return [start(engine, exam, now) for _ in range(2)]


def start(engine: sa.Engine, exam: Exam, now: datetime, *, seed: int = 7) -> Session:
    settings = {"learner": "ada", "mode": Mode.practice, "changes": {}, "objectives": (), "seed": seed, "actor": "test"}
    with transaction(engine, writes=True) as db:
        return delivery.start(db, tenant_id=exam.tenant_id, exam=db.merge(exam), now=now, **settings)


def given_to(db: Db, session: Session, *, option: int = 0) -> Given:
    """An answer to the open position."""
    session = sessions.get(db, session.tenant_id, session.uuid)
    served = delivery.current(db, session)
    return Given(served.position, served.item.question.id, (served.item.question.options[option].id,))


def answer(engine: sa.Engine, session: Session, now: datetime, *, option: int = 0) -> Step:
    with autocommitted(engine) as db:
        given = given_to(db, session, option=option)
        return delivery.answer(db, session.tenant_id, session.uuid, given, now=now)


def test_on_sqlite_an_answer_waits_for_the_one_before_it(
    engine: sa.Engine, pair: Sequence[Session], now: datetime
) -> None:
    if engine.dialect.name != "sqlite":
        pytest.skip("on PostgreSQL no answer waits for another one to be decided")
    with ThreadPoolExecutor(1) as thread:
        with autocommitted(engine) as db:
            first = delivery.answer(db, pair[0].tenant_id, pair[0].uuid, given_to(db, pair[0]), now=now)
            waiting: Future[Step] = thread.submit(answer, engine, pair[1], now)
            with pytest.raises(TimeoutError):
                waiting.result(BLOCKED_S)
        second = waiting.result(30)
    assert (first.theta > 0, second.theta) == (True, pytest.approx(0.0, abs=1e-12))
    check_classes(engine, ExposureClass.CLEAN_FIRST, ExposureClass.REPEAT_REVEALED)


@pytest.fixture
def between(engine: sa.Engine, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Lets something happen after the next answer was read for and before it is stored."""
    if engine.dialect.name == "sqlite":
        pytest.skip("SQLite lets nobody write between the two")
    look = sessions.look

    def arrange(event: Callable[[], object]) -> None:
        pending = [event]

        def looked(*args: object, **kwargs: object) -> object:
            row = look(*args, **kwargs)
            if pending:
                pending.pop()()
            return row

        monkeypatch.setattr(sessions, "look", looked)

    return arrange


def check_classes(engine: sa.Engine, *classes: ExposureClass) -> None:
    with transaction(engine, writes=False) as db:
        stored = db.exec(select(Response).order_by(Response.id)).all()
        assert [response.exposure_class for response in stored] == list(classes)
        assert sum(met.answers for met in db.exec(select(LearnerItem))) == len(classes)


def test_another_session_answers_the_same_item(engine, pair, now, between) -> None:
    between(lambda: answer(engine, pair[1], now))
    answer(engine, pair[0], now)
    check_classes(engine, ExposureClass.CLEAN_FIRST, ExposureClass.REPEAT_REVEALED)


def test_another_session_answers_another_item_and_both_answers_are_learned_from(engine, pair, now, between) -> None:
    with transaction(engine, writes=False) as db:
        exam = db.exec(select(Exam)).one()
    others = (start(engine, exam, now, seed=seed) for seed in range(8, 100))
    other = next(each for each in others if each.administered != pair[0].administered)
    between(lambda: answer(engine, other, now, option=1))
    answer(engine, pair[0], now)
    with transaction(engine, writes=False) as db:
        [state] = db.exec(select(LearnerState))
        prior, pool = progress.prior_of(exam), delivery.loading.get_pool(db, pair[0].pool_id)
        clean = [each for each in db.exec(select(Response)) if each.moves_ability]
        assert (state.answers, len(clean)) == (2, 2)
        kept = progress.known(db, state, pool, prior)
        anew = progress.from_log(db, state.learner_id, exam.id, prior, since=now)
        assert kept.state.answers.sum() == anew.state.answers.sum() == 2
        np.testing.assert_allclose(
            kept.on(pool.objective_codes, prior).mean, anew.on(pool.objective_codes, prior).mean, atol=1e-12
        )


def test_another_tab_gives_the_same_answer(engine, pair, now, between) -> None:
    other: list[Step] = []
    between(lambda: other.append(answer(engine, pair[0], now)))
    assert answer(engine, pair[0], now) == other[0]
    check_classes(engine, ExposureClass.CLEAN_FIRST)


def test_another_tab_gives_another_answer(engine, pair, now, between) -> None:
    between(lambda: answer(engine, pair[0], now, option=1))
    with pytest.raises(PositionConflict):
        answer(engine, pair[0], now)
    check_classes(engine, ExposureClass.CLEAN_FIRST)


def test_somebody_finishes_the_session(engine, pair, now, between) -> None:
    def finish() -> None:
        with transaction(engine, writes=True) as db:
            delivery.finish(db, pair[0].tenant_id, pair[0].uuid, now=now)

    between(finish)
    with pytest.raises(SessionFinished):
        answer(engine, pair[0], now)
    check_classes(engine)


def test_the_learner_is_erased(engine, pair, now, between) -> None:
    def erase() -> None:
        with transaction(engine, writes=True) as db:
            learners.erase(db, db.exec(select(Learner)).one(), now)

    between(erase)
    with pytest.raises(SessionFinished):
        answer(engine, pair[0], now)
    check_classes(engine)
