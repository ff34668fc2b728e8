"""Which constraints clash, when no form meets them all: a small set of which each one is needed for the clash.

First the elastic filter: every constraint may be broken at a price; what the cheapest solution breaks may then not be
broken any more, until what is unbreakable has no solution at all. Then the deletion filter: of those, whatever can be
left out while there is still no solution is left out. Where there are several clashes, it is one of them.
Source: Chinneck & Dravnieks (1991), ORSA Journal on Computing 3(2), 157-168.
"""

import math

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array, eye_array, hstack

from engine.errors import Unsolved
from engine.irt.types import BoolArray, FloatArray, IntArray

SECONDS = 10.0  # for one question whether some of the constraints have a solution
INFEASIBLE = 2


def clash(
    matrix: csc_array, lower: FloatArray, upper: FloatArray, owner: IntArray, low: FloatArray, high: FloatArray
) -> IntArray:
    """Ascending owners of rows that have no whole solution together, while without any one of them they have.

    matrix : (R, N);  lower, upper : (R,);  owner : (R,), what a row belongs to;  low, high : (N,), bounds of columns
    Empty if all rows have a solution together.  Raises Unsolved if that can't be told in time.
    """
    scale = np.maximum(np.abs(matrix).max(axis=1).toarray().ravel(), 1e-12)  # a broken row counts in its largest unit
    rows = csc_array(matrix.multiply(1.0 / scale[:, None]))
    question = Question(rows, lower / scale, upper / scale, low, high)
    hard = np.zeros(owner.size, dtype=np.bool_)
    while (broken := question.broken(hard)) is not None:
        if not broken.any():
            return np.empty(0, dtype=np.int64)
        hard |= np.isin(owner, owner[broken])
    kept = np.unique(owner[hard])
    for one in kept.tolist():
        without = kept[kept != one]
        if not question.has_solution(np.isin(owner, without)):
            kept = without
    return kept


class Question:
    """Whether some of the rows have a solution, and which of the rest the nearest solution breaks."""

    def __init__(self, rows: csc_array, lower: FloatArray, upper: FloatArray, low: FloatArray, high: FloatArray):
        self.rows, self.lower, self.upper, self.low, self.high = rows, lower, upper, low, high

    def broken(self, hard: BoolArray) -> BoolArray | None:
        """Rows that the cheapest solution breaks, none of them `hard`; None if there is no solution."""
        count, soft = hard.size, np.flatnonzero(~hard)
        slack = csc_array(eye_array(count, format="csc")[:, soft])
        solved = self.solve(
            hstack([self.rows, slack, -slack], format="csc"),
            np.arange(count),
            np.concatenate([np.zeros(self.low.size), np.ones(2 * soft.size)]),
        )
        if solved is None:
            return None
        more, less = np.split(solved[self.low.size :], 2)
        broken = np.zeros(count, dtype=np.bool_)
        broken[soft] = more + less > 1e-6
        return broken

    def has_solution(self, kept: BoolArray) -> bool:
        chosen = np.flatnonzero(kept)
        return self.solve(self.rows.tocsr()[chosen].tocsc(), chosen, np.zeros(self.low.size)) is not None

    def solve(self, rows: csc_array, chosen: IntArray, cost: FloatArray) -> FloatArray | None:
        extra = cost.size - self.low.size
        solved = milp(
            cost,
            integrality=np.append(np.ones(self.low.size), np.zeros(extra)),
            bounds=Bounds(np.append(self.low, np.zeros(extra)), np.append(self.high, np.full(extra, math.inf))),
            constraints=LinearConstraint(rows, self.lower[chosen], self.upper[chosen]),
            options={"time_limit": SECONDS, "mip_rel_gap": 0.5 if extra else 0.0},
        )
        if solved.x is None and solved.status != INFEASIBLE:
            raise Unsolved(f"{SECONDS:g} seconds")
        return None if solved.x is None else np.asarray(solved.x)
