"""Every query on sessions. The one between a learner's click and the reply is a Core statement built once."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col, select

from itembank.errors import NotFound
from itembank.models import Exam, Item, Learner, LearnerItem, LearnerState, Session
from itembank.store import Db, Prepared, table_of

SESSION = table_of(Session)
STATE = table_of(LearnerState)
EXAM = table_of(Exam)
ITEM = table_of(Item)
MET = table_of(LearnerItem)

READ = (
    *("id", "uuid", "tenant_id", "exam_id", "learner_id", "pool_id", "objectives", "seed", "status", "stop_reason"),
    *("log_posterior", "excluded", "resting", "queue", "administered", "current", "started_at"),
)
STATE_READ = ("gaussian", "codes", "answers", "reserved", "revision", "updated_at")
MEMORY = ("stability", "difficulty", "due_at", "reviewed_at", "reviews", "lapses")
STATE_OF_SESSION = (
    sa.select(
        *(SESSION.c[name] for name in READ),
        sa.cast(SESSION.c.policy, sa.Text).label("policy"),
        *(EXAM.c[name] for name in ("bank_revision", "cut_score", "prior_mean", "prior_sd")),
        STATE.c.id.label("state_id"),
        *(STATE.c[name] for name in STATE_READ),
        sa.func.coalesce(MET.c.answers, 0).label("met_answers"),
        sa.func.coalesce(MET.c.reveals, 0).label("met_reveals"),
        *(MET.c[name] for name in MEMORY),
    )
    .join(EXAM, EXAM.c.id == SESSION.c.exam_id)
    .join(STATE, (STATE.c.learner_id == SESSION.c.learner_id) & (STATE.c.exam_id == SESSION.c.exam_id))
    .join(ITEM, ITEM.c.uuid == sa.bindparam("item"), isouter=True)
    .join(MET, (MET.c.learner_id == SESSION.c.learner_id) & (MET.c.item_id == ITEM.c.id), isouter=True)
    .where(SESSION.c.uuid == sa.bindparam("uuid"), SESSION.c.tenant_id == sa.bindparam("tenant_id"))
)
LOOK = Prepared(STATE_OF_SESSION)
LOCK = Prepared(STATE_OF_SESSION.with_for_update(of=[SESSION, STATE]))


def look(db: Db, tenant_id: int, uuid: UUID, *, item: UUID) -> Any:
    """The state of a session and of its learner, and what the learner knows of the item, as they stand now.

    Nothing is locked: `settling` compares what was read with what is there when it stores what follows from it.
    `policy` comes as the JSON text it is stored as.
    """
    return _state(db, LOOK, tenant_id, uuid, item)


def lock(db: Db, tenant_id: int, uuid: UUID) -> Any:
    """As `look`, for a transaction that changes the session without an answer: held until it ends."""
    return _state(db, LOCK, tenant_id, uuid, None)


def _state(db: Db, statement: Prepared, tenant_id: int, uuid: UUID, item: UUID | None) -> Any:
    row = statement.first(db, {"uuid": uuid, "tenant_id": tenant_id, "item": item})
    if row is None:
        raise NotFound("session", uuid)
    return row


def get(db: Db, tenant_id: int, uuid: UUID) -> Session:
    query = select(Session).where(Session.uuid == uuid, Session.tenant_id == tenant_id)
    session = db.exec(query).first()
    if session is None:
        raise NotFound("session", uuid)
    return session


def recent_courses(db: Db, pool_id: int, *, mode: str, limit: int) -> Sequence[tuple[Sequence[int], bytes]]:
    """Of the latest sessions of a mode with a pool: the item versions served, and what could not come (`resting`)."""
    query = (
        select(Session.administered, Session.resting)
        .where(Session.pool_id == pool_id, Session.mode == mode)
        .order_by(col(Session.id).desc())
        .limit(limit)
    )
    return db.exec(query).all()


def exam(db: Db, session: Session) -> Exam:
    """The exam of a session."""
    return db.exec(select(Exam).where(Exam.id == session.exam_id)).one()


def names(db: Db, session: Session) -> tuple[str, str | None]:
    """The exam's slug and the learner's external id of a session."""
    query = (
        sa.select(col(Exam.slug), col(Learner.external_id))
        .select_from(Session)
        .join(Exam, col(Exam.id) == col(Session.exam_id))
        .join(Learner, col(Learner.id) == col(Session.learner_id))
        .where(col(Session.id) == session.id)
    )
    row = db.execute(query).one()
    return row[0], row[1]
