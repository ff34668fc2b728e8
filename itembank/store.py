"""Databases: how a transaction opens on SQLite and on PostgreSQL, and the column types both share.

Transactions are opened by the callers at the edge (an HTTP request, a command, a worker's job), never by services.
"""

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any
from uuid import UUID

import orjson
import psycopg
import sqlalchemy as sa
import uuid_utils
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import psycopg as psycopg_dialect
from sqlalchemy.engine.interfaces import DBAPIConnection, Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine
from sqlmodel import Session, SQLModel

BUSY_TIMEOUT_S = 5  # how long SQLite waits for another writer before "database is locked"
POOL_SIZE = 10  # PostgreSQL connections a process keeps; more than its threads would never be used

SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


class Db(Session):
    """The database handle of one transaction; *session* is kept for a learner's sitting.

    It makes itself a session only when objects are asked for: most answers come and go without one.
    """

    def __init__(self, connection: sa.Connection, **options: Any):
        self.core = connection  # what the transaction runs on, for statements that need no objects
        self._options = options

    def __getattr__(self, name: str) -> Any:
        """Asked for what a session has: become one. After that every attribute is there, or doesn't exist."""
        if self.has_objects:
            raise AttributeError(name)
        super().__init__(self.core, **self._options)
        return getattr(self, name)

    @property
    def has_objects(self) -> bool:
        return "identity_map" in vars(self)

    @property
    def is_postgresql(self) -> bool:
        return self.core.dialect.name == "postgresql"


class Cursor(psycopg.Cursor[Any]):
    """psycopg's describes a result anew, an object for each column, whenever SQLAlchemy looks whether there is one."""

    @property
    def description(self) -> Any:
        result = self.pgresult
        if result is None or not result.nfields:
            return super().description
        unknown = (None,) * 5
        return [((result.fname(i) or b"").decode(), result.ftype(i), *unknown) for i in range(result.nfields)]


def open_engine(url: str, *, pool_size: int = POOL_SIZE) -> sa.Engine:
    """An engine for `sqlite:///path` or `postgresql://…` that follows the rules of this product.

    `sqlite:///path?timeout=0.5` waits for another writer so many seconds at most.
    """
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
        connect = {"cursor_factory": Cursor}
        pool: dict[str, Any] = {"pool_size": pool_size, "max_overflow": pool_size, "connect_args": connect}
        return sa.create_engine(parsed, json_serializer=orjson.dumps, json_deserializer=orjson.loads, **pool)
    parsed = parsed.update_query_dict({"timeout": str(BUSY_TIMEOUT_S)} | dict(parsed.query))
    engine = sa.create_engine(parsed, json_serializer=_json_text, json_deserializer=orjson.loads)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


@contextmanager
def transaction(engine: sa.Engine, *, writes: bool) -> Iterator[Db]:
    """One transaction: committed when the block ends, rolled back when it raises."""
    bind = engine if writes else engine.execution_options(writes=False)
    with bind.begin() as connection:
        db = Db(connection, expire_on_commit=False)
        try:
            yield db
            if db.has_objects:
                db.flush()
        finally:
            if db.has_objects:
                db.close()


@contextmanager
def autocommitted(engine: sa.Engine) -> Iterator[Db]:
    """Where every statement is committed by itself, so that on PostgreSQL none waits for BEGIN and COMMIT.

    For work whose writes are one statement there. SQLite, which has no such statement, gets a transaction that writes.
    """
    if engine.dialect.name == "sqlite":
        with transaction(engine, writes=True) as db:
            yield db
        return
    with engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT")
        db = Db(connection, expire_on_commit=False)
        try:
            yield db
        finally:
            if db.has_objects:
                db.close()


