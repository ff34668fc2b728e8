"""How often a caller may call."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from flask import Flask
from limits import parse

from api.auth import tokens
from api.auth.lookup import Caller as Known
from tests.api.conftest import SECRET
from tests.factories.clock import Clock
from tests.factories.http import Caller

THREE = parse("3/minute")
pytestmark = pytest.mark.parametrize("migrated_engine", ["sqlite"], indirect=True)  # one database will do


@pytest.fixture
def limited(make_app: Callable[..., Flask], api_key: Callable[..., str]) -> Caller:
    return Caller(make_app(rate_limit=THREE).test_client(), api_key("items:read"))


def test_every_reply_says_how_many_are_left(limited: Caller) -> None:
    replies = [limited.get("/v1/toys") for _ in range(3)]
    assert [reply.headers["RateLimit"] for reply in replies] == [f'"default";r={left};t=60' for left in (2, 1, 0)]
    assert replies[0].headers["RateLimit-Policy"] == '"default";q=3;w=60'


def test_errors_count_too(limited: Caller) -> None:
    assert limited.post("/v1/toys", {}).headers["RateLimit"].startswith('"default";r=2;')


def test_one_too_many_is_told_how_long_to_wait(limited: Caller, clock: Clock) -> None:
    for _ in range(3):
        limited.get("/v1/toys")
        clock.advance(seconds=10)
    reply = limited.get("/v1/toys")
    assert (reply.status_code, reply.headers["Retry-After"]) == (429, "30")
    assert reply.headers["RateLimit"] == '"default";r=0;t=30'
    assert json.loads(reply.data)["violated_policies"] == ["default"]


def test_the_window_moves_on(limited: Caller, clock: Clock) -> None:
    for _ in range(3):
        limited.get("/v1/toys")
        clock.advance(seconds=10)
    clock.advance(seconds=29)
    assert limited.get("/v1/toys").status_code == 429
    clock.advance(seconds=1)
    assert limited.get("/v1/toys").status_code == 200
    assert limited.get("/v1/toys").status_code == 429


def test_clients_do_not_use_up_each_others(limited: Caller, api_key: Callable[..., str]) -> None:
    for _ in range(4):
        limited.get("/v1/toys")
    assert Caller(limited.client, api_key("items:read")).get("/v1/toys").status_code == 200


def test_a_learners_token_has_a_limit_of_its_own(
    make_app: Callable[..., Flask], api_key: Callable[..., str], now: datetime
) -> None:
    app = make_app(learner_rate_limit=parse("1/minute"))
    known = app.extensions["nextitem-callers"].find(f"Bearer {api_key('admin')}")
    sessions = [quota_session(known, number, now) for number in (1, 2)]
    client = app.test_client()
    statuses = [Caller(client, token).get("/v1/shelf").status_code for token in (*sessions, sessions[0])]
    assert statuses == [200, 200, 429]


def quota_session(known: Known, number: int, now: datetime) -> str:
    said = tokens.SessionToken(
        tokens.UUID(int=number), known.client_uuid, known.tenant_uuid, now + timedelta(minutes=5)
    )
    return tokens.issue(said, secret_key=SECRET, now=now)


def test_without_a_limit_nothing_is_counted(caller: Caller) -> None:
    assert "RateLimit" not in caller.get("/v1/toys").headers


def test_public_paths_are_not_limited(limited: Caller) -> None:
    assert {limited.get("/health/live").status_code for _ in range(5)} == {200}
