"""`kill -9` under load: what was acknowledged is in the log once, and everybody goes on where they were."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
import pytest
import sqlalchemy as sa
from sqlmodel import select

from engine import replaying
from engine.irt import estimate
from itembank.models import Item, ItemVersion, Response, Score, Session
from itembank.store import Db, transaction
from tests.factories.servers import PATIENCE_S, Remote, Server, given
from tests.faults.conftest import Bank

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults-kill")]
LEARNERS = 8
LENGTH = 30
KILLED_AFTER = (40, 120)  # acknowledged answers


@dataclass
class Acknowledged:
    """Answers and replies that reached a client, by (session, position); shared by the learners' threads."""

    replies: dict[tuple[str, int], tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=dict)
    retries: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, session: str, body: dict[str, Any], reply: dict[str, Any]) -> None:
        with self.lock:
            self.replies[session, body["position"]] = (body, reply)

    def await_count(self, count: int) -> None:
        end = time.monotonic() + PATIENCE_S
        while len(self.replies) < count and time.monotonic() < end:
            time.sleep(0.002)


def insist(remote: Remote, session: str, body: dict[str, Any], acknowledged: Acknowledged) -> dict[str, Any]:
    """Send an answer again, the same, until there is a reply."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            reply = remote.answer(session, body)
        except httpx.TransportError:
            with acknowledged.lock:
                acknowledged.retries += 1
            time.sleep(0.05)
            continue
        assert reply.status_code == 200, reply.text
        step: dict[str, Any] = reply.json()
        acknowledged.add(session, body, step)
        return step
    raise AssertionError("the server did not come back")


def learn(bank: Bank, url: str, session: dict[str, Any], acknowledged: Acknowledged) -> None:
    """Answer to the end."""
    served = session["next"]
    with Remote(url, bank.key) as remote:
        while served is not None:
            body = given(served, served["position"] % 4)
            served = insist(remote, session["id"], body, acknowledged)["next"]


def log(db: Db) -> dict[tuple[str, int], tuple[str, list[str]]]:
    """(session, position) to (item, selected) of every answer in the log."""
    query = (
        sa.select(Session.uuid, Response.position, Item.uuid, Response.selected)
        .select_from(Response)
        .join(Session, Session.id == Response.session_id)
        .join(ItemVersion, ItemVersion.id == Response.item_version_id)
        .join(Item, Item.id == ItemVersion.item_id)
    )
    rows = db.execute(query).all()
    entries = {(str(session), position): (str(item), selected) for session, position, item, selected in rows}
    assert len(entries) == len(rows)
    return entries


def check_log(bank: Bank, acknowledged: dict[tuple[str, int], tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """Every acknowledged answer is in the log as it was given, with exactly one score."""
    with transaction(bank.engine, writes=False) as db:
        entries = log(db)
        answers, scored = (
            db.scalar(sa.select(sa.func.count()).select_from(Response)),
            db.scalars(sa.select(Score.response_id)).all(),
        )
    assert answers == len(scored) == len(set(scored))
    for place, (body, _) in acknowledged.items():
        assert entries.get(place) == (body["item"], body["selected"])


def check_session(db: Db, session: Session) -> None:
    """A session's state is what its log says, and its course is what deciding it again gives, bit for bit."""
    answered = db.exec(select(Response).where(Response.session_id == session.id).order_by(Response.position)).all()
    assert [response.position for response in answered] == list(range(1, LENGTH + 1))
    assert session.administered == [response.item_version_id for response in answered]
    assert len(set(session.administered)) == LENGTH
    now = estimate(np.frombuffer(session.log_posterior))
    assert tuple(now) == (answered[-1].theta_after, answered[-1].standard_error_after)
    assert replaying.replay(db, session, tolerance=0.0) == []


def test_no_acknowledged_answer_is_lost_or_doubled(bank: Bank, server: Server) -> None:
    acknowledged = Acknowledged()
    policy = {"maximum_length": LENGTH}
    with Remote(server.url, bank.key) as remote:
        sessions = [remote.start(f"learner-{number}", policy=policy) for number in range(LEARNERS)]
    with ThreadPoolExecutor(LEARNERS) as threads:
        running = [threads.submit(learn, bank, server.url, session, acknowledged) for session in sessions]
        for count in KILLED_AFTER:
            acknowledged.await_count(count)
            server.kill()
            with acknowledged.lock:
                seen = dict(acknowledged.replies)
            check_log(bank, seen)
            server.start()
        for each in running:
            each.result()
    assert acknowledged.retries > 0
    assert len(acknowledged.replies) == LEARNERS * LENGTH
    check_log(bank, acknowledged.replies)
    with transaction(bank.engine, writes=False) as db:
        assert log(db).keys() == acknowledged.replies.keys()
        for session in db.exec(select(Session)).all():
            check_session(db, session)
