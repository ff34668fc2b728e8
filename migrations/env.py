"""How Alembic reaches the database and the tables. Revisions come out with plain SQLAlchemy types."""

from typing import Any

import sqlalchemy as sa
from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlmodel import AutoString, SQLModel

import itembank.models  # noqa: F401  # registers the tables on the metadata
from itembank.store import EnumText, Utc, open_engine


def render_item(kind: str, item: Any, _autogen: AutogenContext) -> str | bool:
    """Our column types written as the SQLAlchemy types they are stored as."""
    if kind == "type":
        if isinstance(item, Utc):
            return "sa.DateTime(timezone=True)"
        if isinstance(item, EnumText):
            return "sa.String(40)"
        if isinstance(item, AutoString):
            return f"sa.String({item.length or ''})"
    return False


def migrate(connection: sa.Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=SQLModel.metadata,
        render_item=render_item,
        render_as_batch=connection.dialect.name == "sqlite",
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


engine = open_engine(context.config.get_main_option("sqlalchemy.url") or "")
try:
    with engine.connect() as connection:
        migrate(connection)
finally:
    engine.dispose()
