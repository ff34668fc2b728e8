"""Exports over HTTP: asked for, then streamed."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from itembank.datasets import DATASETS
from tests.factories.clock import Clock
from tests.factories.http import Caller

DOCS = Path(__file__).parents[3] / "docs" / "exports.md"


@pytest.fixture
def answered(
    client: FlaskClient,
    api_key: Callable[..., str],
    create: Callable[..., Any],
    move: Callable[..., Any],
    clock: Clock,
) -> list[dict[str, Any]]:
    """The replies to two answers, an hour apart, of one learner."""
    for name in ("one", "two"):
        move(create(name)["id"], "in_review", "approved", "operational")
    lms = Caller(client, api_key("sessions:write"))
    started = lms.start(learner="pupil-7")
    first = lms.answer(started["id"], started["next"]).json
    clock.advance(hours=1)
    return [first, lms.answer(started["id"], first["next"]).json]


def ask(author: Caller, **changes: Any) -> str:
    reply = author.post("/v1/exams/exam/exports", {"dataset": "responses", "format": "csv"} | changes)
    assert reply.status_code == 201, reply.text
    path: str = reply.headers["Location"]
    return path


def rows(author: Caller, path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(author.get(f"{path}/file").text, newline="")))


def test_an_export_is_asked_for_and_fetched(author: Caller, answered: list[dict[str, Any]]) -> None:
    path = ask(author)
    export = author.get(path)
    assert (export.json["dataset"], export.json["file"]) == ("responses", f"{path}/file")
    assert author.get(path, If_None_Match=export.headers["ETag"]).status_code == 304
    reply = author.get(f"{path}/file")
    assert reply.content_type == "text/csv; charset=utf-8"
    assert reply.headers["Content-Disposition"].startswith('attachment; filename="exam-responses.csv"')
    found = rows(author, path)
    assert [row["correct"] for row in found] == [str(step["correct"]).lower() for step in answered]
    assert all(float(row["theta_after"]) == step["ability"]["theta"] for row, step in zip(found, answered, strict=True))
    assert "pupil-7" not in reply.text


def test_the_options_are_in_the_order_that_was_shown(author: Caller, answered: list[dict[str, Any]]) -> None:
    second = rows(author, ask(author))[1]
    shown = [option["id"] for option in answered[0]["next"]["item"]["options"]]
    assert second["option_order"].split("|") == shown
    assert second["selected"] == shown[0]


def test_times_limit_it(author: Caller, answered: list[dict[str, Any]]) -> None:
    since = ask(author, since="2026-01-05T10:00:00+00:00")
    until = ask(author, until="2026-01-05T11:00:00+01:00")
    assert [row["position"] for row in rows(author, since)] == ["2"]
    assert [row["position"] for row in rows(author, until)] == ["1"]


def test_items_come_as_json_lines(author: Caller, create: Callable[..., Any]) -> None:
    item = create()
    reply = author.get(f"{ask(author, dataset='items', format='jsonl')}/file")
    assert reply.content_type == "application/jsonl"
    assert [json.loads(line) for line in reply.text.splitlines()] == [item]


def test_what_comes_later_is_not_in_the_file(author: Caller, create: Callable[..., Any]) -> None:
    create("one")
    path = ask(author, dataset="items")
    create("two")
    assert [row["external_id"] for row in rows(author, path)] == ["one"]


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"dataset": "learners"}, "/dataset"),
        ({"format": "xlsx"}, "/format"),
        ({"since": "yesterday"}, "/since"),
        ({"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, "/until"),
        ({"columns": []}, "/columns"),
    ],
)
def test_what_can_not_be_asked_for(author: Caller, exam: str, changes: dict[str, Any], pointer: str) -> None:
    reply = author.post(f"/v1/exams/{exam}/exports", {"dataset": "responses", "format": "csv"} | changes)
    assert (reply.status_code, [fault["pointer"] for fault in reply.json["errors"]]) == (422, [pointer])


def test_nothing_of_another_tenant_is_there(author: Caller, stranger: Caller, exam: str) -> None:
    path = ask(author)
    for reply in (
        stranger.get(path),
        stranger.get(f"{path}/file"),
        stranger.post("/v1/exams/exam/exports", {"dataset": "items", "format": "csv"}),
    ):
        assert reply.status_code == 404


def test_it_needs_its_own_scope(client: FlaskClient, api_key: Callable[..., str], author: Caller, exam: str) -> None:
    path = ask(author)
    reader = Caller(client, api_key("items:read", "learners:read"))
    assert {reader.get(path).status_code, reader.get(f"{path}/file").status_code} == {403}


def test_the_documentation_describes_every_column() -> None:
    text = DOCS.read_text()
    for dataset in DATASETS.values():
        section = text.partition(f"## `{dataset.name}`")[2].partition("\n## ")[0]
        described = [
            (name, meaning.replace("&#124;", "|")) for name, meaning in re.findall(r"\| `(\w+)` \| (.*) \|", section)
        ]
        assert described == [(column.name, column.meaning) for column in dataset.columns]
