"""Lists, page by page."""

import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from api.errors import InvalidParameters
from api.schemas.paging import page, place
from tests.factories.http import Caller


@pytest.fixture(autouse=True)
def request_of_a_list() -> Iterator[None]:
    """A cursor is good for the path it was made at."""
    with Flask("list").test_request_context("/v1/toys"):
        yield


@pytest.fixture
def shelf(caller: Caller) -> Caller:
    """Five bears and two balls; the caller's own tenant is the first row."""
    for name in ("bear-1", "ball-1", "bear-2", "bear-3", "ball-2", "bear-4", "bear-5"):
        assert caller.post("/v1/toys", {"name": name}).status_code == 201
    return caller


def pages(caller: Caller, path: str) -> Iterator[list[str]]:
    cursor = ""
    while True:
        reply = caller.get(f"{path}{'&' if '?' in path else '?'}limit=2{cursor}")
        body = reply.json
        yield [toy["name"] for toy in body["data"]]
        if body["next_cursor"] is None:
            assert "Link" not in reply.headers
            return
        cursor = f"&cursor={body['next_cursor']}"
        assert f'cursor={body["next_cursor"]}>; rel="next"' in reply.headers["Link"]


def test_pages_together_are_the_list(shelf: Caller) -> None:
    expected = ["acme", "bear-1", "ball-1", "bear-2", "bear-3", "ball-2", "bear-4", "bear-5"]
    assert [name for names in pages(shelf, "/v1/toys") for name in names] == expected


def test_filters_go_along(shelf: Caller) -> None:
    assert list(pages(shelf, "/v1/toys?prefix=bear")) == [["bear-1", "bear-2"], ["bear-3", "bear-4"], ["bear-5"]]


def test_rows_that_come_meanwhile_disturb_nothing(shelf: Caller) -> None:
    first = shelf.get("/v1/toys?prefix=bear&limit=3").json
    shelf.post("/v1/toys", {"name": "bear-6"})
    rest = shelf.get(f"/v1/toys?prefix=bear&limit=3&cursor={first['next_cursor']}").json
    assert [toy["name"] for toy in rest["data"]] == ["bear-4", "bear-5", "bear-6"]


def test_the_link_to_the_next_page_works(shelf: Caller) -> None:
    link = shelf.get("/v1/toys?prefix=bear&limit=3").headers["Link"]
    assert [toy["name"] for toy in shelf.get(link[1 : link.index(">")]).json["data"]] == ["bear-4", "bear-5"]


def test_a_cursor_belongs_to_its_filters(shelf: Caller) -> None:
    cursor = shelf.get("/v1/toys?prefix=bear&limit=1").json["next_cursor"]
    reply = shelf.get(f"/v1/toys?prefix=ball&limit=1&cursor={cursor}")
    assert (reply.status_code, json.loads(reply.data)["errors"][0]["code"]) == (400, "cursor_mismatch")
    assert shelf.get(f"/v1/toys?prefix=bear&limit=5&cursor={cursor}").status_code == 200  # the limit may change


@pytest.mark.parametrize("limit", ["0", "201", "-1", "x", "1e2", ""])
def test_a_limit_out_of_range_is_refused(caller: Caller, limit: str) -> None:
    assert caller.get(f"/v1/toys?limit={limit}").status_code == 400


def forged(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor", ["x", "", "e30", "W10", forged([1]), forged([1, 2, 3]), forged({"a": 1}), forged(7), "%00", "=" * 8, "é"]
)
def test_a_cursor_that_is_not_ours_is_refused(caller: Caller, cursor: str) -> None:
    assert caller.get(f"/v1/toys?cursor={quote(cursor, safe='%')}").status_code == 400


@pytest.mark.parametrize("after", ["1", 1.5, None, True, [1], {}, 2**70])
def test_a_cursor_with_another_kind_of_key_is_refused(after: Any) -> None:
    at = place({"limit": 1})
    good = page([1, 2], at, key=lambda row: row)["next_cursor"]
    _, made_for = json.loads(base64.urlsafe_b64decode(good + "=="))
    with pytest.raises(InvalidParameters):
        place({"limit": 1, "cursor": forged([after, made_for])})


@given(st.lists(st.integers(min_value=1), unique=True).map(sorted), st.integers(min_value=1, max_value=9))
def test_whatever_the_limit_no_row_is_lost_or_doubled(rows: list[int], limit: int) -> None:
    seen: list[int] = []
    query: dict[str, Any] = {"limit": limit, "stage": "draft"}
    rows = [row for row in rows if row < 2**63]
    while True:
        at = place(query)
        body = page([row for row in rows if row > (at.after or 0)][: at.fetch], at, key=lambda row: row)
        seen += body["data"]
        if body["next_cursor"] is None:
            break
        query["cursor"] = body["next_cursor"]
    assert seen == rows
