"""Sittings on a form: assembled as they begin, filled in any order until they end, and counted then, all at once.

Until the end nothing is judged, so nothing can be told. A change appends, and of each position what came last counts.
The server's clock decides: what comes when the time is over is refused, and the form ends with what it had. Nobody has
to be there for that; whoever looks next finds `TimeOver`, ends it with `finish` and looks again.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

import numpy as np

from engine import learner, loading, progress
from engine.answers import Change, Filed, Filled, Given, Served, Sheet, check_shape
from engine.constraining import attributes_for
from engine.errors import NothingToServe, PositionConflict, SessionFinished, TimeOver
from engine.irt import Ability, estimate
from engine.irt.types import BoolArray, FloatArray
from engine.judging import Judged, Met, judge
from engine.pool import Pool
from engine.selection import (
    Choice,
    Criterion,
    Policy,
    StopReason,
    Turn,
    assembled,
    indices,
    is_over_time,
    option_order,
    versions_mask,
)
from itembank import form_answers, scoring, sessions
from itembank.content import SessionStatus
from itembank.errors import Conflict, KeyReused, NotFound
from itembank.form_answers import Counted, Ending
from itembank.models import Exam, FormAnswer, LearnerItem, LearnerState, Session
from itembank.settling import Learned
from itembank.store import Db

EARLIER_FORMS = 5  # latest forms of a learner whose items a new one rather does without
LONGEST_TIME_MS = 24 * 60 * 60 * 1000  # on one position, all visits together


@lru_cache(maxsize=256)
def policy_of(stored: str) -> Policy:
    """From the JSON text that a session keeps; most sessions keep one of a few."""
    return Policy.from_json(json.loads(stored))


def is_form(policy: Policy) -> bool:
    return policy.criterion is Criterion.blueprint_form


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A form as a sitting begins with it.

    versions : item version ids in their order;  first : the first position's trace;  facts : what the session keeps
    excluded, resting : (I,), items met before; of those, and of others, what the form had to do without
    """

    versions: list[int]
    first: dict[str, Any]
    facts: dict[str, Any]
    excluded: BoolArray
    resting: BoolArray


def lined_up(
    db: Db,
    pool: Pool,
    policy: Policy,
    exam: Exam,
    learner_id: int,
    *,
    begin: FloatArray,
    excluded: BoolArray,
    resting: BoolArray,
    suspended: Sequence[int],
    objectives: Sequence[str],
    seed: int,
    now: datetime,
) -> Line:
    """A form for a learner. Raises NothingToServe, Infeasible, Unsolved."""
    elsewhere = np.isin(pool.item_versions, form_answers.open_items(db, learner_id, exam.id))
    blocked = resting | elsewhere
    limit = indices(pool, objectives)
    if not available(pool, blocked | versions_mask(pool, suspended), limit).any():
        raise NothingToServe(exam.slug, len(pool))
    earlier = form_answers.earlier_forms(db, learner_id, exam.id, before=None, limit=EARLIER_FORMS)
    form = assembled(
        pool,
        policy,
        blocked=blocked | versions_mask(pool, suspended),
        met=excluded,
        earlier=places(pool, earlier),
        objectives=limit,
        cut_score=exam.cut_score,
        seed=seed,
        attributes=attributes_for(db, pool, policy),
    )
    facts = form.facts | {"suspended": list(suspended), "withdrawn": []}
    versions = pool.item_versions[form.items].tolist()
    ability, one = estimate(begin), int(form.items[0])
    shown = loading.item(db, versions[0])
    first = trace_of(pool, one, ability, facts, position=1, seed=seed, repeated=bool(excluded[one]), now=now)
    first["option_order"] = order_of(policy, shown.shuffle, len(shown.question.options), seed, 1)
    return Line(versions, first, facts, excluded | elsewhere, blocked)


def available(pool: Pool, blocked: BoolArray, objectives: Sequence[int] | None) -> BoolArray:
    """True (I,) for the scored items that a form may have."""
    free = ~blocked & ~pool.pretest
    return free if objectives is None else free & np.isin(pool.objective, objectives)


