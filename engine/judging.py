"""What one answer means, wherever it was given: its class, whether it moves ability, and the memory of its item."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from engine import learner, progress
from engine.answers import exposure_class
from engine.evidence import evidence
from engine.irt.types import FloatArray
from engine.learner import Memory, Prior
from engine.loading import Timings
from engine.pool import Pool
from engine.progress import Known
from itembank.content import ExposureClass
from itembank.scoring import Scored
from itembank.settling import Remembered


class Met(NamedTuple):
    """What the learner knew of an item before an answer."""

    answers: int = 0
    reveals: int = 0
    memory: Memory | None = None

    @classmethod
    def of_row(cls, row: Any) -> "Met":
        """From a row as `sessions.look` gives it."""
        return cls(row.met_answers, row.met_reveals, progress.memory_of(row))


@dataclass(frozen=True, slots=True)
class Judged:
    """moves : it moves ability, so the posterior (121,) and what is known of the learner are others than before"""

    exposure: ExposureClass
    moves: bool
    log_posterior: FloatArray
    known: Known
    memory: Remembered


def judge(
    pool: Pool,
    place: int,
    scored: Scored,
    selected: Sequence[str],
    met: Met,
    *,
    response_time_ms: int | None,
    timings: Timings,
    suspended: Collection[int],
    log_posterior: FloatArray,
    known: Known,
    prior: Prior,
    now: datetime,
    remembered_at: datetime,
) -> Judged:
    """An answer to the item at a pool index.

    selected : uuids of the options chosen
    suspended : version ids that no longer count;  remembered_at : when the item was on the learner's mind
    """
    exposure = exposure_class(
        met.answers,
        met.reveals,
        is_pretest=bool(pool.pretest[place]),
        is_rapid=timings.is_rapid(place, response_time_ms),
    )
    moves = exposure is ExposureClass.CLEAN_FIRST and int(pool.item_versions[place]) not in suspended
    if moves:
        said = evidence(pool, place, scored, selected)
        log_posterior = log_posterior + said
        known = known.after(pool.objective_codes[pool.objective[place]], said, now=now, prior=prior)
    usual_ms = timings.usual_ms(place)
    memory = _remembered(met.memory, exposure, scored.correct, response_time_ms, usual_ms, remembered_at)
    return Judged(exposure, moves, log_posterior, known, memory)


def _remembered(
    before: Memory | None,
    exposure: ExposureClass,
    right: bool,
    time_ms: int | None,
    usual_ms: float | None,
    now: datetime,
) -> Remembered:
    """The memory of the item after the answer; a rapid guess leaves it as it was."""
    if exposure is not ExposureClass.RAPID_GUESS:
        at = now if before is None else max(now, before.last_review)
        before = learner.reviewed(before, learner.rating(right, time_ms, usual_ms), at)
    if before is None:
        return Remembered()
    return Remembered(
        before.stability, before.difficulty, before.due, before.last_review, before.reviews, before.lapses
    )
