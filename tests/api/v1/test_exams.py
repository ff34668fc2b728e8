"""Exams and blueprints over HTTP."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.factories.documents import BLUEPRINT, EXAM
from tests.factories.http import Caller


def pointers(reply: Any) -> list[str]:
    assert reply.status_code == 422, reply.text
    return [fault["pointer"] for fault in reply.json["errors"]]


def test_an_exam_is_created_and_read(author: Caller) -> None:
    made = author.post("/v1/exams", {**EXAM, "prior": {"sd": 1.5}, "cut_score": 0.3})
    assert (made.status_code, made.headers["Location"]) == (201, "/v1/exams/exam")
    read = author.get("/v1/exams/exam")
    assert read.json == made.json
    assert read.headers["ETag"] == made.headers["ETag"]
    assert (read.json["prior"], read.json["scale"]["mean"]) == ({"mean": 0.0, "sd": 1.5}, 500.0)


def test_what_is_there_already_need_not_be_sent_again(author: Caller, exam: str) -> None:
    for path in ("/v1/exams/exam", "/v1/exams/exam/blueprint"):
        tag = author.get(path).headers["ETag"]
        again = author.get(path, If_None_Match=tag)
        assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)


def test_a_slug_is_taken_once(author: Caller, exam: str) -> None:
    reply = author.post("/v1/exams", EXAM)
    assert (reply.status_code, reply.json["type"]) == (409, "/problems/already-exists")


def test_a_repeated_request_creates_once(author: Caller) -> None:
    first = author.post("/v1/exams", EXAM, Idempotency_Key='"k"')
    second = author.post("/v1/exams", EXAM, Idempotency_Key='"k"')
    assert (second.status_code, second.json) == (201, first.json)
    assert second.headers["Idempotent-Replayed"] == "true"


def test_a_change_needs_the_tag_of_what_is_changed(author: Caller, exam: str) -> None:
    body = {"title": "Another title"}
    assert author.put("/v1/exams/exam", body).status_code == 428
    tag = author.get("/v1/exams/exam").headers["ETag"]
    changed = author.put("/v1/exams/exam", body, tag)
    assert (changed.status_code, changed.json["title"]) == (200, "Another title")
    stale = author.put("/v1/exams/exam", {"title": "Mine"}, tag)
    assert (stale.status_code, stale.headers["ETag"]) == (412, changed.headers["ETag"])
    assert author.get("/v1/exams/exam").json["title"] == "Another title"


def test_the_slug_stays(author: Caller, exam: str) -> None:
    tag = author.get("/v1/exams/exam").headers["ETag"]
    assert pointers(author.put("/v1/exams/exam", {"slug": "other", "title": "T"}, tag)) == ["/slug"]
    assert author.put("/v1/exams/exam", {"slug": "exam", "title": "T"}, tag).status_code == 200


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"slug": "Not A Slug"}, "/slug"),
        ({"title": ""}, "/title"),
        ({"title": 3}, "/title"),
        ({"title": "a\x00b"}, "/title"),
        ({"description": "a\x00b"}, "/description"),
        ({"colour": "red"}, "/colour"),
        ({"scale": {"sd": 0}}, "/scale/sd"),
        ({"scale": {"sd": "1"}}, "/scale/sd"),
        ({"prior": {"sd": 0}}, "/prior/sd"),
        ({"cut_score": 600}, "/cut_score"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_stored(author: Caller, changes: dict[str, Any], pointer: str) -> None:
    assert pointers(author.post("/v1/exams", EXAM | changes)) == [pointer]
    assert author.get("/v1/exams").json["data"] == []


def test_exams_are_listed_page_by_page(author: Caller, stranger: Caller) -> None:
    for place in range(3):
        author.post("/v1/exams", {"slug": f"exam-{place}", "title": "T"})
    first = author.get("/v1/exams?limit=2")
    second = author.get(f"/v1/exams?limit=2&cursor={first.json['next_cursor']}")
    assert [exam["slug"] for exam in first.json["data"] + second.json["data"]] == ["exam-0", "exam-1", "exam-2"]
    assert second.json["next_cursor"] is None
    assert 'rel="next"' in first.headers["Link"]
    assert stranger.get("/v1/exams").json["data"] == []


def test_an_exam_begins_without_a_blueprint(author: Caller) -> None:
    author.post("/v1/exams", EXAM)
    reply = author.get("/v1/exams/exam/blueprint")
    assert (reply.json, reply.headers["ETag"]) == ({"id": None, "version": 0, "domains": []}, '"0"')


def test_a_blueprint_is_replaced_by_a_new_version(author: Caller, exam: str) -> None:
    read = author.get("/v1/exams/exam/blueprint")
    assert (read.json["version"], read.json["domains"]) == (1, BLUEPRINT["domains"])
    whole = {"domains": [{"code": "1", "title": "All", "weight": 1}]}
    assert author.put("/v1/exams/exam/blueprint", whole).status_code == 428
    assert author.put("/v1/exams/exam/blueprint", whole, '"0"').status_code == 412
    changed = author.put("/v1/exams/exam/blueprint", whole, read.headers["ETag"])
    assert (changed.json["version"], changed.headers["ETag"]) == (2, '"2"')


def test_weights_that_do_not_add_up(author: Caller, exam: str) -> None:
    body = {"domains": [{"code": "1", "title": "A", "weight": 0.5}, {"code": "2", "title": "B", "weight": 0.4}]}
    assert pointers(author.put("/v1/exams/exam/blueprint", body, '"1"')) == ["/domains"]


def test_another_tenants_exam_is_not_there(stranger: Caller, exam: str) -> None:
    assert stranger.get("/v1/exams/exam").status_code == 404
    assert stranger.get("/v1/exams/exam/blueprint").status_code == 404
    assert stranger.put("/v1/exams/exam", {"title": "Mine"}, '"1"').status_code == 404
    assert stranger.put("/v1/exams/exam/blueprint", BLUEPRINT, '"1"').status_code == 404


def test_reading_is_not_writing(client: FlaskClient, api_key: Callable[..., str], exam: str) -> None:
    reader = Caller(client, api_key("items:read"))
    assert reader.get("/v1/exams/exam").status_code == 200
    assert reader.post("/v1/exams", EXAM).status_code == 403
    assert reader.put("/v1/exams/exam", {"title": "T"}, '"1"').status_code == 403
