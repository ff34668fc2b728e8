"""A daily queue up to the exam: due reviews and unseen items that fill the minutes a learner has, and no more.

A plan is made afresh from what is known today, so a missed day leaves no backlog: what is overdue waits its turn, most
overdue first, in days that stay as long as they were. Days after today are a forecast; reviews that today's answers
will bring are not in it.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

import numpy as np

from engine.irt.types import FloatArray, IntArray


class Phase(StrEnum):
    """What a day is for."""

    learn = "learn"  # unseen items where they help most, due reviews up to half of the time
    consolidate = "consolidate"  # due reviews first, unseen items on weighty objectives only
    light = "light"  # the eve of the exam: reviews, half of the usual time
    mock = "mock"  # a full form under real timing
    exam = "exam"  # the day itself


# The most of a day's time that reviews get before unseen items; what either leaves goes to the other.
REVIEW_SHARE = {Phase.learn: 0.5, Phase.consolidate: 0.8, Phase.light: 1.0}
CONSOLIDATION_DAYS = 5
LIGHT_SHARE = 0.5
LEAST_DAYS_FOR_MOCKS = 9  # with fewer, a mock would take the place of what it should test
OPEN_HORIZON = 7  # days planned where no exam date is known
LONGEST_HORIZON = 366


@dataclass(frozen=True, eq=False)
class Work:
    """What there is to do for one learner, in the learner's own pace; M memories, K objectives.

    review_day : (M,), days from today to each item's due date, 0 or less: due;  review_s : (M,), seconds it will take
    unseen : (K,), items not met yet;  unseen_s : (K,), seconds one takes
    gains : (K,), what study of each objective adds to readiness;  weights : (K,), blueprint weights
    """

    review_day: IntArray
    review_s: FloatArray
    unseen: IntArray
    unseen_s: FloatArray
    gains: FloatArray
    weights: FloatArray

    def __post_init__(self) -> None:
        if not ((self.review_s > 0.0).all() and (self.unseen_s > 0.0).all()):
            raise ValueError("every review and every unseen item takes some time: seconds above 0 expected")


@dataclass(frozen=True, eq=False)
class Day:
    """One day of a plan: reviews are places among the M memories, in order; unseen (K,) counts per objective."""

    date: date
    phase: Phase
    reviews: tuple[int, ...]
    unseen: IntArray
    minutes: float


def plan(
    work: Work, minutes_per_day: float, today: date, exam_date: date | None = None, *, mock_minutes: float | None = None
) -> tuple[Day, ...]:
    """One Day per day from today to the exam, or for OPEN_HORIZON days; today's is the queue to serve.

    mock_minutes : length of a mock form, None for no mocks; a mock day takes as long as the mock does
    A day is off its minutes by at most half of its last item, or shorter where nothing useful is left to do.
    Raises ValueError for minutes of 0 or less and for an exam that is over or more than LONGEST_HORIZON days away.
    """
    if not 0.0 < minutes_per_day <= 1440.0:
        raise ValueError(f"{minutes_per_day} minutes per day: above 0 and at most 1440 expected")
    left = OPEN_HORIZON if exam_date is None else (exam_date - today).days + 1
    if not 1 <= left <= LONGEST_HORIZON:
        raise ValueError(f"exam on {exam_date}: from {today} to {LONGEST_HORIZON - 1} days later expected")
    days, waiting, unseen = [], np.ones(work.review_day.size, dtype=np.bool_), work.unseen.copy()
    for ahead, phase in enumerate(phases(left, exam_date is not None, mocks=mock_minutes is not None)):
        reviews: tuple[int, ...] = ()
        new, spent = np.zeros_like(unseen), 60.0 * (mock_minutes or 0.0) * (phase is Phase.mock)
        if phase in REVIEW_SHARE:
            seconds = 60.0 * minutes_per_day * (LIGHT_SHARE if phase is Phase.light else 1.0)
            ready = np.flatnonzero(waiting & (work.review_day <= ahead))
            reviews, new, spent = fill(work, ready, unseen, seconds, phase)
            waiting[list(reviews)] = False
            unseen = unseen - new
        days.append(Day(today + timedelta(days=ahead), phase, reviews, new, spent / 60.0))
    return tuple(days)


def phases(days: int, has_exam: bool, *, mocks: bool) -> list[Phase]:
    """The phase of each of `days` days, the last one the exam's where there is one."""
    if not has_exam:
        return [Phase.learn] * days
    consolidating = min(CONSOLIDATION_DAYS, (days - 1) // 2)
    result = [Phase.learn] * (days - consolidating) + [Phase.consolidate] * consolidating
    result[-2:] = [Phase.light, Phase.exam][-min(days, 2) :]
    if mocks and days > LEAST_DAYS_FOR_MOCKS:
        result[days // 3] = result[2 * days // 3] = Phase.mock
    return result


def fill(
    work: Work, ready: IntArray, unseen: IntArray, seconds: float, phase: Phase
) -> tuple[tuple[int, ...], IntArray, float]:
    """The reviews, unseen counts (K,) and seconds of one day: reviews up to their share, unseen items, more reviews."""
    queue = ready[np.argsort(work.review_day[ready], kind="stable")]
    ends = np.cumsum(work.review_s[queue])
    begun = ends - 0.5 * work.review_s[queue]  # an item is begun if at least half of it fits
    first = int(np.count_nonzero(begun <= REVIEW_SHARE[phase] * seconds))
    spent = float(ends[first - 1]) if first else 0.0
    wanted = worth(work, phase)
    new, spent = spread(wanted, unseen, work.unseen_s, spent, seconds)
    rest = ends[first:] - (ends[first - 1] if first else 0.0)
    more = int(np.count_nonzero(spent + rest - 0.5 * work.review_s[queue[first:]] <= seconds))
    spent += float(rest[more - 1]) if more else 0.0
    return tuple(queue[: first + more].tolist()), new, spent


def worth(work: Work, phase: Phase) -> FloatArray:
    """How much an unseen item of each objective is wanted, (K,): its gain, and in some phases nothing.

    Where nothing gains, what the blueprint weighs counts.
    """
    gains = np.maximum(work.gains, 0.0)
    wanted = gains if gains.any() else work.weights
    if phase is Phase.light or not wanted.size:
        return np.zeros_like(wanted)
    if phase is Phase.consolidate:
        return np.asarray(np.where(work.weights >= work.weights.mean(), wanted, 0.0))
    return wanted


def spread(
    wanted: FloatArray, unseen: IntArray, unseen_s: FloatArray, spent: float, seconds: float
) -> tuple[IntArray, float]:
    """Counts (K,) of unseen items that fill the time left, in proportion to `wanted`, and the seconds spent then.

    Places go to the largest wanted / (2 n + 1), n the places an objective has already: the method of Sainte-Laguë.
    """
    most = max(0, int((seconds - spent) / unseen_s.min()) + 1) if unseen_s.size else 0  # as many as could ever fit
    quotients = wanted[:, None] / (2.0 * np.arange(most) + 1.0)  # (K, most)
    quotients[np.arange(most) >= unseen[:, None]] = 0.0
    order = np.argsort(-quotients, axis=None, kind="stable")
    objective = (order // most)[quotients.ravel()[order] > 0.0] if most else np.empty(0, dtype=np.int64)
    ends = spent + np.cumsum(unseen_s[objective])
    begun = int(np.count_nonzero(ends - 0.5 * unseen_s[objective] <= seconds))
    counts = np.bincount(objective[:begun], minlength=unseen.size)
    return counts, float(ends[begun - 1]) if begun else spent
