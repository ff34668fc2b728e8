"""Images, stored once per tenant by what they contain."""

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from itembank.models._columns import UUID, datetime, moment, primary_key, public_id, reference


class Media(SQLModel, table=True):
    __table_args__ = (sa.UniqueConstraint("tenant_id", "sha256"),)

    id: int = primary_key()
    uuid: UUID = public_id()
    tenant_id: int = reference("tenant.id", index=False)
    sha256: str = Field(max_length=64)
    media_type: str = Field(max_length=60)
    content: bytes = Field(sa_type=sa.LargeBinary)
    created_at: datetime = moment()
