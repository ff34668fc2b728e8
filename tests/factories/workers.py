"""`nextitem worker` in a process of its own, to be killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.factories.servers import PATIENCE_S, START


@dataclass(slots=True)
class WorkerProcess:
    """It can be killed and started again."""

    database_url: str
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self) -> "WorkerProcess":
        environ = {**os.environ, "NEXTITEM_DATABASE_URL": self.database_url, "NEXTITEM_LOG_LEVEL": "warning"}
        command = [sys.executable, "-c", START, "worker", "--until-eof"]
        self._process = subprocess.Popen(command, env=environ, stdin=subprocess.PIPE)
        return self

    def signal(self, number: signal.Signals) -> int:
        """Send it and wait; the status it ends with."""
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(PATIENCE_S)

    def abandon(self) -> int:
        """Close its standard input, as the end of whoever started it would; the status it ends with."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(PATIENCE_S)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()


def until(is_so: Callable[[], bool]) -> None:
    """Wait. A worker loads all libraries, and draws pictures in the end, which takes long on a busy machine."""
    end = time.monotonic() + 5 * PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
