"""Who gets in, who doesn't, and for how long."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from flask import Flask
from joserfc import jwt
from joserfc.jwk import OctKey

from api.auth import keys, requires, tokens
from api.auth.lookup import REMEMBERED
from api.auth.scopes import SCOPES, expand
from itembank import clients
from itembank.store import transaction
from tests.api.conftest import SECRET
from tests.factories.clock import Clock
from tests.factories.http import Caller

SITTING = UUID("0197a3f0-6b1d-7a52-8f0e-1d2c3b4a5968")


@pytest.fixture
def call_with(make_app: Callable[..., Flask]) -> Callable[[str], Caller]:
    client = make_app().test_client()
    return lambda credentials: Caller(client, credentials)


@pytest.fixture
def identity(engine: sa.Engine, api_key: Callable[..., str]) -> clients.Identity:
    """An API client that may do nothing itself, but whose learners have tokens."""
    key = keys.parse(api_key("exports:read"))
    assert key is not None
    with transaction(engine, writes=False) as db:
        found = clients.find_client_by_prefix(db, key.prefix)
    assert found is not None
    return found


@pytest.fixture
def token(identity: clients.Identity, now: datetime) -> Callable[..., str]:
    """A function that makes a learner's token; the arguments replace what is right."""

    def make(*, secret_key: str = SECRET, minutes: int = 60, **claims: UUID) -> str:
        said = {"session": SITTING, "client": identity.client_uuid, "tenant": identity.tenant_uuid} | claims
        made = tokens.SessionToken(**said, expires_at=now + timedelta(minutes=minutes))
        return tokens.issue(made, secret_key=secret_key, now=now)

    return make


def test_a_key_is_what_it_was_made_as() -> None:
    key = keys.mint()
    assert keys.parse(str(key)) == key
    assert keys.verify(key, keys.digest(key.secret))
    assert not keys.verify(keys.mint(), keys.digest(key.secret))


def test_keys_are_random_and_long() -> None:
    minted = {keys.mint() for _ in range(100)}
    assert len({key.prefix for key in minted}) == len({key.secret for key in minted}) == 100
    assert all(len(key.secret) == 43 for key in minted)  # 256 bits


def test_a_view_can_only_ask_for_a_scope_that_exists() -> None:
    with pytest.raises(ValueError, match="items:eat"):
        requires("items:eat")


def test_admin_may_do_everything_and_unknown_scopes_mean_nothing() -> None:
    assert expand(["admin"]) == set(SCOPES)
    assert expand(["items:read", "gone:since"]) == {"items:read"}


@pytest.mark.parametrize(
    ("header", "error"),
    [
        (None, None),
        ("", None),
        ("Bearer", "invalid_request"),
        ("Basic YTpi", "invalid_request"),
        ("Bearer nonsense", "invalid_token"),
        ("Bearer nxi_aaaaaaaaaaaa_" + "a" * 43, "invalid_token"),
        ("Bearer a.b.c", "invalid_token"),
        ("Bearer \u00fc", "invalid_token"),
    ],
)
def test_without_good_credentials_nobody_gets_in(
    call_with: Callable[[str], Caller], header: str | None, error: str | None
) -> None:
    client = call_with("").client
    reply = client.get("/v1/toys", headers={} if header is None else {"Authorization": header})
    assert (reply.status_code, json.loads(reply.data)["code"]) == (401, "unauthenticated")
    challenge = reply.headers["WWW-Authenticate"]
    assert challenge.startswith("Bearer ")
    assert (f'error="{error}"' in challenge) if error else ("error" not in challenge)


def test_a_key_with_another_ones_secret_does_not_get_in(
    call_with: Callable[[str], Caller], api_key: Callable[..., str]
) -> None:
    mine, other = keys.parse(api_key("admin")), keys.parse(api_key("admin"))
    assert mine is not None
    assert other is not None
    assert call_with(str(keys.Key(mine.prefix, other.secret))).get("/v1/toys").status_code == 401


def test_a_key_does_what_its_scopes_allow(call_with: Callable[[str], Caller], api_key: Callable[..., str]) -> None:
    reader = call_with(api_key("items:read"))
    assert reader.get("/v1/toys").status_code == 200
    reply = reader.post("/v1/toys", {"name": "bear"})
    assert (reply.status_code, json.loads(reply.data)["scope"]) == (403, "items:write")
    assert 'scope="items:write"' in reply.headers["WWW-Authenticate"]
    assert call_with(api_key("admin")).post("/v1/toys", {"name": "bear"}).status_code == 201


