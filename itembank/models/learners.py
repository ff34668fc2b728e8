"""Learners and what is known of them. A learner is an opaque id that the caller chose; nothing personal is needed."""

from typing import Any

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from itembank.models._columns import UUID, datetime, moment, primary_key, public_id, reference
from itembank.store import Json


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
    """What a learner's clean first answers to an exam say of ability, overall and by objective.

    gaussian : what `engine.learner.pack` wrote; null: to be made from the log of answers
    codes : of the objectives its deviations stand for, in their order;  answers : the clean first ones it is made of
    reserved : ids of items in an open mock, which nothing else may serve meanwhile
    revision : grows with each change of the above
    """

    __tablename__ = "learner_state"
    __table_args__ = (sa.UniqueConstraint("learner_id", "exam_id"),)

    id: int = primary_key()
    learner_id: int = reference("learner.id", index=False)
    exam_id: int = reference("exam.id")
    gaussian: bytes | None = Field(sa_type=sa.LargeBinary, default=None)
    codes: list[str] = Field(sa_type=Json, default_factory=list, sa_column_kwargs={"server_default": "[]"})
    reserved: list[int] = Field(sa_type=Json, default_factory=list, sa_column_kwargs={"server_default": "[]"})
    answers: int = 0
    revision: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    updated_at: datetime = moment()


class LearnerItem(SQLModel, table=True):
    """What a learner knows of an item: how often it was answered, how often its answer was shown, and the memory of it.

    answers : 0 for an item that was only shown with its answer, in the review of a form that left it out
    stability, difficulty, due_at, reviewed_at : as in `engine.learner.Memory`; null until an answer counts as a review
    """

    __tablename__ = "learner_item"

    learner_id: int = reference("learner.id", index=False, primary_key=True)
    item_id: int = reference("item.id", primary_key=True)
    answers: int
    first_answered_at: datetime = moment()
    last_answered_at: datetime = moment()
    reveals: int = 0
    stability: float | None = None
    difficulty: float | None = None
    due_at: datetime | None = moment(default=None)
    reviewed_at: datetime | None = moment(default=None)
    reviews: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    lapses: int = Field(default=0, sa_column_kwargs={"server_default": "0"})


class PracticeModel(SQLModel, table=True):
    """One fit of the success model to an exam's log; the highest number is the one in use.

    weights : what `engine.learner.SuccessModel.to_json` wrote;  quality : how well it forecast answers held out
    """

    __tablename__ = "practice_model"
    __table_args__ = (sa.UniqueConstraint("exam_id", "number"),)

    id: int = primary_key()
    exam_id: int = reference("exam.id", index=False)
    number: int
    weights: dict[str, Any] = Field(sa_type=Json)
    quality: dict[str, Any] = Field(sa_type=Json)
    actor: str = Field(max_length=200)
    created_at: datetime = moment()
