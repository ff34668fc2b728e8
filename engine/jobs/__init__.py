"""Work that outlasts a request: what each kind of job does, and how one is run so that it is finished once.

A new kind is a handler, a function of `Work` that returns `Done`, and a row in `HANDLERS`.
"""

from collections.abc import Mapping

from engine.jobs.running import Done, Handler, Interrupted, Outcome, Run, Work, run_next
from engine.jobs.simulations import KIND as SIMULATION
from engine.jobs.simulations import simulate

HANDLERS: Mapping[str, Handler] = {SIMULATION: simulate}

__all__ = ["HANDLERS", "Done", "Handler", "Interrupted", "Outcome", "Run", "Work", "run_next"]
