"""Tenants, API clients, idempotency records and the audit log: their queries and the rows they add."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col, select

from itembank.errors import AlreadyExists, KeyReused, NotFound
from itembank.models import ApiClient, AuditEntry, IdempotencyRecord, Tenant
from itembank.store import Db, insert_for, table_of

_CLIENT, _TENANT, _RECORDS = (table_of(model) for model in (ApiClient, Tenant, IdempotencyRecord))


@dataclass(frozen=True, slots=True)
class Identity:
    """An API client as its credentials are checked."""

    client_id: int
    tenant_id: int
    client_uuid: UUID
    tenant_uuid: UUID
    name: str
    secret_hash: str
    scopes: list[str]
    is_revoked: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """What was answered to a creating request, enough to answer it again."""

    status: int
    headers: Mapping[str, str]
    body: str


@dataclass(frozen=True, slots=True)
class Claim:
    """An idempotency key as one request holds it: `record` is ours to complete, unless there is a `reply` already."""

    record: int
    reply: Reply | None = None


def find_tenant(db: Db, name: str) -> Tenant | None:
    return db.exec(select(Tenant).where(Tenant.name == name)).one_or_none()


def tenant_names(db: Db) -> list[str]:
    return list(db.exec(select(Tenant.name).order_by(col(Tenant.id))))


def get_tenant(db: Db, name: str) -> Tenant:
    tenant = find_tenant(db, name)
    if tenant is None:
        raise NotFound("tenant", name)
    return tenant


def create_tenant(db: Db, name: str, *, now: datetime) -> Tenant:
    if find_tenant(db, name) is not None:
        raise AlreadyExists("tenant", name)
    tenant = Tenant(name=name, created_at=now)
    db.add(tenant)
    db.flush()
    return tenant


def create_client(
    db: Db, tenant_id: int, *, name: str, prefix: str, secret_hash: str, scopes: Iterable[str], now: datetime
) -> ApiClient:
    client = ApiClient(
        tenant_id=tenant_id,
        name=name,
        prefix=prefix,
        secret_hash=secret_hash,
        scopes=sorted(scopes),
        created_at=now,
    )
    db.add(client)
    db.flush()
    return client


def find_client_by_prefix(db: Db, prefix: str) -> Identity | None:
    """The client that a key belongs to, whatever its tenant: the key is what tells the tenant."""
    return _find(db, _CLIENT.c.prefix == prefix)


def find_client(db: Db, client: UUID) -> Identity | None:
    """The client that a signed token names."""
    return _find(db, _CLIENT.c.uuid == client)


def _find(db: Db, which: sa.ColumnElement[bool]) -> Identity | None:
    client, tenant = _CLIENT.c, _TENANT.c
    query = sa.select(
        client.id,
        tenant.id,
        client.uuid,
        tenant.uuid,
        client.name,
        client.secret_hash,
        client.scopes,
        client.revoked_at.is_not(None),
    )
    row = db.execute(query.join_from(_CLIENT, _TENANT).where(which)).one_or_none()
    return None if row is None else Identity(*row)


def clients(db: Db, tenant_id: int) -> list[UUID]:
    """The ids of a tenant's clients that are not revoked."""
    query = select(ApiClient.uuid).where(ApiClient.tenant_id == tenant_id, col(ApiClient.revoked_at).is_(None))
    return list(db.exec(query))


def revoke_client(db: Db, tenant_id: int, client: UUID, *, now: datetime) -> None:
    row = db.exec(select(ApiClient).where(ApiClient.tenant_id == tenant_id, ApiClient.uuid == client)).one_or_none()
    if row is None:
        raise NotFound("client", client)
    if row.revoked_at is None:
        row.revoked_at = now
        db.add(row)
        db.flush()


def claim_key(db: Db, client_id: int, key: str, fingerprint: str, *, now: datetime, since: datetime) -> Claim:
    """Take an idempotency key, or find the reply it got.

    Two requests with one key at the same moment: the second waits at the unique index (PostgreSQL) or for the write
    lock (SQLite) until the first has committed, and then finds its reply. Records made before `since` are forgotten.
    Raises KeyReused if the key came with another request.
    """
    columns = _RECORDS.c
    mine = (columns.client_id == client_id, columns.key == key)
    row = {"client_id": client_id, "key": key, "fingerprint": fingerprint, "headers": {}, "body": "", "created_at": now}
    # a taken key must not raise: on PostgreSQL an error would end the transaction
    insert = insert_for(db, IdempotencyRecord).values(row).on_conflict_do_nothing(index_elements=["client_id", "key"])
    while True:
        record = db.scalar(insert.returning(columns.id))
        if record is not None:
            return Claim(record)
        found = db.execute(sa.select(_RECORDS).where(*mine)).one_or_none()
        if found is None:  # somebody else has just forgotten it
            continue
        if found.created_at < since:
            db.execute(sa.delete(_RECORDS).where(_RECORDS.c.id == found.id))
            continue
        if found.fingerprint != fingerprint:
            raise KeyReused(key)
        return Claim(found.id, Reply(found.status, found.headers, found.body))


def complete_claim(db: Db, claim: Claim, reply: Reply, *, learner_id: int | None = None) -> None:
    """Keep the reply; `learner_id` is whose data it holds, so that erasing the learner finds it."""
    db.execute(
        sa.update(_RECORDS)
        .where(_RECORDS.c.id == claim.record)
        .values(status=reply.status, headers=dict(reply.headers), body=reply.body, learner_id=learner_id)
    )


def release_claim(db: Db, claim: Claim) -> None:
    """Give the key back: the request changed nothing, so it may be sent again."""
    db.execute(sa.delete(_RECORDS).where(_RECORDS.c.id == claim.record))


def forget_keys(db: Db, *, before: datetime) -> None:
    db.execute(sa.delete(_RECORDS).where(_RECORDS.c.created_at < before))


def audit(
    db: Db,
    tenant_id: int,
    *,
    actor: str,
    action: str,
    entity: str,
    entity_uuid: UUID,
    now: datetime,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Append to the audit log; call it in the transaction that makes the change."""
    db.add(
        AuditEntry(
            tenant_id=tenant_id,
            actor=actor,
            action=action,
            entity=entity,
            entity_uuid=entity_uuid,
            detail=dict(detail or {}),
            at=now,
        )
    )


def audit_entries(tenant_id: int, entity: str, entity_uuid: UUID) -> Any:
    """What happened to one thing, oldest first."""
    return (
        select(AuditEntry)
        .where(AuditEntry.tenant_id == tenant_id, AuditEntry.entity == entity, AuditEntry.entity_uuid == entity_uuid)
        .order_by(col(AuditEntry.id))
    )
