"""Which parts of a policy are simulated. Whatever is not is refused by name: a simulation never leaves out a rule."""

from dataclasses import dataclass, fields
from typing import Self

from engine.errors import InvalidPolicy
from engine.selection import Criterion, Policy

CRITERIA = (Criterion.posterior_information, Criterion.maximum_information)

SIMULATED = frozenset(
    ("criterion", "content_balancing", "randomesque", "minimum_length", "maximum_length", "standard_error")
)
# A simulated sitting is its examinee's first, so nothing was seen before and nothing is known; and it has no screen.
WITHOUT_EFFECT = frozenset(("repeats", "repeat_after_hours", "feedback", "starts_from", "estimator", "shuffle_options"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The simulated part of a policy; the fields mean what they mean there. Enemies are a matter of the pool."""

    criterion: Criterion
    content_balancing: bool
    randomesque: int
    minimum_length: int
    maximum_length: int
    standard_error: float | None

    @classmethod
    def of(cls, policy: Policy) -> Self:
        """The rules of a policy.  Raises InvalidPolicy for one with a feature that is not simulated, or without an end.

        >>> Rules.of(Policy(maximum_length=40)).maximum_length
        40
        """
        if policy.criterion not in CRITERIA:
            raise InvalidPolicy("criterion", policy.criterion, "one that is simulated: " + ", ".join(CRITERIA))
        usual = type(policy)()
        for name in (field.name for field in fields(policy)):
            value = getattr(policy, name)
            if name not in SIMULATED | WITHOUT_EFFECT and value != getattr(usual, name):
                raise InvalidPolicy(name, value, f"{getattr(usual, name)!r} (nothing else is simulated)")
        if policy.maximum_length is None:
            raise InvalidPolicy("maximum_length", None, "a whole number (a simulated sitting must end)")
        return cls(
            criterion=policy.criterion,
            content_balancing=policy.content_balancing,
            randomesque=policy.randomesque,
            minimum_length=policy.minimum_length,
            maximum_length=policy.maximum_length,
            standard_error=policy.standard_error,
        )
