"""Two sessions of one learner that answer the same item, the second one waiting for the first one's transaction."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime

import pytest
import sqlalchemy as sa
from sqlmodel import select

from engine import delivery
from engine.delivery import Given, Step
from engine.selection import Mode
from itembank import sessions
from itembank.content import ExposureClass
from itembank.models import LearnerItem, Response, Session
from itembank.store import transaction
from tests.factories.bank import make_exam, make_items, make_tenant

BLOCKED_S = 0.5  # long enough to have sent the statement that waits


@pytest.fixture
def pair(engine: sa.Engine, now: datetime) -> Sequence[Session]:
    """Two sessions that begin with the same item."""
    with transaction(engine, writes=True) as db:
        exam = make_exam(db, make_tenant(db))
        make_items(db, exam, 12)
    settings = {"learner": "ada", "mode": Mode.practice, "changes": {}, "objectives": (), "seed": 7, "actor": "test"}
    with transaction(engine, writes=True) as db:
        return [
            delivery.start(db, tenant_id=exam.tenant_id, exam=db.merge(exam), now=now, **settings) for _ in range(2)
        ]


def answer(engine: sa.Engine, session: Session, now: datetime) -> Step:
    with transaction(engine, writes=True) as db:
        served = delivery.current(db, session)
        given = Given(1, served.item.question.id, (served.item.question.options[0].id,))
        return delivery.answer(db, session.tenant_id, session.uuid, given, now=now)


def test_an_answer_that_waited_sees_what_the_other_session_stored(
    engine: sa.Engine, pair: Sequence[Session], now: datetime
) -> None:
    with ThreadPoolExecutor(1) as thread:
        with transaction(engine, writes=True) as db:
            served = delivery.current(db, pair[0])
            given = Given(1, served.item.question.id, (served.item.question.options[0].id,))
            first = delivery.answer(db, pair[0].tenant_id, pair[0].uuid, given, now=now)
            waiting: Future[Step] = thread.submit(answer, engine, pair[1], now)
            with pytest.raises(TimeoutError):
                waiting.result(BLOCKED_S)
        second = waiting.result(30)
    assert (first.theta > 0, second.theta) == (True, pytest.approx(0.0, abs=1e-12))
    with transaction(engine, writes=False) as db:
        stored = db.exec(select(Response).order_by(Response.id)).all()
        assert [response.exposure_class for response in stored] == [
            ExposureClass.CLEAN_FIRST,
            ExposureClass.REPEAT_REVEALED,
        ]
        assert db.exec(select(LearnerItem)).one().answers == 2


def test_what_was_read_too_early_is_noticed_when_the_answer_is_stored(
    engine: sa.Engine, pair: Sequence[Session], now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the lock's look at the item had been taken before the other session's answer was there."""
    answer(engine, pair[0], now)
    looks, look = [], sessions.lock

    def lock(*args: object, **kwargs: object) -> object:
        row = look(*args, **kwargs)
        looks.append(row)
        return row if len(looks) > 1 else Stale(row)

    monkeypatch.setattr(sessions, "lock", lock)
    answer(engine, pair[1], now)
    assert len(looks) == 2
    with transaction(engine, writes=False) as db:
        stored = db.exec(select(Response).order_by(Response.id)).all()
    assert [response.exposure_class for response in stored][1:] == [ExposureClass.REPEAT_REVEALED]


class Stale:
    """A row that says the learner has not met the item."""

    met_answers = met_reveals = 0

    def __init__(self, row: object):
        self._row = row

    def __getattr__(self, name: str) -> object:
        return getattr(self._row, name)
