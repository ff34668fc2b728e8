"""Work that outlasts a request: a row written in the transaction of what caused it, and the files that came out."""

from typing import Any

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from itembank.content import JobStatus
from itembank.models._columns import UUID, datetime, moment, primary_key, prose, public_id, reference
from itembank.store import EnumText, Json


class Job(SQLModel, table=True):
    """One piece of work. Who holds its `claim` works on it, until `lease_until`; then anyone may claim it anew.

    attempts : claims so far, given back ones aside;  due_at : not to be claimed before
    progress : share that is done, 0 to 1;  error : why the last attempt failed, for people
    """

    __table_args__ = (
        sa.CheckConstraint("0 <= progress AND progress <= 1", name="progress_is_a_share"),
        sa.Index(None, "status", "due_at"),
    )

    id: int = primary_key()
    uuid: UUID = public_id()
    tenant_id: int = reference("tenant.id")
    exam_id: int | None = reference("exam.id", default=None, nullable=True)
    kind: str = Field(max_length=40)
    arguments: dict[str, Any] = Field(sa_type=Json)
    status: JobStatus = Field(sa_type=EnumText(JobStatus), default=JobStatus.QUEUED)
    attempts: int = 0
    progress: float = 0.0
    error: str | None = prose(default=None)
    claim: UUID | None = Field(default=None, sa_type=sa.Uuid)
    due_at: datetime = moment()
    lease_until: datetime | None = moment(default=None)
    created_at: datetime = moment()
    started_at: datetime | None = moment(default=None)
    finished_at: datetime | None = moment(default=None)
    result: dict[str, Any] | None = Field(sa_type=Json, default=None)


class JobFile(SQLModel, table=True):
    """A file that a job made; stored with its success, or not at all."""

    __tablename__ = "job_file"

    job_id: int = reference("job.id", index=False, primary_key=True)
    name: str = Field(max_length=100, primary_key=True)
    content: bytes = Field(sa_type=sa.LargeBinary)
