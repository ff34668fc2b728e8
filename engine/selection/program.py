"""Program: the constraints of a form as a sparse matrix, made once per pool and used by every solve.

A column per item is 1 if the form has the item. Stimulus sets add a column each, 1 if the form uses the set. A form is
right if lower <= matrix @ columns <= upper; order and contiguity are about the sequence of items and stand beside it.
Source: van der Linden (2005), Linear Models for Optimal Test Design, chapters 3 and 7.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array

from engine.errors import InvalidConstraint
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.pool import Pool
from engine.selection.constraints import (
    AllOrNone,
    Constraint,
    Count,
    Enemies,
    Exclude,
    Include,
    Mean,
    Ordered,
    Sets,
    Total,
    Where,
)

Column = npt.NDArray[Any] | Sequence[object]
Attributes = Mapping[str, Column]
NO_ATTRIBUTES: Attributes = MappingProxyType({})

ENEMIES = "enemies of the bank"
ALONE = -1  # the set of an item that belongs to none
TOLERANCE = 1e-6  # relative; sums of decimals, such as mean difficulties, carry rounding


@dataclass(frozen=True, eq=False, repr=False)
class Program:
    """Compiled constraints; I items, S sets, N = I + S columns, R rows.

    matrix : (R, N), sparse;  lower, upper : (R,), infinite where there is no bound
    owner : (R,), index into `names` of the constraint that a row belongs to
    sets_of : for each set column the items (indices) of its set
    possible : (I,), False for items that some constraint forbids for good
    order : (I,), items come in ascending order of it, None for any order
    contiguous : (I,), the set whose items must follow each other, ALONE for none;  None without such sets
    """

    items: int
    matrix: csc_array
    lower: FloatArray
    upper: FloatArray
    owner: IntArray
    names: tuple[str, ...]
    sets_of: tuple[IntArray, ...]
    possible: BoolArray
    order: FloatArray | None
    contiguous: IntArray | None

    @property
    def columns(self) -> int:
        return self.items + len(self.sets_of)

    def violations(self, form: IntArray) -> tuple[str, ...]:
        """Names of the constraints that the items `form` (n,) break, as a set; empty if the form is right."""
        x = np.zeros(self.columns)
        x[form] = 1.0
        for place, members in enumerate(self.sets_of):
            x[self.items + place] = x[members].any()
        value = self.matrix @ x
        slack = TOLERANCE * (1.0 + abs(self.matrix) @ x)
        broken = (value < self.lower - slack) | (value > self.upper + slack)
        return tuple(self.names[i] for i in np.unique(self.owner[broken]))

    def out_of_sequence(self, given: IntArray) -> bool:
        """Whether items in this order break the order or leave a contiguous set and come back to it."""
        if self.order is not None and np.any(np.diff(self.order[given]) < 0.0):
            return True
        if self.contiguous is None:
            return False
        sets = self.contiguous[given]
        starts = sets[np.flatnonzero(np.diff(sets, prepend=ALONE - 1))]
        starts = starts[starts != ALONE]
        return bool(np.unique(starts).size < starts.size)


def compile_constraints(
    constraints: Sequence[Constraint],
    attributes: Attributes,
    *,
    items: int,
    enemies: npt.NDArray[np.integer[Any]] | None = None,
) -> Program:
    """The program of these constraints over a pool's items.

    attributes : name to (I,) numbers or texts, or a collection of texts per item where an item may have several
    enemies : (M, 2), pairs that must not meet, such as `Pool.enemies`
    Raises InvalidConstraint, naming constraint and value, for what the attributes can't answer.
    """
    builder = Builder(items, attributes)
    for constraint in constraints:
        builder.add(constraint)
    for pair in [] if enemies is None else np.unique(np.sort(enemies, axis=1), axis=0):
        builder.row(ENEMIES, pair, 1.0, upper=1.0)
    return builder.program()


def pool_attributes(pool: Pool) -> dict[str, Column]:
    """What a pool itself knows of its items: `item` (the id) and `objective` (the code)."""
    return {"item": pool.items, "objective": [pool.objective_codes[place] for place in pool.objective.tolist()]}


class Builder:
    """Collects rows, constraint by constraint."""

    def __init__(self, items: int, attributes: Attributes):
        self.items, self.attributes = items, attributes
        self.rows: list[tuple[IntArray, FloatArray]] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.owner: list[int] = []
        self.names: dict[str, int] = {}
        self.sets_of: list[IntArray] = []
        self.order: FloatArray | None = None
        self.ordered: Ordered | None = None
        self.contiguous: IntArray | None = None

    def row(
        self,
        name: str,
        columns: npt.NDArray[np.integer[Any]],
        values: FloatArray | float,
        *,
        lower: float | None = None,
        upper: float | None = None,
    ) -> None:
        self.rows.append((columns.astype(np.int64), np.broadcast_to(np.float64(values), columns.shape)))
        self.lower.append(-math.inf if lower is None else lower)
        self.upper.append(math.inf if upper is None else upper)
        self.owner.append(self.names.setdefault(name, len(self.names)))

    def add(self, constraint: Constraint) -> None:
        self.names.setdefault(constraint.name, len(self.names))
        found = self.matching(constraint)
        match constraint:
            case Count(name=name, least=least, most=most):
                self.row(name, found, 1.0, lower=least, upper=most)
            case Total(name=name, least=least, most=most):
                self.row(name, found, self.numbers(constraint, constraint.attribute, found), lower=least, upper=most)
            case Mean(name=name, least=least, most=most):
                numbers = self.numbers(constraint, constraint.attribute, found)
                if least is not None:
                    self.row(name, found, numbers - least, lower=0.0)
                if most is not None:
                    self.row(name, found, numbers - most, upper=0.0)
            case Enemies(name=name):
                self.row(name, found, 1.0, upper=1.0)
            case AllOrNone(name=name):
                for one, next_ in pairwise(found.tolist()):
                    self.row(name, np.array([one, next_]), np.array([1.0, -1.0]), lower=0.0, upper=0.0)
            case Include(name=name):
                constraint.require("where", found.size > 0, "conditions that some item meets")
                self.row(name, found, 1.0, lower=float(found.size))
            case Exclude(name=name):
                self.row(name, found, 1.0, upper=0.0)
            case Sets():
                self.add_sets(constraint, found)
            case Ordered(attribute=attribute):
                constraint.require("attribute", self.order is None, "only one order", attribute)
                self.order = self.numbers(constraint, attribute, np.arange(self.items))
                self.ordered = constraint

    def add_sets(self, sets: Sets, found: IntArray) -> None:
        """Rows that tie the items of each set to its column, and the contiguity of sets."""
        values = self.column(sets, sets.attribute)
        members: dict[object, list[int]] = {}
        for item in found.tolist():
            if not is_missing(values[item]):
                members.setdefault(values[item], []).append(item)
        columns = self.items + len(self.sets_of) + np.arange(len(members))
        for column, group in zip(columns, members.values(), strict=True):
            size, items = len(group), np.array(group)
            least = size if sets.whole else sets.least or 1
            most = min(size, sets.most or size)
            both = np.append(items, column)
            self.row(sets.name, both, np.append(np.ones(size), -float(least)), lower=0.0)
            self.row(sets.name, both, np.append(np.ones(size), -float(most)), upper=0.0)
            if least < size:  # says nothing new of whole items, but much of fractions of them
                for item in group:
                    self.row(sets.name, np.array([item, column]), np.array([1.0, -1.0]), upper=0.0)
            self.sets_of.append(items)
        if sets.least_sets is not None or sets.most_sets is not None:
            self.row(sets.name, columns, 1.0, lower=sets.least_sets, upper=sets.most_sets)
        if sets.contiguous:
            sets.require("contiguous", self.contiguous is None, "only one constraint with contiguous sets")
            self.contiguous = np.full(self.items, ALONE, dtype=np.int64)
            for place, group in enumerate(members.values()):
                self.contiguous[group] = place

    def matching(self, constraint: Constraint) -> IntArray:
        """Indices of the items that meet every condition."""
        found = np.ones(self.items, dtype=np.bool_)
        for condition in constraint.where:
            found &= self.meets(constraint, condition) ^ condition.negated
        return np.flatnonzero(found)

    def meets(self, constraint: Constraint, condition: Where) -> BoolArray:
        column = self.column(constraint, condition.attribute)
        if condition.among:
            wanted = set(condition.among)
            return np.array([not wanted.isdisjoint(several(value)) for value in column], dtype=np.bool_)
        numbers = as_numbers(column)
        if numbers is None:
            raise InvalidConstraint(constraint.name, "where", condition.attribute, "bounds on a numeric attribute")
        least = -math.inf if condition.least is None else condition.least
        most = math.inf if condition.most is None else condition.most
        return np.asarray((numbers >= least) & (numbers <= most))

    def numbers(self, constraint: Constraint, attribute: str, found: IntArray) -> FloatArray:
        """An attribute's numbers for these items; an error names the first item that has none."""
        numbers = as_numbers(self.column(constraint, attribute))
        if numbers is None:
            raise InvalidConstraint(constraint.name, "attribute", attribute, "a numeric attribute")
        missing = found[~np.isfinite(numbers[found])]
        if missing.size:
            expected = f"a number for each of its items (item {missing[0]} of the pool has none)"
            raise InvalidConstraint(constraint.name, "attribute", attribute, expected)
        return numbers[found]

    def column(self, constraint: Constraint, attribute: str) -> list[object]:
        if attribute not in self.attributes:
            expected = "one of " + ", ".join(sorted(self.attributes))
            raise InvalidConstraint(constraint.name, "attribute", attribute, expected)
        column = self.attributes[attribute]
        values = column.tolist() if isinstance(column, np.ndarray) else list(column)
        if len(values) != self.items:
            raise ValueError(f"attribute {attribute} has {len(values)} values, the pool {self.items} items")
        return values

    def program(self) -> Program:
        columns = self.items + len(self.sets_of)
        lengths = [len(row) for row, _ in self.rows]
        where = np.concatenate([row for row, _ in self.rows] or [np.empty(0, dtype=np.int64)])
        data = np.concatenate([values for _, values in self.rows] or [np.empty(0)])
        indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        rows = csr_array((data, where, indptr), shape=(len(self.rows), columns))
        self.check_order_of_sets()
        possible = np.ones(self.items, dtype=np.bool_)
        for (row, values), upper in zip(self.rows, self.upper, strict=True):
            if np.all(values == 1.0) and np.all(row < self.items):
                possible[row] &= upper > 0.0
        return Program(
            items=self.items,
            matrix=csc_array(rows),
            lower=np.array(self.lower),
            upper=np.array(self.upper),
            owner=np.array(self.owner, dtype=np.int64),
            names=tuple(self.names),
            sets_of=tuple(self.sets_of),
            possible=possible,
            order=self.order,
            contiguous=self.contiguous,
        )

    def check_order_of_sets(self) -> None:
        """An order can keep a set together only if all its items stand at the same place of it."""
        if self.order is None or self.ordered is None or self.contiguous is None:
            return
        for place in range(int(self.contiguous.max(initial=ALONE)) + 1):
            members = np.flatnonzero(self.contiguous == place)
            together = bool(np.ptp(self.order[members]) == 0.0)
            expected = f"one place in the order for all items of a contiguous set, not several for {members.tolist()},"
            self.ordered.require("attribute", together, expected)


def several(value: object) -> Iterable[object]:
    """The values of an item that may have several; a text is one."""
    return value if isinstance(value, set | frozenset | list | tuple) else (value,)


def as_numbers(column: list[object]) -> FloatArray | None:
    """The column as numbers, NaN where None; None unless all are numbers."""
    if not all(value is None or isinstance(value, int | float) for value in column):
        return None
    return np.array([math.nan if value is None else value for value in column], dtype=np.float64)


def is_missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))
