"""Memory of seen items: when each should come back, by FSRS as the `fsrs` package computes it.

An answer becomes one of FSRS's four ratings by being right or wrong and by its time against the usual one. Steps of
minutes and random fuzz are switched off: an item comes back after whole days, at least one, and the same answers give
the same dates. Memory never touches ability.
Source: Ye, Su & Cao (2022), KDD '22, 4381-4390; Open Spaced Repetition, FSRS-6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
from fsrs import Card, Rating, Scheduler, State
from fsrs.scheduler import DEFAULT_PARAMETERS

from engine.irt.types import FloatArray

# A right answer in half the usual time comes easily, one that takes twice as long came hard.
EASY_RATIO, HARD_RATIO = 0.5, 2.0
MISSING_DIFFICULTY = "a memory needs a stability above 0 in days and a difficulty from 1 to 10"
SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True)
class Memory:
    """What a learner remembers of one item.

    stability : days after which recall has fallen to 90 %;  difficulty : 1 to 10
    due, last_review : with time zone, kept in UTC;  reviews : answers so far;  lapses : wrong ones after the first
    """

    stability: float
    difficulty: float
    due: datetime
    last_review: datetime
    reviews: int
    lapses: int

    def __post_init__(self) -> None:
        if not (0.0 < self.stability < np.inf and 1.0 <= self.difficulty <= 10.0):
            raise ValueError(f"stability {self.stability} and difficulty {self.difficulty}: {MISSING_DIFFICULTY}")

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary, times as ISO 8601 in UTC."""
        return vars(self) | {"due": self.due.isoformat(), "last_review": self.last_review.isoformat()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The memory that `to_json` described."""
        times = {name: datetime.fromisoformat(data[name]) for name in ("due", "last_review")}
        return cls(**(dict(data) | times))


def schedule(
    parameters: Sequence[float] = DEFAULT_PARAMETERS, *, retention: float = 0.9, maximum_days: int = 36_500
) -> Scheduler:
    """How memories are scheduled: FSRS parameters (21), the recall at which an item is due, and the longest interval.

    The default parameters are those of FSRS-6, fitted to many people's reviews.  Raises ValueError out of range.
    """
    if not 0.0 < retention < 1.0:
        raise ValueError(f"retention {retention}: above 0 and below 1 expected")
    steps: dict[str, Any] = {"learning_steps": (), "relearning_steps": (), "enable_fuzzing": False}
    return Scheduler(parameters, desired_retention=retention, maximum_interval=maximum_days, **steps)


SCHEDULE = schedule()


def rating(right: bool, response_time_ms: float | None = None, usual_ms: float | None = None) -> Rating:
    """FSRS's rating of an answer; without both times a right one is Good.

    usual_ms : the learner's own usual time for such an item, from `usual_time_ms`

    >>> [rating(True, time, 30_000).name for time in (12_000, 30_000, 70_000)], rating(False, 5_000, 30_000).name
    (['Easy', 'Good', 'Hard'], 'Again')
    """
    if not right:
        return Rating.Again
    if response_time_ms is None or not usual_ms:
        return Rating.Good
    ratio = response_time_ms / usual_ms
    return Rating.Easy if ratio < EASY_RATIO else Rating.Hard if ratio > HARD_RATIO else Rating.Good


def usual_time_ms(item_ms: float | None, pace: float = 1.0) -> float | None:
    """The time a learner usually takes for an item: its median over everybody, times the learner's own pace.

    pace : median of the learner's times over the items' medians (`rapid.pace`);  None where the item has no median
    """
    return None if item_ms is None else item_ms * pace


def reviewed(before: Memory | None, rated: Rating, now: datetime, scheduler: Scheduler = SCHEDULE) -> Memory:
    """The memory after an answer at `now`; `before` is None at the first meeting with the item.

    Raises ValueError for a time without zone, or before the last review.
    """
    now = in_utc(now)
    if before is not None and now < before.last_review:
        raise ValueError(f"a review at {now.isoformat()}, but the last was at {before.last_review.isoformat()}")
    card, _ = scheduler.review_card(card_of(before, now), rated, now)
    if card.stability is None or card.difficulty is None:
        raise ValueError(f"FSRS left {card}: {MISSING_DIFFICULTY}")
    reviews, lapses = (before.reviews, before.lapses) if before else (0, 0)
    missed = before is not None and rated == Rating.Again
    return Memory(card.stability, card.difficulty, card.due, now, reviews + 1, lapses + missed)


def card_of(memory: Memory | None, now: datetime) -> Card:
    """The package's card; its number is only a name, and giving one keeps it from asking the clock."""
    if memory is None:
        return Card(card_id=0, due=now)
    return Card(0, State.Review, None, memory.stability, memory.difficulty, memory.due, memory.last_review)


def retrievability(memories: Sequence[Memory], now: datetime, scheduler: Scheduler = SCHEDULE) -> FloatArray:
    """Probability (M,) that each item would be recalled now.

    (1 + f t / S)^-w with t days since the last review, S the stability, w the last FSRS parameter and f such that it is
    0.9 at t = S.  The package counts whole days; here time flows, and both agree at whole days.
    """
    days, stability, _ = columns(memories, in_utc(now))
    decay = -scheduler.parameters[20]
    factor = 0.9 ** (1.0 / decay) - 1.0
    return np.asarray((1.0 + factor * np.maximum(days, 0.0) / stability) ** decay)


def due(memories: Sequence[Memory], now: datetime) -> list[int]:
    """Places of the memories that are due, most overdue first; of equally overdue ones the less stable first."""
    _, stability, overdue = columns(memories, in_utc(now))
    order = np.lexsort((stability, -overdue))
    return [int(place) for place in order if overdue[place] >= 0.0]


def next_due(memories: Sequence[Memory], now: datetime) -> datetime | None:
    """When the next item that is not due yet will be; None where all are, or there is none."""
    return min((memory.due for memory in memories if memory.due > in_utc(now)), default=None)


def columns(memories: Sequence[Memory], now: datetime) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Days since the last review, stability in days, and days overdue (below 0: not yet), each (M,)."""
    since = np.array([(now - memory.last_review).total_seconds() for memory in memories]) / SECONDS_PER_DAY
    overdue = np.array([(now - memory.due).total_seconds() for memory in memories]) / SECONDS_PER_DAY
    return since, np.array([memory.stability for memory in memories], dtype=np.float64), overdue


def in_utc(moment: datetime) -> datetime:
    """The same moment in UTC, which is what FSRS asks for.  Raises ValueError where it has no time zone."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone")
    return moment.astimezone(UTC)
