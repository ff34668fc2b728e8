"""Deciding a session again from its start, its seed and its answers, to show that it was decided as it says.

On the build that served it every number comes out the same to the last bit;
elsewhere the items are the same, and θ within 1e-9.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine import loading
from engine.constraining import attributes_for, program_for
from engine.evidence import evidence, polytomous
from engine.form_sittings import EARLIER_FORMS, expires_at, places, served
from engine.irt import estimate
from engine.irt.types import FloatArray
from engine.pool import Pool
from engine.selection import (
    Policy,
    Profile,
    Progress,
    Standing,
    StopReason,
    Waiting,
    broken,
    decide,
    facts_of,
    in_order,
    indices,
    option_order,
    stop_reason,
    unpack,
    versions_mask,
    waiting_after,
)
from itembank import form_answers, responses
from itembank.content import SessionStatus
from itembank.models import Session
from itembank.scoring import Scored
from itembank.store import Db

# Reasons that rest on what was left to serve, which a sitting that has ended doesn't keep.
UNKNOWN_AFTERWARDS = (StopReason.no_information, StopReason.pool_exhausted, StopReason.nothing_due)
THETA_TOLERANCE = 1e-9  # logits, between builds whose exponentials round differently


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored value that replaying does not give again."""

    position: int
    what: str
    stored: Any
    replayed: Any


def replay(db: Db, session: Session, *, tolerance: float = THETA_TOLERANCE) -> list[Difference]:
    """Where the stored course of a session differs from deciding it again; nothing if it is faithful.

    tolerance : largest difference of abilities and standard errors in logits; 0 asks for the same bits
    """
    pool, policy = loading.get_pool(db, session.pool_id), Policy.from_json(session.policy)
    if session.form is not None:
        return [
            *_form(db, session, session.form, pool, policy, tolerance),
            *_course(db, session, pool, policy, tolerance),
        ]
    log_posterior = np.frombuffer(session.start_log_posterior)
    differences: list[Difference] = []
    answered: list[int] = []
    waiting: tuple[Waiting, ...] = ()
    rows = db.execute(responses.replayable(session.id)).all()
    traces = [*(response.trace for response, _ in rows), session.current]
    standing = None if traces[0] is None else Standing.of_trace(traces[0])  # the cut score is the exam's of that day
    for (response, score), following in zip(rows, traces[1:], strict=True):
        trace, counts = response.trace, response.moves_ability
        differences += _compare(db, session, pool, policy, log_posterior, answered, trace, standing, waiting, tolerance)
        answered.append(response.item_version_id)
        waiting = waiting_after(policy, trace, right=score.correct)
        place, scored = pool.index_of_version[response.item_version_id], Scored(score.score, score.correct)
        if counts:
            log_posterior = log_posterior + evidence(pool, place, scored, response.selected)
            if standing is not None:
                curve = polytomous(pool, place, scored, response.selected)
                standing = standing.after(policy, score.correct, pool.parameters(place), curve)
        after = estimate(log_posterior)
        stored = (response.theta_after, response.standard_error_after)
        differences += _apart(response.position, "ability after", stored, after, tolerance)
        seconds = (response.answered_at - session.started_at).total_seconds()
        progress = Progress.after(trace, after, counts=counts, seconds=seconds, following=following, standing=standing)
        differences += _stops(policy, progress, response.stop_reason)
    if session.current is not None:
        differences += _compare(
            db, session, pool, policy, log_posterior, answered, session.current, standing, waiting, tolerance
        )
    return differences


def _form(
    db: Db, session: Session, stored: dict[str, Any], pool: Pool, policy: Policy, tolerance: float
) -> list[Difference]:
    """Whether a form keeps its promises. It isn't assembled again: what the solver found depended on its time."""
    items = np.array([pool.index_of_version[version] for version in session.queue], dtype=np.int64)
    blocked = unpack(session.resting, pool) | versions_mask(pool, stored["suspended"])
    limit = indices(pool, session.objectives)
    known = attributes_for(db, pool, policy)
    clashes = list(broken(pool, policy, items, blocked=blocked, objectives=limit, attributes=known))
    found = [Difference(0, "constraints", [], clashes)] if clashes else []
    order = pool.item_versions[in_order(pool, policy, items, session.seed, known)].tolist()
    found += [] if order == session.queue else [Difference(0, "order", session.queue, order)]
    earlier = form_answers.earlier_forms(
        db, session.learner_id, session.exam_id, before=session.id, limit=EARLIER_FORMS
    )
    facts = facts_of(
        pool,
        items,
        unpack(session.excluded, pool),
        places(pool, earlier),
        stored["cut_score"],
        target=stored["target"],
        eligible=stored["eligible_count"],
    )
    for name, value in facts.items():
        if abs(stored[name] - value) > tolerance:
            found.append(Difference(0, name, stored[name], value))
    return found