class Prepared:
    """A statement on the path between a click and its reply, which on PostgreSQL the driver itself runs.

    SQLAlchemy compiles it once, types and all. What is left out is what it sets up for each execution: contexts,
    results, rows. That takes the process more time than sending the statement and reading the reply.
    """

    def __init__(self, statement: sa.Select[*tuple[Any, ...]] | sa.Update):
        self._statement = statement

    def first(self, db: Db, values: Mapping[str, Any]) -> Any:
        """The first row, its columns by name, or None."""
        if not db.is_postgresql:
            return db.core.execute(self._statement, values).first()
        row = self._run(db.core, values).fetchone()
        return None if row is None else self._plan.row(row)

    def count(self, db: Db, values: Mapping[str, Any]) -> int:
        """How many rows it changed."""
        if not db.is_postgresql:
            return db.core.execute(self._statement, values).rowcount
        changed: int = self._run(db.core, values).rowcount
        return changed

    def _run(self, connection: sa.Connection, values: Mapping[str, Any]) -> Any:
        plan = self._plan
        parameters = {**plan.constants, **values}
        for name, dump in plan.dumps:
            parameters[name] = dump(parameters[name])
        cursor: Any = connection.connection.cursor()
        for listen in connection.dispatch.before_cursor_execute:
            listen(connection, cursor, plan.text, parameters, None, False)
        try:
            cursor.execute(plan.text, parameters)
        except psycopg.Error as error:
            connection._handle_dbapi_exception(error, plan.text, None, cursor, None)  # private; raises SQLAlchemy's own
        return cursor

    @cached_property
    def _plan(self) -> "_Plan":
        return _Plan.of(self._statement)


@dataclass(frozen=True, slots=True)
class _Plan:
    """A compiled statement. dumps : of the parameters that need one;  row : makes a named row of what was fetched"""

    text: str
    constants: Mapping[str, Any]
    dumps: tuple[tuple[str, Callable[[Any], Any]], ...]
    row: Callable[[Sequence[Any]], Any]

    @classmethod
    def of(cls, statement: sa.Select[*tuple[Any, ...]] | sa.Update) -> "_Plan":
        dialect: sa.Dialect = psycopg_dialect.dialect()  # type: ignore[no-untyped-call]
        compiled = statement.compile(dialect=dialect)
        binds = compiled.binds
        dumps = {name: bind.type.dialect_impl(dialect).bind_processor(dialect) for name, bind in binds.items()}
        columns = list(statement.selected_columns) if isinstance(statement, sa.Select) else []
        loads = [_load(column.type, dialect) for column in columns]
        needed = [(place, load) for place, load in enumerate(loads) if load is not None]
        fields: Any = namedtuple("Row", [column.key or "" for column in columns])  # type: ignore[misc]  # made at run time

        def row(fetched: Sequence[Any]) -> Any:
            values = list(fetched)
            for place, load in needed:
                values[place] = load(values[place])
            return fields._make(values)

        return cls(
            text=str(compiled),
            constants={name: bind.value for name, bind in binds.items() if not bind.required},
            dumps=tuple((name, dump) for name, dump in dumps.items() if dump is not None),
            row=row,
        )


def _load(kind: TypeEngine[Any], dialect: sa.Dialect) -> Callable[[Any], Any] | None:
    """What makes a column's Python value of the driver's; the driver's own floats are right as they are."""
    return None if isinstance(kind, sa.Float) else kind.dialect_impl(dialect).result_processor(dialect, None)


def _json_text(value: Any) -> str:
    return orjson.dumps(value).decode()


def _prepare_sqlite(connection: DBAPIConnection, _record: object) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "foreign_keys=ON", "synchronous=FULL"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    """A transaction that reads first and writes later can't wait for a lock in WAL mode, so writers lock at once."""
    writes = connection.get_execution_options().get("writes", True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def table_of(model: type[SQLModel]) -> sa.Table:
    """The table behind a model, for statements that need no objects."""
    table = sa.inspect(model).local_table
    assert isinstance(table, sa.Table)  # noqa: S101  # for the type checker: a mapped model always has one
    return table


def insert_for(db: Db, model: type[SQLModel]) -> postgresql.Insert | sqlite.Insert:
    """An INSERT that knows `on_conflict_do_…` on the database at hand; both dialects spell it the same."""
    return postgresql.insert(table_of(model)) if db.is_postgresql else sqlite.insert(table_of(model))


def uuid7() -> UUID:
    """A new identifier for the outside world; ordered by time of creation."""
    return UUID(bytes=uuid_utils.uuid7().bytes)


class Utc(TypeDecorator[datetime]):
    """Aware datetimes in UTC on both databases; a naive one is refused."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone; every stored time is aware")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class EnumText(TypeDecorator[StrEnum]):
    """A StrEnum stored by value in a text column, so that adding a member needs no migration."""

    impl = sa.String(40)
    cache_ok = True

    def __init__(self, members: type[StrEnum]):
        super().__init__(40)
        self.members = members

    def process_bind_param(self, value: StrEnum | str | None, dialect: Dialect) -> str | None:
        return None if value is None else self.members(value).value

    def process_result_value(self, value: Any, dialect: Dialect) -> StrEnum | None:
        return None if value is None else self.members(value)


BigInt = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # only INTEGER keys number themselves on SQLite
Json = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
