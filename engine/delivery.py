"""A sitting from start to finish: load, decide, store. Every front end (REST, pages, LTI, CAT) comes through here.

An answer is decided on what was read and stored only if that is still so, so two tabs or a retried request can't both
move a session. What was decided is stored with the answer; `engine.replaying` decides it again and compares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import sqlalchemy as sa

from engine import form_sittings, learner, loading, progress
from engine.answers import Change, Filed, Filled, Given, Served, Step, check_shape
from engine.constraining import program_for
from engine.errors import NothingDue, NothingToServe, PositionConflict, SessionFinished
from engine.evidence import polytomous
from engine.form_sittings import check_time, check_times, expires_at, is_form, policy_of, position_of, sheet
from engine.irt import Ability, estimate, normal_log_prior
from engine.irt.types import BoolArray, FloatArray
from engine.judging import Met, judge
from engine.learner import Prior
from engine.pool import Pool
from engine.progress import Known
from engine.selection import (
    POLICIES,
    Criterion,
    Feedback,
    Mode,
    Policy,
    Profile,
    Progress,
    Repeats,
    Standing,
    StartsFrom,
    StopReason,
    Waiting,
    decide,
    decided,
    decided_after,
    is_over_time,
    option_order,
    pack,
    standing_after,
    stop_reason,
    unpack,
    waiting_after,
    withheld_items,
)
from engine.selection.program import Program
from itembank import calibrations, form_answers, learners, responses, scoring, sessions, settling
from itembank.content import ExposureClass, SessionStatus
from itembank.errors import KeyReused
from itembank.models import Exam, Session
from itembank.settling import Learned, Remembered, Settlement
from itembank.store import Db

EXPOSURE_WINDOW = 500  # latest sessions by which the exposure of items is judged
MOST_DUE = 500  # due items lined up in one sitting
NARROWEST = 0.1  # logits; what is known better would fall between the nodes of the ability grid
__all__ = [
    "LARGEST_SEED",
    "answer",
    "change",
    "check_time",
    "check_times",
    "current",
    "expires_at",
    "finish",
    "position_of",
    "sheet",
    "start",
]

LARGEST_SEED = 2**53 - 1  # every JSON reader keeps it exactly


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
    off = _suspended(db, pool, exam.id, exam.bank_revision)
    courses = _courses(db, pool, policy, mode)
    withheld = withheld_items(pool, policy, courses, blocked=resting, suspended=off, objectives=codes, seed=seed)
    excluded, resting = excluded | withheld, resting | withheld
    line = None
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
        queue, excluded, resting = line.versions, line.excluded, line.resting
    first = (
        line.first
        if line is not None
        else _next(
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
            profile=_profile(policy, pool, known, prior, exam.cut_score),
            program=program_for(db, pool, policy, codes),
            standing=Standing.at_start(policy, exam.cut_score),
            now=now,
        )
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


def current(db: Db, session: Session | sa.Row[*tuple[Any, ...]]) -> Served:
    """The open position; of a form the first one without an answer. Raises SessionFinished, Conflict."""
    if isinstance(session, Session) and session.form is not None:
        return form_sittings.current(db, session)
    if session.status is SessionStatus.FINISHED or session.current is None:
        raise SessionFinished(session.uuid, session.stop_reason or "")
    return _served(db, len(session.administered), session.current)


def answer(db: Db, tenant_id: int, session_uuid: UUID, given: Given, *, now: datetime) -> Step | Filed:
    """Score an answer, learn from it, choose what comes next, and store all of it; on a form only store it.

    The same answer to a settled position gets the same reply again; nothing is stored twice.
    Raises NotFound, PositionConflict, SessionFinished, Invalid, KeyReused, TimeOver.
    """
    session = sessions.look(db, tenant_id, session_uuid, item=UUID(given.item))
    if is_form(policy_of(session.policy)):
        return form_sittings.answer(db, session, given, now)
    open_position = len(session.administered)
    if given.position < open_position or session.status is SessionStatus.FINISHED:
        return _again(db, session, given)
    if given.position > open_position:
        raise PositionConflict(session.uuid, given.position, open_position)
    served = current(db, session)
    check_shape(served, given)
    step = _settle(db, session, served, given, now)
    return answer(db, tenant_id, session_uuid, given, now=now) if step is None else step


def change(db: Db, session: Session, asked: Change, *, now: datetime) -> Filled:
    """Answer a position of a form, change its answer, or flag it.

    Raises Conflict where the sitting has none, NotFound, Invalid, KeyReused, SessionFinished, TimeOver.
    """
    form_sittings.check_form(session)
    return form_sittings.change(db, session, asked, now)


def finish(db: Db, tenant_id: int, session_uuid: UUID, *, now: datetime) -> None:
    """End a sitting at the caller's word, or for its time if that is over; one that has ended stays as it is."""
    session = sessions.lock(db, tenant_id, session_uuid)
    if session.status is SessionStatus.FINISHED:
        return
    policy = policy_of(session.policy)
    if is_form(policy):
        form_sittings.finish(db, session, now=now)
        return
    over = is_over_time(policy, (now - session.started_at).total_seconds())
    settling.advance(
        db,
        session.id,
        log_posterior=session.log_posterior,
        administered=session.administered,
        current=session.current,
        stop_reason=(StopReason.time_limit if over else StopReason.finished).value,
        now=now,
    )
    if policy.feedback is Feedback.end:
        answered = loading.get_pool(db, session.pool_id).items_of(session.administered[:-1])
        learners.reveal(db, session.learner_id, answered)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What an answer means and what follows from it.

    log_posterior : (121,), after it;  learned : what is known of the learner; None if nothing was learned
    memory : of the item
    following : the trace of the next item, None where the sitting ends for the reason `stop`
    """

    scored: scoring.Scored
    exposure: ExposureClass
    log_posterior: FloatArray
    learned: Learned | None
    memory: Remembered
    progress: Progress
    following: dict[str, Any] | None
    stop: StopReason | None


def _settle(db: Db, session: sa.Row[*tuple[Any, ...]], served: Served, given: Given, now: datetime) -> Step | None:
    """None if something else has just changed what this rests on; the next look will see it."""
    policy = policy_of(session.policy)
    outcome = _judge(db, session, policy, served, given, now)
    immediate, over = policy.feedback is Feedback.immediate, outcome.stop is not None
    earlier = session.administered[:-1] if over and not immediate else ()
    revealed = loading.get_pool(db, session.pool_id).items_of(earlier)
    settlement = _settlement(session, served, given, outcome, reveals=immediate or over, revealed=revealed, now=now)
    if not settling.settle(db, settlement):
        return None
    following, ability = outcome.following, outcome.progress.ability
    return Step(
        served=served,
        selected=given.selected,
        scored=outcome.scored,
        theta=ability.theta,
        standard_error=ability.standard_error,
        stop_reason=settlement.stop_reason,
        decision=decided(policy, outcome.progress, settlement.stop_reason),
        reveals=settlement.reveals,
        next=None if following is None else _served(db, served.position + 1, following),
    )


def _judge(
    db: Db, session: sa.Row[*tuple[Any, ...]], policy: Policy, served: Served, given: Given, now: datetime
) -> _Outcome:
    """Score the answer, learn from it, and choose what comes next; nothing is stored."""
    pool, version = loading.get_pool(db, session.pool_id), served.item.item_version_id
    place, prior = pool.index_of_version[version], progress.prior_of(session)
    scored = scoring.score(given.selected, served.item.keys)
    off = _suspended(db, pool, session.exam_id, session.bank_revision)
    judged = judge(
        pool,
        place,
        scored,
        given.selected,
        Met.of_row(session),
        response_time_ms=given.response_time_ms,
        timings=loading.timings(db, pool),
        suspended=off,
        log_posterior=np.frombuffer(session.log_posterior),
        known=progress.known(db, session, pool, prior),
        prior=prior,
        now=now,
        remembered_at=now,
    )
    after, known, moves = judged.log_posterior, judged.known, judged.moves
    learned = Learned(learner.pack(known.state), known.codes) if moves else None
    standing = standing_after(
        policy,
        session.current,
        right=scored.correct,
        counts=moves,
        parameters=pool.parameters(place),
        log_likelihood=polytomous(pool, place, scored, given.selected),
    )
    following = _next(
        db,
        pool,
        policy,
        after,
        suspended=sorted({*off, *_versions(pool, session.reserved)}),
        administered=session.administered,
        objectives=session.objectives,
        excluded=unpack(session.excluded, pool),
        resting=unpack(session.resting, pool),
        seed=session.seed,
        queue=session.queue,
        waiting=waiting_after(policy, session.current, right=scored.correct),
        profile=_profile(policy, pool, known, prior, session.cut_score),
        program=program_for(db, pool, policy, session.objectives),
        standing=standing,
        now=now,
    )
    # Choosing estimates the ability; estimating it first would only save the choice after a sitting's last answer.
    ability = estimate(after) if following is None else Ability(following["theta"], following["standard_error"])
    standing_now = Progress.after(
        session.current,
        ability,
        counts=moves,
        seconds=(now - session.started_at).total_seconds(),
        following=following,
        standing=standing,
    )
    stop = stop_reason(policy, standing_now) or (_nothing_left(policy) if following is None else None)
    return _Outcome(
        scored, judged.exposure, after, learned, judged.memory, standing_now, None if stop else following, stop
    )


def _nothing_left(policy: Policy) -> StopReason:
    return StopReason.nothing_due if policy.criterion is Criterion.due_date else StopReason.pool_exhausted


def _settlement(
    session: sa.Row[*tuple[Any, ...]],
    served: Served,
    given: Given,
    outcome: _Outcome,
    *,
    reveals: bool,
    revealed: Sequence[int],
    now: datetime,
) -> Settlement:
    """The same as it is stored."""
    following = outcome.following
    return Settlement(
        session_id=session.id,
        learner_id=session.learner_id,
        item_id=served.item.item_id,
        met_answers=session.met_answers,
        met_reveals=session.met_reveals,
        reveals=reveals,
        revealed=revealed,
        position=served.position,
        item_version_id=served.item.item_version_id,
        selected=given.selected,
        response_time_ms=given.response_time_ms,
        exposure_class=outcome.exposure,
        before=(session.current["theta"], session.current["standard_error"]),
        after=outcome.progress.ability,
        stop_reason=None if outcome.stop is None else outcome.stop.value,
        idempotency_key=given.idempotency_key,
        served_at=datetime.fromisoformat(session.current["now"]),
        scored=outcome.scored,
        log_posterior=outcome.log_posterior.tobytes(),
        administered=[*session.administered, *([] if following is None else [following["item_version"]])],
        current=following,
        learner_state_id=session.state_id,
        learner_revision=session.revision,
        memory=outcome.memory,
        learned=outcome.learned,
        now=now,
    )


def _again(db: Db, session: sa.Row[*tuple[Any, ...]], given: Given) -> Step:
    """The reply that a settled position got, made again from what was stored; or why this answer can't have it."""
    settled = responses.find_settled(db, session.id, given.position)
    if settled is None:
        raise SessionFinished(session.uuid, session.stop_reason or "")
    response, score = settled
    served = _served(db, given.position, response.trace)
    same = given.item == served.item.question.id and sorted(given.selected) == sorted(response.selected)
    if not same and given.idempotency_key is not None and given.idempotency_key == response.idempotency_key:
        raise KeyReused(given.idempotency_key)
    if not same:
        raise PositionConflict(session.uuid, given.position, len(session.administered))
    policy = policy_of(session.policy)
    ability = Ability(response.theta_after, response.standard_error_after)
    pool, scored = loading.get_pool(db, session.pool_id), scoring.Scored(score.score, score.correct)
    place = pool.index_of_version[response.item_version_id]
    return Step(
        served=served,
        selected=tuple(response.selected),
        scored=scored,
        theta=ability.theta,
        standard_error=ability.standard_error,
        stop_reason=response.stop_reason,
        decision=decided_after(
            policy,
            response.trace,
            ability,
            right=score.correct,
            counts=response.moves_ability,
            parameters=pool.parameters(place),
            log_likelihood=polytomous(pool, place, scored, response.selected),
            reason=response.stop_reason,
        ),
        reveals=policy.feedback is Feedback.immediate or response.stop_reason is not None,
        next=None if response.stop_reason is not None else _after(db, session, given.position),
    )


