"""What was asked to be exported. The rows are read when the file is fetched, up to the mark set when it was asked."""

from sqlmodel import Field, SQLModel

from itembank.models._columns import UUID, datetime, moment, primary_key, public_id, reference


class Export(SQLModel, table=True):
    id: int = primary_key()
    uuid: UUID = public_id()
    tenant_id: int = reference("tenant.id")
    exam_id: int = reference("exam.id")
    dataset: str = Field(max_length=40)
    format: str = Field(max_length=20)
    since: datetime | None = moment(default=None)
    until: datetime | None = moment(default=None)
    last_row: int
    created_at: datetime = moment()
