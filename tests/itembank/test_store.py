"""Transactions and what stands in for them, on a single connection that each of them gets in turn."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress

import pytest
import sqlalchemy as sa

from itembank.models import Tenant
from itembank.store import Db, autocommitted, open_engine, table_of, transaction, uuid7
from tests.factories.bank import START

TENANT = table_of(Tenant)


class Interrupted(Exception):
    """What ends a block half way."""


@pytest.fixture
def one_connection(engine: sa.Engine) -> Iterator[sa.Engine]:
    """The same database through a pool that hands out one connection again and again."""
    url = engine.url.set(drivername=engine.url.get_backend_name()).render_as_string(hide_password=False)
    single = open_engine(url, pool_size=1)
    yield single
    single.dispose()


def add(db: Db, name: str) -> None:
    db.core.execute(sa.insert(TENANT).values(name=name, created_at=START, uuid=uuid7()))


def interrupted(block: AbstractContextManager[Db], name: str) -> None:
    """A block that adds a tenant and then raises."""
    with suppress(Interrupted), block as db:
        add(db, name)
        raise Interrupted


def names(engine: sa.Engine) -> list[str]:
    with transaction(engine, writes=False) as db:
        return sorted(db.core.execute(sa.select(TENANT.c.name)).scalars())


def test_a_transaction_that_raises_leaves_nothing(one_connection: sa.Engine) -> None:
    interrupted(transaction(one_connection, writes=True), "acme")
    assert names(one_connection) == []


def test_a_statement_that_commits_itself_stays_though_the_block_raises(one_connection: sa.Engine) -> None:
    interrupted(autocommitted(one_connection), "acme")
    stays = one_connection.dialect.name == "postgresql"  # SQLite gets a transaction
    assert names(one_connection) == (["acme"] if stays else [])


def test_a_connection_is_transactional_again_after_it_was_not(one_connection: sa.Engine) -> None:
    with autocommitted(one_connection) as db:
        add(db, "first")
    interrupted(transaction(one_connection, writes=True), "second")
    assert names(one_connection) == ["first"]