def places(pool: Pool, forms: Sequence[Sequence[int]]) -> list[list[int]]:
    """Forms by pool index; what the pool has no more is left out."""
    index_of = pool.index_of_version
    return [[index_of[version] for version in form if version in index_of] for form in forms]


def trace_of(
    pool: Pool,
    index: int,
    ability: Ability,
    facts: Mapping[str, Any],
    *,
    position: int,
    seed: int,
    repeated: bool,
    now: datetime,
) -> dict[str, Any]:
    """What a position rests on, but for the order of its options. now : when the form was made"""
    choice = Choice(index, *ability, Criterion.blueprint_form, (), None, (), facts["eligible_count"])
    return choice.to_json(pool) | {
        "position": position,
        "seed": seed,
        "repeated": repeated,
        "suspended": facts["suspended"],
        "turn": Turn.form.value,
        "now": now.isoformat(),
    }


def order_of(policy: Policy, may_shuffle: bool, options: int, seed: int, position: int) -> list[int]:
    return option_order(policy, options=options, may_shuffle=may_shuffle, seed=seed, position=position)


def expires_at(policy: Policy, started_at: datetime) -> datetime | None:
    """When the time is over, None without a limit."""
    return None if policy.time_limit_s is None else started_at + timedelta(seconds=policy.time_limit_s)


def check_time(session: Session, now: datetime) -> None:
    """Raise TimeOver if it is a form that should have ended by now."""
    if session.form is None or session.status is SessionStatus.FINISHED:
        return
    if is_over_time(Policy.from_json(session.policy), (now - session.started_at).total_seconds()):
        raise TimeOver([session.uuid])


def check_times(db: Db, learner_id: int, exam_id: int, now: datetime) -> None:
    """Raise TimeOver for all of a learner's forms of an exam that should have ended by now."""
    late = [
        session.uuid
        for session in form_answers.open_forms(db, learner_id, exam_id)
        if is_over_time(Policy.from_json(session.policy), (now - session.started_at).total_seconds())
    ]
    if late:
        raise TimeOver(late)


def sheet(db: Db, session: Session) -> Sheet:
    """How far a form is filled."""
    rows = form_answers.latest(db, session.id)
    answered = tuple(position for position, row in rows.items() if row.selected is not None)
    return Sheet(len(session.queue), answered, tuple(position for position, row in rows.items() if row.flagged))


def position_of(db: Db, session: Session, position: int) -> Filled:
    """A position as it stands. Raises NotFound, and Conflict where the sitting has no form."""
    check_form(session)
    if not 1 <= position <= len(session.queue):
        raise NotFound("position", position)
    return _filled(served(db, session, position), form_answers.latest(db, session.id).get(position))


def current(db: Db, session: Session) -> Served:
    """The first position without an answer. Raises SessionFinished, and Conflict where every position has one."""
    if session.status is SessionStatus.FINISHED:
        raise SessionFinished(session.uuid, session.stop_reason or "")
    first = _first_unanswered(session.queue, form_answers.latest(db, session.id))
    if first is None:
        raise Conflict(f"every position of session {session.uuid} has an answer; change some, or finish it")
    return served(db, session, first)


def check_form(session: Session) -> None:
    if session.form is None:
        raise Conflict(f"session {session.uuid} has no form: only its open position can be read and answered")


def served(db: Db, session: Any, position: int) -> Served:
    """The item at a position. session : with queue, seed and policy, which may be the text it is stored as"""
    policy = policy_of(session.policy) if isinstance(session.policy, str) else Policy.from_json(session.policy)
    item = loading.item(db, session.queue[position - 1])
    order = order_of(policy, item.shuffle, len(item.question.options), session.seed, position)
    return Served(position, item, tuple(order))


def answer(db: Db, session: Any, given: Given, now: datetime) -> Filed:
    """Answer a position that has no answer yet. session : as `sessions.look` gives it"""
    if given.position > len(session.queue):
        raise PositionConflict(session.uuid, given.position, len(session.queue))
    asked = Change(
        position=given.position,
        item=given.item,
        selected=given.selected,
        selects=True,
        response_time_ms=given.response_time_ms,
        idempotency_key=given.idempotency_key,
        is_first=True,
    )
    change(db, session, asked, now)
    rows = form_answers.latest(db, session.id)
    first = None if session.status is SessionStatus.FINISHED else _first_unanswered(session.queue, rows)
    return Filed(given.position, session.stop_reason, None if first is None else served(db, session, first))