def _after(db: Db, session: sa.Row[*tuple[Any, ...]], position: int) -> Served:
    """What was served after a settled position: the open one, or the one answered next."""
    later = responses.find_settled(db, session.id, position + 1)
    return _served(db, position + 1, session.current if later is None else later[0].trace)


def _served(db: Db, position: int, trace: Mapping[str, Any]) -> Served:
    return Served(position, loading.item(db, trace["item_version"]), tuple(trace["option_order"]))


def _begin(policy: Policy, pool: Pool, known: Known, prior: Prior) -> FloatArray:
    """The log posterior (121,) of ability that a sitting begins with."""
    if policy.starts_from is StartsFrom.prior:
        return normal_log_prior(prior.mean, prior.sd)
    ability = progress.overall(known.on(pool.objective_codes, prior), pool)
    return normal_log_prior(ability.theta, max(ability.standard_error, NARROWEST))


def _profile(policy: Policy, pool: Pool, known: Known, prior: Prior, cut_score: float) -> Profile | None:
    """The learner by objective, for the criterion that asks for it."""
    if policy.criterion is not Criterion.readiness_gain:
        return None
    state = known.on(pool.objective_codes, prior)
    return Profile.of(learner.ability_means(state), learner.ability_sds(state), cut_score)


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


def _versions(pool: Pool, items: Sequence[int]) -> list[int]:
    """Version ids of the pool's items with these ids."""
    return pool.item_versions[np.isin(pool.items, items)].tolist() if items else []


