"""What an exam's log of answers teaches about practice: how long items take, and how likely an answer is to be right.

A job measures both. A model is added with the next number and never overwritten, so that a forecast can name its model.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from engine import learner, loading, progress
from engine.irt import NODES, log_probabilities, normal_log_prior, posterior
from engine.irt.types import BoolArray, FloatArray
from engine.learner import FEATURES, SuccessModel, features, fitting
from itembank import calibrations, learners, responses
from itembank.content import ExposureClass
from itembank.models import Exam, PracticeModel
from itembank.store import Db

FOLDS = 5  # one learner in so many is held out
MOST_ANSWERS = 500_000  # whole learners, the newest first, until so many are read: some 80 MB
PIECE = 4_000  # answers worked on at a time, 1 kB each
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Tuned:
    """What a tuning came to. answers, learners : read;  timings : versions whose median response time is known

    model : the row that was added, or None, and then `refusal` says why
    """

    answers: int
    learners: int
    timings: int
    model: PracticeModel | None
    refusal: str | None = None


class Examples(NamedTuple):
    """Answers to learn from: rows (N, F) of `learner.features`, right (N,), learner (N,), its number among those read.

    Rapid guesses are none of them.
    """

    rows: FloatArray
    right: BoolArray
    learner: FloatArray


class Times(NamedTuple):
    """Response times (N,) in ms, and the id of the version that each is of."""

    ms: FloatArray
    version: FloatArray


def tune(
    db: Db, exam: Exam, *, actor: str, now: datetime, progress: Callable[[int], object] = lambda answers: None
) -> Tuned:
    """Measure response times, fit the success model to all but a fifth of the learners, judge it on those, keep both.

    progress : is told how many more answers were read
    With too few answers the times are kept all the same, and the result says how many are needed.
    """
    examples, times, read, people = _read(db, exam, progress)
    versions, place = np.unique(times.version, return_inverse=True)
    medians, counts = learner.medians(times.ms, place, versions.size)
    kept = list(zip(versions.astype(int).tolist(), counts.tolist(), medians.tolist(), strict=True))
    calibrations.keep_timings(db, kept, now)
    held_out = examples.learner % FOLDS == FOLDS - 1
    refusal = refused(exam.slug, examples.right, held_out)
    if refusal is not None:
        return Tuned(read, people, len(kept), None, refusal)
    model, quality = fitted(examples, held_out)
    calibrations.lock_exam(db, exam.id)  # two jobs at once would give the same number
    row = learners.add_model(db, exam.id, weights=model.to_json(), quality=quality, actor=actor, now=now)
    return Tuned(read, people, len(kept), row)


def newest(db: Db, exam_id: int) -> tuple[int, SuccessModel] | None:
    """The number of the model in use and the model; None before the first tuning."""
    row = learners.find_model(db, exam_id)
    return None if row is None else (row.number, SuccessModel.from_json(row.weights))


def refused(slug: str, right: BoolArray, held_out: BoolArray) -> str | None:
    """Why a model can't be fitted to these answers (N,) and judged by those held out (N,); None if it can."""
    fit, judged = right[~held_out], right[held_out]
    enough = fit.size >= fitting.LEAST_ANSWERS
    if enough and all(0 < part.sum() < part.size for part in (fit, judged)):
        return None
    return (
        f"exam {slug} has {fit.size} answers to fit to and {judged.size} of a held-out fifth of its learners: "
        f"{fitting.LEAST_ANSWERS} of at least {FOLDS} learners are needed, right and wrong ones in both parts"
    )


def fitted(examples: Examples, held_out: BoolArray) -> tuple[SuccessModel, dict[str, Any]]:
    """The model, and how well it forecasts the answers of the learners held out (N,), as plain JSON."""
    model = fitting.fit(examples.rows[~held_out], examples.right[~held_out])
    found = fitting.assess(examples.right[held_out], model.predict(examples.rows[held_out]))
    quality = {
        "auc": found.auc,
        "brier": found.brier,
        "log_loss": found.log_loss,
        "calibration": [
            {"forecast": forecast, "observed": observed}
            for forecast, observed in zip(found.forecast.tolist(), found.observed.tolist(), strict=True)
        ],
        "answers": int(held_out.sum()),
        "learners": int(np.unique(examples.learner[held_out]).size),
    }
    return model, quality


