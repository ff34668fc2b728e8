"""`nextitem worker`: runs jobs until a signal says stop."""

import os
import signal
import subprocess
import sys
from threading import Thread
from typing import Any

import click

from api import observe
from api.cli.serving import ONE_THREAD, check_database
from api.cli.settings import for_child, read_config, utc_now
from api.worker import Worker
from itembank.store import open_engine

CONNECTIONS = 2  # one for the job, one to say that its worker is alive
STDIN = 0
PATIENCE_S = 10  # for a worker that was told to stop


@click.command("worker")
@click.option(
    "--until-eof", is_flag=True, help="Stop when standard input ends too, so as not to outlive who started it."
)
def worker(until_eof: bool) -> None:
    """Run jobs, such as simulations, until a signal says stop.

    Start as many as there is work for; a job goes to one of them. One that is stopped gives its job back.
    """
    config = read_config()
    check_database(config)
    engine = open_engine(config.database_url, pool_size=CONNECTIONS)
    working = Worker(engine, clock=utc_now, log=observe.open_log(config.log_level))

    def stop(_signal: int, _frame: Any) -> None:
        working.stop()

    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, stop)
    if until_eof:
        Thread(target=_stop_at_end, args=(working,), daemon=True).start()
    click.echo("Nextitem's worker waits for jobs", err=True)
    try:
        working.run()
    finally:
        engine.dispose()


def _stop_at_end(working: Worker) -> None:
    while os.read(STDIN, 4096):  # not by way of sys.stdin, whose lock this thread would take into the grave
        pass
    working.stop()


class Child:
    """A worker in a process of its own, for a command that serves. It ends with this process, however that ends."""

    def __init__(self, database_url: str):
        command = [sys.executable, "-c", "from api.cli import main; main()", "worker", "--until-eof"]
        settings = for_child(NEXTITEM_DATABASE_URL=database_url, **dict.fromkeys(ONE_THREAD, "1"))
        self._process = subprocess.Popen(command, env=settings, stdin=subprocess.PIPE)  # noqa: S603  # all of it is ours

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:  # its job is taken up by the next worker
            self._process.kill()
            self._process.wait()