def test_scopes_are_checked_before_the_body(call_with: Callable[[str], Caller], api_key: Callable[..., str]) -> None:
    assert call_with(api_key("items:read")).post("/v1/toys", {"wrong": 1}).status_code == 403


def test_a_revoked_key_stops_working_within_half_a_minute(
    engine: sa.Engine, call_with: Callable[[str], Caller], api_key: Callable[..., str], clock: Clock
) -> None:
    text = api_key("admin")
    key = keys.parse(text)
    assert key is not None
    caller = call_with(text)
    assert caller.get("/v1/toys").status_code == 200
    with transaction(engine, writes=True) as db:
        found = clients.find_client_by_prefix(db, key.prefix)
        assert found is not None
        clients.revoke_client(db, found.tenant_id, found.client_uuid, now=clock())
    clock.at += REMEMBERED
    assert caller.get("/v1/toys").status_code == 401


def test_a_learners_token_is_good_for_its_session(
    call_with: Callable[[str], Caller], token: Callable[..., str]
) -> None:
    learner = call_with(token())
    assert learner.post(f"/v1/sittings/{SITTING}/moves").json == {"name": str(SITTING)}
    assert learner.get("/v1/shelf").json == {"name": str(SITTING)}


def test_another_session_does_not_exist_for_it(call_with: Callable[[str], Caller], token: Callable[..., str]) -> None:
    assert call_with(token()).post(f"/v1/sittings/{uuid4()}/moves").status_code == 404


def test_a_learners_token_opens_nothing_else(call_with: Callable[[str], Caller], token: Callable[..., str]) -> None:
    learner = call_with(token())
    assert learner.get("/v1/toys").status_code == 403
    assert learner.post("/v1/toys", {"name": "bear"}).status_code == 403


def test_a_learners_token_expires(call_with: Callable[[str], Caller], token: Callable[..., str], clock: Clock) -> None:
    learner = call_with(token(minutes=60))
    clock.advance(minutes=59, seconds=59)
    assert learner.get("/v1/shelf").status_code == 200
    clock.advance(seconds=1)  # although the caller is remembered
    assert learner.get("/v1/shelf").status_code == 401


def test_tokens_that_are_not_ours_do_not_get_in(
    call_with: Callable[[str], Caller], token: Callable[..., str], api_key: Callable[..., str]
) -> None:
    head, body, signature = token().split(".")
    other = token(session=uuid4()).split(".")[1]
    forged = [
        token(secret_key="another key that is long enough to sign"),
        token(client=uuid4()),
        token(tenant=uuid4()),
        f"{head}.{body}.{signature[:-2]}AA",
        f"{head}.{other}.{signature}",
        f"eyJhbGciOiJub25lIn0.{body}.",
    ]
    assert {call_with(text).get("/v1/shelf").status_code for text in forged} == {401}


@pytest.mark.parametrize(
    "change", [{"aud": "elsewhere"}, {"exp": None}, {"exp": "soon"}, {"session": "x"}, {"tenant": 1}]
)
def test_a_token_with_our_signature_and_wrong_claims_does_not_get_in(
    call_with: Callable[[str], Caller], token: Callable[..., str], change: dict[str, object]
) -> None:
    key = OctKey.import_key(SECRET)
    claims = {**jwt.decode(token(), key, algorithms=["HS256"]).claims, **change}
    claims = {name: value for name, value in claims.items() if value is not None}
    assert call_with(jwt.encode({"alg": "HS256"}, claims, key)).get("/v1/shelf").status_code == 401


def test_a_token_goes_with_the_client_that_asked_for_it(
    engine: sa.Engine,
    call_with: Callable[[str], Caller],
    token: Callable[..., str],
    identity: clients.Identity,
    now: datetime,
) -> None:
    with transaction(engine, writes=True) as db:
        clients.revoke_client(db, identity.tenant_id, identity.client_uuid, now=now)
    assert call_with(token()).get("/v1/shelf").status_code == 401


def test_every_operation_but_the_health_checks_needs_credentials(app: Flask) -> None:
    client = app.test_client()
    rules = [rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/v1/")]
    assert len(rules) > 10
    for rule in rules:
        values = {name: str(uuid4()) if "uuid" in rule.rule else "1" for name in rule.arguments}
        values |= {name: "1" for name in rule.arguments if f"int:{name}" in rule.rule}
        path = rule.build(values, append_unknown=False)[1]
        for method in rule.methods - {"OPTIONS"}:
            assert client.open(path, method=method).status_code == 401, f"{method} {path}"
