"""Two at the same instant, through real processes: one wins, and the other is told what is so."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa
from sqlmodel import select

from itembank.content import ExposureClass
from itembank.models import Exam, Learner, LearnerItem, ParameterRelease, Pool, Response, Score, Session
from itembank.store import transaction
from tests.factories.bank import make_item
from tests.factories.servers import Remote, Server, given
from tests.faults.conftest import Bank

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults-races")]
ROUNDS = 20


@pytest.fixture
def remotes(bank: Bank, server: Server) -> Iterator[list[Remote]]:
    """Clients with a connection each, so that any worker may get any of them."""
    clients = [Remote(server.url, bank.key) for _ in range(4)]
    yield clients
    for client in clients:
        client.http.close()


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Make all calls at the same instant; their results in order."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def answer_both(remotes: Sequence[Remote], session: str, bodies: Sequence[dict[str, Any]]) -> list[httpx.Response]:
    return at_once([partial(remote.answer, session, body) for remote, body in zip(remotes, bodies, strict=False)])


def stored(bank: Bank, session: str) -> list[tuple[int, list[str]]]:
    """(position, selected) of every answer of a session in the log, each of which has one score."""
    query = (
        sa.select(Response.position, Response.selected)
        .join(Session, Session.id == Response.session_id)
        .join(Score, Score.response_id == Response.id)
        .where(Session.uuid == UUID(session))
        .order_by(Response.position)
    )
    with transaction(bank.engine, writes=False) as db:
        return [(position, selected) for position, selected in db.execute(query)]


def test_the_same_answer_twice_at_once_gets_the_same_reply(bank: Bank, remotes: list[Remote]) -> None:
    begun = remotes[0].start("twice-the-same")
    served, bodies = begun["next"], []
    for _ in range(ROUNDS):
        bodies.append(given(served))
        one, other = answer_both(remotes, begun["id"], [bodies[-1]] * 2)
        assert (one.status_code, other.status_code) == (200, 200), (one.text, other.text)
        assert one.json() == other.json()
        served = one.json()["next"]
    assert stored(bank, begun["id"]) == [(body["position"], body["selected"]) for body in bodies]


def test_of_two_different_answers_at_once_one_wins(bank: Bank, remotes: list[Remote]) -> None:
    begun = remotes[0].start("twice-different")
    served, won = begun["next"], []
    for _ in range(ROUNDS):
        bodies = [given(served, 0), given(served, 1)]
        replies = answer_both(remotes, begun["id"], bodies)
        assert sorted(reply.status_code for reply in replies) == [200, 409], [reply.text for reply in replies]
        [winner] = [place for place in (0, 1) if replies[place].status_code == 200]
        refused = replies[1 - winner].json()
        assert (refused["code"], refused["open_position"]) == ("position_conflict", served["position"] + 1)
        won.append((served["position"], bodies[winner]["selected"]))
        served = replies[winner].json()["next"]
    assert stored(bank, begun["id"]) == won


def test_an_item_answered_in_two_sessions_at_once_is_new_in_one_of_them(bank: Bank, remotes: list[Remote]) -> None:
    """The seed makes both sessions of a learner begin with the same item."""
    for round_ in range(ROUNDS):
        sessions = [remote.start(f"parallel-{round_}", seed=round_) for remote in remotes[:2]]
        assert sessions[0]["next"] == sessions[1]["next"]
        pairs = zip(remotes, sessions, strict=False)
        replies = at_once([partial(remote.answer, s["id"], given(s["next"])) for remote, s in pairs])
        assert [reply.status_code for reply in replies] == [200, 200], [reply.text for reply in replies]
        with transaction(bank.engine, writes=False) as db:
            learner = db.exec(select(Learner).where(Learner.external_id == f"parallel-{round_}")).one()
            query = sa.select(Response).join(Session).where(Session.learner_id == learner.id)
            answers = db.scalars(query).all()
            [met] = db.exec(select(LearnerItem).where(LearnerItem.learner_id == learner.id)).all()
        expected = [(ExposureClass.CLEAN_FIRST, True), (ExposureClass.REPEAT_REVEALED, False)]
        assert sorted((answer.exposure_class, answer.moves_ability) for answer in answers) == expected
        assert (met.answers, met.reveals) == (2, 2)


def test_a_new_learner_who_starts_twice_at_once_is_one_learner(bank: Bank, remotes: list[Remote]) -> None:
    for round_ in range(ROUNDS):
        calls = [partial(remote.start, f"new-{round_}") for remote in remotes]
        assert [session["learner"] for session in at_once(calls)] == [f"new-{round_}"] * len(remotes)
        with transaction(bank.engine, writes=False) as db:
            query = sa.select(sa.func.count()).where(Learner.external_id == f"new-{round_}")
            assert db.scalar(query) == 1


def test_the_first_sessions_on_a_changed_bank_make_one_pool_and_one_release(bank: Bank, remotes: list[Remote]) -> None:
    for round_ in range(5):
        with transaction(bank.engine, writes=True) as db:
            exam = db.exec(select(Exam)).one()
            make_item(db, exam, f"late-{round_}", now=datetime.now(UTC))
        before = made(bank)
        at_once([partial(remote.start, f"first-{round_}-{number}") for number, remote in enumerate(remotes)])
        assert made(bank) == (before[0] + 1, before[1] + 1)


def made(bank: Bank) -> tuple[int, int]:
    """Pools and releases there are."""
    with transaction(bank.engine, writes=False) as db:
        counts = [db.scalar(sa.select(sa.func.count()).select_from(model)) for model in (Pool, ParameterRelease)]
    return counts[0] or 0, counts[1] or 0
