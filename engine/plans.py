"""A learner's daily queue up to the exam, from what is known today: nothing of it is stored, so nothing piles up."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

import numpy as np

from engine import learner, loading, progress, yardsticks
from engine.irt.types import FloatArray
from engine.learner import Day, Phase, Work
from engine.pool import Pool
from engine.selection import POLICIES, Mode, Policy
from engine.yardsticks import Yardstick
from itembank import learners, responses
from itembank.models import Exam, Learner
from itembank.store import Db

USUAL_SECONDS = 60.0  # for an item whose time nobody has measured
TIMES_READ = 200  # a learner's latest answers, by which the pace is judged


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What to start a session with. objectives : codes, empty for all;  policy : fields to replace"""

    mode: Mode
    objectives: tuple[str, ...]
    policy: dict[str, float | int]


@dataclass(frozen=True, slots=True)
class PlannedDay:
    """reviews : how many items;  unseen : objective code to a number of items not met yet"""

    date: date
    phase: Phase
    minutes: float
    reviews: int
    unseen: dict[str, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """days : today first;  reviews : of today, items in order;  suggestion : None where today has nothing to serve now

    pace : how long the learner's answers take, as a multiple of the usual;  seconds_per_item : for this learner
    """

    days: tuple[PlannedDay, ...]
    reviews: tuple[UUID, ...]
    suggestion: Suggestion | None
    next_due_at: datetime | None
    pace: float
    seconds_per_item: float


def daily_plan(
    db: Db,
    exam: Exam,
    who: Learner,
    *,
    minutes_per_day: float,
    exam_date: date | None,
    utc_offset: timedelta,
    now: datetime,
) -> Plan:
    """The plan as of now, by days that begin at midnight `utc_offset` ahead of UTC.

    Raises ValueError as `engine.learner.plan` does.
    """
    today, pool = (now + utc_offset).date(), loading.latest_pool(db, exam)
    if pool is None:
        days = learner.plan(nothing(), minutes_per_day, today, exam_date)
        return Plan(tuple(_day(day, ()) for day in days), (), None, None, 1.0, USUAL_SECONDS)
    off = loading.withdrawn(db, exam.id, exam.bank_revision)
    coming = progress.reviews(db, who.id, exam.id, pool, off)
    pace = _pace(db, exam, who, pool)
    seconds = usual_seconds(pool, loading.timings(db, pool).median_ms) * pace
    places = np.array([pool.index_of_version[version] for version, _ in coming], dtype=np.int64)
    kept = learners.find_state(db, who.id, exam.id)
    yardstick, state = yardsticks.of_pool(db, pool, exam.cut_score), progress.state_of(db, kept, exam, pool, now)
    weights = np.asarray(pool.objective_weights)
    taken = [*(row.item_id for row in learners.items_met(db, who.id, exam.id)), *(kept.reserved if kept else ())]
    unseen = ~np.isin(pool.items, taken) & ~pool.pretest & ~np.isin(pool.item_versions, list(off))
    work = Work(
        review_day=np.array([((due_at + utc_offset).date() - today).days for _, due_at in coming], dtype=np.int64),
        review_s=seconds[places],
        unseen=np.bincount(pool.objective[unseen], minlength=len(pool.objective_codes)),
        unseen_s=by_objective(pool, seconds),
        gains=weights if yardstick.form is None else learner.study_gains(state, yardstick.form),
        weights=weights,
    )
    days = learner.plan(work, minutes_per_day, today, exam_date, mock_minutes=mock_minutes(yardstick, pool))
    planned = tuple(_day(day, pool.objective_codes) for day in days)
    queue = [coming[place] for place in days[0].reviews]
    names = responses.version_names(db, [version for version, _ in queue])
    asked = {pool.objective_codes[int(pool.objective[pool.index_of_version[version]])] for version, _ in queue}
    return Plan(
        days=planned,
        reviews=tuple(names[version][0] for version, _ in queue),
        suggestion=suggested(planned[0], asked, pool.objective_codes, due=any(due_at <= now for _, due_at in queue)),
        next_due_at=progress.next_review(coming, now),
        pace=pace,
        seconds_per_item=float(seconds.mean()) if seconds.size else USUAL_SECONDS,
    )


def nothing() -> Work:
    """No work at all."""
    none, whole = np.empty(0), np.empty(0, dtype=np.int64)
    return Work(whole, none, whole, none, none, none)


def usual_seconds(pool: Pool, median_ms: FloatArray) -> FloatArray:
    """How long each item usually takes (I,), seconds above 0."""
    known = np.isfinite(median_ms) & (median_ms > 0.0)
    return np.where(known, np.divide(median_ms, 1000.0, where=known, out=np.zeros(len(pool))), USUAL_SECONDS)


def by_objective(pool: Pool, seconds: FloatArray) -> FloatArray:
    """The mean (K,) over each objective's items; USUAL_SECONDS where it has none."""
    total = np.bincount(pool.objective, seconds, len(pool.objective_codes))
    items = np.diff(pool.objective_start)
    return np.where(items > 0, total / np.maximum(items, 1), USUAL_SECONDS)


def mock_minutes(yardstick: Yardstick, pool: Pool) -> float | None:
    """How long a mock form takes; None for no mocks, where the pool can't fill one."""
    policy: Policy = POLICIES[Mode.mock]
    fills = yardstick.form is not None and np.count_nonzero(~pool.pretest) >= (policy.maximum_length or 0)
    return policy.time_limit_s / 60.0 if fills and policy.time_limit_s is not None else None


def suggested(day: PlannedDay, reviewed: set[str], codes: tuple[str, ...], *, due: bool) -> Suggestion | None:
    """The session that serves a day's work. reviewed : objectives of its reviews;  due : whether one is due already"""
    if day.phase is Phase.mock:
        return Suggestion(Mode.mock, (), {})
    unseen = sum(day.unseen.values())
    if unseen:
        wanted = tuple(code for code in codes if code in reviewed or code in day.unseen)
        length = day.reviews + unseen
        share = min(1.0, round((day.reviews + 0.5) / length, 3)) if day.reviews else 0.0  # the half is for rounding
        return Suggestion(
            Mode.practice, () if wanted == codes else wanted, {"maximum_length": length, "review_share": share}
        )
    return Suggestion(Mode.review, (), {"maximum_length": day.reviews}) if due else None


def _pace(db: Db, exam: Exam, who: Learner, pool: Pool) -> float:
    """How long the learner's answers take, as a multiple of what the items usually take."""
    usual_ms = 1000.0 * usual_seconds(pool, loading.timings(db, pool).median_ms)
    rows = [
        (time_ms, usual_ms[pool.index_of_version[version]])
        for version, time_ms in responses.times(db, who.id, exam.id, limit=TIMES_READ)
        if version in pool.index_of_version
    ]
    times, usual = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    return learner.average_pace(times, usual)


def _day(day: Day, codes: tuple[str, ...]) -> PlannedDay:
    unseen = {code: count for code, count in zip(codes, day.unseen.tolist(), strict=True) if count}
    return PlannedDay(day.date, day.phase, day.minutes, len(day.reviews), unseen)
