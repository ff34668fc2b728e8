"""The best form of a program: linear programming over the few items that matter, integers only where it left fractions.

A pool has a thousand items and a form thirty, so nearly all columns stay out. The relaxation is solved over a few
promising items; its shadow prices then tell, by one sparse product, which of the others could improve it, and those are
added until none can. That proves the optimum of the relaxation over the whole pool. Mostly it has no fractions and is
the form. Otherwise branch and bound gets only the items whose reduced cost is within the gap that is left. The form is
the same as if HiGHS had been given everything, up to GAP; nothing is kept from one solve to the next.
Sources: Dantzig & Wolfe (1960), Operations Research 8(1), 101-111, for pricing; Huangfu & Hall (2018), Mathematical
Programming Computation 10(1), 119-142, for HiGHS, here through `scipy.optimize`.
"""

import math

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from engine.errors import Unsolved
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.selection.program import Program

GAP = 1e-6  # relative distance from the optimum at which branch and bound may stop
NODES = 5_000  # of branch and bound: a limit in time would make the choice depend on the machine's load
FEW = 8  # items per constraint, beyond what it demands, that the first relaxation starts with
MORE = 40  # items that one round of pricing adds at most
NEAR = 0.003  # of the relaxation's value: the gap that branch and bound first reckons with
WIDER = 4.0  # times the gap, where the items in reach have no form
PENALTY = 1e3  # for breaking a row by one, where the best item is worth 1
FRACTION = 1e-6
INFEASIBLE = 2  # the status by which SciPy says so


def best_form(
    program: Program, scores: FloatArray, *, fixed: BoolArray, barred: BoolArray, gap: float = GAP
) -> IntArray | None:
    """Ascending indices of the form that meets the program with the greatest sum of scores, None if there is none.

    scores : (I,), finite;  fixed : (I,), True for items that the form must have;  barred : (I,), for those it must not,
    save those that are fixed
    """
    if scores.shape != (program.items,) or not np.isfinite(scores).all():
        raise ValueError(f"scores of shape ({program.items},), all finite, expected; shape {scores.shape} given")
    allowed = (program.possible & ~barred) | fixed
    scale = float(np.abs(scores[allowed]).max(initial=0.0)) or 1.0
    cost = np.zeros(program.columns)
    cost[: program.items] = -scores / scale
    solver = Solver(program, cost, fixed, np.flatnonzero(allowed), gap)
    return solver.solve()


