"""The columns that every table repeats, written once."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from itembank.store import BigInt, Utc, uuid7


def primary_key() -> Any:
    return Field(default=None, primary_key=True, sa_type=BigInt)


def public_id() -> Any:
    return Field(default_factory=uuid7, sa_type=sa.Uuid, unique=True)


def reference(target: str, *, index: bool = True, **options: Any) -> Any:
    """A foreign key; indexed, since PostgreSQL does not do that by itself."""
    return Field(foreign_key=target, sa_type=BigInt, index=index, **options)


def moment(**options: Any) -> Any:
    return Field(sa_type=Utc, **options)


def prose(**options: Any) -> Any:
    return Field(sa_type=sa.Text, **options)


__all__ = ["UUID", "datetime", "moment", "primary_key", "prose", "public_id", "reference"]