def _course(db: Db, session: Session, pool: Pool, policy: Policy, tolerance: float) -> list[Difference]:
    """Whether the answers that counted are the last ones given, and the ability what they make of it."""
    rows = db.execute(responses.replayable(session.id)).all()
    found: list[Difference] = []
    if session.status is SessionStatus.FINISHED and session.stop_reason in list(StopReason):
        given = {p: row.selected for p, row in form_answers.latest(db, session.id).items() if row.selected is not None}
        counted = {response.position: response.selected for response, _ in rows}
        found += [] if given == counted else [Difference(0, "answers", counted, given)]
        limit = expires_at(policy, session.started_at)
        over = limit is not None and session.finished_at is not None and session.finished_at >= limit
        reason = (StopReason.time_limit if over else StopReason.finished).value
        found += [] if session.stop_reason == reason else [Difference(0, "stop reason", session.stop_reason, reason)]
    log_posterior = np.frombuffer(session.start_log_posterior)
    for response, score in rows:
        position, trace = response.position, response.trace
        served_now = served(db, session, position)
        pair = trace["option_order"], list(served_now.order)
        found += [] if pair[0] == pair[1] else [Difference(position, "option_order", *pair)]
        pair = response.item_version_id, session.queue[position - 1]
        found += [] if pair[0] == pair[1] else [Difference(position, "item", *pair)]
        stored = (response.theta_before, response.standard_error_before)
        found += _apart(position, "ability before", stored, estimate(log_posterior), tolerance)
        if response.moves_ability:
            place = pool.index_of_version[response.item_version_id]
            scored = Scored(score.score, score.correct)
            log_posterior = log_posterior + evidence(pool, place, scored, response.selected)
        stored = (response.theta_after, response.standard_error_after)
        found += _apart(position, "ability after", stored, estimate(log_posterior), tolerance)
    return found


def _stops(policy: Policy, progress: Progress, stored: str | None) -> list[Difference]:
    """Whether the sitting went on or ended as it says, and why."""
    replayed = stop_reason(policy, progress)
    if replayed is None and stored in UNKNOWN_AFTERWARDS:
        return []
    return [] if replayed == stored else [Difference(progress.administered, "stop reason", stored, replayed)]


def _compare(
    db: Db,
    session: Session,
    pool: Pool,
    policy: Policy,
    log_posterior: FloatArray,
    administered: list[int],
    stored: dict[str, Any],
    standing: Standing | None,
    waiting: Sequence[Waiting],
    tolerance: float,
) -> list[Difference]:
    """One stored choice against the same choice made now."""
    trace = decide(
        pool,
        policy,
        log_posterior,
        administered=administered,
        objectives=session.objectives,
        excluded=unpack(session.excluded, pool),
        resting=unpack(session.resting, pool),
        suspended=stored["suspended"],
        seed=session.seed,
        queue=session.queue,
        waiting=waiting,
        profile=Profile.of_trace(stored),
        program=program_for(db, pool, policy, session.objectives),
        standing=standing,
    )
    position = len(administered) + 1
    if trace is None:
        return [Difference(position, "item", stored["item_version"], None)]
    item = loading.item(db, trace["item_version"])
    options = len(item.question.options)
    trace["option_order"] = option_order(
        policy, options=options, may_shuffle=item.shuffle, seed=session.seed, position=position
    )
    exact = ("item_version", "option_order", "objective", "eligible_count", "repeated", "turn")
    pairs = [(name, stored.get(name, trace[name]), trace[name]) for name in exact]  # older traces have no turn
    found = [Difference(position, *pair) for pair in pairs if pair[1] != pair[2]]
    ability = (trace["theta"], trace["standard_error"])
    found += _apart(position, "ability before", (stored["theta"], stored["standard_error"]), ability, tolerance)
    before = Standing.of_trace(stored)
    if standing is not None and before is not None:
        pair = (before.cut_score, before.log_ratio), (standing.cut_score, standing.log_ratio)
        found += _apart(position, "standing", *pair, tolerance)
    return found


def _apart(
    position: int, what: str, stored: tuple[float, float], replayed: tuple[float, float], tolerance: float
) -> list[Difference]:
    far = max(abs(one - other) for one, other in zip(stored, replayed, strict=True)) > tolerance
    return [Difference(position, what, stored, tuple(replayed))] if far else []
