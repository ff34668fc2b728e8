"""Maximum information for many examinees at once without looking at every item, and yet exactly.

The lists are those of `selection.candidates`, and so is the proof: the first items of an examinee's list that are still
available are evaluated exactly, and the best of them is the best of all if it beats what the next item of the list can
have at most. Where it does not, every item is looked at.
"""

from dataclasses import dataclass

import numpy as np

from engine.irt import LOGIT_LIMIT, NODES, information
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.pool import Pool
from engine.selection.candidates import Candidates

EVALUATED = 12  # items of a list from the first available one on: the best is among them but for one step in 300
SPARE = 24  # items of a list beyond those that a sitting can have used up
LOW, HIGH, WIDTH = float(NODES[0]), float(NODES[-1]), float(NODES[1] - NODES[0])
LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True)
class Shortlists:
    """Lists of N items for C cells of the ability grid.

    listed : (C, N), pool indices;  bounds : (C, N + EVALUATED), the most information that no later item exceeds in the
    cell; the columns from N on hold the bound of the items that are not listed, minus infinity if there are none
    """

    pool: Pool
    listed: IntArray
    bounds: FloatArray

    @classmethod
    def of(cls, pool: Pool, longest: int) -> "Shortlists":
        """Lists for sittings of at most `longest` items."""
        lists = Candidates.of(pool, longest + SPARE)
        beyond = np.repeat(lists.most[:, -1:], EVALUATED, axis=1)
        return cls(pool, lists.listed, np.concatenate([lists.most[:, :-1], beyond], axis=1))

    def best(self, theta: FloatArray, available: BoolArray) -> IntArray:
        """The available item (n,) with most information for each examinee, -1 where none is available.

        theta : (n,), logits, within the ability grid;  available : (n, I)
        Of items with the same parameters the one with the lowest pool index is taken.
        """
        pool, count = self.pool, self.listed.shape[1]
        rows = np.arange(theta.size)
        cell = np.clip(((theta - LOW) / WIDTH).astype(np.int64), 0, len(self.listed) - 1)
        free = available.reshape(-1).take(self.listed.take(cell, axis=0) + (rows * len(pool))[:, None])  # (n, N)
        first = free.argmax(axis=1)
        window = np.minimum(first[:, None] + np.arange(EVALUATED), count - 1)  # (n, m)
        items = self.listed.reshape(-1).take(window + (cell * count)[:, None])
        scores = informing(pool, theta, items)
        np.copyto(scores, -np.inf, where=~free.reshape(-1).take(window + (rows * count)[:, None]))
        place = scores.argmax(axis=1) + rows * EVALUATED
        chosen = np.asarray(items.reshape(-1).take(place))
        next_most = self.bounds.reshape(-1).take(cell * self.bounds.shape[1] + first + EVALUATED)
        unproven = np.flatnonzero(scores.reshape(-1).take(place) <= next_most)
        if unproven.size:
            everything = np.broadcast_to(np.arange(len(pool)), (unproven.size, len(pool)))
            scores = informing(pool, theta[unproven], everything)
            scores[~available[unproven]] = -np.inf
            found = scores.argmax(axis=1)
            chosen[unproven] = np.where(available[unproven, found], found, -1)
        return chosen


def informing(pool: Pool, theta: FloatArray, items: IntArray) -> FloatArray:
    """Fisher information (n, m) of items (n, m) at abilities (n,).

    Without asymptotes it is a^2 exp(-|z|) / (1 + exp(-|z|))^2 with z = a (theta - b), in a quarter of the time.
    """
    a, b = pool.a.take(items), pool.b.take(items)
    if pool.c.any() or (pool.d < 1.0).any():
        return information(theta, a, b, pool.c.take(items), pool.d.take(items))
    with np.errstate(over="ignore"):
        z = theta[:, None] - b
        z *= a
        np.abs(z, out=z)
        np.minimum(z, LOGIT_LIMIT, out=z)
        np.negative(z, out=z)
        small = np.exp(z, out=z)
        large = small + 1.0
        large *= large
        small /= large
        small *= a
        small *= a
        return np.minimum(small, LARGEST, out=small)
