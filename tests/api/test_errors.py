"""Whatever goes wrong is an RFC 9457 problem that says what its reader needs and nothing else."""

import io
import json
import re
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.exc import IntegrityError, OperationalError, TimeoutError

from api.errors import HTTP_PROBLEMS, PROBLEMS, ApiError, diagnose, is_outage
from engine.errors import EngineError
from itembank.errors import Invalid, ItemBankError, RevisionConflict
from itembank.errors import Issue as BankIssue
from itembank.models import Tenant
from itembank.store import open_engine, transaction
from tests.factories.clock import Clock
from tests.factories.http import Caller

ROOT = Path(__file__).parents[2]
KINDS = {*PROBLEMS.values(), *HTTP_PROBLEMS.values()}


def leaves(family: type[Exception]) -> set[type[Exception]]:
    """The subclasses that have none themselves."""
    children = family.__subclasses__()
    return set().union(*(leaves(child) for child in children)) if children else {family}


def count(engine: sa.Engine) -> int:
    with transaction(engine, writes=False) as db:
        return db.scalar(sa.select(sa.func.count()).select_from(Tenant)) or 0


def test_every_error_of_ours_has_a_problem() -> None:
    assert leaves(ItemBankError) | leaves(EngineError) | leaves(ApiError) <= set(PROBLEMS)


def test_a_slug_stands_for_one_kind_of_problem() -> None:
    assert len({kind.slug for kind in KINDS}) == len(KINDS)


def test_the_documentation_lists_every_problem() -> None:
    text = (ROOT / "docs/errors.md").read_text()
    rows = re.findall(r"^\| (\d+) \| `/problems/([a-z-]+)` \| (.*?) \| (.*) \|$", text, re.MULTILINE)
    assert {tuple(row) for row in rows} == {(str(kind.status), kind.slug, kind.title, kind.meaning) for kind in KINDS}


def test_a_problem_has_all_members(caller: Caller) -> None:
    reply = caller.get("/v1/toys/ghost", X_Request_Id="abc-1")
    assert (reply.status_code, reply.content_type) == (404, "application/problem+json")
    assert reply.headers["X-Request-Id"] == "abc-1"
    assert json.loads(reply.data) == {
        "type": "/problems/not-found",
        "title": "Not found",
        "status": 404,
        "detail": "there is no tenant ghost",
        "instance": "/v1/toys/ghost",
        "code": "not_found",
        "request_id": "abc-1",
    }


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/v1/toys/", 404),
        ("GET", "//v1/toys", 404),
        ("GET", "/v1/toys/a%00b", 404),
        ("GET", "/v1/toys/a%0Ab", 404),
        ("GET", f"/v1/toys/{'x' * 201}", 404),
        ("GET", "/v1/sittings/not-a-uuid/moves", 404),
        ("DELETE", "/v1/toys", 405),
        ("PATCH", "/v1/toys/bear", 405),
    ],
)
def test_flasks_own_errors_are_problems_too(caller: Caller, method: str, path: str, status: int) -> None:
    reply = caller.call(method, path)
    assert (reply.status_code, reply.content_type) == (status, "application/problem+json")
    assert json.loads(reply.data)["status"] == status


def test_a_method_that_a_path_lacks_names_those_it_has(caller: Caller) -> None:
    assert set(caller.call("DELETE", "/v1/toys").headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "POST"}


