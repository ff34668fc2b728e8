"""What every command needs: the settings, and the database that they name."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click
import sqlalchemy as sa

from api import migrating
from api.config import Config, ConfigError
from itembank import catalog, clients
from itembank.errors import NotFound
from itembank.models import Exam
from itembank.store import Db, open_engine, transaction


def read_config() -> Config:
    return Config.from_environment(os.environ)


def for_child(**changes: str) -> dict[str, str]:
    """The environment for a process of ours, with some variables set."""
    return {**os.environ, **changes}


def migrate(config: Config) -> str | None:
    """Bring the database to the newest revision; an SQLite file's folder is made."""
    url = sa.make_url(config.database_url)
    if url.get_backend_name() == "sqlite" and url.database not in {None, "", ":memory:"}:
        Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
    return migrating.upgrade(config.database_url)


def require_schema(engine: sa.Engine) -> None:
    """Raise ConfigError unless the database has this release's schema."""
    with engine.connect() as connection:
        if not migrating.is_current(connection):
            raise ConfigError("the database's schema is not the one of this release; run `nextitem db upgrade`")


@contextmanager
def writing(config: Config) -> Iterator[Db]:
    """One transaction on the database of the settings."""
    engine = open_engine(config.database_url)
    try:
        require_schema(engine)
        with transaction(engine, writes=True) as db:
            yield db
    finally:
        engine.dispose()


def exam_of(db: Db, slug: str, tenant: str | None) -> Exam:
    """An exam of the tenant of this name, or of the only one. Raises NotFound."""
    names = [tenant] if tenant else clients.tenant_names(db)
    if len(names) > 1:
        raise click.UsageError(f"there are several tenants, name one with --tenant: {', '.join(names)}")
    if not names:
        raise NotFound("exam", slug)
    return catalog.get_exam(db, clients.get_tenant(db, names[0]).id, slug)


def utc_now() -> datetime:
    return datetime.now(UTC)
