"""Strata of a pool by discrimination, so that sharp items are kept for when the ability is nearly known.

Discriminations and difficulties go together in most pools, and strata made by discrimination alone would have easy
items first and hard ones last. So the items are sorted by difficulty into blocks of as many as there are strata, and
each block gives one item to each stratum (Chang, Qian & Ying, 2001, Applied Psychological Measurement 25(4), 333-341).
Sorting takes much longer than the rest of a step, so the strata of a pool are kept as long as the pool is.
"""

from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from engine.irt.types import FloatArray, IntArray
from engine.pool import Pool

Strata = npt.NDArray[np.int8]  # a policy has at most 20


def by_discrimination(a: FloatArray, b: FloatArray, *, strata: int) -> IntArray:
    """The stratum (I,) of each item, from 0 for the lowest discriminations to strata - 1 for the highest.

    a, b : (I,).  What counts is the size of a discrimination, as it does for information. Equal items keep their order.
    The last block may be too small: its items then get the strata in proportion, as if it had been spread out.

    >>> by_discrimination(np.array([2.0, 0.5, 0.6, 1.9]), np.array([-1.0, -0.9, 1.0, 1.1]), strata=2)
    array([1, 0, 0, 1])
    """
    blocks = np.empty(b.size, dtype=np.int64)
    blocks[np.argsort(b, kind="stable")] = np.arange(b.size) // strata
    order = np.lexsort((np.abs(a), blocks))  # by block, within it by discrimination
    rank = np.arange(b.size) % strata
    whole = b.size - b.size % strata
    rank[whole:] = rank[whole:] * strata // max(1, b.size - whole)
    found = np.empty(b.size, dtype=np.int64)
    found[order] = rank
    return found


def stratum_at(position: int, *, length: int, strata: int) -> int:
    """The stratum in turn at a position, from 1, of a sitting of this length: equal stretches, the last one to the end.

    >>> [stratum_at(position, length=6, strata=3) for position in range(1, 8)]
    [0, 0, 1, 1, 2, 2, 2]
    """
    return min(strata - 1, (position - 1) * strata // length)


def distance_in_strata(pool: Pool, span: slice, *, strata: int, stratum: int) -> FloatArray:
    """How many strata (n,) each item of a span is away from this one, with the strata of the span alone."""
    return np.abs(strata_of(pool, span, strata=strata) - stratum).astype(np.float64)


def strata_of(pool: Pool, span: slice, *, strata: int) -> Strata:
    """The stratum (n,) of each item of a span, as `by_discrimination` finds it among these items; read-only."""
    known = _known.get(pool)
    if known is None:
        with _lock:
            known = _known.setdefault(pool, {})
    key = (span.start, span.stop, strata)
    found = known.get(key)
    if found is None:  # two threads may both sort; they find the same
        found = by_discrimination(pool.a[span], pool.b[span], strata=strata).astype(np.int8)
        found.setflags(write=False)
        found = known.setdefault(key, found)
    return found


_known: WeakKeyDictionary[Pool, dict[tuple[int, int, int], Strata]] = WeakKeyDictionary()
_lock = Lock()
