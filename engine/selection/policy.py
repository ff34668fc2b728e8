"""Policy: everything that makes one way of choosing items differ from another; a mode is a policy, not a code path.

A sitting stores the policy it started with (`to_json`), so a later change of the defaults does not move it.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any, Self

from engine.errors import InvalidPolicy


class Mode(StrEnum):
    """What a sitting is for."""

    practice = "practice"
    adaptive_test = "adaptive_test"


class Criterion(StrEnum):
    """By what the eligible items are ranked."""

    posterior_information = "posterior_information"
    maximum_information = "maximum_information"


class Repeats(StrEnum):
    """Whether an item seen in an earlier sitting may come again."""

    never = "never"
    when_exhausted = "when_exhausted"


class Feedback(StrEnum):
    """When a learner sees what was right, and why."""

    immediate = "immediate"
    end = "end"


class StartsFrom(StrEnum):
    """The ability a sitting begins with: the exam's prior, or what is known of the learner."""

    prior = "prior"
    learner = "learner"


ENUMS: dict[str, type[StrEnum]] = {
    "criterion": Criterion,
    "repeats": Repeats,
    "feedback": Feedback,
    "starts_from": StartsFrom,
}

TEN_YEARS = 87_600  # hours; a longer wait is a mistake, and one long enough would overflow a date


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How items are chosen, when a sitting stops, and what its learner sees when.

    content_balancing : keep to the blueprint's proportions;  randomesque : choose uniformly among this many best items
    minimum_length, maximum_length : items of a sitting, None for no end
    standard_error : logits, stop once the ability is known this well and the minimum length is reached, None for never
    repeat_after_hours : how long ago an item must have been seen to come again
    Raises InvalidPolicy naming the field, its value and what is right.
    """

    criterion: Criterion = Criterion.posterior_information
    content_balancing: bool = True
    randomesque: int = 5
    minimum_length: int = 0
    maximum_length: int | None = None
    standard_error: float | None = None
    repeats: Repeats = Repeats.never
    repeat_after_hours: float = 24.0
    feedback: Feedback = Feedback.immediate
    starts_from: StartsFrom = StartsFrom.prior
    shuffle_options: bool = True

    def __post_init__(self) -> None:
        for name, enum in ENUMS.items():
            require(self, name, isinstance(getattr(self, name), enum), "one of " + ", ".join(enum))
        for name in ("content_balancing", "shuffle_options"):
            require(self, name, isinstance(getattr(self, name), bool), "true or false")
        require(self, "randomesque", is_count(self.randomesque, 1, 100), "a whole number from 1 to 100")
        require(self, "minimum_length", is_count(self.minimum_length, 0), "a whole number from 0")
        least = max(1, self.minimum_length)
        longest = self.maximum_length
        expected = f"null or a whole number from {least}" + (" (the minimum length)" if least > 1 else "")
        require(self, "maximum_length", longest is None or is_count(longest, least), expected)
        error, hours = self.standard_error, self.repeat_after_hours
        precise = error is None or (is_number(error) and 0 < error < math.inf)
        require(self, "standard_error", precise, "null or a number above 0")
        require(
            self, "repeat_after_hours", is_number(hours) and 0 <= hours <= TEN_YEARS, f"a number from 0 to {TEN_YEARS}"
        )

    def with_changes(self, changes: Mapping[str, object]) -> Self:
        """This policy with some fields replaced by JSON values; a field that does not exist is an error."""
        known = [field.name for field in fields(self)]
        for name, value in changes.items():
            if name not in known:
                raise InvalidPolicy(name, value, "no such field; one of " + ", ".join(known))
        return replace(self, **{name: from_json_value(name, value) for name, value in changes.items()})

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary of every field, enums by value."""
        return {name: str(value) if name in ENUMS else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Self:
        """The policy that `to_json` described; a field it lacks, because it is younger, has its default.

        >>> Policy.from_json(PRACTICE.to_json()) == PRACTICE
        True
        """
        return cls().with_changes(data)


def from_json_value(name: str, value: object) -> Any:
    """An enum's member where the field has an enum and the value is one of it, else the value as it is."""
    enum = ENUMS.get(name)
    return enum(value) if enum is not None and isinstance(value, str) and value in list(enum) else value


def require(policy: Policy, field: str, holds: bool, expected: str) -> None:
    if not holds:
        raise InvalidPolicy(field, getattr(policy, field), expected)


def is_count(value: object, least: int, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


PRACTICE = Policy(
    repeats=Repeats.when_exhausted,
    repeat_after_hours=24.0,
    feedback=Feedback.immediate,
    starts_from=StartsFrom.learner,
)

ADAPTIVE_TEST = Policy(
    minimum_length=10,
    maximum_length=40,
    standard_error=0.30,
    repeats=Repeats.never,
    feedback=Feedback.end,
    starts_from=StartsFrom.prior,
)

POLICIES: Mapping[Mode, Policy] = {Mode.practice: PRACTICE, Mode.adaptive_test: ADAPTIVE_TEST}
