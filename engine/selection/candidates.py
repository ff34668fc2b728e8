"""Candidate lists: the most informative items at every ability, found once, so that a step need not look at them all.

The ability grid is cut into cells. For each cell a list holds items in the order of the most information they can have
anywhere in it. A step evaluates the first of them exactly; what it finds is the true maximum as long as it is above
what the next item of the list can have at most, and if it is not, the step looks at every item. So the lists never
change a choice, and they take a few hundred kilobytes for a pool of any size. Simulation reads the same lists.
"""

from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from engine.irt import NODES, information
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.pool import Pool
from engine.selection.exposure import best

LISTED = 128  # items per cell for a step: more than a sitting uses up there
SPARE = 24  # items that a step evaluates beyond those it asks for
SLACK = 1e-9  # relative; covers the rounding of a bound
HALVINGS = 60  # of an interval of at most 1: to the last bit


@dataclass(frozen=True, slots=True)
class Candidates:
    """Lists of N items for each of C cells, between neighbouring nodes of the ability grid.

    listed : (C, N), pool indices, those that can inform most in the cell first, of equal ones the lower index
    most : (C, N + 1), no item from this place of the list on has more information anywhere in the cell; the last column
    is for the items that are not listed, minus infinity if there are none
    """

    listed: IntArray
    most: FloatArray

    @classmethod
    def of(cls, pool: Pool, count: int = LISTED) -> "Candidates":
        """The lists of a pool, each of `count` items at most."""
        count, cells = min(count, len(pool)), NODES.size - 1
        items = (pool.a, pool.b, pool.c, pool.d)
        listed, most = np.empty((cells, count), dtype=np.int64), np.full((cells, count + 1), -np.inf)
        peak, highest = peaks(*items)
        left = information(float(NODES[0]), *items)
        for cell in range(cells):
            right = information(float(NODES[cell + 1]), *items)
            inside = (NODES[cell] <= peak) & (peak <= NODES[cell + 1])
            bound = np.maximum(np.maximum(left, right), np.where(inside, highest, 0.0))
            with np.errstate(over="ignore"):  # infinite is a bound, too
                listed[cell], most[cell] = first(bound * (1.0 + SLACK), count)
            left = right
        return cls(listed, most)


def first(bound: FloatArray, count: int) -> tuple[IntArray, FloatArray]:
    """The `count` places with the highest bounds, in order, and their bounds, followed by the highest of the others."""
    if count < bound.size:
        parted = np.argpartition(-bound, count)
        chosen, rest = np.sort(parted[:count]), bound[parted[count]]
    else:
        chosen, rest = np.arange(bound.size), -np.inf
    order = chosen[np.argsort(-bound[chosen], kind="stable")]
    return order, np.append(bound[order], rest)


def most_informative(
    pool: Pool, theta: float, eligible: BoolArray, count: int, *, span: slice | None = None
) -> tuple[IntArray, FloatArray]:
    """Pool indices and information of the `count` eligible items that inform most at `theta`, best first.

    theta : logits;  eligible : (I,), with at least `count` True in the span;  span : pool indices, None for all
    Of equal items the lower index comes first.
    """
    if span is not None and span != pool.span(None):
        return search(pool, theta, eligible, count, span)
    if NODES[0] <= theta <= NODES[-1]:
        lists = _lists(pool)
        cell = int(np.searchsorted(NODES[1:-1], theta, side="right"))
        listed = lists.listed[cell]
        allowed = np.flatnonzero(eligible[listed])[: count + SPARE]
        if allowed.size >= count:
            places = np.sort(listed[allowed])
            scores = information(theta, pool.a[places], pool.b[places], pool.c[places], pool.d[places])
            ranked = best(scores, count)
            if scores[ranked[-1]] > lists.most[cell, allowed[-1] + 1]:
                return places[ranked], scores[ranked]
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
