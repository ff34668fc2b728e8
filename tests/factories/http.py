"""Calls as an LMS makes them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse


@dataclass(frozen=True, slots=True)
class Caller:
    """A client that sends its credentials with every call."""

    client: FlaskClient
    credentials: str

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
        sent = {"Authorization": f"Bearer {self.credentials}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        options = {} if body is None else {"json": body}
        return self.client.open(path, method=method, headers=sent, **options)

    def get(self, path: str, **headers: str) -> TestResponse:
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> TestResponse:
        return self.call("POST", path, body, **headers)

    def put(self, path: str, body: Any, etag: str | None = None) -> TestResponse:
        return self.call("PUT", path, body, **({} if etag is None else {"If_Match": etag}))

    def delete(self, path: str, **headers: str) -> TestResponse:
        return self.call("DELETE", path, **headers)

    def start(self, *, exam: str = "exam", learner: str = "ada", mode: str = "practice", **more: Any) -> dict[str, Any]:
        reply = self.post("/v1/sessions", {"exam": exam, "learner": learner, "mode": mode, **more})
        assert reply.status_code == 201, reply.text
        started: dict[str, Any] = reply.json
        return started

    def answer(
        self,
        session: str,
        served: dict[str, Any],
        choose: Callable[[list[dict[str, Any]]], int] = lambda options: 0,
        **headers: str,
    ) -> TestResponse:
        options = served["item"]["options"]
        body = {
            "position": served["position"],
            "item": served["item"]["id"],
            "selected": [options[0 if choose is None else choose(options)]["id"]],
            "response_time_ms": 4000,
        }
        return self.post(f"/v1/sessions/{session}/responses", body)
