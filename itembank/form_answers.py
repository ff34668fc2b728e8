"""Forms while they are open, and what is stored as one ends.

Answers and changes are appended, each with a revision of its own, so that of two tabs neither overwrites the other
unseen. As a form ends, what counts of them becomes responses and scores, all or nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import col, select

from itembank.content import ExposureClass, SessionStatus
from itembank.models import FormAnswer, LearnerItem, LearnerState, Response, Score, Session
from itembank.scoring import Scored
from itembank.settling import FIRST_KEY_VERSION, Learned, Remembered
from itembank.store import Db, insert_for, table_of

FORM = table_of(FormAnswer)
SESSION = table_of(Session)
APPENDED = (
    *("session_id", "position", "revision", "selected", "flagged"),
    *("response_time_ms", "idempotency_key", "answered_at"),
)


def latest(db: Db, session_id: int) -> dict[int, FormAnswer]:
    """What counts of each position that was answered or flagged, by position."""
    query = (
        select(FormAnswer)
        .where(FormAnswer.session_id == session_id)
        .order_by(col(FormAnswer.position), col(FormAnswer.revision))
    )
    return {answer.position: answer for answer in db.exec(query)}


def find_keyed(db: Db, session_id: int, key: str) -> FormAnswer | None:
    """What was appended under an idempotency key."""
    query = select(FormAnswer).where(FormAnswer.session_id == session_id, FormAnswer.idempotency_key == key)
    return db.exec(query).first()


def append(db: Db, answer: FormAnswer) -> bool:
    """Store an answer or a change, in one statement; False, with nothing stored, if it can't be.

    Then the form is over, or the revision or the key was taken since they were looked up: look again. The session's row
    is held, so a form that ends has all that was acknowledged before.
    """
    values = {name: sa.bindparam(name, getattr(answer, name), type_=FORM.c[name].type) for name in APPENDED[1:]}
    held = (
        sa.select(SESSION.c.id, *values.values())
        .where(SESSION.c.id == answer.session_id, SESSION.c.status == SessionStatus.IN_PROGRESS)
        .with_for_update()
    )
    statement = insert_for(db, FormAnswer).from_select(list(APPENDED), held).on_conflict_do_nothing()
    return db.core.execute(statement).rowcount == 1


def by_session(db: Db, learner_id: int) -> dict[int, list[FormAnswer]]:
    """All answers and changes of a learner's forms, by session id, as they came."""
    query = (
        select(FormAnswer)
        .join(Session, col(Session.id) == col(FormAnswer.session_id))
        .where(col(Session.learner_id) == learner_id)
        .order_by(col(FormAnswer.id))
    )
    found: dict[int, list[FormAnswer]] = {}
    for answer in db.exec(query):
        found.setdefault(answer.session_id, []).append(answer)
    return found


def open_forms(db: Db, learner_id: int, exam_id: int) -> Sequence[Session]:
    """A learner's forms of an exam that are not over."""
    query = select(Session).where(
        Session.learner_id == learner_id,
        Session.exam_id == exam_id,
        Session.status == SessionStatus.IN_PROGRESS,
        col(Session.form).is_not(None),
    )
    return db.exec(query).all()


def earlier_forms(db: Db, learner_id: int, exam_id: int, *, before: int | None, limit: int) -> Sequence[Sequence[int]]:
    """The item versions of a learner's latest forms of an exam. before : a session's id, None for all"""
    query = select(Session.administered).where(
        Session.learner_id == learner_id, Session.exam_id == exam_id, col(Session.form).is_not(None)
    )
    if before is not None:
        query = query.where(col(Session.id) < before)
    return db.exec(query.order_by(col(Session.id).desc()).limit(limit)).all()


def open_items(db: Db, learner_id: int, exam_id: int) -> list[int]:
    """The item versions at the open positions of a learner's sittings."""
    query = select(Session.current).where(
        Session.learner_id == learner_id,
        Session.exam_id == exam_id,
        Session.status == SessionStatus.IN_PROGRESS,
        col(Session.form).is_(None),
    )
    return [current["item_version"] for current in db.exec(query) if current is not None]


