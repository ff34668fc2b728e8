"""Item eligibility for many examinees: which items each does without, so that none comes in too many sittings.

A session judges by the latest sessions when it starts. Examinees who sit in lock-step start together, in *cohorts*, and
know only of the sittings of the cohorts before theirs. A cohort is never larger than all before it together, so the
first examinees are nearly in a row, and of at most LARGEST_COHORT.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from engine.irt.types import BoolArray, FloatArray, IndexArray, IntArray
from engine.pool import Pool
from engine.selection import rng_for
from engine.selection.beginning import EXPOSURE_STREAM
from engine.selection.content import shares
from engine.selection.exposure import drawn, eligibility
from engine.simulation.batch import by_objective
from engine.simulation.rules import Rules

LARGEST_COHORT = 64  # more would go faster, and all of them would get what none should get too often
WINDOW = 500  # latest sittings by which exposure is judged: as many as a session looks back

Bits = npt.NDArray[np.uint8]


def cohorts(count: int) -> Iterator[range]:
    """Numbers of examinees who start together.

    >>> [len(cohort) for cohort in cohorts(200)]
    [1, 1, 2, 4, 8, 16, 32, 64, 64, 8]
    """
    start = 0
    while start < count:
        stop = min(count, start + min(max(1, start), LARGEST_COHORT))
        yield range(start, stop)
        start = stop


class Exposing:
    """What the latest sittings served and did without, and the lotteries that follow from it."""

    def __init__(self, pool: Pool, rules: Rules, maximum: float):
        self._pool, self._policy, self._maximum = pool, rules.policy, maximum
        self._wanted = min(rules.maximum_length, len(pool))
        whole = np.ones((1, len(pool)), dtype=np.bool_)
        self._need = needed(pool, rules)
        self._short = self._shortages(whole)
        self._served, self._eligible = (np.empty((0, -(-len(pool) // 8)), dtype=np.uint8) for _ in range(2))
        self._new: list[tuple[Bits, Bits]] = []
        self._chances = np.ones(len(pool))

    def available(self, seeds: IntArray) -> BoolArray:
        """The items (n, I) that examinees with these seeds (n,) may get: all those that did not lose their lottery.

        All items for an examinee who would else have too few for the length, or for an objective's part of it.
        """
        chances = self._chances
        drawings = [drawn(chances, rng_for(seed, 0, EXPOSURE_STREAM)) for seed in seeds.tolist()]
        available = np.stack(drawings)
        enough = np.count_nonzero(available, axis=1) >= self._wanted
        if self._policy.content_balancing:
            enough &= ~(self._shortages(available) & ~self._short).any(axis=1)
        available[~enough] = True
        return available

    def remember(self, items: IndexArray, available: BoolArray) -> None:
        """Sittings that served these items (n, L), -1 for none, of those that were available (n, I) at their start."""
        served = np.zeros((len(items), len(self._pool) + 1), dtype=np.bool_)
        np.put_along_axis(served, items.astype(np.int64), True, axis=1)  # -1 is the place beyond the items
        self._new.append((np.packbits(served[:, :-1], axis=1), np.packbits(available, axis=1)))

    def close(self) -> None:
        """End a cohort: its sittings count from now on."""
        self._served = np.concatenate([self._served, *(served for served, _ in self._new)])[-WINDOW:]
        self._eligible = np.concatenate([self._eligible, *(eligible for _, eligible in self._new)])[-WINDOW:]
        self._new.clear()
        self._chances = eligibility(self._counts(self._served), self._counts(self._eligible), maximum=self._maximum)

    def _counts(self, bits: Bits) -> IntArray:
        return np.asarray(np.unpackbits(bits, axis=1, count=len(self._pool)).sum(axis=0, dtype=np.int64))

    def _shortages(self, available: BoolArray) -> BoolArray:
        """The objectives (n, K) that may run out, as `selection.content.shortages` finds them."""
        return by_objective(self._pool, alone(self._pool, available)) < self._need


def needed(pool: Pool, rules: Rules) -> FloatArray:
    """Items (K,) that a sitting of the maximum length needs of each objective."""
    everything = np.ones(len(pool.objective_codes), dtype=np.bool_)
    return np.asarray(np.ceil(shares(pool.objective_weights, everything) * rules.maximum_length - 1e-9))


def alone(pool: Pool, available: BoolArray) -> BoolArray:
    """The items of masks (n, I) that have no enemy among them."""
    if not pool.enemies_of:
        return available
    items = sorted(pool.enemies_of)
    sizes = [pool.enemies_of[item].size for item in items]
    enemies = np.concatenate([pool.enemies_of[item] for item in items])
    crowded = np.logical_or.reduceat(available[:, enemies], np.cumsum([0, *sizes[:-1]]), axis=1)
    peaceful = available.copy()
    peaceful[:, items] &= ~crowded
    return peaceful
