"""The product as it runs in production, `nextitem serve` in processes of its own, and clients that talk to it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

SECRET_KEY = "a key that is only good for tests, and long"
PATIENCE_S = 60  # the machine may be busy with other tests
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")
START = "import sys; from api.cli import main; main(sys.argv[1:])"


@dataclass(slots=True)
class Server:
    """One `nextitem serve`; it can be killed and started again at the same address. log : where its stderr goes"""

    database_url: str
    folder: Path
    workers: int = 2
    threads: int = 8
    port: int = 0
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> "Server":
        """Start it and wait until it answers."""
        environ = {
            **os.environ,
            "NEXTITEM_DATABASE_URL": self.database_url,
            "NEXTITEM_SECRET_KEY": SECRET_KEY,
            "NEXTITEM_RATE_LIMIT": "off",
            "NEXTITEM_LEARNER_RATE_LIMIT": "off",
            "NEXTITEM_LOG_LEVEL": "warning",
            "PROMETHEUS_MULTIPROC_DIR": str(self.folder),
        }
        size = ["--workers", str(self.workers), "--threads", str(self.threads)]
        command = [sys.executable, "-c", START, "serve", "--host", "127.0.0.1", "--port", str(self.port), *size]
        log = self.folder / "stderr"
        with log.open("wb") as stderr:
            self._process = subprocess.Popen(command, env=environ, stderr=stderr, start_new_session=True)
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and self._process.poll() is None:
            found = ADDRESS.search(log.read_text())
            if found and self._answers(int(found[1])):
                return self
            time.sleep(0.05)
        raise AssertionError(f"the server did not start: {log.read_text()}")

    def _answers(self, port: int) -> bool:
        self.port = port
        try:
            return httpx.get(f"{self.url}/health/live", timeout=PATIENCE_S).status_code == 200
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """`kill -9` for all of its processes at once."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()


@dataclass(slots=True)
class Remote:
    """A client on a connection of its own."""

    url: str
    key: str
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.http = httpx.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {self.key}"}, timeout=PATIENCE_S, trust_env=False
        )

    def __enter__(self) -> "Remote":
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def start(self, learner: str, *, exam: str = "exam", mode: str = "practice", **more: Any) -> dict[str, Any]:
        """A new session, its first item as `next`."""
        reply = self.http.post("/v1/sessions", json={"exam": exam, "learner": learner, "mode": mode, **more})
        assert reply.status_code == 201, reply.text
        begun: dict[str, Any] = reply.json()
        return begun

    def answer(self, session: str, body: Mapping[str, Any]) -> httpx.Response:
        return self.http.post(f"/v1/sessions/{session}/responses", json=body)


def given(served: Mapping[str, Any], place: int = 0) -> dict[str, Any]:
    """The body of an answer that chooses the option at this place on screen."""
    item = served["item"]
    return {"position": served["position"], "item": item["id"], "selected": [item["options"][place]["id"]]}
