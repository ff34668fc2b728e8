"""Who may call: tenants and their API clients; what was called: idempotency records and the audit log."""

from typing import Any

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from itembank.models._columns import UUID, datetime, moment, primary_key, prose, public_id, reference
from itembank.store import Json


class Tenant(SQLModel, table=True):
    id: int = primary_key()
    uuid: UUID = public_id()
    name: str = Field(max_length=200, unique=True)
    created_at: datetime = moment()


class ApiClient(SQLModel, table=True):
    """A program that calls the API. Its key is kept only as a hash; `prefix` finds the row."""

    __tablename__ = "api_client"

    id: int = primary_key()
    uuid: UUID = public_id()
    tenant_id: int = reference("tenant.id")
    name: str = Field(max_length=200)
    prefix: str = Field(max_length=16, unique=True)
    secret_hash: str = Field(max_length=64)
    scopes: list[str] = Field(sa_type=Json)
    created_at: datetime = moment()
    revoked_at: datetime | None = moment(default=None)


class IdempotencyRecord(SQLModel, table=True):
    """The reply to a creating request, kept so that a retry gets the same one."""

    __tablename__ = "idempotency_record"
    __table_args__ = (sa.UniqueConstraint("client_id", "key"),)

    id: int = primary_key()
    client_id: int = reference("api_client.id", index=False)
    key: str = Field(max_length=255)
    fingerprint: str = Field(max_length=64)
    status: int | None = None
    headers: dict[str, str] = Field(sa_type=Json, default_factory=dict)
    body: str = prose(default="")
    learner_id: int | None = reference("learner.id", default=None, nullable=True)
    created_at: datetime = moment(index=True)


class AuditEntry(SQLModel, table=True):
    """Who changed what and when; appended in the transaction that made the change."""

    __tablename__ = "audit_entry"
    __table_args__ = (sa.Index(None, "tenant_id", "entity", "entity_uuid"),)

    id: int = primary_key()
    tenant_id: int = reference("tenant.id", index=False)
    actor: str = Field(max_length=200)
    action: str = Field(max_length=60)
    entity: str = Field(max_length=40)
    entity_uuid: UUID = Field(sa_type=sa.Uuid)
    detail: dict[str, Any] = Field(sa_type=Json, default_factory=dict)
    at: datetime = moment()
