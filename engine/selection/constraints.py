"""Hard constraints on the items of a form: what must hold, in words that JSON can carry.

A constraint speaks of items by their attributes, never by their place in a pool, so one description serves every
version of a pool. `engine.selection.program` turns a list of them into a matrix once per pool.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from engine.errors import InvalidConstraint

Value = str | float

LARGEST, MOST_ITEMS, LONGEST_TEXT = 1e9, 10_000, 200
NUMBER = f"a number from -{LARGEST:g} to {LARGEST:g}"
TEXT = f"a printable text of at most {LONGEST_TEXT} characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A condition on one attribute: one of some values, or a number within bounds (both included).

    among : values, of which one must be the item's, or one of the item's where it has several, such as tags
    negated : the items for which the rest does not hold, those without a value among them
    """

    attribute: str
    among: tuple[Value, ...] = ()
    least: float | None = None
    most: float | None = None
    negated: bool = False


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """What all kinds share: a name, for messages, and the items it is about: those that meet every condition."""

    kind: ClassVar[str]
    name: str
    where: tuple[Where, ...] = ()

    def __post_init__(self) -> None:
        self.require("name", is_text(self.name) and self.name != "", f"{TEXT}, not empty")
        for condition in self.where:
            bounds = (condition.least, condition.most)
            self.require("where", is_text(condition.attribute), "an attribute's name", condition.attribute)
            numbers = all(bound is None or is_finite(bound) for bound in bounds)
            self.require("where", numbers, f"null or {NUMBER}", bounds)
            values = all(is_text(value) or is_finite(value) for value in condition.among)
            self.require("where", values, f"for each {TEXT}, or {NUMBER}", condition.among)
            one_kind = bool(condition.among) != any(bound is not None for bound in bounds)
            self.require("where", one_kind, "either `among`, not empty, or bounds", to_json_value(condition))
            crossed = None not in bounds and condition.least > condition.most  # type: ignore[operator]  # both are there
            self.require("where", not crossed, "`least` of at most `most`", to_json_value(condition))
            self.require("where", isinstance(condition.negated, bool), "true or false", condition.negated)

    def require(self, field: str, holds: bool, expected: str, value: object = None) -> None:
        """Raise InvalidConstraint unless it holds; the value is the field's own where none is given."""
        if not holds:
            raise InvalidConstraint(self.name, field, getattr(self, field) if value is None else value, expected)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary: the kind, the name and every field that is not at its default."""
        found = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "name"}
        defaults = {field.name: field.default for field in fields(self)}
        kept = {name: to_json_value(value) for name, value in found.items() if value != defaults[name]}
        return {"kind": self.kind, "name": self.name, **kept}


@dataclass(frozen=True, kw_only=True)
class Bounded(Constraint):
    """A constraint with a least or a greatest value, or both."""

    least: float | None = None
    most: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("least", "most"):
            value = getattr(self, name)
            self.require(name, value is None or is_finite(value), f"null or {NUMBER}")
        if self.least is not None and self.most is not None:
            self.require("most", self.least <= self.most, f"at least {self.least}, which is `least`,")


@dataclass(frozen=True, kw_only=True)
class Count(Bounded):
    """How many of these items a form has; without `where` its length."""

    kind = "count"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("least", self.least is not None or self.most is not None, "`least` or `most`")
        for name in ("least", "most"):
            value = getattr(self, name)
            self.require(name, value is None or is_count(value), f"null or a whole number from 0 to {MOST_ITEMS}")


@dataclass(frozen=True, kw_only=True)
class Total(Bounded):
    """The sum of a numeric attribute over these items, such as the number of words."""

    kind = "total"
    attribute: str

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("least", self.least is not None or self.most is not None, "`least` or `most`")


@dataclass(frozen=True, kw_only=True)
class Mean(Bounded):
    """The mean of a numeric attribute over those of these items that the form has; it holds where it has none."""

    kind = "mean"
    attribute: str

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("least", self.least is not None or self.most is not None, "`least` or `most`")


@dataclass(frozen=True, kw_only=True)
class Enemies(Constraint):
    """At most one of these items."""

    kind = "enemies"


@dataclass(frozen=True, kw_only=True)
class AllOrNone(Constraint):
    """All of these items or none of them."""

    kind = "all_or_none"


@dataclass(frozen=True, kw_only=True)
class Include(Constraint):
    """Every one of these items."""

    kind = "include"


@dataclass(frozen=True, kw_only=True)
class Exclude(Constraint):
    """None of these items."""

    kind = "exclude"


@dataclass(frozen=True, kw_only=True)
class Sets(Bounded):
    """Items that share a stimulus, which is the value of an attribute; items without a value stand alone.

    least, most : items of each set that the form uses;  whole : all items of a set or none
    least_sets, most_sets : sets that the form uses;  contiguous : no other item comes between a set's
    """

    kind = "sets"
    attribute: str
    whole: bool = False
    least_sets: int | None = None
    most_sets: int | None = None
    contiguous: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, from_ in (("least", 1), ("most", 1), ("least_sets", 0), ("most_sets", 0)):
            value = getattr(self, name)
            self.require(
                name, value is None or is_count(value, from_), f"null or a whole number from {from_} to {MOST_ITEMS}"
            )
        for name in ("whole", "contiguous"):
            self.require(name, isinstance(getattr(self, name), bool), "true or false")
        if self.whole:
            self.require("least", self.least is None and self.most is None, "no `least` or `most` where sets are whole")
        if self.least_sets is not None and self.most_sets is not None:
            self.require("most_sets", self.least_sets <= self.most_sets, f"at least {self.least_sets} (`least_sets`)")


@dataclass(frozen=True, kw_only=True)
class Ordered(Constraint):
    """Items come in ascending order of a numeric attribute; it says nothing of which items."""

    kind = "ordered"
    attribute: str

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("where", not self.where, "no condition: an order is of all items")


KINDS: Mapping[str, type[Constraint]] = {
    kind.kind: kind for kind in (Count, Total, Mean, Enemies, AllOrNone, Include, Exclude, Sets, Ordered)
}


def from_json(data: Iterable[Mapping[str, object]]) -> tuple[Constraint, ...]:
    """The constraints that `to_json` described; names must differ.

    >>> from_json([{"kind": "count", "name": "length", "least": 30, "most": 30}])
    (Count(name='length', where=(), least=30, most=30),)
    """
    found: list[Constraint] = []
    for place, entry in enumerate(data):
        constraint = one_from_json(entry, unnamed=f"#{place + 1}")
        constraint.require("name", all(constraint.name != other.name for other in found), "a name of its own")
        found.append(constraint)
    return tuple(found)


def one_from_json(data: Mapping[str, object], *, unnamed: str) -> Constraint:
    if not isinstance(data, Mapping):
        raise InvalidConstraint(unnamed, "constraint", data, "an object")
    name = str(data.get("name", unnamed))
    kind = KINDS.get(str(data.get("kind")))
    if kind is None:
        raise InvalidConstraint(name, "kind", data.get("kind"), "one of " + ", ".join(KINDS))
    known = {field.name for field in fields(kind)}
    given = {field: value for field, value in data.items() if field != "kind"}
    for field, value in given.items():
        if field not in known:
            raise InvalidConstraint(name, field, value, "no such field; one of " + ", ".join(sorted(known)))
    for field in ("name", "attribute"):
        if field in known and not isinstance(given.get(field), str):
            raise InvalidConstraint(name, field, given.get(field), "a text")
    where = given.pop("where", [])
    if not isinstance(where, list | tuple):
        raise InvalidConstraint(name, "where", where, "a list of conditions")
    return kind(**given, where=tuple(condition_from_json(name, condition) for condition in where))  # type: ignore[arg-type] # checked above and by the class


def condition_from_json(name: str, data: object) -> Where:
    known = {field.name for field in fields(Where)}
    if not isinstance(data, Mapping) or not known.issuperset(data) or "attribute" not in data:
        raise InvalidConstraint(
            name, "where", data, "an object with `attribute` and some of " + ", ".join(sorted(known))
        )
    among = data.get("among", [])
    if not isinstance(among, list | tuple):
        raise InvalidConstraint(name, "where", among, "`among` as a list of values")
    return Where(**{**data, "among": tuple(among)})


def to_json_value(value: object) -> object:
    if isinstance(value, Where):
        found = {field.name: getattr(value, field.name) for field in fields(Where)}
        return {name: to_json_value(part) for name, part in found.items() if part not in ((), None, False)}
    return [to_json_value(part) for part in value] if isinstance(value, tuple) else value


def is_finite(value: object) -> bool:
    """A number of a size that a solver can work with."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST


def is_count(value: object, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MOST_ITEMS


def is_text(value: object) -> bool:
    """A text that can be stored, shown and found again."""
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and value.isprintable()
