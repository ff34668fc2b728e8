"""What is known of a learner in one exam, between the tables and the learner model: read, moved on by an answer, kept.

The state is kept for the objectives it has met under any blueprint, by their codes, so that a sitting that began under
an older blueprint can go on and a new one starts from all that is known.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from engine import learner, loading
from engine.evidence import evidence
from engine.irt import NODES, Ability
from engine.irt.types import FloatArray
from engine.learner import Memory, Prior, State
from engine.pool import Pool
from itembank import learners, responses
from itembank.models import Exam
from itembank.scoring import Scored
from itembank.store import Db

SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True, eq=False)
class Known:
    """A learner's state as of `since`; codes : of the K objectives, in the state's order"""

    state: State
    codes: tuple[str, ...]
    since: datetime

    def at(self, now: datetime, prior: Prior) -> "Known":
        """The same some time later: nothing was learned of the learner meanwhile, and what was known fades."""
        days = max(0.0, (now - self.since).total_seconds()) / SECONDS_PER_DAY
        return Known(learner.faded(self.state, days, prior), self.codes, now)

    def on(self, codes: Sequence[str], prior: Prior) -> State:
        """The state for these objectives in their order; one that was never met has the prior's deviation."""
        if tuple(codes) == self.codes:
            return self.state
        place = {code: k for k, code in enumerate(self.codes)}
        return learner.rearranged(self.state, [place.get(code, -1) for code in codes], prior)

    def after(self, code: str, evidence: FloatArray, *, now: datetime, prior: Prior) -> "Known":
        """After a clean answer to an item of this objective. evidence : (121,), its log-likelihood at NODES

        Between nodes the logarithm is as good as straight; beyond them it is taken as flat.
        """
        later = self.at(now, prior)
        if code not in later.codes:
            later = later.widened((code,), prior)
        objective = later.codes.index(code)
        likelihood = np.interp(learner.places(later.state, objective), NODES, evidence)
        return Known(learner.moved(later.state, objective, likelihood), later.codes, now)

    def widened(self, codes: Sequence[str], prior: Prior) -> "Known":
        """With these objectives too."""
        missing = [code for code in codes if code not in self.codes]
        if not missing:
            return self
        every = (*self.codes, *missing)
        return Known(self.on(every, prior), every, self.since)


def prior_of(exam: Any) -> Prior:
    """What an exam, or a row with its columns, assumes of a learner it has not met."""
    return Prior(mean=exam.prior_mean, sd=exam.prior_sd)


def known(db: Db, row: Any, pool: Pool, prior: Prior) -> Known:
    """From a row with a learner's state, its learner_id and exam_id; the pool's objectives are in it.

    What was never made, or has to be made anew, is made from the log of answers.
    """
    if row.gaussian is None and not row.answers:
        found = Known(learner.initial(0, prior), (), row.updated_at)
    elif row.gaussian is None:
        found = from_log(db, row.learner_id, row.exam_id, prior, since=row.updated_at)
    else:
        found = Known(learner.unpack(row.gaussian), tuple(row.codes), row.updated_at)
    return found.widened(pool.objective_codes, prior)


def from_log(db: Db, learner_id: int, exam_id: int, prior: Prior, *, since: datetime) -> Known:
    """The state that all clean first answers make, in the order they came, by the scores in force today."""
    result = Known(learner.initial(0, prior), (), since)
    rows = db.execute(responses.moving(learner_id, exam_id)).all()
    if rows:
        result = Known(result.state, (), rows[0].answered_at)
    for row in rows:
        pool = loading.get_pool(db, row.pool_id)
        index = pool.index_of_version[row.item_version_id]
        code = pool.objective_codes[int(pool.objective[index])]
        said = evidence(pool, index, Scored(row.score, row.correct), row.selected)
        result = result.after(code, said, now=row.answered_at, prior=prior)
    return result


def state_of(db: Db, row: Any, exam: Exam, pool: Pool, now: datetime) -> State:
    """What is known now, for the pool's objectives, of the learner whose state this row is; the prior for None."""
    prior = prior_of(exam)
    if row is None:
        return learner.initial(len(pool.objective_codes), prior)
    return known(db, row, pool, prior).at(now, prior).on(pool.objective_codes, prior)


def reviews(db: Db, learner_id: int, exam_id: int, pool: Pool, off: Collection[int]) -> list[tuple[int, datetime]]:
    """(version id, when it is due) of what a review could serve, now or one day, in the order in which it is due.

    off : version ids that may not be served.  Pretest items and what has left the pool never come.
    """
    scored = ~pool.pretest
    version_of = dict(zip(pool.items[scored].tolist(), pool.item_versions[scored].tolist(), strict=True))
    rows = learners.due_dates(db, learner_id, exam_id)
    known = ((version_of.get(row.item_id), row.due_at) for row in rows)
    return [(version, due_at) for version, due_at in known if version is not None and version not in off]


def next_review(coming: Sequence[tuple[int, datetime]], now: datetime) -> datetime | None:
    """When the next of `reviews` that is not due yet will be, None if there is none."""
    return next((due_at for _, due_at in coming if due_at > now), None)


def overall(state: State, pool: Pool) -> Ability:
    """Ability on the exam: by objective as the blueprint weighs them. state : for the pool's objectives"""
    weights: FloatArray = np.asarray(pool.objective_weights)
    return learner.overall(state, weights)


def memory_of(row: Any) -> Memory | None:
    """The memory of an item that a row with these columns holds, None before the first review."""
    if row.stability is None:
        return None
    return Memory(row.stability, row.difficulty, row.due_at, row.reviewed_at, row.reviews, row.lapses)