def change(db: Db, session: Any, asked: Change, now: datetime) -> Filled:
    """Answer a position, change its answer or take it back, flag it; what is so already is stored no second time.

    session : a row with id, uuid, queue, seed, policy, status, stop_reason and started_at
    Raises NotFound, Invalid, KeyReused, PositionConflict, SessionFinished, TimeOver.
    """
    if not 1 <= asked.position <= len(session.queue):
        raise NotFound("position", asked.position)
    place = served(db, session, asked.position)
    item = place.item.question.id if asked.item is None else asked.item
    if asked.selects and asked.selected is not None:
        check_shape(place, Given(asked.position, item, asked.selected))
    elif asked.item is not None and asked.item != place.item.question.id:
        check_shape(place, Given(asked.position, asked.item, ()))
    while True:
        stored = _stored(db, session, asked, now)
        if stored is not None:
            return _filled(place, stored)
        session = sessions.look(db, session.tenant_id, session.uuid, item=UUID(place.item.question.id))


def _stored(db: Db, session: Any, asked: Change, now: datetime) -> FormAnswer | None:
    """The position's row after the change; None if something else has just changed what this rests on."""
    if asked.idempotency_key is not None:
        keyed = form_answers.find_keyed(db, session.id, asked.idempotency_key)
        if keyed is not None and _says(keyed, asked):
            return keyed
        if keyed is not None:
            raise KeyReused(asked.idempotency_key)
    last = form_answers.latest(db, session.id).get(asked.position)
    before = FormAnswer(session_id=session.id, position=asked.position, revision=0, flagged=False, answered_at=now)
    before = before if last is None else last
    if _says(before, asked):
        return before
    if session.status is SessionStatus.FINISHED:
        raise SessionFinished(session.uuid, session.stop_reason or "")
    policy = policy_of(session.policy) if isinstance(session.policy, str) else Policy.from_json(session.policy)
    if is_over_time(policy, (now - session.started_at).total_seconds()):
        raise TimeOver([session.uuid])
    if asked.is_first and before.selected is not None:
        raise PositionConflict(session.uuid, asked.position, len(session.queue) + 1)
    after = _changed(before, asked, now)
    return after if form_answers.append(db, after) else None


def _says(row: FormAnswer, asked: Change) -> bool:
    """Whether a row has what a change asks for."""
    if row.position != asked.position:
        return False
    selected = None if asked.selected is None else sorted(asked.selected)
    same = not asked.selects or selected == (None if row.selected is None else sorted(row.selected))
    return same and (asked.flagged is None or row.flagged == asked.flagged)


def _changed(before: FormAnswer, asked: Change, now: datetime) -> FormAnswer:
    spent = before.response_time_ms
    if asked.response_time_ms is not None:
        spent = min((spent or 0) + asked.response_time_ms, LONGEST_TIME_MS)
    kept = before.selected if not asked.selects else asked.selected
    return FormAnswer(
        session_id=before.session_id,
        position=before.position,
        revision=before.revision + 1,
        selected=None if kept is None else list(kept),
        flagged=before.flagged if asked.flagged is None else asked.flagged,
        response_time_ms=spent,
        idempotency_key=asked.idempotency_key,
        answered_at=now,
    )


def _filled(place: Served, row: FormAnswer | None) -> Filled:
    if row is None:
        return Filled(place)
    return Filled(place, None if row.selected is None else tuple(row.selected), row.flagged, row.revision)


def _first_unanswered(queue: Sequence[int], rows: Mapping[int, FormAnswer]) -> int | None:
    open_ones = (p for p in range(1, len(queue) + 1) if p not in rows or rows[p].selected is None)
    return next(open_ones, None)


