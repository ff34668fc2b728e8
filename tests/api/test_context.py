"""One request: stored before it is answered, stored once, or not at all."""

import json
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from api import context
from api.context import KEYS_KEPT
from itembank import clients
from itembank.models import ApiClient, IdempotencyRecord, Learner, Tenant
from itembank.store import transaction
from tests.factories.clock import Clock
from tests.factories.http import Caller

KEY = '"8e03978e-40d5-43e8-bc93-6894a57f9324"'


def names(engine: sa.Engine) -> set[str]:
    """Of the toys; the caller's own tenant is not one."""
    with transaction(engine, writes=False) as db:
        return set(db.scalars(sa.select(Tenant.name))) - {"acme", "other"}


def records(engine: sa.Engine) -> int:
    with transaction(engine, writes=False) as db:
        return db.scalar(sa.select(sa.func.count()).select_from(IdempotencyRecord)) or 0


def make(caller: Caller, name: str, key: str = KEY) -> Any:
    return caller.post("/v1/toys", {"name": name}, Idempotency_Key=key)


def test_what_was_answered_is_stored(caller: Caller, engine: sa.Engine) -> None:
    assert caller.post("/v1/toys", {"name": "bear"}).status_code == 201
    assert names(engine) == {"bear"}


def test_what_failed_is_not_stored(caller: Caller, engine: sa.Engine) -> None:
    assert caller.post("/v1/toys", {"name": "broken"}).status_code == 500
    assert names(engine) == set()


def test_the_same_key_gets_the_same_reply_and_creates_once(caller: Caller, engine: sa.Engine) -> None:
    first, second = make(caller, "bear"), make(caller, "bear")
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.data == second.data
    for name in ("Location", "ETag", "Content-Type"):
        assert first.headers[name] == second.headers[name]
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert (names(engine), records(engine)) == ({"bear"}, 1)


def test_a_bare_key_is_the_same_as_a_quoted_one(caller: Caller) -> None:
    make(caller, "bear", '"k-1"')
    assert make(caller, "bear", "k-1").headers["Idempotent-Replayed"] == "true"


def test_the_same_key_with_another_body_is_refused(caller: Caller, engine: sa.Engine) -> None:
    make(caller, "bear")
    reply = make(caller, "ball")
    assert (reply.status_code, json.loads(reply.data)["code"]) == (422, "key_reused")
    assert names(engine) == {"bear"}


def test_a_key_is_its_callers_own(caller: Caller, api_key: Callable[..., str], engine: sa.Engine) -> None:
    make(caller, "bear")
    assert make(Caller(caller.client, api_key("admin", tenant="other")), "ball").status_code == 201
    assert names(engine) == {"bear", "ball"}


def test_a_request_that_failed_may_be_sent_again(caller: Caller, engine: sa.Engine) -> None:
    caller.post("/v1/toys", {"name": "bear"})
    assert make(caller, "bear").status_code == 409
    assert records(engine) == 0
    assert make(caller, "ball").status_code == 201


def test_a_key_is_forgotten_after_a_day(caller: Caller, engine: sa.Engine, clock: Clock) -> None:
    make(caller, "bear")
    clock.at += KEYS_KEPT
    assert make(caller, "bear").headers["Idempotent-Replayed"] == "true"
    clock.advance(seconds=1)
    assert make(caller, "ball").status_code == 201
    assert (names(engine), records(engine)) == ({"bear", "ball"}, 1)


def test_old_keys_are_swept_when_another_comes_by(caller: Caller, engine: sa.Engine, clock: Clock) -> None:
    make(caller, "bear", "first")
    clock.advance(hours=25)
    make(caller, "ball", "second")
    assert records(engine) == 1


@pytest.mark.parametrize("key", ["", '""', "x" * 256, '"a\tb"', "\u00fc"])
def test_a_key_that_is_none_is_refused(caller: Caller, engine: sa.Engine, key: str) -> None:
    reply = make(caller, "bear", key)
    assert (reply.status_code, json.loads(reply.data)["code"]) == (400, "invalid_header")
    assert json.loads(reply.data)["errors"][0]["header"] == "Idempotency-Key"
    assert names(engine) == set()


def test_the_longest_key_fits(caller: Caller) -> None:
    assert make(caller, "bear", f'"{"x" * 255}"').status_code == 201


def test_of_requests_at_the_same_moment_one_creates_and_the_others_get_its_reply(
    make_app: Callable[..., Flask], api_key: Callable[..., str], engine: sa.Engine
) -> None:
    app, credentials = make_app(), api_key("admin")
    replies, gate = [], threading.Barrier(6)

    def send() -> None:
        caller = Caller(app.test_client(), credentials)
        gate.wait()
        replies.append(make(caller, "bear"))

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [reply.status_code for reply in replies] == [201] * 6
    assert len({reply.data for reply in replies}) == 1
    assert sum("Idempotent-Replayed" in reply.headers for reply in replies) == 5
    assert (names(engine), records(engine)) == ({"bear"}, 1)


def test_when_the_first_of_two_fails_the_second_is_carried_out(
    engine: sa.Engine, api_key: Callable[..., str], now: datetime
) -> None:
    api_key("admin")
    with transaction(engine, writes=False) as db:
        client_id = db.scalar(sa.select(sa.func.max(ApiClient.id))) or 0
    claims = []

    def claim() -> None:
        with transaction(engine, writes=True) as db:
            claims.append(clients.claim_key(db, client_id, "k", "f", now=now, since=now))

    second = threading.Thread(target=claim)

    def fail() -> None:
        with transaction(engine, writes=True) as db:
            clients.claim_key(db, client_id, "k", "f", now=now, since=now)
            second.start()
            second.join(0.3)
            assert second.is_alive(), "the second must wait until the first has made up its mind"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    second.join()
    assert [claim.reply for claim in claims] == [None]


def test_a_stored_reply_knows_whose_data_it_holds(
    make_app: Callable[..., Flask], api_key: Callable[..., str], engine: sa.Engine, now: datetime
) -> None:
    with transaction(engine, writes=True) as db:
        learner = Learner(tenant_id=clients.create_tenant(db, "school", now=now).id, external_id="ada", created_at=now)
        db.add(learner)
        db.flush()
        learner_id = learner.id
    app = make_app()

    @app.before_request
    def concern() -> None:
        context.concerns_learner(learner_id)

    make(Caller(app.test_client(), api_key("admin")), "bear")
    with transaction(engine, writes=False) as db:
        assert db.scalars(sa.select(IdempotencyRecord.learner_id)).all() == [learner_id]