@pytest.mark.parametrize(
    ("body", "type_of_body", "status", "slug"),
    [
        (b"{", "application/json", 400, "malformed-body"),
        (b'{"name": "\xff"}', "application/json", 400, "malformed-body"),
        (b'\xef\xbb\xbf{"name": "a"}', "application/json", 400, "malformed-body"),
        (b'{"size": NaN}', "application/json", 400, "malformed-body"),
        (b'{"size": -Infinity}', "application/json", 400, "malformed-body"),
        (b'{"size": ' + b"9" * 5000 + b"}", "application/json", 400, "malformed-body"),
        (b"[" * 200_000, "application/json", 400, "malformed-body"),
        (b'{"name": "a"}', "text/plain", 415, "unsupported-media-type"),
        (b'{"name": "a"}', "application/merge-patch+json", 415, "unsupported-media-type"),
        (b'{"name": "a"}', "", 415, "unsupported-media-type"),
        (b" " * 1_100_000, "application/json", 413, "body-too-large"),
        (b"", "application/json", 422, "invalid"),
        (b"null", "application/json", 422, "invalid"),
        (b"[]", "application/json", 422, "invalid"),
    ],
)
def test_a_body_that_cannot_be_read_stores_nothing(
    caller: Caller, engine: sa.Engine, body: bytes, type_of_body: str, status: int, slug: str
) -> None:
    before = count(engine)
    reply = caller.client.post(
        "/v1/toys", data=body, content_type=type_of_body, headers={"Authorization": f"Bearer {caller.credentials}"}
    )
    assert (reply.status_code, json.loads(reply.data)["type"]) == (status, f"/problems/{slug}")
    assert count(engine) == before


def faults(caller: Caller, body: Any) -> set[tuple[str, str]]:
    headers = {"Authorization": f"Bearer {caller.credentials}"}
    reply = caller.client.post("/v1/toys", data=json.dumps(body), content_type="application/json", headers=headers)
    assert reply.status_code == 422, reply.text
    return {(fault["pointer"], fault["code"]) for fault in json.loads(reply.data)["errors"]}


def test_invalid_members_are_named_by_json_pointers(caller: Caller) -> None:
    body = {"name": "a\0", "size": True, "parts": [{"label": "x"}, {"lable": "x"}], "a/b~c": 1}
    assert faults(caller, body) == {
        ("/name", "invalid"),
        ("/size", "invalid"),
        ("/parts/1/label", "required"),
        ("/parts/1/lable", "unknown_field"),
        ("/a~1b~0c", "unknown_field"),
    }


def test_half_a_surrogate_pair_is_refused_and_can_be_named(caller: Caller) -> None:
    assert faults(caller, {"name": "\ud800", "\udfff": 1}) == {("/name", "invalid"), ("/\udfff", "unknown_field")}


def test_issues_of_the_bank_keep_their_pointers() -> None:
    occurrence = diagnose(Invalid((BankIssue("/options/2/rationale", "is empty"), BankIssue("/stem", "is too long"))))
    body = occurrence.body(instance="/", request_id="r")
    assert body["errors"] == [
        {"pointer": "/options/2/rationale", "detail": "is empty", "code": "invalid"},
        {"pointer": "/stem", "detail": "is too long", "code": "invalid"},
    ]


def test_query_parameters_are_named(caller: Caller) -> None:
    reply = caller.get("/v1/toys?limit=0&colour=red")
    assert (reply.status_code, json.loads(reply.data)["code"]) == (400, "invalid_parameter")
    assert {fault["parameter"] for fault in json.loads(reply.data)["errors"]} == {"limit", "colour"}


def test_a_conflict_of_revisions_gives_the_current_etag() -> None:
    occurrence = diagnose(RevisionConflict("item", 1, '"3"', '"4"'))
    assert (occurrence.problem.status, occurrence.headers) == (412, {"ETag": '"4"'})


def test_an_unforeseen_error_tells_the_log_everything_and_the_caller_nothing(
    make_app: Callable[..., Flask], api_key: Callable[..., str], engine: sa.Engine
) -> None:
    log = io.BytesIO()
    caller, before = Caller(make_app(log_to=log).test_client(), api_key("admin")), count(engine)
    reply = caller.post("/v1/toys", {"name": "broken"}, X_Request_Id="find-me")
    assert (reply.status_code, json.loads(reply.data)["code"]) == (500, "internal_error")
    assert "42" not in reply.text
    assert count(engine) == before
    fault, request = (json.loads(line) for line in log.getvalue().splitlines())
    assert (fault["event"], fault["request_id"], request["request_id"]) == ("fault", "find-me", "find-me")
    assert fault["exception"][0]["exc_value"] == "the secret is 42"
    assert "locals" not in fault["exception"][0]["frames"][0]
    assert b"nextitem_faults_total 1.0" in caller.get("/metrics").data


