"""Servers in processes of their own, on databases of their own, so that they can be hurt."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from api.auth import keys
from itembank import clients
from itembank.store import open_engine, transaction
from tests.factories.bank import make_exam, make_items, make_tenant
from tests.factories.database import upgrade
from tests.factories.servers import Server

ITEMS = 60


@dataclass(frozen=True, slots=True)
class Bank:
    """A database with one exam and a key to everything. url : as the servers get it"""

    url: str
    engine: sa.Engine
    key: str


def make_bank(url: str, items: int = ITEMS) -> Bank:
    """Migrate an empty database and put operational items in it."""
    engine, key, now = open_engine(url), keys.mint(), datetime.now(UTC)
    upgrade(engine)
    with transaction(engine, writes=True) as db:
        tenant = make_tenant(db, now=now)
        values: dict[str, Any] = {"prefix": key.prefix, "secret_hash": keys.digest(key.secret), "scopes": ["admin"]}
        clients.create_client(db, tenant.id, name="test", now=now, **values)
        make_items(db, make_exam(db, tenant, now=now), items, now=now)
    return Bank(url, engine, str(key))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def bank(request: pytest.FixtureRequest, new_database: Callable[[str], str]) -> Iterator[Bank]:
    """One for all tests of a module: they use learners of their own."""
    made = make_bank(new_database(request.param))
    yield made
    made.engine.dispose()


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """A function that makes a server on a database, not started yet; all are killed in the end."""
    made: list[Server] = []

    def make(database_url: str, **settings: Any) -> Server:
        folder: Path = tmp_path_factory.mktemp("server")
        made.append(Server(database_url, folder, **settings))
        return made[-1]

    yield make
    for server in made:
        server.stop()


@pytest.fixture(scope="module")
def server(bank: Bank, serve: Callable[..., Server]) -> Server:
    return serve(bank.url).start()
