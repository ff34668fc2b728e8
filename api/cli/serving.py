"""`nextitem serve`: gunicorn with threads, set up here so that there is one way to run it."""

import os
import shutil
import socket
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import click
from gunicorn.app.base import BaseApplication
from sqlalchemy.exc import OperationalError

from api.cli.settings import read_config, require_schema
from api.config import Config, ConfigError
from itembank.store import open_engine

GRACE_S = 30  # how long a worker may finish what it has begun
TIMEOUT_S = 60  # a worker that has not been heard of for so long is replaced
KEEP_ALIVE_S = 65  # longer than load balancers keep idle connections, so that they close them and not we
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")  # NumPy's products are small; more threads only get in the way
METRICS_DIR = "PROMETHEUS_MULTIPROC_DIR"


@click.command()
@click.option("--host", help="Address to listen on; else NEXTITEM_HOST.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on, 0 for any that is free; else PORT.")
@click.option("--workers", type=click.IntRange(1, 256), help="Processes; else NEXTITEM_WORKERS.")
@click.option("--threads", type=click.IntRange(1, 256), help="Threads in each; else NEXTITEM_THREADS.")
def serve(host: str | None, port: int | None, workers: int | None, threads: int | None) -> None:
    """Serve the API until a signal says stop; then finish what has begun."""
    given: dict[str, Any] = {"host": host, "port": port, "workers": workers, "threads": threads}
    config = replace(read_config(), **{name: value for name, value in given.items() if value is not None})
    check(config)
    listener = bind(config)
    check_database(config)
    click.echo(f"Nextitem serves on {base_url(listener)}", err=True)
    run(config, listener)


def check(config: Config) -> None:
    """Raise ConfigError for what the processes would stumble over, before any is started."""
    if config.secret_key is None:
        raise ConfigError("NEXTITEM_SECRET_KEY is not set; give it at least 32 random characters")


def check_database(config: Config) -> None:
    """Raise ConfigError where the database needs migrating. A PostgreSQL that is away may be back in a moment."""
    engine = open_engine(config.database_url)
    try:
        require_schema(engine)
    except OperationalError:
        if engine.dialect.name == "sqlite":
            raise
    finally:
        engine.dispose()


def bind(config: Config) -> socket.socket:
    """Take the address, but don't listen yet: until `run`, connections are refused."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(config.host, config.port, type=socket.SOCK_STREAM)[0]
        with ExitStack() as on_failure:
            listener = on_failure.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            on_failure.pop_all()
    except OSError as error:
        raise ConfigError(f"can't listen on {config.host} port {config.port}: {error.strerror or error}") from error
    return listener


def base_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(config: Config, listener: socket.socket, *, on_exit: Callable[[], None] = lambda: None) -> None:
    """Serve on the socket; does not return. Every process makes its own application, with its own connections.

    on_exit : called in the end, once and not in every process
    """
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    shared = config.metrics_dir or tempfile.mkdtemp(prefix="nextitem-metrics-")
    os.environ[METRICS_DIR] = shared  # prometheus-client looks for it when it is imported, in the workers
    Server(
        replace(config, metrics_dir=shared), listener, owns_metrics=config.metrics_dir is None, on_exit=on_exit
    ).run()


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    def __init__(self, config: Config, listener: socket.socket, *, owns_metrics: bool, on_exit: Callable[[], None]):
        self._config, self._listener, self._owns_metrics = config, listener, owns_metrics
        self._on_exit = on_exit
        super().__init__()

    def load_config(self) -> None:
        options = {
            "bind": f"fd://{self._listener.detach()}",
            "workers": self._config.workers,
            "threads": self._config.threads,
            "worker_class": "gthread",
            "preload_app": False,
            "timeout": TIMEOUT_S,
            "graceful_timeout": GRACE_S,
            "keepalive": KEEP_ALIVE_S,
            "accesslog": None,  # the application writes its own, with more in it
            "loglevel": "warning",
            "control_socket_disable": True,
            "proc_name": "nextitem",
            "child_exit": self._forget_worker,
            "on_exit": self._clean_up,
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        from api.app import create_app  # in the worker, so that nothing heavy is shared by forking

        return create_app(self._config)

    def _forget_worker(self, _server: Any, worker: Any) -> None:
        from prometheus_client.multiprocess import mark_process_dead  # after METRICS_DIR is set

        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]

    def _clean_up(self, _server: Any) -> None:
        self._on_exit()
        if self._owns_metrics and self._config.metrics_dir is not None:
            shutil.rmtree(self._config.metrics_dir, ignore_errors=True)
