"""What one answer changes, stored together: the answer, its score, the session's state, what is known of the learner.

It stands between a learner's click and the reply, so its statements are built once, and PostgreSQL, which lets a
statement carry others with it, gets all of them as one.

A decision rests on what was read before it: the open position, what the learner's answers said so far, what the learner
knew of the item. All of it is compared when the answer is stored. Another tab that answers the position first, another
session of the learner that answers the same item, an operator who ends the session: none can be missed, and nobody has
to hold a lock while deciding.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.dml import ReturningInsert
from sqlmodel import SQLModel

from itembank import learners
from itembank.content import ExposureClass, SessionStatus
from itembank.errors import KeyReused
from itembank.models import LearnerItem, LearnerState, Response, Score, Session
from itembank.scoring import Scored
from itembank.store import Db, Prepared, table_of, uuid7

FIRST_KEY_VERSION = 1


class Remembered(NamedTuple):
    """The memory of an item as it is stored; all None or 0 before the first review."""

    stability: float | None = None
    difficulty: float | None = None
    due_at: datetime | None = None
    reviewed_at: datetime | None = None
    reviews: int = 0
    lapses: int = 0


class Learned(NamedTuple):
    """The learner's state as it is stored. codes : of the objectives in it"""

    gaussian: bytes
    codes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Settlement:
    """One answer and what follows from it. The trace that is stored with it is the session's `current` as it stands.

    learner_revision : of the learner's state that the decision rests on
    met_answers, met_reveals : what the decision took for granted that the learner knew of the item
    memory : of the item, after the answer;  learned : what is known of the learner now, None if the answer says nothing
    reveals : whether the reply explains the item;  revealed : ids of items answered earlier that may be explained now
    before, after : ability and standard error in logits;  stop_reason : ends the session, None if it goes on
    log_posterior, administered, current : the session's new state
    """

    session_id: int
    learner_id: int
    item_id: int
    met_answers: int
    met_reveals: int
    reveals: bool
    revealed: Sequence[int]
    position: int
    item_version_id: int
    selected: Sequence[str]
    response_time_ms: int | None
    exposure_class: ExposureClass
    before: tuple[float, float]
    after: tuple[float, float]
    stop_reason: str | None
    idempotency_key: str | None
    served_at: datetime
    scored: Scored
    log_posterior: bytes
    administered: Sequence[int]
    current: Mapping[str, Any] | None
    learner_state_id: int
    learner_revision: int
    memory: Remembered
    learned: Learned | None
    now: datetime

    @property
    def moves_ability(self) -> bool:
        return self.learned is not None


def settle(db: Db, settlement: Settlement) -> bool:
    """Store an answer to a session's open position. Raises KeyReused, with nothing stored.

    False, with nothing stored, if what the decision rests on has changed since it was read: look and decide again.
    """
    values = _values(settlement)
    try:
        if db.is_postgresql:
            together = _all_at_once(settlement.moves_ability, reveals_more=bool(settlement.revealed))
            return together.count(db, values) == 1
        return _one_by_one(db, settlement.moves_ability, values)
    except IntegrityError as error:  # the position is open and its row held, so it can only be the key
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
    db.core.execute(ADVANCE, state)


def _binds(model: type[SQLModel], prefix: str, *, without: Iterable[str], **shared: str) -> dict[str, Any]:
    """Every column of a table bound to a parameter named after it, or to one that it shares with others."""
    columns = [column for column in table_of(model).c if column.name not in without]
    return {
        column.name: sa.bindparam(shared.get(column.name, prefix + column.name), type_=column.type)
        for column in columns
    }


MET, RESPONSE, SCORE, SESSION = (table_of(model) for model in (LearnerItem, Response, Score, Session))
STATE = table_of(LearnerState)
RESPONSE_BINDS = _binds(Response, "response_", without=("id", "trace"), session_id="session_id", answered_at="now")
SCORE_BINDS = _binds(Score, "score_", without=("response_id", "key_version"), created_at="now")
SCORE_BINDS["key_version"] = sa.literal_column(str(FIRST_KEY_VERSION))
MET_BINDS = _binds(LearnerItem, "met_", without=("answers",), first_answered_at="now", last_answered_at="now")
IDS = postgresql.ARRAY(sa.BigInteger)
STATE_NAMES = ("status", "stop_reason", "log_posterior", "administered", "current", "finished_at")
NOW = sa.bindparam("now", type_=SESSION.c.updated_at.type)


def _meet(met: postgresql.Insert | sqlite.Insert) -> ReturningInsert[Any]:
    """Count the answer for what the learner knows of the item; no row comes back if that is not what was read."""
    changes = {
        "answers": MET.c.answers + 1,
        "last_answered_at": met.excluded.last_answered_at,
        "reveals": MET.c.reveals + met.excluded.reveals,
        **{name: met.excluded[name] for name in Remembered._fields},
    }
    as_read = (MET.c.answers == sa.bindparam("read_answers")) & (MET.c.reveals == sa.bindparam("read_reveals"))
    return met.on_conflict_do_update(index_elements=["learner_id", "item_id"], set_=changes, where=as_read).returning(
        MET.c.item_id
    )


