"""Every query on learners: who they are to their tenant, what they have met, and what their answers say of them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlmodel import col, select

from itembank.content import SessionStatus
from itembank.errors import NotFound
from itembank.models import (
    Exam,
    IdempotencyRecord,
    Item,
    Learner,
    LearnerItem,
    LearnerState,
    PracticeModel,
    Response,
    Session,
)
from itembank.store import Db, insert_for, uuid7

ERASED = "erased"  # why a session of an erased learner ended


class Kept(NamedTuple):
    """What stays of an erased learner, under the pseudonym."""

    sessions: int
    responses: int


def get(db: Db, tenant_id: int, external_id: str) -> Learner:
    learner = find(db, tenant_id, external_id)
    if learner is None:
        raise NotFound("learner", external_id)
    return learner


def find(db: Db, tenant_id: int, external_id: str) -> Learner | None:
    query = select(Learner).where(Learner.tenant_id == tenant_id, Learner.external_id == external_id)
    return db.exec(query).first()


def get_or_add(db: Db, tenant_id: int, external_id: str, now: datetime) -> Learner:
    """The tenant's learner of this id, created on first sight; safe against two requests doing so at once."""
    learner = find(db, tenant_id, external_id)
    if learner is None:
        values = {"uuid": uuid7(), "tenant_id": tenant_id, "external_id": external_id, "created_at": now}
        db.execute(insert_for(db, Learner).values(values).on_conflict_do_nothing())
        learner = get(db, tenant_id, external_id)
    return learner


def get_or_add_state(db: Db, learner_id: int, exam_id: int, now: datetime) -> LearnerState:
    """What a learner's answers to an exam say so far."""
    query = select(LearnerState).where(LearnerState.learner_id == learner_id, LearnerState.exam_id == exam_id)
    state = db.exec(query).first()
    if state is None:
        values = {
            "learner_id": learner_id,
            "exam_id": exam_id,
            "answers": 0,
            "updated_at": now,
        }
        db.execute(insert_for(db, LearnerState).values(values).on_conflict_do_nothing())
        state = db.exec(query).one()
    return state


def find_state(db: Db, learner_id: int, exam_id: int) -> LearnerState | None:
    query = select(LearnerState).where(LearnerState.learner_id == learner_id, LearnerState.exam_id == exam_id)
    return db.exec(query).first()


def items_met(db: Db, learner_id: int, exam_id: int) -> Sequence[sa.Row[*tuple[Any, ...]]]:
    """(item_id, last_answered_at) of every item of the exam that the learner has answered."""
    query = (
        sa.select(col(LearnerItem.item_id), col(LearnerItem.last_answered_at))
        .join(Item, col(Item.id) == col(LearnerItem.item_id))
        .where(col(LearnerItem.learner_id) == learner_id, col(Item.exam_id) == exam_id)
    )
    return db.execute(query).all()


def due_items(db: Db, learner_id: int, exam_id: int, now: datetime) -> Sequence[sa.Row[*tuple[Any, ...]]]:
    """(item_id, due_at) of what the learner should review now, most overdue first; the less stable first of equals."""
    query = (
        _memories(learner_id, exam_id)
        .with_only_columns(col(LearnerItem.item_id), col(LearnerItem.due_at))
        .where(col(LearnerItem.due_at) <= now)
        .order_by(col(LearnerItem.due_at), col(LearnerItem.stability), col(LearnerItem.item_id))
    )
    return db.execute(query).all()


def due_dates(db: Db, learner_id: int, exam_id: int) -> Sequence[sa.Row[*tuple[Any, ...]]]:
    """(item_id, due_at) of all that the learner remembers of the exam, the one that is due first first."""
    query = _memories(learner_id, exam_id).with_only_columns(col(LearnerItem.item_id), col(LearnerItem.due_at))
    return db.execute(
        query.order_by(col(LearnerItem.due_at), col(LearnerItem.stability), col(LearnerItem.item_id))
    ).all()


def _memories(learner_id: int, exam_id: int) -> sa.Select[LearnerItem]:
    return (
        sa.select(LearnerItem)
        .join(Item, col(Item.id) == col(LearnerItem.item_id))
        .where(
            col(LearnerItem.learner_id) == learner_id,
            col(Item.exam_id) == exam_id,
            col(LearnerItem.due_at).is_not(None),
        )
    )


def find_model(db: Db, exam_id: int) -> PracticeModel | None:
    """The success model in use: the one added last."""
    query = select(PracticeModel).where(PracticeModel.exam_id == exam_id).order_by(col(PracticeModel.number).desc())
    return db.exec(query).first()


def add_model(
    db: Db, exam_id: int, *, weights: dict[str, Any], quality: dict[str, Any], actor: str, now: datetime
) -> PracticeModel:
    """One more success model, in use from now on."""
    last = find_model(db, exam_id)
    number = 1 if last is None else last.number + 1
    model = PracticeModel(exam_id=exam_id, number=number, weights=weights, quality=quality, actor=actor, created_at=now)
    db.add(model)
    db.flush()
    return model


def reveal(db: Db, learner_id: int, item_ids: Collection[int]) -> None:
    """Record that the answers of these items were shown to the learner."""
    statement = (
        sa.update(LearnerItem)
        .where(col(LearnerItem.learner_id) == learner_id, col(LearnerItem.item_id).in_(item_ids))
        .values(reveals=LearnerItem.reveals + 1)
    )
    db.execute(statement, execution_options={"synchronize_session": False})


def sessions_with_exam(db: Db, learner_id: int) -> Sequence[sa.Row[Session, str]]:
    """A learner's sessions in the order they began, each with its exam's slug."""
    query = (
        sa.select(Session, col(Exam.slug))
        .join(Exam, col(Exam.id) == col(Session.exam_id))
        .where(col(Session.learner_id) == learner_id)
        .order_by(col(Session.id))
    )
    return db.execute(query).all()


def erase(db: Db, learner: Learner, now: datetime) -> Kept:
    """Cut the tie between a learner's answers and the id that the tenant knows, in stored replies too; end sessions."""
    db.execute(sa.delete(IdempotencyRecord).where(col(IdempotencyRecord.learner_id) == learner.id))
    ended = {"status": SessionStatus.FINISHED, "stop_reason": ERASED, "finished_at": now, "updated_at": now}
    mine = (col(Session.learner_id) == learner.id, col(Session.status) == SessionStatus.IN_PROGRESS)
    db.execute(sa.update(Session).where(*mine).values(ended), execution_options={"synchronize_session": False})
    nothing = {"reserved": [], "revision": LearnerState.revision + 1}
    states = sa.update(LearnerState).where(col(LearnerState.learner_id) == learner.id).values(nothing)
    db.execute(states, execution_options={"synchronize_session": False})
    learner.external_id, learner.erased_at = None, now
    db.add(learner)
    db.flush()
    all_mine = sa.select(col(Session.id)).where(col(Session.learner_id) == learner.id)
    sessions = db.scalar(sa.select(sa.func.count()).select_from(all_mine.subquery()))
    answers = db.scalar(sa.select(sa.func.count(col(Response.id))).where(col(Response.session_id).in_(all_mine)))
    return Kept(sessions or 0, answers or 0)
