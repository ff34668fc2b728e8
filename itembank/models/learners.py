"""Learners and what is known of them. A learner is an opaque id that the caller chose; nothing personal is needed."""

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from itembank.models._columns import UUID, datetime, moment, primary_key, public_id, reference


class Learner(SQLModel, table=True):
    """Erasing a learner empties `external_id`; `uuid` stays as the pseudonym of the answers that are kept."""

    __table_args__ = (sa.UniqueConstraint("tenant_id", "external_id"),)

    id: int = primary_key()
    uuid: UUID = public_id()
    tenant_id: int = reference("tenant.id", index=False)
    external_id: str | None = Field(max_length=200, default=None)
    created_at: datetime = moment()
    erased_at: datetime | None = moment(default=None)


class LearnerState(SQLModel, table=True):
    """All that a learner's clean first answers to an exam say about ability.

    log_likelihood : float64 values on the quadrature nodes; the exam's prior is added when it is read, so it can change
    """

    __tablename__ = "learner_state"
    __table_args__ = (sa.UniqueConstraint("learner_id", "exam_id"),)

    id: int = primary_key()
    learner_id: int = reference("learner.id", index=False)
    exam_id: int = reference("exam.id")
    log_likelihood: bytes = Field(sa_type=sa.LargeBinary)
    answers: int = 0
    updated_at: datetime = moment()


class LearnerItem(SQLModel, table=True):
    """That a learner has met an item: how often it was answered, and how often its answer was shown."""

    __tablename__ = "learner_item"

    learner_id: int = reference("learner.id", index=False, primary_key=True)
    item_id: int = reference("item.id", primary_key=True)
    answers: int
    first_answered_at: datetime = moment()
    last_answered_at: datetime = moment()
    reveals: int = 0