MET_VALUES = MET_BINDS | {"answers": sa.literal_column("1")}
MEET = _meet(sqlite.insert(MET).values(MET_VALUES))
TRACE = sa.select(SESSION.c.current).where(SESSION.c.id == sa.bindparam("session_id")).scalar_subquery()
APPEND = sa.insert(RESPONSE).values(RESPONSE_BINDS | {"trace": TRACE}).returning(RESPONSE.c.id)
APPEND_SCORE = sa.insert(SCORE).values(SCORE_BINDS | {"response_id": sa.bindparam("score_response_id")})
ADVANCE = (
    sa.update(SESSION)
    .where(SESSION.c.id == sa.bindparam("session_id"))
    .values({name: sa.bindparam(f"session_{name}", type_=SESSION.c[name].type) for name in STATE_NAMES})
    .values(updated_at=NOW)
)
LEARN = (
    sa.update(STATE)
    .where(STATE.c.id == sa.bindparam("learner_state_id"))
    .values(
        gaussian=sa.bindparam("learner_gaussian", type_=STATE.c.gaussian.type),
        codes=sa.bindparam("learner_codes", type_=STATE.c.codes.type),
        answers=STATE.c.answers + 1,
        revision=STATE.c.revision + 1,
        updated_at=NOW,
    )
)


REVEAL = (
    sa.update(MET)
    .where(MET.c.learner_id == MET_BINDS["learner_id"], MET.c.item_id == sa.any_(sa.bindparam("revealed", type_=IDS)))
    .values(reveals=MET.c.reveals + 1)
)


@cache
def _all_at_once(moves_ability: bool, *, reveals_more: bool) -> Prepared:
    """ADVANCE with the other statements as common table expressions, each of which needs the one before it.

    The first holds the session, if it still goes on, and the learner's state, if it still is what was read. The second
    fails if the item was answered since, in another session or another tab. After it nothing can fail.
    """
    held = (
        sa.select(SESSION.c.id, SESSION.c.current)
        .join(STATE, STATE.c.id == sa.bindparam("learner_state_id"))
        .where(
            SESSION.c.id == sa.bindparam("session_id"),
            SESSION.c.status == SessionStatus.IN_PROGRESS,
            STATE.c.revision == sa.bindparam("learner_revision"),
        )
        .with_for_update(of=[SESSION, STATE])
        .cte("held")
    )
    meeting = sa.select(*MET_VALUES.values()).where(sa.exists(sa.select(held.c.id)))
    met = _meet(postgresql.insert(MET).from_select(list(MET_VALUES), meeting)).cte("met")
    row = sa.select(*RESPONSE_BINDS.values(), held.c.current).where(sa.exists(sa.select(met.c.item_id)))
    answer = sa.insert(RESPONSE).from_select([*RESPONSE_BINDS, "trace"], row).returning(RESPONSE.c.id).cte("answer")
    score = sa.select(answer.c.id, *SCORE_BINDS.values())
    scored = sa.insert(SCORE).from_select(["response_id", *SCORE_BINDS], score).cte("scored")
    is_stored = sa.exists(sa.select(answer.c.id))
    together = ADVANCE.where(is_stored).add_cte(held, met, answer, scored)
    if moves_ability:
        together = together.add_cte(LEARN.where(is_stored).cte("learned"))
    if reveals_more:
        together = together.add_cte(REVEAL.where(is_stored).cte("shown"))
    return Prepared(together)


def _one_by_one(db: Db, moves_ability: bool, values: dict[str, Any]) -> bool:
    """In a transaction that lets nobody else write, so that what was read in it is still as it was."""
    connection = db.core
    if connection.execute(MEET, values).first() is None:
        return False
    response_id = connection.execute(APPEND, values).scalar_one()
    connection.execute(APPEND_SCORE, values | {"score_response_id": response_id})
    if moves_ability:
        connection.execute(LEARN, values)
    if values["revealed"]:
        learners.reveal(db, values["met_learner_id"], values["revealed"])
    connection.execute(ADVANCE, values)
    return True


def _values(settlement: Settlement) -> dict[str, Any]:
    s = settlement
    return {
        "met_learner_id": s.learner_id,
        "met_item_id": s.item_id,
        "met_reveals": int(s.reveals),
        "revealed": list(s.revealed),
        "read_answers": s.met_answers,
        "read_reveals": s.met_reveals,
        "response_uuid": uuid7(),
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
        "response_idempotency_key": s.idempotency_key,
        "response_served_at": s.served_at,
        "score_score": s.scored.score,
        "score_correct": s.scored.correct,
        "learner_state_id": s.learner_state_id,
        "learner_revision": s.learner_revision,
        "learner_gaussian": None if s.learned is None else s.learned.gaussian,
        "learner_codes": [] if s.learned is None else s.learned.codes,
        **{f"met_{name}": value for name, value in s.memory._asdict().items()},
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
        "now": now,
        "session_finished_at": now if finished else None,
    }
