"""Content balancing: which objective the next item comes from, so that a sitting keeps to the blueprint's proportions.

Always serving the objective with the largest deficit is the obvious rule, but with many objectives of unequal weight it
can stray by more than one item. Instead the one comes next that would be overdue first, among those whose deficit is
large enough; then no objective is ever a whole item away from its share, at any length, while all have items left.
Source: Tijdeman (1980), The chairman assignment problem, Discrete Mathematics 32(3), 323-330.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.pool import Pool


class Shortage(NamedTuple):
    """An objective with fewer items to serve than a sitting needs of it."""

    code: str
    have: int
    need: int


def shares(weights: FloatArray, in_play: BoolArray) -> FloatArray:
    """Weights (K,) of the objectives in play, sum 1, 0 for the others; equal shares where none in play has a weight."""
    kept = weights * in_play
    total = np.add.reduce(kept)
    return np.asarray(kept / total if total > 0.0 else in_play / np.count_nonzero(in_play))


def deficits(share: FloatArray, counts: IntArray, in_play: BoolArray) -> FloatArray:
    """How many items each objective is short of its share of a sitting one item longer, (K,); 0 for those not in play.

    share : (K,), from `shares`;  counts : (K,), items administered so far.  Only items of objectives in play count, so
    an objective that has run out leaves the others in proportion to each other.  The deficits sum to 1.
    """
    kept = counts * in_play
    return np.asarray(share * (1 + np.add.reduce(kept)) - kept)


def most_urgent(share: FloatArray, deficit: FloatArray) -> int:
    """The objective to serve next; the lower index where two are equally urgent.

    A deficit that nothing is done about grows by its share per item and must not pass 1 - margin: the fewer items until
    then, the more urgent.  An objective with a deficit below the margin waits, or it would get ahead of its share.
    """
    margin = 0.5 / max(1, int(np.count_nonzero(share)) - 1)  # 1 / (2 K - 2)
    due = np.flatnonzero(deficit >= margin * (1.0 - 1e-9))  # all in play and with a share, else there is no deficit
    return int(due[((1.0 - margin - deficit[due]) / share[due]).argmin()])


def neediest_by_domain(pool: Pool, counts: IntArray, in_play: BoolArray) -> tuple[int, FloatArray]:
    """The objective to serve next where domains come first, and the deficits (K,) of all objectives in items.

    counts : (K,), items administered so far;  in_play : (K,), objectives with an eligible item
    The neediest domain, then the neediest of its objectives by their shares in it: so a short sitting touches every
    domain, which with many small objectives in a domain it would else not.
    """
    domains = len(pool.domain_codes)
    weights: FloatArray = np.bincount(pool.domain, pool.objective_weights * in_play, domains).astype(np.float64)
    share = shares(weights, np.bincount(pool.domain, in_play, domains) > 0)
    playing = share > 0.0
    domain = most_urgent(share, deficits(share, np.bincount(pool.domain, counts, domains).astype(np.int64), playing))
    inside = in_play & (pool.domain == domain)
    own = shares(pool.objective_weights, inside)
    everywhere = shares(pool.objective_weights, in_play)
    return most_urgent(own, deficits(own, counts, inside)), deficits(everywhere, counts, in_play)


def shortages(
    pool: Pool, eligible: BoolArray, *, length: int, objectives: Sequence[int] | None = None
) -> list[Shortage]:
    """The objectives that may run out in a sitting of this length; none means that the proportions hold to its end.

    eligible : (I,), at the start;  objectives : indices of those the sitting is limited to, None for all
    An item with an eligible enemy doesn't count, since the enemy may come first.
    """
    wanted = np.zeros(len(pool.objective_codes), dtype=np.bool_)
    wanted[list(range(len(wanted)) if objectives is None else objectives)] = True
    alone = eligible.copy()
    for index, enemies in pool.enemies_of.items():
        alone[index] &= not eligible[enemies].any()
    have = np.bincount(pool.objective[alone], minlength=len(wanted))
    need = np.ceil(shares(pool.objective_weights, wanted) * length - 1e-9).astype(np.int64)
    short = np.flatnonzero(have < need).tolist()
    return [Shortage(pool.objective_codes[k], int(have[k]), int(need[k])) for k in short]