def _read(db: Db, exam: Exam, tell: Callable[[int], object]) -> tuple[Examples, Times, int, int]:
    """Examples and times, answers and learners read. Rows come in batches; only numbers are kept of them."""
    log_prior = normal_log_prior(*_spread(exam))
    found, seen, times, people = [np.empty((0, len(FEATURES)))], [np.empty((0, 2))], [np.empty((0, 2))], 0
    read = 0
    for piece in _pieces(responses.of_exam(db, exam.id)):
        known = [(row.response_time_ms, row.item_version_id) for row in piece if row.response_time_ms is not None]
        times.append(np.array(known, dtype=np.float64).reshape(-1, 2))
        table = _table(db, [row for row in piece if row.exposure_class is not ExposureClass.RAPID_GUESS])
        if table.size:
            who, number = np.unique(table["learner"], return_inverse=True)
            found.append(rows_of(table, log_prior))
            seen.append(np.column_stack([table["right"], people + number]))
            people += who.size
        read += len(piece)
        tell(len(piece))
        if read >= MOST_ANSWERS:
            break
    outcome, timed = np.concatenate(seen), np.concatenate(times)
    examples = Examples(np.concatenate(found), outcome[:, 0] > 0.0, outcome[:, 1])
    return examples, Times(timed[:, 0], timed[:, 1]), read, people


def _spread(exam: Exam) -> tuple[float, float]:
    prior = progress.prior_of(exam)
    return prior.mean, prior.sd


def _pieces(rows: Iterator[Any]) -> Iterator[list[Any]]:
    """About PIECE rows at a time, each learner's in one piece; rows come learner by learner."""
    piece: list[Any] = []
    for _, answers in groupby(rows, key=lambda row: row.learner_id):
        piece.extend(answers)
        if len(piece) >= PIECE:
            yield piece
            piece = []
    if piece:
        yield piece


TABLE = np.dtype(
    [(name, np.int64) for name in ("learner", "item", "objective")]
    + [(name, np.bool_) for name in ("right", "counts")]
    + [(name, np.float64) for name in ("hour", "a", "b", "c", "d")]
)


def _table(db: Db, rows: Sequence[Any]) -> Any:
    """The answers as a structured array of TABLE; objectives by a number that is theirs in this piece."""
    codes: dict[str, int] = {}
    records = []
    for row in rows:
        pool = loading.get_pool(db, row.pool_id)
        place = pool.index_of_version[row.item_version_id]
        code = codes.setdefault(pool.objective_codes[int(pool.objective[place])], len(codes))
        hour = row.answered_at.timestamp() / HOUR
        head = (row.learner_id, int(pool.items[place]), code, row.correct, row.moves_ability, hour)
        records.append((*head, *pool.parameters(place)))
    return np.array(records, dtype=TABLE)


def rows_of(table: Any, log_prior: FloatArray) -> FloatArray:
    """The features (N, F) of answers (N,) of TABLE, whole learners, each one's in the order they came.

    Ability is the mean of the overall ability on the grid, from `log_prior` (121,) and the clean answers before it,
    without drift or objectives: the counts by objective tell the rest, and it takes one sum per answer.
    """
    of_objective = fitting.history(table["learner"], table["objective"], table["right"], table["hour"])
    of_item = fitting.history(table["learner"], table["item"], table["right"], table["hour"])
    return features(
        abilities_before(table, log_prior),
        table["b"],
        objective_right=of_objective.right,
        objective_wrong=of_objective.wrong,
        objective_gap=of_objective.gap,
        item_right=of_item.right,
        item_wrong=of_item.wrong,
        item_gap=of_item.gap,
    )


def abilities_before(table: Any, log_prior: FloatArray) -> FloatArray:
    """Each learner's EAP (N,) in logits just before each answer; only answers that count move it."""
    right, wrong = log_probabilities(NODES, *(table[name] for name in "abcd"))  # (121, N)
    told = np.where(table["right"], right, wrong).T * table["counts"][:, None]
    so_far = np.cumsum(told, axis=0) - told
    begins = np.ones(table.size, dtype=np.bool_)
    begins[1:] = table["learner"][1:] != table["learner"][:-1]
    start = np.maximum.accumulate(np.where(begins, np.arange(table.size), 0))
    return np.asarray(posterior(so_far - so_far[start] + log_prior) @ NODES)