def lock_state(db: Db, learner_id: int, exam_id: int) -> LearnerState:
    """What is known of a learner, as it is now, held until the transaction ends; it must be there."""
    query = (
        select(LearnerState)
        .where(LearnerState.learner_id == learner_id, LearnerState.exam_id == exam_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    return db.exec(query).one()


def reserve(db: Db, state: LearnerState, item_ids: Collection[int]) -> None:
    """Keep items out of the learner's other sittings while a form has them. state : held"""
    state.reserved = sorted({*state.reserved, *item_ids})
    state.revision += 1
    db.add(state)


def met(db: Db, learner_id: int, item_ids: Collection[int]) -> dict[int, LearnerItem]:
    """What the learner knows of items, by item id; only those that there is something to know of."""
    query = (
        select(LearnerItem)
        .where(LearnerItem.learner_id == learner_id, col(LearnerItem.item_id).in_(item_ids))
        .execution_options(populate_existing=True)
    )
    return {row.item_id: row for row in db.exec(query)}


@dataclass(frozen=True, slots=True)
class Counted:
    """An answer that counts, and what it means. trace : of its position;  before, after : ability and standard error"""

    position: int
    item_id: int
    item_version_id: int
    selected: Sequence[str]
    response_time_ms: int | None
    exposure_class: ExposureClass
    moves_ability: bool
    before: tuple[float, float]
    after: tuple[float, float]
    trace: Mapping[str, Any]
    scored: Scored
    memory: Remembered


@dataclass(frozen=True, slots=True)
class Ending:
    """All that changes as a form ends; its session and the learner's state are held.

    shown : ids of the items without an answer, whose answers may be shown now as well
    learned : what is known of the learner now, None if no answer says anything
    ended_at : when it was over;  now : when that was noticed
    """

    session_id: int
    learner_id: int
    exam_id: int
    counted: Sequence[Counted]
    shown: Sequence[int]
    learned: Learned | None
    log_posterior: bytes
    form: Mapping[str, Any]
    stop_reason: str
    ended_at: datetime
    now: datetime


def end(db: Db, ending: Ending) -> None:
    """Store a form's end."""
    session = db.exec(
        select(Session).where(Session.id == ending.session_id).execution_options(populate_existing=True)
    ).one()
    _append_responses(db, session, ending)
    _remember(db, ending)
    state = lock_state(db, ending.learner_id, ending.exam_id)
    items = {*(each.item_id for each in ending.counted), *ending.shown}
    state.reserved = [item for item in state.reserved if item not in items]
    state.revision += 1
    if ending.learned is not None:
        state.gaussian, state.codes = ending.learned.gaussian, list(ending.learned.codes)
        state.answers += sum(each.moves_ability for each in ending.counted)
        state.updated_at = ending.now
    session.status, session.stop_reason = SessionStatus.FINISHED, ending.stop_reason
    session.log_posterior, session.form, session.current = ending.log_posterior, dict(ending.form), None
    session.finished_at, session.updated_at = ending.ended_at, ending.now
    db.add_all([state, session])
    db.flush()


def _append_responses(db: Db, session: Session, ending: Ending) -> None:
    responses = [
        Response(
            session_id=session.id,
            position=each.position,
            item_version_id=each.item_version_id,
            selected=list(each.selected),
            response_time_ms=each.response_time_ms,
            exposure_class=each.exposure_class,
            moves_ability=each.moves_ability,
            theta_before=each.before[0],
            standard_error_before=each.before[1],
            theta_after=each.after[0],
            standard_error_after=each.after[1],
            trace=dict(each.trace),
            served_at=session.started_at,
            answered_at=ending.now,
        )
        for each in ending.counted
    ]
    db.add_all(responses)
    db.flush()
    for response, each in zip(responses, ending.counted, strict=True):
        scored = each.scored
        score = Score(response_id=response.id, score=scored.score, correct=scored.correct, created_at=ending.now)
        score.key_version = FIRST_KEY_VERSION
        db.add(score)


def _remember(db: Db, ending: Ending) -> None:
    """Count every answer for what the learner knows of its item, and every item as shown with its answer."""
    at = ending.ended_at
    answered = {each.item_id: each for each in ending.counted}
    known = met(db, ending.learner_id, {*answered, *ending.shown})
    for item_id in (*answered, *ending.shown):
        row = known.get(item_id)
        if row is None:
            row = LearnerItem(
                learner_id=ending.learner_id, item_id=item_id, answers=0, first_answered_at=at, last_answered_at=at
            )
        row.reveals += 1
        row.last_answered_at = max(at, row.last_answered_at)
        if item_id in answered:
            row.answers += 1
            for name, value in answered[item_id].memory._asdict().items():
                setattr(row, name, value)
        db.add(row)