class Solver:
    """One solve; `chosen` are the columns in play, which only become more."""

    def __init__(self, program: Program, cost: FloatArray, fixed: BoolArray, allowed: IntArray, gap: float):
        self.program, self.cost, self.allowed, self.gap = program, cost, allowed, gap
        self.low = np.zeros(program.columns)
        self.low[: program.items] = fixed
        equal = program.lower == program.upper
        self.equal = np.flatnonzero(equal)
        self.below = np.flatnonzero(~equal & np.isfinite(program.upper))
        self.above = np.flatnonzero(~equal & np.isfinite(program.lower))
        self.sets = np.arange(program.items, program.columns)
        self.play(self.promising())

    def solve(self) -> IntArray | None:
        relaxed = self.relaxation()
        if relaxed is None:
            return None
        x, bound, reduced = relaxed
        if not self.is_fractional(x):
            return self.form(x)
        return self.whole(bound, reduced)

    def whole(self, bound: float, reduced: FloatArray) -> IntArray | None:
        """Branch and bound over the items whose reduced cost is in reach, and again if its result shows more that are.

        An item in the form lifts the cost at least to bound + its reduced cost.
        """
        every = np.append(self.allowed, self.sets)
        reach = NEAR * max(abs(bound), 1.0)
        while True:
            near = every[(reduced[every] <= reach) | (self.low[every] > 0.0)]
            best = self.integers(near)
            if near.size == every.size or (best is not None and best[1] - bound <= reach):
                return None if best is None else self.form(best[0])
            reach = WIDER * reach if best is None else best[1] - bound

    def promising(self) -> IntArray:
        """Items that are fixed, the best of all, and the best of each row that demands some: so many and a few more.

        All items of sets are: a set that no item of is in play has no price, so its items would come in by and by.
        """
        order = self.allowed[np.argsort(self.cost[self.allowed], kind="stable")]
        rank = np.full(self.program.columns, -1)
        rank[order] = np.arange(order.size)
        found = [np.flatnonzero(self.low), order[:FEW], *(np.intersect1d(m, order) for m in self.program.sets_of)]
        rows = self.program.matrix.tocsr()
        for row in np.flatnonzero(self.program.lower > 0.0).tolist():
            members = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
            ranked = np.sort(rank[members])
            ranked = ranked[ranked >= 0]
            found.append(order[ranked[: FEW + math.ceil(self.program.lower[row])]])
        return np.concatenate(found)

    def play(self, items: IntArray) -> None:
        """Put these columns in play, besides those that already are."""
        before = getattr(self, "chosen", self.sets)
        self.chosen = np.union1d(before, items)

    def relaxation(self) -> tuple[FloatArray, float, FloatArray] | None:
        """Optimum of the linear relaxation over all allowed items, its value and every column's reduced cost.

        While the items in play can't meet all rows, breaking one costs PENALTY a unit; the prices then lead to items
        that mend it. Only if none is left to add, the pool itself is tried without penalties.
        """
        while True:
            x, bound, reduced, broken = self.linear(self.chosen, elastic=True)
            outside = np.setdiff1d(self.allowed, self.chosen)
            better = outside[reduced[outside] < -FRACTION * self.gap]
            if better.size:
                self.play(better[np.argsort(reduced[better], kind="stable")[:MORE]])
            elif not broken:
                return x, bound, reduced
            else:
                self.play(self.allowed)
                x, bound, reduced, broken = self.linear(self.chosen, elastic=False)
                return None if broken else (x, bound, reduced)

    def linear(self, columns: IntArray, *, elastic: bool) -> tuple[FloatArray, float, FloatArray, bool]:
        """The relaxation over these columns: solution, value, reduced cost of every column, whether a row is broken."""
        program, part = self.program, csr_array(self.program.matrix[:, columns])
        equal, below, above = self.binding(part)
        at_most = np.concatenate([part[below].toarray(), -part[above].toarray()])
        mend_most, mend_equal = slacks(len(at_most), equal.size)
        extra = mend_equal.shape[1] if elastic else 0
        low, high = self.low[columns], np.ones(columns.size)
        solved = linprog(
            np.append(self.cost[columns], np.full(extra, PENALTY)),
            A_ub=np.hstack([at_most, mend_most[:, :extra]]),
            b_ub=np.concatenate([program.upper[below], -program.lower[above]]),
            A_eq=np.hstack([part[equal].toarray(), mend_equal[:, :extra]]),
            b_eq=program.lower[equal],
            bounds=np.column_stack([np.append(low, np.zeros(extra)), np.append(high, np.full(extra, math.inf))]),
            method="highs-ds",
        )
        x, price = np.zeros(program.columns), np.zeros(program.lower.size)
        if solved.status == INFEASIBLE:
            return x, math.inf, x, True
        if solved.status != 0:
            raise RuntimeError(f"HiGHS ended a linear relaxation with status {solved.status}: {solved.message}")
        price[equal] = solved.eqlin.marginals
        price[below] += solved.ineqlin.marginals[: below.size]
        price[above] -= solved.ineqlin.marginals[below.size :]
        x[columns] = solved.x[: columns.size]
        broken = bool(np.any(solved.x[columns.size :] > FRACTION))
        return x, float(solved.fun), self.cost - program.matrix.T @ price, broken

    def binding(self, part: csr_array) -> tuple[IntArray, IntArray, IntArray]:
        """Rows (equations, upper bounds, lower bounds) that these columns can break at all; the others cost nothing.

        A bank has enemies by the hundred, of which a few have both items in play.
        """
        most = np.asarray(part.maximum(0.0).sum(axis=1)).ravel()
        least = np.asarray(part.minimum(0.0).sum(axis=1)).ravel()
        equal = self.equal[(most[self.equal] > least[self.equal]) | (self.program.lower[self.equal] != 0.0)]
        below = self.below[most[self.below] > self.program.upper[self.below]]
        return equal, below, self.above[least[self.above] < self.program.lower[self.above]]

    def integers(self, columns: IntArray) -> tuple[FloatArray, float] | None:
        """The best whole solution over these columns and its value; None if there is none."""
        program = self.program
        solved = milp(
            self.cost[columns],
            integrality=np.ones(columns.size),
            bounds=Bounds(self.low[columns], np.ones(columns.size)),
            constraints=LinearConstraint(program.matrix[:, columns], program.lower, program.upper),
            options={"mip_rel_gap": self.gap, "node_limit": NODES},
        )
        if solved.status == INFEASIBLE:
            return None
        if solved.x is None:
            raise Unsolved(f"{NODES} nodes of branch and bound")
        x = np.zeros(program.columns)
        x[columns] = np.rint(solved.x)
        return x, float(solved.fun)

    def is_fractional(self, x: FloatArray) -> bool:
        return bool(np.any(np.abs(x - np.rint(x)) > FRACTION))

    def form(self, x: FloatArray) -> IntArray:
        return np.flatnonzero(x[: self.program.items] > 0.5)


def slacks(below: int, equal: int) -> tuple[FloatArray, FloatArray]:
    """Columns that mend a broken row: one for each row with an upper bound, two, up and down, for each equation."""
    down, none = -np.eye(below), np.zeros((below, 2 * equal))
    up = np.eye(equal)
    return np.hstack([down, none]), np.hstack([np.zeros((equal, below)), up, -up])
