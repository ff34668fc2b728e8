"""A sitting begins: what it starts from, what it may serve, what is lined up for it, and its first item."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np

from engine import form_sittings, loading, progress
from engine.constraining import program_for
from engine.errors import NothingDue, NothingToServe
from engine.following import next_trace, profile_for, suspended_versions
from engine.form_sittings import check_times, is_form
from engine.irt import normal_log_prior
from engine.irt.types import BoolArray, FloatArray
from engine.learner import Prior
from engine.pool import Pool
from engine.progress import Known
from engine.selection import (
    POLICIES,
    Criterion,
    Mode,
    Policy,
    Repeats,
    Standing,
    StartsFrom,
    pack,
    withheld_items,
)
from itembank import calibrations, form_answers, learners, sessions
from itembank.content import SessionStatus
from itembank.models import Exam, Session
from itembank.store import Db

EXPOSURE_WINDOW = 500  # latest sessions by which the exposure of items is judged
MOST_DUE = 500  # due items lined up in one sitting
NARROWEST = 0.1  # logits; what is known better would fall between the nodes of the ability grid


def start(
    db: Db,
    *,
    tenant_id: int,
    exam: Exam,
    learner: str,
    mode: Mode,
    changes: Mapping[str, object],
    objectives: Sequence[str],
    seed: int,
    actor: str,
    now: datetime,
) -> Session:
    """Begin a sitting and choose its first item.

    changes : fields of the mode's policy to replace
    objectives : codes of leaves or domains to limit it to, empty for all
    Raises NothingToServe, InvalidPolicy, Invalid (an objective that the blueprint lacks), Infeasible and Unsolved (a
    form), TimeOver (an earlier form of the learner is still to be ended).
    """
    policy = POLICIES[mode].with_changes(changes)
    pool = loading.current_pool(db, exam, actor=actor, now=now)
    codes = calibrations.expand_objectives(db, pool.version, objectives)
    who = learners.get_or_add(db, tenant_id, learner, now)
    learners.get_or_add_state(db, who.id, exam.id, now)
    check_times(db, who.id, exam.id, now)
    state = form_answers.lock_state(db, who.id, exam.id)  # no form may reserve what this sitting begins with
    loading.timings(db, pool)  # so that no answer has to wait for them
    prior = progress.prior_of(exam)
    known = progress.known(db, state, pool, prior).at(now, prior)
    excluded, resting = _met(db, who.id, exam.id, pool, policy, state.reserved, now)
    begin = _begin(policy, pool, known, prior)
    queue = _due(db, who.id, exam.id, pool, now) if _reviews(policy) else []
    off = suspended_versions(db, pool, exam.id, exam.bank_revision)
    courses = _courses(db, pool, policy, mode)
    withheld = withheld_items(pool, policy, courses, blocked=resting, suspended=off, objectives=codes, seed=seed)
    excluded, resting = excluded | withheld, resting | withheld
    line, first = None, None
    if is_form(policy):
        line = form_sittings.lined_up(
            db,
            pool,
            policy,
            exam,
            who.id,
            begin=begin,
            excluded=excluded,
            resting=resting,
            suspended=off,
            objectives=codes,
            seed=seed,
            now=now,
        )
        queue, excluded, resting, first = line.versions, line.excluded, line.resting, line.first
    else:
        first = next_trace(
            db,
            pool,
            policy,
            begin,
            suspended=off,
            administered=(),
            objectives=codes,
            excluded=excluded,
            resting=resting,
            seed=seed,
            queue=queue,
            waiting=(),
            profile=profile_for(policy, pool, known, prior, exam.cut_score),
            program=program_for(db, pool, policy, codes),
            standing=Standing.at_start(policy, exam.cut_score),
            now=now,
        )
    if first is None and policy.criterion is Criterion.due_date:
        coming = progress.reviews(db, who.id, exam.id, pool, off)
        raise NothingDue(exam.slug, progress.next_review(coming, now))
    if first is None:
        raise NothingToServe(exam.slug, len(pool))
    session = Session(
        tenant_id=tenant_id,
        exam_id=exam.id,
        learner_id=who.id,
        pool_id=pool.version,
        mode=mode.value,
        policy=policy.to_json(),
        objectives=list(codes),
        seed=seed,
        status=SessionStatus.IN_PROGRESS,
        start_log_posterior=begin.tobytes(),
        log_posterior=begin.tobytes(),
        excluded=pack(excluded),
        resting=pack(resting),
        queue=queue,
        administered=[first["item_version"]] if line is None else queue,
        current=first,
        form=None if line is None else line.facts,
        started_at=now,
        updated_at=now,
    )
    db.add(session)
    if line is not None:
        form_sittings.reserve(db, state, pool, queue)
    db.flush()
    return session


def _begin(policy: Policy, pool: Pool, known: Known, prior: Prior) -> FloatArray:
    """The log posterior (121,) of ability that a sitting begins with."""
    if policy.starts_from is StartsFrom.prior:
        return normal_log_prior(prior.mean, prior.sd)
    ability = progress.overall(known.on(pool.objective_codes, prior), pool)
    return normal_log_prior(ability.theta, max(ability.standard_error, NARROWEST))


def _reviews(policy: Policy) -> bool:
    return policy.criterion is Criterion.due_date or policy.review_share > 0


def _due(db: Db, learner_id: int, exam_id: int, pool: Pool, now: datetime) -> list[int]:
    """Version ids of the pool's items that the learner should review now, most overdue first."""
    rows = learners.due_items(db, learner_id, exam_id, now)
    version_of = dict(zip(pool.items[~pool.pretest].tolist(), pool.item_versions[~pool.pretest].tolist(), strict=True))
    return [version_of[row.item_id] for row in rows if row.item_id in version_of][:MOST_DUE]


def _met(
    db: Db, learner_id: int, exam_id: int, pool: Pool, policy: Policy, reserved: Sequence[int], now: datetime
) -> tuple[BoolArray, BoolArray]:
    """Masks over the pool: items met in earlier sittings; of those, the ones that may not come back in this one.

    reserved : ids of items in an open mock, which are in both
    """
    rows = learners.items_met(db, learner_id, exam_id)
    since = now - timedelta(hours=policy.repeat_after_hours)
    excluded = np.isin(pool.items, [*(row[0] for row in rows), *reserved])
    if policy.repeats is Repeats.never:
        return excluded, excluded
    return excluded, np.isin(pool.items, [*(row[0] for row in rows if row[1] > since), *reserved])


def _courses(db: Db, pool: Pool, policy: Policy, mode: Mode) -> Sequence[tuple[Sequence[int], bytes]]:
    """What recent sittings served and could not serve, for a policy that bounds exposure."""
    if policy.maximum_exposure is None:
        return ()
    return sessions.recent_courses(db, pool.version, mode=mode.value, limit=EXPOSURE_WINDOW)
