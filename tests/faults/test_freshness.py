"""What changes in the bank reaches learners, in every process: each server here is one, and both serve one database."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.factories.servers import Remote, Server, given
from tests.faults.conftest import Bank

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults-freshness")]
SERVED_WITHIN_S = 60
TO_OPERATIONAL = ("in_review", "approved", "operational")
NEW = {
    "kind": "single_choice",
    "objective": "2.1",
    "stem": "Which of these is new?",
    "options": [
        {"text": "This", "correct": True, "rationale": "So it is."},
        {"text": "That", "rationale": "It isn't."},
    ],
    "short_explanation": "In short.",
    "full_explanation": "At length.",
    "angoff": 0.5,
}


@pytest.fixture(scope="module")
def processes(bank: Bank, serve: Callable[..., Server]) -> Iterator[list[Remote]]:
    """A client of each of two processes, both warm: they have the exam's pool in their caches."""
    servers = [serve(bank.url, workers=1) for _ in range(2)]
    with ThreadPoolExecutor() as threads:
        remotes = [Remote(server.url, bank.key) for server in threads.map(Server.start, servers)]
    for number, remote in enumerate(remotes):
        remote.start(f"warm-{number}")
    yield remotes
    for remote in remotes:
        remote.http.close()


def move(remote: Remote, item: str, *stages: str) -> None:
    for stage in stages:
        reply = remote.http.post(f"/v1/items/{item}/transitions", json={"to": stage})
        assert reply.is_success, reply.text


def answer_all(remote: Remote, session: dict[str, Any]) -> list[str]:
    """Answer until nothing is left; the ids of the items served."""
    served, items = session["next"], []
    while served is not None:
        items.append(served["item"]["id"])
        reply = remote.answer(session["id"], given(served))
        assert reply.status_code == 200, reply.text
        served = reply.json()["next"]
    return items


def is_served(remote: Remote, item: str, learner: str) -> bool:
    """Whether a learner who practises the item's objective gets it."""
    return item in answer_all(remote, remote.start(learner, objectives=["2.1"]))


def test_a_new_item_is_served_within_a_minute_in_every_process(processes: list[Remote]) -> None:
    created = processes[0].http.post("/v1/exams/exam/items", json=NEW)
    assert created.status_code == 201, created.text
    item = created.json()["id"]
    move(processes[0], item, *TO_OPERATIONAL)
    end = time.monotonic() + SERVED_WITHIN_S
    for number, remote in enumerate(processes):
        attempt = 0
        while not is_served(remote, item, f"seeker-{number}-{attempt}"):
            assert time.monotonic() < end
            attempt += 1


def test_a_suspended_item_leaves_every_running_session_at_once(processes: list[Remote]) -> None:
    sessions = [remote.start(f"running-{number}", objectives=["1"], seed=1) for number, remote in enumerate(processes)]
    listed = processes[0].http.get("/v1/exams/exam/items", params={"limit": 100}).json()["data"]
    open_items = {session["next"]["item"]["id"] for session in sessions}
    off = next(item["id"] for item in listed if item["objective"] == "1.1" and item["id"] not in open_items)
    move(processes[0], off, "suspended")
    served = [answer_all(remote, session) for remote, session in zip(processes, sessions, strict=True)]
    assert all(off not in items for items in served)
    assert all(len(items) == len(set(items)) > 30 for items in served)