def test_losing_a_race_for_a_name_is_a_conflict(caller: Caller) -> None:
    reply = caller.post("/v1/duplicates")
    assert (reply.status_code, json.loads(reply.data)["code"]) == (409, "already_exists")
    assert "UNIQUE" not in reply.text


@pytest.mark.parametrize("url", ["postgresql://nobody@127.0.0.1:1/none", "sqlite:////no/such/folder/x.db"])
def test_without_its_database_it_asks_to_come_back(make_app: Callable[..., Flask], url: str) -> None:
    gone = open_engine(url)
    caller = Caller(make_app(on=gone).test_client(), "nxi_aaaaaaaaaaaa_" + "a" * 43)
    for path in ("/v1/toys", "/health/ready"):
        reply = caller.get(path)
        assert (reply.status_code, json.loads(reply.data)["code"]) == (503, "unavailable")
        assert int(reply.headers["Retry-After"]) > 0
    assert caller.get("/health/live").status_code == 200
    gone.dispose()


@pytest.mark.parametrize("path", ["/v1/toys", "/health/ready"])
def test_connections_that_died_in_the_pool_are_replaced_unnoticed(
    caller: Caller, engine: sa.Engine, clock: Clock, path: str
) -> None:
    if engine.dialect.name != "postgresql":
        pytest.skip("SQLite has no connections that die")
    assert caller.get(path).status_code == 200
    clock.advance(minutes=1)  # the caller is forgotten, so the first query looks for it
    assert kill_connections(engine) > 0
    assert caller.get(path).status_code == 200
    assert kill_connections(engine) > 0
    assert caller.post("/v1/toys", {"name": "phoenix"}).status_code == 201
    engine.dispose()  # other connections in the pool may be dead too, and the next test has no second attempt


def kill_connections(engine: sa.Engine) -> int:
    """As a restart of the server would, and wait until they are gone; how many there were."""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    other = open_engine(engine.url.render_as_string(hide_password=False))
    with other.connect() as connection:
        killed = len(connection.execute(sa.text(f"SELECT pg_terminate_backend(pid) {others}")).all())
        while connection.execute(sa.text(f"SELECT count(*) {others}")).scalar():
            connection.rollback()  # the activity is read once for each transaction
            time.sleep(0.01)
    other.dispose()
    return killed


def test_a_database_without_tables_is_our_fault_and_no_outage() -> None:
    blank = open_engine("sqlite://")
    with pytest.raises(OperationalError) as caught, blank.connect() as connection:
        connection.execute(sa.text("SELECT * FROM nothing"))
    assert not is_outage(caught.value)


def test_a_database_that_is_busy_is_an_outage(tmp_path: Path) -> None:
    first, second = (sqlite3.connect(tmp_path / "x.db", timeout=0, isolation_level=None) for _ in range(2))
    first.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError) as caught:
        second.execute("BEGIN IMMEDIATE")
    assert is_outage(OperationalError("BEGIN", {}, caught.value))
    for connection in (first, second):
        connection.close()


def test_a_pool_without_a_free_connection_is_an_outage() -> None:
    assert diagnose(TimeoutError("QueuePool limit")).problem.status == 503


def test_a_broken_reference_is_our_fault() -> None:
    error = sqlite3.IntegrityError("FOREIGN KEY constraint failed")
    error.sqlite_errorcode = sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
    assert diagnose(IntegrityError("INSERT", {}, error)).problem.status == 500


def test_every_reply_has_the_security_headers(caller: Caller) -> None:
    for path in ("/health/live", "/v1/toys", "/nowhere", "/docs"):
        headers = caller.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "Cache-Control" in headers
        assert len(headers.getlist("X-Request-Id")) == 1


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "ü", "<script>"])
def test_a_request_id_that_could_do_harm_is_replaced(caller: Caller, given: str) -> None:
    assert caller.get("/health/live", X_Request_Id=given).headers["X-Request-Id"] not in {given, ""}
