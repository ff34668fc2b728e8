"""One job from claim to end: a handler computes, a thread beside it keeps the claim, and one transaction stores all.

A handler may be run again from the start at any time, since its worker may die at any time. What it returns is stored
together with its success, so whatever was stored, was stored once.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from threading import Event, Thread
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from engine.errors import EngineError
from itembank import jobs
from itembank.errors import ItemBankError
from itembank.jobs import LEASE, Claimed
from itembank.store import Db, transaction

BEAT_S = 2.0  # how often a running job is written: its progress, and that its worker is alive

Clock = Callable[[], datetime]


class Interrupted(BaseException):
    """Ends a handler from inside `Work.progress`: the worker stops, or has lost the job. Not for handlers to catch."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a handler made: a small result, and files by name."""

    result: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)


class Work:
    """A job as its handler sees it."""

    def __init__(self, engine: sa.Engine, job: Claimed, now: datetime, stopping: Event):
        self.job, self.now = job, now
        self.share, self.is_lost = 0.0, False
        self._engine, self._stopping = engine, stopping

    @contextmanager
    def transaction(self, *, writes: bool = False) -> Iterator[Db]:
        """A short transaction; what is to be stored once belongs into `Done` instead."""
        with transaction(self._engine, writes=writes) as db:
            yield db

    def progress(self, share: float) -> None:
        """Say how much is done, 0 to 1. Call it often: raises Interrupted when the work is to end here."""
        self.share = min(max(share, 0.0), 1.0)
        if self._stopping.is_set() or self.is_lost:
            raise Interrupted


Handler = Callable[[Work], Done]


class Outcome(StrEnum):
    """How an attempt ended."""

    succeeded = "succeeded"
    failed = "failed"
    retried = "retried"  # something that may be over in a moment was in the way
    given_back = "given_back"  # the worker stops
    lost = "lost"  # another worker has it, since this one was not heard of


@dataclass(frozen=True, slots=True)
class Run:
    """An attempt. error : the exception that ended it, if any"""

    uuid: UUID
    kind: str
    outcome: Outcome
    error: Exception | None = None


def run_next(
    engine: sa.Engine,
    handlers: Mapping[str, Handler],
    *,
    clock: Clock,
    stopping: Event,
    is_transient: Callable[[Exception], bool] = lambda _error: False,
) -> Run | None:
    """Run the next job of the kinds that have a handler; None if there is none.

    stopping : once set, the handler is ended at its next word on progress and the job given back
    is_transient : whether an exception may not come again, so that the job is tried again later
    Raises what the database raises; the job is then claimed anew when its lease is over.
    """
    with transaction(engine, writes=False) as db:
        if not jobs.is_any_claimable(db, handlers, now=clock()):
            return None
    with transaction(engine, writes=True) as db:
        job = jobs.claim(db, list(handlers), now=clock())
    if job is None:
        return None
    work = Work(engine, job, clock(), stopping)
    try:
        with beating(engine, work, clock):
            done = handlers[job.kind](work)
    except Interrupted:
        outcome = Outcome.lost if work.is_lost else Outcome.given_back
        return ended(engine, job, outcome, clock)
    except Exception as error:
        outcome = Outcome.retried if is_transient(error) else Outcome.failed
        return ended(engine, job, outcome, clock, error)
    with transaction(engine, writes=True) as db:
        is_stored = jobs.finish(db, job, result=done.result, files=done.files, now=clock())
    return Run(job.uuid, job.kind, Outcome.succeeded if is_stored else Outcome.lost)


def ended(engine: sa.Engine, job: Claimed, outcome: Outcome, clock: Clock, error: Exception | None = None) -> Run:
    """Store how an attempt ended without success."""
    with transaction(engine, writes=True) as db:
        match outcome:
            case Outcome.retried:
                is_mine = jobs.retry(db, job, error=told(error), now=clock())
            case Outcome.failed:
                is_mine = jobs.fail(db, job, error=told(error), now=clock())
            case Outcome.given_back:
                is_mine = jobs.give_back(db, job, now=clock())
            case _:
                is_mine = False
    return Run(job.uuid, job.kind, outcome if is_mine else Outcome.lost, error)


def told(error: Exception | None) -> str:
    """What the row says of an error: our own errors speak for themselves, of others the log has the details."""
    is_ours = isinstance(error, EngineError | ItemBankError)
    if is_ours:
        return str(error)
    if isinstance(error, DBAPIError):
        return "the database could not be used"
    return f"an internal error ({type(error).__name__}); the worker's log has more"


@contextmanager
def beating(engine: sa.Engine, work: Work, clock: Clock) -> Iterator[None]:
    """Keep the claim alive while the block runs, however long one of its steps takes."""
    over = Event()
    thread = Thread(target=beat, args=(engine, work, clock, over), name="beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def beat(engine: sa.Engine, work: Work, clock: Clock, over: Event) -> None:
    """Until it is over. A database that can't be used is tried again until the lease must have ended."""
    heard = clock()
    while not over.wait(BEAT_S):
        now = clock()
        try:
            with transaction(engine, writes=True) as db:
                work.is_lost = not jobs.beat(db, work.job, progress=work.share, now=now)
            heard = now
        except (DBAPIError, sa.exc.TimeoutError):
            work.is_lost = now - heard >= LEASE
        if work.is_lost:
            return
