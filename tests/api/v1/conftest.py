"""An author with an exam, over HTTP."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.factories import documents
from tests.factories.http import Caller

Create = Callable[..., dict[str, Any]]


@pytest.fixture
def author(client: FlaskClient, api_key: Callable[..., str]) -> Caller:
    """May read, write and review items, and export."""
    return Caller(client, api_key("items:read", "items:write", "items:review", "exports:read"))


@pytest.fixture
def stranger(client: FlaskClient, api_key: Callable[..., str]) -> Caller:
    """May do everything, for another tenant."""
    return Caller(client, api_key("admin", tenant="other"))


@pytest.fixture
def exam(author: Caller) -> str:
    """The slug of an exam with a blueprint."""
    assert author.post("/v1/exams", documents.EXAM).status_code == 201
    assert author.put("/v1/exams/exam/blueprint", documents.BLUEPRINT, '"0"').status_code == 200
    return "exam"


@pytest.fixture
def create(author: Caller, exam: str) -> Create:
    """A function that creates an item and gives what came back."""

    def make(name: str = "one", **changes: Any) -> dict[str, Any]:
        reply = author.post(f"/v1/exams/{exam}/items", documents.item(name, **changes))
        assert reply.status_code == 201, reply.text
        made: dict[str, Any] = reply.json
        return made

    return make


@pytest.fixture
def move(author: Caller) -> Callable[..., TestResponse]:
    """A function that moves an item through stages and gives the last reply."""

    def run(item: str, *stages: str) -> TestResponse:
        for stage in stages:
            reply = author.post(f"/v1/items/{item}/transitions", {"to": stage})
        return reply

    return run
