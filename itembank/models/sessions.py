"""Sessions and the log of answers. Responses and scores are only ever appended; a session's own row is its state."""

from typing import Any

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from itembank.content import ExposureClass, SessionStatus
from itembank.models._columns import UUID, datetime, moment, primary_key, public_id, reference
from itembank.store import BigInt, EnumText, Json


class Session(SQLModel, table=True):
    """One sitting. What it began from, its seed and the answers are enough to replay it.

    start_log_posterior, log_posterior : float64 values on the quadrature nodes, before the first answer and now
    excluded, resting : bits over the pool's items: met before this session; of those, not to come back in it
    queue : item version ids lined up as it began: those due for review, or a form, in their order
    administered : item version ids in order; the last one is open while `current` is set
    current : the open position's trace, or null; of a form its first position's
    form : what a form promises and how it ended, in the words of `engine.form_sittings`; null for all other sittings
    """

    __table_args__ = (
        sa.Index(None, "learner_id", "exam_id"),
        # The row is rewritten with each answer; compressed each time, it would cost a tenth of the database's work.
        {"postgresql_with": {"toast_tuple_target": 8160}},
    )

    id: int = primary_key()
    uuid: UUID = public_id()
    tenant_id: int = reference("tenant.id")
    exam_id: int = reference("exam.id")
    learner_id: int = reference("learner.id", index=False)
    pool_id: int = reference("pool.id")
    mode: str = Field(max_length=40)
    policy: dict[str, Any] = Field(sa_type=Json)
    objectives: list[str] = Field(sa_type=Json, default_factory=list)
    seed: int = Field(sa_type=BigInt)
    status: SessionStatus = Field(sa_type=EnumText(SessionStatus))
    stop_reason: str | None = Field(max_length=40, default=None)
    start_log_posterior: bytes = Field(sa_type=sa.LargeBinary)
    log_posterior: bytes = Field(sa_type=sa.LargeBinary)
    excluded: bytes = Field(sa_type=sa.LargeBinary)
    resting: bytes = Field(sa_type=sa.LargeBinary)
    queue: list[int] = Field(sa_type=Json, default_factory=list, sa_column_kwargs={"server_default": "[]"})
    administered: list[int] = Field(sa_type=Json, default_factory=list)
    current: dict[str, Any] | None = Field(sa_type=Json, default=None)
    form: dict[str, Any] | None = Field(sa_type=Json, default=None)
    started_at: datetime = moment()
    updated_at: datetime = moment()
    finished_at: datetime | None = moment(default=None)


class Response(SQLModel, table=True):
    """One answer, as it was given: never changed, never deleted."""

    __table_args__ = (
        sa.UniqueConstraint("session_id", "position"),
        sa.Index(
            None,
            "session_id",
            "idempotency_key",
            unique=True,
            postgresql_where=sa.text("idempotency_key IS NOT NULL"),
            sqlite_where=sa.text("idempotency_key IS NOT NULL"),
        ),
        sa.CheckConstraint("response_time_ms IS NULL OR response_time_ms >= 0", name="response_time_not_negative"),
    )

    id: int = primary_key()
    uuid: UUID = public_id()
    session_id: int = reference("session.id", index=False)
    position: int
    item_version_id: int = reference("item_version.id")
    selected: list[str] = Field(sa_type=Json)
    response_time_ms: int | None = None
    exposure_class: ExposureClass = Field(sa_type=EnumText(ExposureClass))
    moves_ability: bool
    theta_before: float
    standard_error_before: float
    theta_after: float
    standard_error_after: float
    stop_reason: str | None = Field(max_length=40, default=None)
    trace: dict[str, Any] = Field(sa_type=Json)
    idempotency_key: str | None = Field(max_length=255, default=None)
    served_at: datetime = moment()
    answered_at: datetime = moment()


class FormAnswer(SQLModel, table=True):
    """A position of a form as its learner left it, again with each change; never changed, never deleted.

    The highest revision counts, and becomes a response once the form is over.
    selected : null where nothing is selected;  response_time_ms : spent on the position so far, all visits together
    """

    __tablename__ = "form_answer"
    __table_args__ = (
        sa.UniqueConstraint("session_id", "position", "revision"),
        sa.Index(
            None,
            "session_id",
            "idempotency_key",
            unique=True,
            postgresql_where=sa.text("idempotency_key IS NOT NULL"),
            sqlite_where=sa.text("idempotency_key IS NOT NULL"),
        ),
    )

    id: int = primary_key()
    session_id: int = reference("session.id", index=False)
    position: int
    revision: int
    selected: list[str] | None = Field(sa_type=Json, default=None)
    flagged: bool
    response_time_ms: int | None = None
    idempotency_key: str | None = Field(max_length=255, default=None)
    answered_at: datetime = moment()


class Score(SQLModel, table=True):
    """What an answer is worth under one version of the key; a corrected key appends another row."""

    response_id: int = reference("response.id", index=False, primary_key=True)
    key_version: int = Field(default=1, primary_key=True)
    score: float
    correct: bool
    created_at: datetime = moment()
