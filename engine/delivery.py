"""A sitting from start to finish: load, decide, store. Every front end (REST, pages, LTI, CAT) comes through here.

An answer is decided on what was read and stored only if that is still so, so two tabs or a retried request can't both
move a session. What was decided is stored with the answer; `engine.replaying` decides it again and compares.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import sqlalchemy as sa

from engine import form_sittings, learner, loading, progress
from engine.answers import Change, Filed, Filled, Given, Served, Step, check_shape
from engine.constraining import program_for
from engine.errors import PositionConflict, SessionFinished
from engine.evidence import polytomous
from engine.following import next_trace, profile_for, suspended_versions
from engine.following import served as served_at
from engine.form_sittings import check_time, check_times, expires_at, is_form, policy_of, position_of, sheet
from engine.irt import Ability, estimate
from engine.irt.types import FloatArray
from engine.judging import Met, judge
from engine.pool import Pool
from engine.selection import (
    Criterion,
    Feedback,
    Policy,
    Progress,
    StopReason,
    decided,
    decided_after,
    is_over_time,
    standing_after,
    stop_reason,
    unpack,
    waiting_after,
)
from engine.starting import start
from itembank import learners, responses, scoring, sessions, settling
from itembank.content import ExposureClass, SessionStatus
from itembank.errors import KeyReused
from itembank.models import Session
from itembank.settling import Learned, Remembered, Settlement
from itembank.store import Db

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


def current(db: Db, session: Session | sa.Row[*tuple[Any, ...]]) -> Served:
    """The open position; of a form the first one without an answer. Raises SessionFinished, Conflict."""
    if isinstance(session, Session) and session.form is not None:
        return form_sittings.current(db, session)
    if session.status is SessionStatus.FINISHED or session.current is None:
        raise SessionFinished(session.uuid, session.stop_reason or "")
    return served_at(db, len(session.administered), session.current)


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
        next=None if following is None else served_at(db, served.position + 1, following),
    )


def _versions(pool: Pool, items: Sequence[int]) -> list[int]:
    """Version ids of the pool's items with these ids."""
    return pool.item_versions[np.isin(pool.items, items)].tolist() if items else []


def _judge(
    db: Db, session: sa.Row[*tuple[Any, ...]], policy: Policy, served: Served, given: Given, now: datetime
) -> _Outcome:
    """Score the answer, learn from it, and choose what comes next; nothing is stored."""
    pool, version = loading.get_pool(db, session.pool_id), served.item.item_version_id
    place, prior = pool.index_of_version[version], progress.prior_of(session)
    scored = scoring.score(given.selected, served.item.keys)
    off = suspended_versions(db, pool, session.exam_id, session.bank_revision)
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
    following = next_trace(
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
        profile=profile_for(policy, pool, known, prior, session.cut_score),
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
    served = served_at(db, given.position, response.trace)
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
    return served_at(db, position + 1, session.current if later is None else later[0].trace)