def finish(db: Db, session: Any, *, now: datetime) -> None:
    """End a form at the caller's word, or for its time if that is over: what it has by then is counted.

    session : as `sessions.lock` gives it, held, and not over yet
    """
    policy = policy_of(session.policy)
    limit = expires_at(policy, session.started_at)
    over = limit is not None and now >= limit
    ended_at = limit if over and limit is not None else now
    pool = loading.get_pool(db, session.pool_id)
    rows = {p: row for p, row in form_answers.latest(db, session.id).items() if row.selected is not None}
    off = loading.withdrawn(db, session.exam_id, session.bank_revision)
    made = sessions.get(db, session.tenant_id, session.uuid)
    facts = {**(made.form or {}), "withdrawn": [version for version in session.queue if version in off]}
    state, counted = _counted(db, session, pool, facts, rows, now=now, ended_at=ended_at)
    answered = {each.item_id for each in counted}
    moved = any(each.moves_ability for each in counted)
    ending = Ending(
        session_id=session.id,
        learner_id=session.learner_id,
        exam_id=session.exam_id,
        counted=counted,
        shown=[item for item in pool.items_of(session.queue) if item not in answered],
        learned=Learned(learner.pack(state.known.state), state.known.codes) if moved else None,
        log_posterior=state.log_posterior.tobytes(),
        form=facts,
        stop_reason=(StopReason.time_limit if over else StopReason.finished).value,
        ended_at=ended_at,
        now=now,
    )
    form_answers.end(db, ending)


@dataclass(frozen=True, slots=True)
class _Standing:
    """What is known, answer by answer."""

    log_posterior: FloatArray
    known: progress.Known

    def after(self, judged: Judged) -> "_Standing":
        return replace(self, log_posterior=judged.log_posterior, known=judged.known)


def _counted(
    db: Db,
    session: Any,
    pool: Pool,
    facts: Mapping[str, Any],
    rows: Mapping[int, FormAnswer],
    *,
    now: datetime,
    ended_at: datetime,
) -> tuple[_Standing, list[Counted]]:
    """What the answers mean, in the order of their positions, whenever each was given; and what is known after them."""
    prior, policy = progress.prior_of(session), policy_of(session.policy)
    standing = _Standing(np.frombuffer(session.log_posterior), progress.known(db, session, pool, prior))
    excluded = np.unpackbits(np.frombuffer(session.excluded, dtype=np.uint8), count=len(pool)).view(np.bool_)
    shown = loading.items(db, session.queue)
    met = form_answers.met(db, session.learner_id, pool.items_of(session.queue))
    timings, counted = loading.timings(db, pool), []
    for position, row in sorted(rows.items()):
        version = session.queue[position - 1]
        place, item, selected = pool.index_of_version[version], shown[version], row.selected or []
        scored = scoring.score(tuple(selected), item.keys)
        before = estimate(standing.log_posterior)
        judged = judge(
            pool,
            place,
            scored,
            selected,
            _met(met.get(item.item_id)),
            response_time_ms=row.response_time_ms,
            timings=timings,
            suspended=facts["withdrawn"],
            log_posterior=standing.log_posterior,
            known=standing.known,
            prior=prior,
            now=now,
            remembered_at=ended_at,
        )
        standing = standing.after(judged)
        began, repeated = session.started_at, bool(excluded[place])
        trace = trace_of(pool, place, before, facts, position=position, seed=session.seed, repeated=repeated, now=began)
        trace["option_order"] = order_of(policy, item.shuffle, len(item.question.options), session.seed, position)
        counted.append(
            Counted(
                position=position,
                item_id=item.item_id,
                item_version_id=version,
                selected=selected,
                response_time_ms=row.response_time_ms,
                exposure_class=judged.exposure,
                moves_ability=judged.moves,
                before=before,
                after=estimate(standing.log_posterior),
                trace=trace,
                scored=scored,
                memory=judged.memory,
            )
        )
    return standing, counted


def _met(row: LearnerItem | None) -> Met:
    return Met() if row is None else Met(row.answers, row.reveals, progress.memory_of(row))


def reserve(db: Db, state: LearnerState, pool: Pool, versions: Collection[int]) -> None:
    """Keep a form's items out of the learner's other sittings."""
    form_answers.reserve(db, state, pool.items_of(versions))
