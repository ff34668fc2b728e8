"""What one answer changes, stored together: the answer, its score, the session's state, what is known of the learner.

It stands between a learner's click and the reply, so its statements are built once, and PostgreSQL, which lets a
statement carry others with it, gets all of them as one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import SQLModel

from itembank.content import ExposureClass, SessionStatus
from itembank.errors import KeyReused
from itembank.models import LearnerState, Response, Score, Session
from itembank.scoring import Scored
from itembank.store import Db, table_of, uuid7

FIRST_KEY_VERSION = 1


@dataclass(frozen=True, slots=True)
class Settlement:
    """One answer and what follows from it.

    before, after : ability and standard error in logits;  stop_reason : ends the session, None if it goes on
    log_posterior, administered, current : the session's new state
    learner_state_id, learner_log_likelihood : what is known of the learner now; None if the answer says nothing of it
    """

    session_id: int
    position: int
    item_version_id: int
    selected: Sequence[str]
    response_time_ms: int | None
    exposure_class: ExposureClass
    moves_ability: bool
    before: tuple[float, float]
    after: tuple[float, float]
    stop_reason: str | None
    trace: Mapping[str, Any]
    idempotency_key: str | None
    served_at: datetime
    scored: Scored
    log_posterior: bytes
    administered: Sequence[int]
    current: Mapping[str, Any] | None
    learner_state_id: int
    learner_log_likelihood: bytes | None
    now: datetime


def settle(db: Db, settlement: Settlement) -> None:
    """Store an answer to the open position of a session whose row is locked. Raises KeyReused, with nothing stored."""
    values = _values(settlement)
    try:
        if db.is_postgresql:
            db.connection().execute(_all_at_once(settlement.moves_ability), values)
        else:
            _one_by_one(db.connection(), settlement.moves_ability, values)
    except IntegrityError as error:  # the row is locked and the position new, so it can only be the key
        if settlement.idempotency_key is None:
            raise
        raise KeyReused(settlement.idempotency_key) from error


def advance(
    db: Db,
    session_id: int,
    *,
    log_posterior: bytes,
    administered: Sequence[int],
    current: Mapping[str, Any] | None,
    stop_reason: str | None,
    now: datetime,
) -> None:
    """Store a session's state without an answer; a stop reason ends it."""
    state = _session_values(session_id, log_posterior, administered, current, stop_reason, now)
    db.connection().execute(ADVANCE, state)


def _binds(model: type[SQLModel], prefix: str, *, without: Iterable[str] = ("id",)) -> dict[str, Any]:
    """Every column of a table bound to a parameter named after it."""
    columns = [column for column in table_of(model).c if column.name not in without]
    return {column.name: sa.bindparam(prefix + column.name, type_=column.type) for column in columns}


RESPONSE, SCORE, SESSION, STATE = (table_of(model) for model in (Response, Score, Session, LearnerState))
SCORE_BINDS = _binds(Score, "score_", without=("id", "response_id"))
STATE_NAMES = ("status", "stop_reason", "log_posterior", "administered", "current", "updated_at", "finished_at")

APPEND = sa.insert(RESPONSE).values(_binds(Response, "response_")).returning(RESPONSE.c.id)
APPEND_SCORE = sa.insert(SCORE).values(SCORE_BINDS | {"response_id": sa.bindparam("score_response_id")})
ADVANCE = (
    sa.update(SESSION)
    .where(SESSION.c.id == sa.bindparam("session_id"))
    .values({name: sa.bindparam(f"session_{name}", type_=SESSION.c[name].type) for name in STATE_NAMES})
)
LEARN = (
    sa.update(STATE)
    .where(STATE.c.id == sa.bindparam("learner_state_id"))
    .values(
        log_likelihood=sa.bindparam("learner_log_likelihood"),
        answers=STATE.c.answers + 1,
        updated_at=sa.bindparam("learner_updated_at", type_=STATE.c.updated_at.type),
    )
)


@cache
def _all_at_once(moves_ability: bool) -> sa.Executable:
    """ADVANCE with the other statements as common table expressions."""
    answer = APPEND.cte("answer")
    score = sa.select(answer.c.id, *SCORE_BINDS.values())
    scored = sa.insert(SCORE).from_select(["response_id", *SCORE_BINDS], score).cte("scored")
    together = ADVANCE.add_cte(answer, scored)
    return together.add_cte(LEARN.cte("learned")) if moves_ability else together


def _one_by_one(connection: sa.Connection, moves_ability: bool, values: dict[str, Any]) -> None:
    response_id = connection.execute(APPEND, values).scalar_one()
    connection.execute(APPEND_SCORE, values | {"score_response_id": response_id})
    if moves_ability:
        connection.execute(LEARN, values)
    connection.execute(ADVANCE, values)


def _values(settlement: Settlement) -> dict[str, Any]:
    s = settlement
    return {
        "response_uuid": uuid7(),
        "response_session_id": s.session_id,
        "response_position": s.position,
        "response_item_version_id": s.item_version_id,
        "response_selected": s.selected,
        "response_response_time_ms": s.response_time_ms,
        "response_exposure_class": s.exposure_class,
        "response_moves_ability": s.moves_ability,
        "response_theta_before": s.before[0],
        "response_standard_error_before": s.before[1],
        "response_theta_after": s.after[0],
        "response_standard_error_after": s.after[1],
        "response_stop_reason": s.stop_reason,
        "response_trace": s.trace,
        "response_idempotency_key": s.idempotency_key,
        "response_served_at": s.served_at,
        "response_answered_at": s.now,
        "score_key_version": FIRST_KEY_VERSION,
        "score_score": s.scored.score,
        "score_correct": s.scored.correct,
        "score_created_at": s.now,
        "learner_state_id": s.learner_state_id,
        "learner_log_likelihood": s.learner_log_likelihood,
        "learner_updated_at": s.now,
        **_session_values(s.session_id, s.log_posterior, s.administered, s.current, s.stop_reason, s.now),
    }


def _session_values(
    session_id: int,
    log_posterior: bytes,
    administered: Sequence[int],
    current: Mapping[str, Any] | None,
    stop_reason: str | None,
    now: datetime,
) -> dict[str, Any]:
    finished = stop_reason is not None
    return {
        "session_id": session_id,
        "session_status": SessionStatus.FINISHED if finished else SessionStatus.IN_PROGRESS,
        "session_stop_reason": stop_reason,
        "session_log_posterior": log_posterior,
        "session_administered": administered,
        "session_current": current,
        "session_updated_at": now,
        "session_finished_at": now if finished else None,
    }
