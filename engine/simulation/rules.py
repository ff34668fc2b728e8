"""Which parts of a policy are simulated. Whatever is not is refused by name: a simulation never leaves out a rule."""

from dataclasses import dataclass, fields
from typing import Self

from engine.errors import InvalidPolicy
from engine.selection import Policy
from engine.simulation.scores import SCORERS

CRITERIA = tuple(SCORERS)

SIMULATED = frozenset(
    (
        *("criterion", "target_success", "strata"),
        *("content_balancing", "content_rule", "strict_content"),
        *("randomesque", "maximum_exposure"),
        *("minimum_length", "maximum_length", "standard_error", "change_of_estimate", "minimum_information"),
        *("classification", "confidence", "indifference", "alpha", "beta"),
    )
)
# A simulated sitting is its examinee's first, so nothing was seen before and nothing is known; it has no screen; and
# it takes no time, so it never runs out of it.
WITHOUT_EFFECT = frozenset(
    ("repeats", "repeat_after_hours", "feedback", "starts_from", "estimator", "shuffle_options", "on_time_out")
)
REASONS = {"time_limit_s": "no response times are simulated"}  # why a field must be as usual


@dataclass(frozen=True, slots=True)
class Rules:
    """A policy that can be simulated.  maximum_length : the policy's own, which is not None here"""

    policy: Policy
    maximum_length: int

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
            value, only = getattr(policy, name), getattr(usual, name)
            if name not in SIMULATED | WITHOUT_EFFECT and value != only:
                expected = "null" if only is None else repr(only)
                raise InvalidPolicy(name, value, f"{expected} ({REASONS.get(name, 'nothing else is simulated')})")
        if policy.maximum_length is None:
            raise InvalidPolicy("maximum_length", None, "a whole number (a simulated sitting must end)")
        return cls(policy, policy.maximum_length)
