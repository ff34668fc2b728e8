"""Forms: one or several parallel tests to a blueprint, assembled at once by mixed-integer programming.

Two things can be asked for at the points of ability that matter, such as the cut score. Without a target the least
information of any form at any point is made as large as possible (maximin). With a target the largest distance from it,
as a part of it, is made as small as possible (minimax). Forms are alike and items many, so that proving the last per
cent takes far longer than finding the forms: `gap` says what is near enough, and what was reached is told.
Source: van der Linden (2005), Linear Models for Optimal Test Design, chapters 5 and 6.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_diag, csc_array, eye_array, hstack, vstack

from engine.errors import Infeasible, Unsolved
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.selection.conflict import clash
from engine.selection.program import ALONE, Program

GAP = 0.01
SECONDS = 20.0
INFEASIBLE = 2
OVERLAP = "overlap between forms"
USES = "uses of an item"
BARRED = "items that can't be served"


@dataclass(frozen=True, slots=True)
class Forms:
    """Assembled forms, F of them.

    items : per form the ascending indices of its items;  information : (F, T), of each form at each point
    gap : without a target, by which part the least information may be short of the best possible; with a target, the
    largest distance from it, as a part of it
    """

    items: tuple[IntArray, ...]
    information: FloatArray
    gap: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the forms must be, beyond the program that each of them meets.

    forms : how many;  target : (T,), information wanted at each point, above 0, None for as much as possible
    overlap : items that two forms may share at most, None for any;  uses : forms that an item may be in at most
    used : (I,), uses that items have had before and that count, None for none
    blocked : (I,), True for items not to be used
    gap : a part: how near to the best possible, or to the target, is near enough;  seconds : the time there is
    """

    forms: int = 1
    target: FloatArray | None = None
    overlap: int | None = None
    uses: int | None = None
    used: IntArray | None = None
    blocked: BoolArray | None = None
    gap: float = GAP
    seconds: float = SECONDS

    def __post_init__(self) -> None:
        for name, least in (("forms", 1), ("overlap", 0), ("uses", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} is {value}: {least} or more expected")
        if not (self.gap >= 0.0 and self.seconds > 0.0):
            raise ValueError(f"gap {self.gap} and seconds {self.seconds}: 0 or more and more than 0 expected")
        if self.target is not None and not (np.isfinite(self.target).all() and (self.target > 0.0).all()):
            raise ValueError(f"target is {self.target.tolist()}: finite numbers above 0 expected")


def assemble(program: Program, information: FloatArray, request: Request) -> Forms:
    """Forms that meet the program and the request, as good as the gap says.

    information : (I, T), Fisher information of the items at the T points of ability that matter
    Raises Infeasible, naming constraints that clash, and Unsolved if no forms were found in time.
    """
    if information.ndim != 2 or len(information) != program.items or not np.isfinite(information).all():
        raise ValueError(f"information of shape ({program.items}, T), finite, expected; {information.shape} given")
    if request.target is not None and request.target.shape != information.shape[1:]:
        raise ValueError(f"target has shape {request.target.shape}, information {information.shape}")
    model = Model(program, request)
    x, gap = solve(model, information, request)
    chosen = x[: model.width].reshape(request.forms, program.columns)[:, : program.items] > 0.5
    items = tuple(np.flatnonzero(row) for row in chosen)
    for form in items:
        if broken := program.violations(form):
            raise RuntimeError(f"HiGHS gave a form that breaks {', '.join(broken)}")
    reached = np.array([information[form].sum(axis=0) for form in items])
    if request.target is not None:
        return Forms(items, reached, float(np.max(np.abs(reached / request.target - 1.0))))
    return Forms(items, reached, gap)


def arranged(program: Program, form: IntArray, rank: FloatArray) -> IntArray:
    """The items of a form as they may be served: in the program's order, else by rank (I,), a set by its lowest."""
    group = np.arange(form.size) + program.items
    if program.contiguous is not None:
        sets = program.contiguous[form]
        group = np.where(sets == ALONE, group, sets)
    _, member = np.unique(group, return_inverse=True)
    lowest = np.full(member.max(initial=-1) + 1, np.inf)
    np.minimum.at(lowest, member, rank[form])
    place = np.zeros(form.size) if program.order is None else program.order[form]
    return np.asarray(form[np.lexsort([rank[form], member, lowest[member], place])])


class Model:
    """The rows of a request: those of the program once per form, and those that tie the forms to each other.

    Columns are the forms' own, form by form (`width` in all), then one per item and pair of forms with limited overlap,
    which is 1 where both have the item.
    """

    def __init__(self, program: Program, request: Request):
        self.program, self.request = program, request
        self.forms, self.items = request.forms, program.items
        self.width = request.forms * program.columns
        limited = request.overlap is not None and request.overlap > 0
        self.pairs = list(combinations(range(self.forms), 2)) if limited else []
        self.columns = self.width + len(self.pairs) * self.items
        self.names = (*program.names, OVERLAP, USES, BARRED)
        self.rows: list[csc_array] = []
        self.lower: list[FloatArray] = []
        self.upper: list[FloatArray] = []
        self.owner: list[IntArray] = []
        self.add_forms()
        self.add_ties()

    def add(self, rows: csc_array, lower: FloatArray | float, upper: FloatArray | float, owner: IntArray | str) -> None:
        """Add rows (r, at most all columns)."""
        count = rows.shape[0]
        owners = self.names.index(owner) if isinstance(owner, str) else owner
        self.rows.append(
            csc_array((rows.data, rows.indices, widened(rows.indptr, self.columns)), (count, self.columns))
        )
        self.lower.append(np.broadcast_to(lower, count))
        self.upper.append(np.broadcast_to(upper, count))
        self.owner.append(np.broadcast_to(owners, count))

    def add_forms(self) -> None:
        program, forms = self.program, self.forms
        self.add(
            csc_array(block_diag([program.matrix] * forms, format="csc")),
            np.tile(program.lower, forms),
            np.tile(program.upper, forms),
            np.tile(program.owner, forms),
        )
        if self.request.blocked is not None:
            self.add(self.across(self.request.blocked[None, :].astype(float)), -np.inf, 0.0, BARRED)

    def add_ties(self) -> None:
        request, each = self.request, self.across(eye_array(self.items, format="csc"))
        if request.uses is not None:
            used = np.zeros(self.items) if request.used is None else request.used
            left = np.maximum(0.0, request.uses - used)
            binding = np.flatnonzero(left < self.forms)
            self.add(csc_array(each.tocsr()[binding].tocsc()), -np.inf, left[binding], USES)
        if request.overlap == 0 and self.forms > 1:
            self.add(each, -np.inf, 1.0, OVERLAP)
        for place, pair in enumerate(self.pairs):
            item, start = np.arange(self.items), self.width + place * self.items
            data = np.repeat([1.0, 1.0, -1.0], self.items)
            columns = np.concatenate([pair[0] * self.program.columns + item, pair[1] * self.program.columns + item])
            where = (np.tile(item, 3), np.append(columns, start + item))
            self.add(csc_array((data, where), (self.items, self.columns)), -np.inf, 1.0, OVERLAP)
            both = (np.ones(self.items), (np.zeros(self.items, dtype=int), start + item))
            self.add(csc_array(both, (1, self.columns)), -np.inf, float(request.overlap or 0), OVERLAP)

    def across(self, rows: csc_array) -> csc_array:
        """Rows over items (r, I) as rows over the sum of all forms (r, width)."""
        sets = csc_array((rows.shape[0], self.program.columns - self.items))
        return csc_array(hstack([rows, sets] * self.forms, format="csc"))

    def high(self) -> FloatArray:
        """Upper bounds of the columns."""
        each = np.ones(self.program.columns)
        each[: self.items] = self.program.possible
        if self.request.blocked is not None:
            each[: self.items] *= ~self.request.blocked
        return np.append(np.tile(each, self.forms), np.ones(self.columns - self.width))

    def matrix(self) -> csc_array:
        return csc_array(vstack(self.rows, format="csc"))


def solve(model: Model, information: FloatArray, request: Request) -> tuple[FloatArray, float]:
    """Values of the model's columns and the gap that is left.

    One more column is what the objective is about: the least information, or the largest distance from the target. The
    distance counts only from the gap on, so that the search ends as soon as all forms are that near.
    """
    points = information.shape[1]
    scale = (
        np.full(points, max(float(information.max(initial=0.0)), 1e-12)) if request.target is None else request.target
    )
    dense = np.hstack([(information / scale).T, np.zeros((points, len(model.program.sets_of)))])
    each = block_diag([csc_array(dense)] * model.forms, format="csc")
    each = csc_array(hstack([each, csc_array((each.shape[0], model.columns - model.width))]))
    last = np.ones((each.shape[0], 1))
    matrix = model.matrix()
    rows = [hstack([matrix, csc_array((matrix.shape[0], 1))]), hstack([each, csc_array(-last)])]
    lower, upper = [*model.lower], [*model.upper]
    if request.target is None:
        lower.append(np.zeros(last.size))
        upper.append(np.full(last.size, np.inf))
        best = (-1.0, 0.0)
    else:
        rows.append(hstack([each, csc_array(last)]))
        lower += [np.full(last.size, -np.inf), np.ones(last.size)]
        upper += [np.ones(last.size), np.full(last.size, np.inf)]
        best = (1.0, request.gap)
    solved = milp(
        np.append(np.zeros(model.columns), best[0]),
        integrality=np.append(np.ones(model.columns), 0.0),
        bounds=Bounds(np.append(np.zeros(model.columns), best[1]), np.append(model.high(), np.inf)),
        constraints=LinearConstraint(vstack(rows, format="csc"), np.concatenate(lower), np.concatenate(upper)),
        options={"mip_rel_gap": request.gap, "time_limit": request.seconds},
    )
    if solved.status == INFEASIBLE:
        owners = clash(
            matrix,
            np.concatenate(model.lower),
            np.concatenate(model.upper),
            np.concatenate(model.owner),
            np.zeros(model.columns),
            np.ones(model.columns),
        )
        raise Infeasible([model.names[owner] for owner in owners])
    if solved.x is None:
        raise Unsolved(f"{request.seconds:g} seconds")
    return solved.x, max(0.0, float(solved.mip_gap or 0.0))


def widened(starts: IntArray, columns: int) -> IntArray:
    """Column starts of a matrix with empty columns added at its end."""
    return np.append(starts, np.full(columns + 1 - starts.size, starts[-1]))
