"""One job from claim to end, whatever ends it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from engine.jobs import Done, Outcome, Work, running
from itembank import jobs
from itembank.content import JobStatus
from itembank.errors import Conflict
from itembank.jobs import LEASE
from itembank.store import transaction
from tests.factories.clock import Clock
from tests.factories.jobs import add_job, files_of, read_job, run_toy


def test_a_job_is_run_and_what_it_made_is_stored(engine: sa.Engine, clock: Clock) -> None:
    number = add_job(engine, size=2)
    run = run_toy(engine, lambda work: Done({"size": work.job.arguments["size"]}, {"a.csv": b"a"}), clock)
    assert run is not None
    stored = read_job(engine, number)
    assert (run.outcome, stored.status, stored.result) == (Outcome.succeeded, JobStatus.SUCCEEDED, {"size": 2})
    with transaction(engine, writes=False) as db:
        assert files_of(db, number) == {"a.csv": b"a"}
    assert run_toy(engine, lambda _work: Done(), clock) is None


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Conflict("the exam has no items"), "the exam has no items"),
        (KeyError("of a learner"), "an internal error (KeyError); the worker's log has more"),
    ],
)
def test_what_would_fail_again_says_why_and_is_not_tried_again(
    engine: sa.Engine, clock: Clock, error: Exception, told: str
) -> None:
    number = add_job(engine)

    def handler(_work: Work) -> Done:
        raise error

    run = run_toy(engine, handler, clock)
    assert run is not None
    assert (run.outcome, run.error) == (Outcome.failed, error)
    stored = read_job(engine, number)
    assert (stored.status, stored.error, stored.finished_at) == (JobStatus.FAILED, told, clock())


def test_what_may_be_over_in_a_moment_is_tried_again(engine: sa.Engine, clock: Clock) -> None:
    number, results = add_job(engine), iter([OperationalError("", {}, Exception("gone")), None])

    def handler(_work: Work) -> Done:
        if (error := next(results)) is not None:
            raise error
        return Done()

    first = run_toy(engine, handler, clock, is_transient=lambda error: isinstance(error, OperationalError))
    assert first is not None
    assert (first.outcome, read_job(engine, number).error) == (Outcome.retried, "the database could not be used")
    assert run_toy(engine, handler, clock) is None
    clock.advance(seconds=5)
    second = run_toy(engine, handler, clock)
    assert second is not None
    stored = read_job(engine, number)
    assert (second.outcome, stored.attempts, stored.error) == (Outcome.succeeded, 2, None)


def test_a_worker_that_stops_gives_its_job_back(engine: sa.Engine, clock: Clock) -> None:
    number, stopping = add_job(engine), Event()

    def handler(work: Work) -> Done:
        work.progress(0.5)
        stopping.set()
        work.progress(0.6)
        raise AssertionError("went on")

    run = run_toy(engine, handler, clock, stopping)
    assert run is not None
    stored = read_job(engine, number)
    assert (run.outcome, stored.status, stored.attempts) == (Outcome.given_back, JobStatus.QUEUED, 0)
    assert stored.progress == 0.0


def test_a_worker_that_was_too_slow_stores_nothing(engine: sa.Engine, clock: Clock) -> None:
    number = add_job(engine)

    def handler(_work: Work) -> Done:
        clock.advance(seconds=LEASE.total_seconds())
        with transaction(engine, writes=True) as db:
            assert jobs.claim(db, ["toy"], now=clock()) is not None
        return Done({"by": "the slow one"}, {"a": b"slow"})

    run = run_toy(engine, handler, clock)
    assert run is not None
    stored = read_job(engine, number)
    assert (run.outcome, stored.status, stored.result) == (Outcome.lost, JobStatus.RUNNING, None)
    with transaction(engine, writes=False) as db:
        assert files_of(db, number) == {}


def test_a_running_job_is_kept_and_tells_how_far_it_is(
    engine: sa.Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BEAT_S", 0.01)
    number, seen = add_job(engine), []

    def handler(work: Work) -> Done:
        clock.advance(seconds=LEASE.total_seconds() / 2)
        work.progress(0.5)
        while (stored := read_job(engine, number)).progress == 0.0:
            work.progress(0.5)
        seen.append((stored.progress, stored.lease_until))
        return Done()

    run_toy(engine, handler, clock)
    assert seen == [(0.5, clock() + LEASE)]


def test_a_handler_is_ended_when_its_job_is_another_workers(
    engine: sa.Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BEAT_S", 0.01)
    add_job(engine)

    def handler(work: Work) -> Done:
        clock.advance(seconds=LEASE.total_seconds())
        with transaction(engine, writes=True) as db:
            assert jobs.claim(db, ["toy"], now=clock()) is not None
        while True:
            work.progress(0.1)

    run = run_toy(engine, handler, clock)
    assert run is not None
    assert run.outcome is Outcome.lost


def test_many_workers_at_once_run_each_job_once(engine: sa.Engine, clock: Clock) -> None:
    numbers = [add_job(engine, number=place) for place in range(12)]
    ran: list[int] = []
    barrier = Barrier(4)

    def handler(work: Work) -> Done:
        ran.append(work.job.arguments["number"])
        return Done()

    def work_off() -> None:
        barrier.wait()
        while run_toy(engine, handler, clock) is not None:
            pass

    with ThreadPoolExecutor(4) as threads:
        for each in [threads.submit(work_off) for _ in range(4)]:
            each.result()
    while run_toy(engine, handler, clock) is not None:  # of what all the others had locked when one looked
        pass
    assert sorted(ran) == list(range(12))
    assert {read_job(engine, number).status for number in numbers} == {JobStatus.SUCCEEDED}
