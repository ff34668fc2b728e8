"""`/demo` as it is served; what it does in a browser is tested in tests/browser."""

import re
from collections.abc import Callable
from datetime import datetime
from uuid import uuid4

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from api.cli import demo as command
from api.pages import demo
from itembank.store import transaction
from tests.factories.bank import make_exam, make_items, make_tenant
from tests.factories.http import Caller


@pytest.fixture
def visitor(
    make_app: Callable[..., Flask], api_key: Callable[..., str], engine: sa.Engine, now: datetime
) -> FlaskClient:
    """A browser, at a demo with an exam."""
    with transaction(engine, writes=True) as db:
        make_items(db, make_exam(db, make_tenant(db, demo.TENANT, now=now)), 4)
    api_key("admin", tenant=demo.TENANT)
    return make_app(demo=True).test_client()


def test_it_is_there_only_in_the_demo(make_app: Callable[..., Flask]) -> None:
    client = make_app().test_client()
    assert client.get("/demo").status_code == client.post("/demo/sessions", json={"learner": None}).status_code == 404


def test_the_page_runs_and_loads_nothing_that_is_not_ours(visitor: FlaskClient) -> None:
    page = visitor.get("/demo")
    policy = page.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "//" not in page.text.replace("http://www.w3.org/", "")
    assert re.search(r"\s(on\w+|style)=", page.text) is None


def test_a_visit_is_a_session_that_its_token_opens(visitor: FlaskClient) -> None:
    reply = visitor.post("/demo/sessions", json={"learner": None})
    assert reply.status_code == 201
    assert "Set-Cookie" not in reply.headers
    learner = Caller(visitor, reply.json["token"])
    session = learner.get(f"/v1/sessions/{reply.json['session']}").json
    assert (session["mode"], session["learner"]) == ("practice", f"demo-{reply.json['learner']}")
    assert learner.get("/v1/exams").status_code in (403, 404)


def test_a_browser_that_comes_back_is_the_same_learner(visitor: FlaskClient) -> None:
    first = visitor.post("/demo/sessions", json={"learner": None}).json
    again = visitor.post("/demo/sessions", json={"learner": first["learner"]}).json
    assert again["learner"] == first["learner"]
    assert again["session"] != first["session"]


@pytest.mark.parametrize("body", [{}, {"learner": "ada"}, {"learner": None, "exam": "other"}, {"learner": 7}])
def test_no_one_but_the_page_can_begin_a_visit(visitor: FlaskClient, body: object) -> None:
    assert visitor.post("/demo/sessions", json=body).status_code == 422


def test_what_another_site_can_send_unasked_is_refused(visitor: FlaskClient) -> None:
    plain = {"data": f'{{"learner": "{uuid4()}"}}', "content_type": "text/plain"}
    assert visitor.post("/demo/sessions", **plain).status_code == 415
    assert visitor.post("/demo/sessions").status_code == 422


def test_a_demo_without_its_exam_is_not_found(make_app: Callable[..., Flask]) -> None:
    client = make_app(demo=True).test_client()
    assert client.post("/demo/sessions", json={"learner": None}).status_code == 404


def test_the_command_names_the_tenant_that_the_page_looks_for() -> None:
    assert command.NAME == demo.TENANT
