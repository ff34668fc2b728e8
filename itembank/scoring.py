"""From the options a learner chose to a score."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scored:
    """score : between 0 and 1;  correct : all of it right"""

    score: float
    correct: bool


def score(selected: Collection[Hashable], keys: Collection[Hashable]) -> Scored:
    """Right when exactly the keys were chosen.

    >>> score({"a"}, {"a"}), score({"a", "b"}, {"a"})
    (Scored(score=1.0, correct=True), Scored(score=0.0, correct=False))
    """
    correct = set(selected) == set(keys)
    return Scored(score=float(correct), correct=correct)
