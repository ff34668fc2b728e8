"""Articles over HTTP: Markdown for authors, HTML for learners."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.factories import documents
from tests.factories.documents import ARTICLE
from tests.factories.http import Caller

NOBODY = "0197a3f0-5a3c-7c1e-9d4b-2f6f0c8e1a52"


@pytest.fixture
def article(author: Caller, exam: str) -> dict[str, Any]:
    reply = author.post(f"/v1/exams/{exam}/articles", ARTICLE)
    assert reply.status_code == 201, reply.text
    made: dict[str, Any] = reply.json
    return made


@pytest.fixture
def learner(
    client: FlaskClient, api_key: Callable[..., str], create: Callable[..., Any], move: Callable[..., Any]
) -> Caller:
    """A learner's browser, in a session of the exam."""
    move(create()["id"], "in_review", "approved", "operational")
    lms = Caller(client, api_key("sessions:write"))
    session = lms.start()["id"]
    return Caller(client, lms.post(f"/v1/sessions/{session}/tokens").json["token"])


def pointers(reply: TestResponse) -> list[str]:
    assert reply.status_code == 422, reply.text
    return [fault["pointer"] for fault in reply.json["errors"]]


def test_an_article_is_created_and_read(author: Caller, article: dict[str, Any]) -> None:
    read = author.get(f"/v1/articles/{article['id']}")
    assert read.json == article
    assert ARTICLE.items() <= read.json.items()
    assert (read.json["format"], read.json["version"], read.headers["ETag"]) == ("markdown", 1, '"1"')
    again = author.get(f"/v1/articles/{article['id']}", If_None_Match='"1"')
    assert again.status_code == 304


def test_a_learner_gets_html(learner: Caller, article: dict[str, Any]) -> None:
    reply = learner.get(f"/v1/articles/{article['id']}")
    assert reply.status_code == 200, reply.text
    body = reply.json
    assert (body["format"], body["introduction"]) == ("html", "<p>Beware of <em>this</em>.</p>")
    assert body["sections"][0]["heading"] == "In <code>short</code>"
    assert "<table>" in body["sections"][0]["body"]
    assert body["entries"][0]["explanation"] == "<p>It is <strong>not</strong>.</p>"


def test_a_learner_gets_nothing_but_html_and_of_this_exam(
    learner: Caller, author: Caller, article: dict[str, Any]
) -> None:
    assert learner.get(f"/v1/articles/{article['id']}?format=markdown").status_code == 403
    author.post("/v1/exams", {"slug": "other", "title": "Other"})
    author.put("/v1/exams/other/blueprint", documents.BLUEPRINT, '"0"')
    other = author.post("/v1/exams/other/articles", ARTICLE).json
    assert learner.get(f"/v1/articles/{other['id']}").status_code == 404
    assert learner.get("/v1/exams/exam/articles").status_code == 403


def test_an_author_may_see_what_learners_see(author: Caller, article: dict[str, Any]) -> None:
    path = f"/v1/articles/{article['id']}?format=html"
    assert author.get(path).json["format"] == "html"
    assert author.get(path, If_None_Match='"1"').status_code == 200  # that is the Markdown's
    assert author.get(path, If_None_Match='"1-html"').status_code == 304


def test_a_change_needs_the_tag_and_becomes_a_new_version(author: Caller, article: dict[str, Any]) -> None:
    path, body = f"/v1/articles/{article['id']}", ARTICLE | {"title": "New"}
    assert author.put(path, body).status_code == 428
    changed = author.put(path, body, '"1"')
    assert (changed.json["title"], changed.json["version"], changed.headers["ETag"]) == ("New", 2, '"2"')
    assert author.put(path, body, '"1"').status_code == 412
    assert author.put(path, body, '"2"').json["version"] == 2


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"slug": "Not A Slug"}, "/slug"),
        ({"kind": "blog"}, "/kind"),
        ({"kind": "lesson"}, "/entries"),
        ({"objectives": ["9.9"]}, "/objectives/0"),
        ({"sections": [{"anchor": "Not an anchor", "heading": "h", "body": "b"}]}, "/sections/0/anchor"),
        ({"sections": [{"anchor": "a", "heading": "h"}]}, "/sections/0/body"),
        ({"introduction": "x" * 50_001}, "/introduction"),
        ({"html": "<b>"}, "/html"),
    ],
)
def test_what_is_wrong_is_named(author: Caller, exam: str, changes: dict[str, Any], pointer: str) -> None:
    assert pointers(author.post(f"/v1/exams/{exam}/articles", ARTICLE | changes)) == [pointer]


def test_articles_are_listed_without_their_text(author: Caller, exam: str, article: dict[str, Any]) -> None:
    lesson = {"slug": "lesson", "kind": "lesson", "title": "Lesson", "objectives": ["1.2"]}
    author.post(f"/v1/exams/{exam}/articles", lesson)

    def slugs(query: str) -> list[str]:
        return [found["slug"] for found in author.get(f"/v1/exams/{exam}/articles?{query}").json["data"]]

    assert slugs("") == ["page", "lesson"]
    assert slugs("kind=lesson") == slugs("objective=1.2") == ["lesson"]
    first = author.get(f"/v1/exams/{exam}/articles?limit=1").json
    assert "introduction" not in first["data"][0]
    assert slugs(f"limit=1&cursor={first['next_cursor']}") == ["lesson"]


def test_nothing_of_another_tenant_is_there(stranger: Caller, exam: str, article: dict[str, Any]) -> None:
    replies = [
        stranger.get(f"/v1/articles/{article['id']}"),
        stranger.put(f"/v1/articles/{article['id']}", ARTICLE, '"1"'),
        stranger.get(f"/v1/exams/{exam}/articles"),
        stranger.post(f"/v1/exams/{exam}/articles", ARTICLE),
        stranger.get(f"/v1/articles/{NOBODY}"),
    ]
    assert {reply.status_code for reply in replies} == {404}
