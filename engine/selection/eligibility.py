"""Which items may be served next, before asking which of them is best."""

from collections.abc import Sequence

import numpy as np

from engine.irt.types import BoolArray, IntArray
from engine.pool import Pool


def eligible_items(
    pool: Pool, *, administered: IntArray, blocked: BoolArray, objectives: Sequence[int] | None = None
) -> BoolArray:
    """True (I,) for items that are not administered, no enemy of one that is, not blocked and within the objectives.

    Pretest items are none of them: they have slots of their own.

    administered : (n,), pool indices of this sitting so far;  blocked : (I,), seen in earlier sittings, suspended, ...
    objectives : indices of the objectives the sitting is limited to, None for all
    """
    if blocked.shape != (len(pool),):
        raise ValueError(f"blocked has shape {blocked.shape}, the pool {len(pool)} items")
    return within(pool, administered, ~(blocked | pool.pretest), objectives)


def within(
    pool: Pool, administered: IntArray, candidates: BoolArray, objectives: Sequence[int] | None = None
) -> BoolArray:
    """Those of the candidates (I,) that are not administered, no enemy of one that is, and within the objectives.

    The mask is changed in place.
    """
    eligible = candidates
    eligible[administered] = False
    for index in administered.tolist() if pool.enemies_of else ():
        if index in pool.enemies_of:
            eligible[pool.enemies_of[index]] = False
    if objectives is not None:
        known = set(range(len(pool.objective_codes)))
        if not objectives or not known.issuperset(objectives):
            raise ValueError(f"objectives {objectives}: None or some of 0 to {len(known) - 1} expected")
        for objective in known.difference(objectives):
            eligible[pool.span(objective)] = False
    return eligible


def objectives_with(pool: Pool, eligible: BoolArray) -> BoolArray:
    """True (K,) for objectives that have at least one eligible item."""
    found = np.zeros(len(pool.objective_codes), dtype=np.bool_)
    if pool.occupied.size:
        found[pool.occupied] = np.logical_or.reduceat(eligible, pool.objective_start[pool.occupied])
    return found
