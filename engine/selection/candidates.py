"""Candidate lists: the most informative items at every ability, found once, so that a step need not look at them all.

The ability grid is cut into cells. For each cell a list holds the items that inform most somewhere in it, and the most
information that any item left out can have there. A step evaluates the listed items exactly; what it finds is the true
maximum as long as it is above that bound, and if it is not, the step looks at every item. So the lists never change a
choice, and they take the same few hundred kilobytes for a pool of any size.
"""

from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from engine.irt import NODES, information
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.pool import Pool
from engine.selection.exposure import best

LISTED = 128  # items per cell: more than a sitting uses up there, few enough to evaluate in microseconds
EDGES = NODES[::2]  # cells of 0.2 logits
SLACK = 1e-9  # relative; covers the rounding of a bound
HALVINGS = 60  # of an interval of at most 1: to the last bit


@dataclass(frozen=True, slots=True)
class Candidates:
    """Lists for each cell between two EDGES; N items in each.

    listed : (cells, N), pool indices, ascending;  parameters : (cells, 4, N), their a, b, c, d
    rest : (cells,), no other item has as much information anywhere in the cell
    """

    listed: IntArray
    parameters: FloatArray
    rest: FloatArray

    @classmethod
    def of(cls, pool: Pool) -> "Candidates":
        count, cells = min(LISTED, len(pool)), EDGES.size - 1
        items = np.stack([pool.a, pool.b, pool.c, pool.d])
        listed = np.empty((cells, count), dtype=np.int64)
        rest = np.full(cells, -np.inf)
        peak, highest = peaks(*items)
        left = information(float(EDGES[0]), *items)
        for cell in range(cells):
            right = information(float(EDGES[cell + 1]), *items)
            inside = (EDGES[cell] <= peak) & (peak <= EDGES[cell + 1])
            most = np.where(inside, np.maximum(highest, left), np.maximum(left, right))
            order = np.argpartition(most, len(pool) - count) if count else np.empty(0, dtype=np.int64)
            listed[cell] = np.sort(order[len(pool) - count :])
            if count < len(pool):
                rest[cell] = most[order[: len(pool) - count]].max() * (1.0 + SLACK)
            left = right
        return cls(listed, np.ascontiguousarray(items[:, listed].swapaxes(0, 1)), rest)


def most_informative(
    pool: Pool, theta: float, eligible: BoolArray, count: int, *, span: slice | None = None
) -> tuple[IntArray, FloatArray]:
    """Pool indices and information of the `count` eligible items that inform most at `theta`, best first.

    theta : logits;  eligible : (I,), with at least `count` True in the span;  span : pool indices, None for all
    Of equal items the lower index comes first.
    """
    if span is not None and span != pool.span(None):
        return search(pool, theta, eligible, count, span)
    lists = _lists(pool)
    cell = int(np.searchsorted(EDGES[1:-1], theta, side="right"))
    listed = lists.listed[cell]
    if EDGES[0] <= theta <= EDGES[-1]:
        allowed = np.flatnonzero(eligible[listed])
        if allowed.size >= count:
            scores = information(theta, *lists.parameters[cell][:, allowed])
            ranked = best(scores, count)
            if allowed.size == len(pool) or scores[ranked[-1]] > lists.rest[cell]:
                return listed[allowed[ranked]], scores[ranked]
    return search(pool, theta, eligible, count, pool.span(None))


def search(pool: Pool, theta: float, eligible: BoolArray, count: int, span: slice) -> tuple[IntArray, FloatArray]:
    """As `most_informative`, by looking at every item of the span."""
    exact = information(theta, pool.a[span], pool.b[span], pool.c[span], pool.d[span])
    scores = np.where(eligible[span], exact, -np.inf)
    ranked = best(scores, count)
    return ranked + span.start, scores[ranked]


def peaks(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The ability (I,) in logits at which each item informs most, and how much it does there.

    As a function of the probability p, information is log-concave between c and d: its derivative has one root, found
    by halving.  An item without discrimination informs nowhere; its peak is put at b.
    Source of the curve: Magis (2013), Applied Psychological Measurement 37(4), 304-315.
    """
    with np.errstate(all="ignore"):
        low, high = c.copy(), d.copy()
        for _ in range(HALVINGS):
            p = 0.5 * (low + high)
            rises = 2.0 / (p - c) - 2.0 / (d - p) - 1.0 / p + 1.0 / (1.0 - p) > 0.0
            low, high = np.where(rises, p, low), np.where(rises, high, p)
        p = 0.5 * (low + high)
        place = b + np.log((p - c) / (d - p)) / a
        most = np.square(a * ((p - c) * (d - p) / (d - c))) / (p * (1.0 - p))
    found = np.isfinite(place)
    return np.where(found, place, b), np.minimum(np.where(found, most, 0.0), np.finfo(np.float64).max)


_known: WeakKeyDictionary[Pool, Candidates] = WeakKeyDictionary()
_lock = Lock()


def _lists(pool: Pool) -> Candidates:
    """The pool's lists, made when the criterion that needs them is first used; many pools never do."""
    lists = _known.get(pool)
    if lists is None:
        with _lock:
            lists = _known.get(pool)
            if lists is None:
                lists = _known[pool] = Candidates.of(pool)
    return lists
