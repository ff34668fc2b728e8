"""Simulations over HTTP: asked for, run by a worker, read."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import observe
from api.worker import Worker
from itembank.store import transaction
from tests.factories.bank import make_enemies, make_exam, make_items, make_tenant
from tests.factories.clock import Clock
from tests.factories.http import Caller

PATH = "/v1/exams/exam/simulations"
SHORT = {"minimum_length": 1, "maximum_length": 6, "standard_error": None}


@pytest.fixture
def analyst(engine: sa.Engine, client: FlaskClient, api_key: Callable[..., str]) -> Caller:
    """May simulate; there is an exam of 30 items, two of them enemies."""
    with transaction(engine, writes=True) as db:
        items = make_items(db, make_exam(db, make_tenant(db)), 30)
        make_enemies(db, items[0], items[3])
    return Caller(client, api_key("calibrations:write"))


@pytest.fixture
def work(engine: sa.Engine, clock: Clock) -> Callable[[], bool]:
    """A function that lets a worker run the next job."""
    return Worker(engine, clock=clock, log=observe.open_log("critical", io.BytesIO())).run_one


def ask(analyst: Caller, **body: Any) -> str:
    reply = analyst.post(PATH, {"policy": SHORT, "examinees": 50} | body)
    assert reply.status_code == 202, reply.text
    assert reply.json["status"] == "queued"
    path: str = reply.headers["Location"]
    return path


def test_a_simulation_is_asked_for_run_and_read(analyst: Caller, work: Callable[[], bool], clock: Clock) -> None:
    path = ask(analyst, seed=3)
    waiting = analyst.get(path).json
    assert (waiting["status"], waiting["progress"], waiting["report"], waiting["files"]) == ("queued", 0.0, None, [])
    clock.advance(seconds=1)
    assert work()
    done = analyst.get(path).json
    assert (done["status"], done["progress"], done["error"]) == ("succeeded", 1.0, None)
    assert done["started_at"] == done["finished_at"] == "2026-01-05T09:00:01.000Z"
    summary = done["report"]["summary"]
    assert (summary["examinees"], summary["mean_length"], summary["content_violations"]) == (50, 6.0, 0.0)
    assert sum(row["served"] for row in done["report"]["items"]) == 300
    assert not work()


def test_what_was_not_asked_for_is_the_exams(analyst: Caller) -> None:
    settings = analyst.get(ask(analyst, policy={}, objectives=["1"])).json["settings"]
    assert settings["policy"]["maximum_length"] == 40
    assert {name: settings[name] for name in ("mode", "theta", "prior", "cut", "seed", "objectives")} == {
        "mode": "adaptive_test",
        "theta": "normal(0.0,1.0)",
        "prior": "normal(0.0,1.0)",
        "cut": 0.0,
        "seed": 0,
        "objectives": ["1.1", "1.2"],
    }


def test_the_same_request_gives_the_same_report(analyst: Caller, work: Callable[[], bool]) -> None:
    paths = [ask(analyst, seed=5, theta="grid(-1,1,1)", prior="normal(0.5,1.5)", cut=0.5) for _ in range(2)]
    assert (work(), work()) == (True, True)
    one, other = (analyst.get(path).json["report"] for path in paths)
    assert one == other
    assert [row["theta"] for row in one["conditional"]] == [-1.0, 0.0, 1.0]


def test_it_may_keep_to_some_objectives(analyst: Caller, work: Callable[[], bool]) -> None:
    path = ask(analyst, objectives=["2"])
    assert work()
    report = analyst.get(path).json["report"]
    assert [row["objective"] for row in report["objectives"]] == ["2.1"]
    assert {row["objective"] for row in report["items"]} == {"2.1"}


def test_items_are_named_by_the_ids_that_the_api_knows(
    analyst: Caller, work: Callable[[], bool], client: FlaskClient, api_key: Callable[..., str]
) -> None:
    path = ask(analyst)
    assert work()
    author = Caller(client, api_key("items:read"))
    known = {item["id"]: item["objective"] for item in author.get("/v1/exams/exam/items?limit=100").json["data"]}
    assert {row["item"]: row["objective"] for row in analyst.get(path).json["report"]["items"]} == known


def test_tables_and_pictures_are_files(analyst: Caller, work: Callable[[], bool]) -> None:
    path = ask(analyst)
    assert analyst.get(f"{path}/files/items.csv").status_code == 404
    assert work()
    done = analyst.get(path).json
    names = [file.rpartition("/")[2] for file in done["files"]]
    assert {"conditional.csv", "items.csv", "exposure.png", "measurement.svg", "report.json"} <= set(names)
    replies = {name: analyst.get(file) for name, file in zip(names, done["files"], strict=True)}
    assert {reply.status_code for reply in replies.values()} == {200}
    assert replies["exposure.png"].content_type == "image/png"
    assert replies["exposure.png"].data.startswith(b"\x89PNG")
    assert replies["exposure.svg"].content_type == "image/svg+xml"
    assert "sandbox" in replies["exposure.svg"].headers["Content-Security-Policy"]
    rows = list(csv.DictReader(io.StringIO(replies["items.csv"].text, newline="")))
    assert [row["item"] for row in rows] == [row["item"] for row in done["report"]["items"]]
    assert analyst.get(f"{path}/files/passwords.csv").status_code == 404


def test_a_request_sent_again_is_one_simulation(analyst: Caller, work: Callable[[], bool]) -> None:
    replies = [analyst.call("POST", PATH, {"policy": SHORT}, Idempotency_Key="once") for _ in range(2)]
    assert [reply.status_code for reply in replies] == [202, 202]
    assert replies[0].json == replies[1].json
    assert replies[1].headers["Location"] == replies[0].headers["Location"]
    assert (work(), work()) == (True, False)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"policy": {"criterion": "best"}}, "/policy/criterion"),
        ({"policy": {"maximum_length": None}}, "/policy/maximum_length"),
        ({"policy": {"minimum_length": 5, "maximum_length": 4}}, "/policy/maximum_length"),
        ({"mode": "practice"}, "/policy/criterion"),
        ({"policy": {"maximum_length": 500, "strict_content": True}}, "/policy/maximum_length"),
        ({"mode": "oral"}, "/mode"),
        ({"theta": "normal(0,-1)"}, "/theta"),
        ({"theta": "about 1"}, "/theta"),
        ({"prior": "grid(-1,1,1)"}, "/prior"),
        ({"prior": "normal(0,0.01)"}, "/prior"),
        ({"examinees": 0}, "/examinees"),
        ({"examinees": 100_001}, "/examinees"),
        ({"cut": "0"}, "/cut"),
        ({"seed": -1}, "/seed"),
        ({"objectives": ["9"]}, "/objectives/0"),
        ({"learners": 3}, "/learners"),
    ],
)
def test_what_can_not_be_simulated(analyst: Caller, body: dict[str, Any], pointer: str) -> None:
    reply = analyst.post(PATH, body)
    assert (reply.status_code, [fault["pointer"] for fault in reply.json["errors"]]) == (422, [pointer])


def test_an_exam_without_items_can_not_be_simulated(
    engine: sa.Engine, client: FlaskClient, api_key: Callable[..., str]
) -> None:
    with transaction(engine, writes=True) as db:
        make_exam(db, make_tenant(db))
    reply = Caller(client, api_key("calibrations:write")).post(PATH, {})
    assert (reply.status_code, reply.json["code"]) == (409, "nothing_to_serve")


def test_nothing_of_another_tenant_is_there(analyst: Caller, stranger: Caller, work: Callable[[], bool]) -> None:
    path = ask(analyst)
    assert work()
    for reply in (stranger.get(path), stranger.get(f"{path}/files/items.csv"), stranger.post(PATH, {})):
        assert reply.status_code == 404


def test_it_needs_its_own_scope(analyst: Caller, client: FlaskClient, api_key: Callable[..., str]) -> None:
    path = ask(analyst)
    other = Caller(client, api_key("items:write", "exports:read"))
    assert {other.get(path).status_code, other.post(PATH, {}).status_code} == {403}
    assert other.get(f"{path}/files/items.csv").status_code == 403


def test_what_clashes_is_told_at_once_and_what_is_seen_afterwards(analyst: Caller, work: Callable[[], bool]) -> None:
    path = ask(analyst, policy={"maximum_length": 40, "standard_error": None, "randomesque": 1})
    told = analyst.get(path).json["findings"]
    assert {finding["severity"] for finding in told} == {"error"}
    assert {finding["field"] for finding in told} == {"maximum_length"}
    assert work()
    more = analyst.get(path).json["findings"]
    assert more[: len(told)] == told
    assert "want of items" in more[-1]["what"] or "stray" in more[-1]["what"]
