"""From the options a learner chose to a score."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scored:
    """score : between 0 and 1;  correct : all of it right"""

    score: float
    correct: bool


def score(selected: Collection[Hashable], keys: Collection[Hashable]) -> Scored:
    """A point for each key chosen, one less for each wrong option, none below zero; as a share of all keys.

    Right when exactly the keys were chosen. Taking points back is what keeps *choose everything* from paying.

    >>> score({"a"}, {"a"}), score({"a", "b"}, {"a"})
    (Scored(score=1.0, correct=True), Scored(score=0.0, correct=False))
    >>> score({"a"}, {"a", "b"}), score({"a", "b", "c"}, {"a", "b"})
    (Scored(score=0.5, correct=False), Scored(score=0.5, correct=False))
    """
    chosen, right = set(selected), set(keys)
    points = max(0, len(chosen & right) - len(chosen - right))
    return Scored(score=points / len(right), correct=chosen == right)


def category(score: float, categories: int) -> int:
    """Which of an item's categories 0 to `categories` - 1 a score is, where there is one for each point.

    >>> [category(points / 3, 4) for points in range(4)]
    [0, 1, 2, 3]
    """
    return round(score * (categories - 1))
