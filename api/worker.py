"""The worker: runs jobs one after another until it is told to stop. Any number of them share one database.

It looks for work once a second and needs nothing but the database; see docs/decisions/0013-jobs-are-polled.md.
"""

import time
from collections.abc import Mapping
from threading import Event

import sqlalchemy as sa
from structlog.typing import FilteringBoundLogger

from api.errors import is_outage
from engine.jobs import HANDLERS, Handler, Outcome, run_next
from engine.jobs.running import Clock

IDLE_S = 1.0  # between looks at an empty queue
OUTAGE_S = 2.0  # before a database that is away is tried again


class Worker:
    """stop : may be called from a signal handler or another thread"""

    def __init__(
        self,
        engine: sa.Engine,
        *,
        clock: Clock,
        log: FilteringBoundLogger,
        handlers: Mapping[str, Handler] = HANDLERS,
    ):
        self._engine, self._clock, self._log, self._handlers = engine, clock, log, handlers
        self._stopping = Event()

    def stop(self) -> None:
        """Take no more jobs, and give back the one that is running as soon as it can be ended."""
        self._stopping.set()

    def run(self) -> None:
        """Work until told to stop."""
        while not self._stopping.is_set():
            try:
                is_idle = not self.run_one()
            except Exception as error:
                if not is_outage(error):
                    raise
                self._log.warning("job database away", error=type(error).__name__)
                self._stopping.wait(OUTAGE_S)
                continue
            if is_idle:
                self._stopping.wait(IDLE_S)

    def run_one(self) -> bool:
        """Run one job; False if there is none."""
        begun = time.monotonic()
        run = run_next(self._engine, self._handlers, clock=self._clock, stopping=self._stopping, is_transient=is_outage)
        if run is None:
            return False
        write = self._log.error if run.outcome is Outcome.failed else self._log.info
        facts = {"job": str(run.uuid), "kind": run.kind, "outcome": run.outcome.value}
        write("job", **facts, seconds=round(time.monotonic() - begun, 3), exc_info=run.error)
        return True