def _suspended(db: Db, pool: Pool, exam_id: int, bank_revision: int) -> list[int]:
    """The pool's version ids that may not be served, as of a bank revision; ascending."""
    return sorted(loading.withdrawn(db, exam_id, bank_revision) & pool.index_of_version.keys())


def _courses(db: Db, pool: Pool, policy: Policy, mode: Mode) -> Sequence[tuple[Sequence[int], bytes]]:
    """What recent sittings served and could not serve, for a policy that bounds exposure."""
    if policy.maximum_exposure is None:
        return ()
    return sessions.recent_courses(db, pool.version, mode=mode.value, limit=EXPOSURE_WINDOW)


def _next(
    db: Db,
    pool: Pool,
    policy: Policy,
    log_posterior: FloatArray,
    *,
    suspended: Sequence[int],
    administered: Sequence[int],
    objectives: Sequence[str],
    excluded: BoolArray,
    resting: BoolArray,
    seed: int,
    queue: Sequence[int],
    waiting: Sequence[Waiting],
    profile: Profile | None,
    program: Program | None,
    standing: Standing | None,
    now: datetime,
) -> dict[str, Any] | None:
    """The trace of the next choice, with the order of its options, or None when nothing is left to serve."""
    trace = decide(
        pool,
        policy,
        log_posterior,
        administered=administered,
        objectives=objectives,
        excluded=excluded,
        resting=resting,
        suspended=suspended,
        seed=seed,
        queue=queue,
        waiting=waiting,
        profile=profile,
        program=program,
        standing=standing,
    )
    if trace is None:
        return None
    item = loading.item(db, trace["item_version"])
    options = len(item.question.options)
    order = option_order(policy, options=options, may_shuffle=item.shuffle, seed=seed, position=trace["position"])
    return trace | {"option_order": order, "now": now.isoformat()}
