"""Every query on sessions. The ones between a learner's click and the reply are Core statements built once."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col, select
from sqlmodel.sql.expression import SelectOfScalar

from itembank.content import SessionStatus
from itembank.errors import NotFound
from itembank.models import Exam, Learner, LearnerState, Session
from itembank.store import Db, table_of

SESSION = table_of(Session)
STATE = table_of(LearnerState)
EXAM = table_of(Exam)

UNREAD = {"tenant_id", "start_log_posterior", "updated_at"}  # what answering has no use for
WRITTEN = ("status", "stop_reason", "log_posterior", "administered", "current", "updated_at", "finished_at")

LOCK = (
    sa.select(
        *(column for column in SESSION.c if column.name not in UNREAD),
        EXAM.c.bank_revision,
        STATE.c.id.label("state_id"),
        STATE.c.log_likelihood.label("learner_log_likelihood"),
    )
    .join(EXAM, EXAM.c.id == SESSION.c.exam_id)
    .join(STATE, (STATE.c.learner_id == SESSION.c.learner_id) & (STATE.c.exam_id == SESSION.c.exam_id))
    .where(SESSION.c.uuid == sa.bindparam("uuid"), SESSION.c.tenant_id == sa.bindparam("tenant_id"))
    .with_for_update(of=[SESSION, STATE])
)

ADVANCE = (
    sa.update(SESSION)
    .where(SESSION.c.id == sa.bindparam("session_id"))
    .values({name: sa.bindparam(f"new_{name}", type_=SESSION.c[name].type) for name in WRITTEN})
)


def lock(db: Db, tenant_id: int, uuid: UUID) -> sa.Row[*tuple[Any, ...]]:
    """The state of a session and of its learner, locked until the transaction ends: two tabs can't both move it."""
    row = db.connection().execute(LOCK, {"uuid": uuid, "tenant_id": tenant_id}).first()
    if row is None:
        raise NotFound("session", uuid)
    return row


def advance(
    db: Db,
    session_id: int,
    *,
    log_posterior: bytes,
    administered: list[int],
    current: dict[str, Any] | None,
    stop_reason: str | None,
    now: datetime,
) -> None:
    """Store a session's state after an answer; a stop reason ends it."""
    finished = stop_reason is not None
    values = {
        "session_id": session_id,
        "new_status": SessionStatus.FINISHED if finished else SessionStatus.IN_PROGRESS,
        "new_stop_reason": stop_reason,
        "new_log_posterior": log_posterior,
        "new_administered": administered,
        "new_current": current,
        "new_updated_at": now,
        "new_finished_at": now if finished else None,
    }
    db.connection().execute(ADVANCE, values)


def get(db: Db, tenant_id: int, uuid: UUID) -> Session:
    query = select(Session).where(Session.uuid == uuid, Session.tenant_id == tenant_id)
    session = db.exec(query).first()
    if session is None:
        raise NotFound("session", uuid)
    return session


def exam(db: Db, session: Session) -> Exam:
    """The exam of a session."""
    return db.exec(select(Exam).where(Exam.id == session.exam_id)).one()


def names(db: Db, session: Session) -> tuple[str, str | None]:
    """The exam's slug and the learner's external id of a session."""
    query = sa.select(col(Exam.slug), col(Learner.external_id)).where(
        col(Exam.id) == session.exam_id, col(Learner.id) == session.learner_id
    )
    row = db.execute(query).one()
    return row[0], row[1]


def sessions(learner_id: int, *, exam_id: int | None = None) -> SelectOfScalar[Session]:
    """A learner's sessions in the order they began."""
    query = select(Session).where(Session.learner_id == learner_id).order_by(col(Session.id))
    return query if exam_id is None else query.where(Session.exam_id == exam_id)
