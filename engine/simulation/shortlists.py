"""Maximum information for many examinees at once without looking at every item, and yet exactly.

The ability grid is cut into cells. For each cell a list holds items in the order of the most information they can have
anywhere in it. An examinee's cell is looked up, and the first items of the list that are still available are
evaluated exactly. The best of them is the best of all if it beats what the next item of the list can have at most;
where it does not, every item is looked at.
"""

from dataclasses import dataclass

import numpy as np

from engine.irt import LOGIT_LIMIT, NODES, information
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.pool import Pool

EVALUATED = 12  # items of a list from the first available one on: the best is among them but for one step in 300
SPARE = 24  # items of a list beyond those that a sitting can have used up
LOW, HIGH, WIDTH = float(NODES[0]), float(NODES[-1]), float(NODES[1] - NODES[0])

# The second derivative of log I(theta) is at most 2.5 a^2 in size for the 1PL to 4PL: with s = expit(a (theta - b)) it
# is a^2 times -4 s (1 - s), plus one term each for P and Q of at most (1 - s)^2 + (1 - s) and s^2 + s. A maximum inside
# a cell is at most half a cell from an edge, so it exceeds the larger edge by at most exp(2.5 a^2 (WIDTH / 2)^2 / 2).
CURVATURE = 2.5
LARGEST_EXPONENT, LARGEST = 700.0, float(np.finfo(np.float64).max)
ROUNDING = 1e-9  # relative; covers the rounding of a bound


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
        count = min(len(pool), longest + SPARE)
        everything = np.arange(len(pool))
        at_nodes = informing(pool, np.asarray(NODES), np.broadcast_to(everything, (NODES.size, len(pool))))  # (Q, I)
        with np.errstate(over="ignore"):
            exponent = 0.5 * CURVATURE * np.square(pool.a * (0.5 * WIDTH))
            slack = np.exp(np.minimum(exponent, LARGEST_EXPONENT)) * (1.0 + ROUNDING)
            most = np.maximum(at_nodes[:-1], at_nodes[1:]) * slack  # (C, I)
        rest = np.full((len(most), 1), -np.inf)
        listed = np.broadcast_to(everything, most.shape)
        if count < len(pool):
            cut = np.argpartition(-most, count, axis=1)
            rest = np.take_along_axis(most, cut[:, count : count + 1], axis=1)
            listed = np.sort(cut[:, :count], axis=1)
        ours = np.take_along_axis(most, listed, axis=1)
        order = np.argsort(-ours, axis=1, kind="stable")  # so of equal items the lower index comes first
        bounds = np.concatenate([np.take_along_axis(ours, order, axis=1), np.repeat(rest, EVALUATED, axis=1)], axis=1)
        return cls(pool, np.take_along_axis(listed, order, axis=1), np.ascontiguousarray(bounds))

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
