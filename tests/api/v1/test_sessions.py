"""Sessions over HTTP, as an LMS and a learner's browser meet them."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import quote

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from sqlmodel import select

from itembank import authoring
from itembank.content import ArticleContent, ArticleKind
from itembank.models import Exam, IdempotencyRecord, Learner, Response, Score, Session
from itembank.store import transaction
from tests.factories.bank import make_exam, make_items, make_tenant
from tests.factories.clock import Clock
from tests.factories.http import Caller

SESSION = "0197a3f0-6b1d-7a52-8f0e-1d2c3b4a5968"


@pytest.fixture
def bank(engine: sa.Engine) -> None:
    with transaction(engine, writes=True) as db:
        make_items(db, make_exam(db, make_tenant(db)), 9)


@pytest.fixture
def lms(bank: None, client: FlaskClient, api_key: Callable[..., str]) -> Caller:
    return Caller(client, api_key("sessions:write", "learners:read", "items:review"))


def key_of(options: list[dict[str, Any]]) -> int:
    """The factory's key says `Answer 0`."""
    return next(place for place, option in enumerate(options) if "Answer 0" in option["text"])


def distractor_of(options: list[dict[str, Any]]) -> int:
    return next(place for place, option in enumerate(options) if "Answer 1" in option["text"])


def count(engine: sa.Engine, model: type[Any]) -> int:
    with transaction(engine, writes=False) as db:
        return db.scalar(sa.select(sa.func.count()).select_from(model)) or 0


def test_a_session_runs_from_start_to_report(lms: Caller) -> None:
    session = lms.start()
    step = lms.answer(session["id"], session["next"], key_of).json
    assert (step["position"], step["correct"], step["score"], step["status"]) == (1, True, 1.0, "in_progress")
    served = lms.get(f"/v1/sessions/{session['id']}/next").json
    assert served == step["next"]
    lms.answer(session["id"], served, distractor_of)
    finished = lms.post(f"/v1/sessions/{session['id']}/finish").json
    assert (finished["status"], finished["answered"]) == ("finished", 2)
    report = lms.get(f"/v1/sessions/{session['id']}/report").json
    assert (report["answers"], report["right"], report["evidence"], report["score"]) == (2, 1, "not_enough", None)


def test_feedback_has_the_chosen_option_first_then_the_key(lms: Caller) -> None:
    session = lms.start()
    feedback = lms.answer(session["id"], session["next"], distractor_of).json["feedback"]
    first, second, *rest = feedback["options"]
    assert (first["selected"], first["correct"], "Why 1 is so" in first["rationale"]) == (True, False, True)
    assert (second["selected"], second["correct"]) == (False, True)
    assert all(option["rationale"] for option in rest)
    assert "In short" in feedback["short_explanation"]
    assert "At length" in feedback["full_explanation"]


def test_a_test_keeps_its_feedback_for_the_end(lms: Caller) -> None:
    session = lms.start(mode="adaptive_test", policy={"minimum_length": 1, "maximum_length": 2})
    first = lms.answer(session["id"], session["next"]).json
    assert first["feedback"] is None
    assert all(item["feedback"] is None for item in lms.get(f"/v1/sessions/{session['id']}/report").json["items"])
    last = lms.answer(session["id"], first["next"]).json
    assert (last["stop_reason"], last["feedback"] is not None) == ("maximum_length", True)
    assert all(item["feedback"] for item in lms.get(f"/v1/sessions/{session['id']}/report").json["items"])


def test_a_learners_token_learns_nothing_that_a_test_keeps_for_the_end(lms: Caller, client: FlaskClient) -> None:
    session = lms.start(mode="adaptive_test")
    browser = Caller(client, lms.post(f"/v1/sessions/{session['id']}/tokens").json["token"])
    step = browser.answer(session["id"], session["next"]).json
    assert [step[name] for name in ("correct", "score", "feedback", "ability")] == [None] * 4
    assert browser.get(f"/v1/sessions/{session['id']}").json["ability"] is None
    report = browser.get(f"/v1/sessions/{session['id']}/report").json
    assert [report[name] for name in ("right", "ability", "score", "objectives")] == [None] * 4
    assert [report["items"][0][name] for name in ("correct", "score", "feedback")] == [None] * 3


def test_a_retried_answer_gets_the_same_bytes_and_is_stored_once(lms: Caller, engine: sa.Engine) -> None:
    session = lms.start()
    first = lms.answer(session["id"], session["next"])
    lms.answer(session["id"], first.json["next"])
    assert lms.answer(session["id"], session["next"]).data == first.data
    assert (count(engine, Response), count(engine, Score)) == (2, 2)


def test_a_session_started_twice_with_one_key_is_one_session(lms: Caller, engine: sa.Engine) -> None:
    body = {"exam": "exam", "learner": "ada", "mode": "practice"}
    first, again = (lms.post("/v1/sessions", body, Idempotency_Key='"start-1"') for _ in range(2))
    assert first.json == again.json
    assert again.headers["Idempotent-Replayed"] == "true"
    assert count(engine, Session) == 1


def test_answering_a_finished_session_changes_nothing(lms: Caller, engine: sa.Engine) -> None:
    session = lms.start()
    lms.post(f"/v1/sessions/{session['id']}/finish")
    reply = lms.answer(session["id"], session["next"])
    assert (reply.status_code, reply.json["type"]) == (409, "/problems/session-finished")
    assert lms.get(f"/v1/sessions/{session['id']}/next").status_code == 409
    assert count(engine, Response) == 0


def test_another_answer_to_a_settled_position_is_409(lms: Caller, engine: sa.Engine) -> None:
    session = lms.start()
    lms.answer(session["id"], session["next"], key_of)
    reply = lms.answer(session["id"], session["next"], distractor_of)
    assert (reply.status_code, reply.json["type"]) == (409, "/problems/position-conflict")
    assert count(engine, Response) == 1


@pytest.mark.parametrize(
    ("change", "status", "pointer"),
    [
        ({"selected": ["5f0c9c3e-8a34-4f0e-9b5e-0d6f7f3b9a11"]}, 422, "/selected/0"),
        ({"selected": []}, 422, "/selected"),
        ({"selected": "5f0c9c3e-8a34-4f0e-9b5e-0d6f7f3b9a11"}, 422, "/selected"),
        ({"item": SESSION}, 422, "/item"),
        ({"position": "1"}, 422, "/position"),
        ({"position": 0}, 422, "/position"),
        ({"response_time_ms": -1}, 422, "/response_time_ms"),
        ({"surprise": 1}, 422, "/surprise"),
    ],
)
def test_a_bad_answer_is_refused_with_its_place_and_stores_nothing(
    lms: Caller, engine: sa.Engine, change: dict[str, Any], status: int, pointer: str
) -> None:
    session = lms.start()
    item = session["next"]["item"]
    body = {"position": 1, "item": item["id"], "selected": [item["options"][0]["id"]], "response_time_ms": 1}
    reply = lms.post(f"/v1/sessions/{session['id']}/responses", body | change)
    assert (reply.status_code, reply.mimetype) == (status, "application/problem+json")
    assert [error["pointer"] for error in reply.json["errors"]] == [pointer]
    assert count(engine, Response) == 0


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"exam": "no-such-exam"}, 404),
        ({"mode": "guess"}, 422),
        ({"learner": ""}, 422),
        ({"learner": "a\x00b"}, 422),
        ({"objectives": ["9.9"]}, 422),
        ({"policy": {"randomesque": 0}}, 422),
        ({"policy": {"minimum_length": 5, "maximum_length": 3}}, 422),
        ({"policy": {"surprise": True}}, 422),
        ({"seed": -1}, 422),
    ],
)
def test_a_bad_start_is_refused_and_stores_nothing(
    lms: Caller, engine: sa.Engine, change: dict[str, Any], status: int
) -> None:
    reply = lms.post("/v1/sessions", {"exam": "exam", "learner": "ada", "mode": "practice"} | change)
    assert (reply.status_code, reply.mimetype) == (status, "application/problem+json")
    assert (count(engine, Session), count(engine, Learner)) == (0, 0)


def test_another_tenant_finds_neither_the_session_nor_the_learner(
    lms: Caller, client: FlaskClient, api_key: Callable[..., str]
) -> None:
    session = lms.start()
    stranger = Caller(client, api_key("admin", tenant="globex"))
    paths = ("", "/next", "/report", "/responses")
    assert {stranger.get(f"/v1/sessions/{session['id']}{path}").status_code for path in paths} == {404}
    assert stranger.answer(session["id"], session["next"]).status_code == 404
    assert stranger.get("/v1/learners/ada/exams/exam").status_code == 404


def test_a_learners_token_opens_its_own_session_only(lms: Caller, client: FlaskClient) -> None:
    mine, other = lms.start(), lms.start(learner="grace")
    browser = Caller(client, lms.post(f"/v1/sessions/{mine['id']}/tokens").json["token"])
    assert browser.get(f"/v1/sessions/{mine['id']}/next").status_code == 200
    assert browser.get(f"/v1/sessions/{other['id']}/next").status_code == 404
    assert browser.post("/v1/sessions", {"exam": "exam", "learner": "x", "mode": "practice"}).status_code == 403
    assert browser.get(f"/v1/sessions/{mine['id']}/responses").status_code == 403


def test_a_learners_token_ends_after_a_while(lms: Caller, client: FlaskClient, clock: Clock) -> None:
    session = lms.start()
    browser = Caller(client, lms.post(f"/v1/sessions/{session['id']}/tokens").json["token"])
    clock.advance(hours=3)
    assert browser.get(f"/v1/sessions/{session['id']}/next").status_code == 401


def test_nothing_that_a_learner_can_fetch_before_answering_tells_the_key(
    lms: Caller, app: Flask, client: FlaskClient, engine: sa.Engine, now: datetime
) -> None:
    """Every route, with every value the browser knows, searched for what only the explanation says."""
    page = ArticleContent("page", ArticleKind.LESSON, "A page", ("1.1",), "Read this.")
    with transaction(engine, writes=True) as db:
        exam = db.exec(select(Exam)).one()
        article = authoring.add_article(db, exam, page, actor="test", now=now).uuid
    session = lms.start()
    browser = Caller(client, lms.post(f"/v1/sessions/{session['id']}/tokens").json["token"])
    item = session["next"]["item"]
    known = {"session": session["id"], "item": item["id"], "exam": "exam", "learner": "ada", "position": "1"}
    known["article"] = str(article)
    assert "Read this." in browser.get(f"/v1/articles/{article}").text  # a learner gets that far
    walked = 0
    for rule in app.url_map.iter_rules():
        arguments = {name: known.get(name, item["options"][0]["id"]) for name in rule.arguments}
        path = rule.rule
        for name, value in arguments.items():
            path = path.replace(f"<uuid:{name}>", value).replace(f"<int:{name}>", value).replace(f"<{name}>", value)
        for method in rule.methods - {"OPTIONS", "DELETE"}:
            if rule.rule.endswith(("/responses", "/finish")) and method == "POST":
                continue  # answering and ending are what explanations wait for
            reply = browser.call(method, path, None if method in {"GET", "HEAD"} else {})
            walked += 1
            for secret in ("Why ", "In short", "At length", '"correct":', '"rationale":', '"is_key"', '"angoff"'):
                told = secret in reply.text and not path.startswith(("/openapi", "/docs"))
                assert not told, f"{method} {path} tells {secret!r}"
    assert walked > 15


def test_a_learners_token_is_not_told_the_seed(lms: Caller, client: FlaskClient) -> None:
    """It gives the author's order of the options, in which keys often come first."""
    session = lms.start()
    browser = Caller(client, lms.post(f"/v1/sessions/{session['id']}/tokens").json["token"])
    assert isinstance(lms.get(f"/v1/sessions/{session['id']}").json["seed"], int)
    assert browser.get(f"/v1/sessions/{session['id']}").json["seed"] is None
    assert browser.post(f"/v1/sessions/{session['id']}/finish").json["seed"] is None


@pytest.mark.parametrize("learner", ["school/42", "https://lms.example/u/7", "a b", "é", "x/data", "exams/y"])
def test_any_learner_that_can_be_started_can_be_read_and_erased(
    bank: None, client: FlaskClient, api_key: Callable[..., str], learner: str
) -> None:
    lms = Caller(client, api_key("admin"))
    lms.start(learner=learner)
    path = f"/v1/learners/{quote(learner, safe='')}"
    assert lms.get(f"{path}/exams/exam").json["learner"] == learner
    assert lms.get(f"{path}/data").json["learner"] == learner
    assert lms.delete(path).status_code == 200


@pytest.mark.parametrize("learner", [".", "..", "a\nb", "a\tb"])
def test_a_learner_that_no_path_can_name_is_refused(lms: Caller, learner: str) -> None:
    reply = lms.post("/v1/sessions", {"exam": "exam", "learner": learner, "mode": "practice"})
    assert (reply.status_code, reply.json["errors"][0]["pointer"]) == (422, "/learner")


def test_erasing_a_learner_ends_open_sessions_and_tokens(
    bank: None, client: FlaskClient, api_key: Callable[..., str]
) -> None:
    lms = Caller(client, api_key("admin"))
    session = lms.start()
    browser = Caller(client, lms.post(f"/v1/sessions/{session['id']}/tokens").json["token"])
    lms.delete("/v1/learners/ada")
    assert browser.get(f"/v1/sessions/{session['id']}/report").status_code == 404
    assert browser.answer(session["id"], session["next"]).status_code == 409
    assert lms.get(f"/v1/sessions/{session['id']}").json["stop_reason"] == "erased"


def test_traces_are_for_reviewers_and_show_no_row_numbers(lms: Caller) -> None:
    session = lms.start()
    second = lms.answer(session["id"], session["next"]).json["next"]
    lms.answer(session["id"], second)
    page = lms.get(f"/v1/sessions/{session['id']}/responses?limit=1").json
    [response] = page["data"]
    assert response["trace"]["item"] == session["next"]["item"]["id"] == response["item"]
    assert "item_version" not in json.dumps(page)
    rest = lms.get(f"/v1/sessions/{session['id']}/responses?cursor={page['next_cursor']}").json
    assert [row["position"] for row in rest["data"]] == [2]
    assert rest["next_cursor"] is None


def test_what_is_known_of_a_learner_needs_evidence(lms: Caller) -> None:
    session = lms.start()
    served = session["next"]
    assert lms.get("/v1/learners/ada/exams/exam").json["evidence"] == "not_enough"
    for _ in range(3):
        served = lms.answer(session["id"], served, key_of).json["next"]
    known = lms.get("/v1/learners/ada/exams/exam").json
    assert (known["answers"], known["evidence"]) == (3, "enough")
    assert known["score"]["low"] < known["score"]["value"] < known["score"]["high"]


def test_erasing_a_learner_leaves_only_answers_under_a_pseudonym(
    lms: Caller, engine: sa.Engine, client: FlaskClient, api_key: Callable[..., str]
) -> None:
    body = {"exam": "exam", "learner": "ada", "mode": "practice"}
    session = lms.post("/v1/sessions", body, Idempotency_Key='"k"').json
    lms.answer(session["id"], session["next"])
    data = lms.get("/v1/learners/ada/data").json
    assert lms.delete("/v1/learners/ada").status_code == 403
    kept = Caller(client, api_key("admin")).delete("/v1/learners/ada").json["kept"]
    assert kept == {"pseudonym": data["pseudonym"], "sessions": 1, "responses": 1}
    assert lms.get("/v1/learners/ada/data").status_code == 404
    assert lms.get(f"/v1/sessions/{session['id']}").json["learner"] is None
    assert (count(engine, Response), count(engine, IdempotencyRecord)) == (1, 0)


def test_an_answer_takes_two_statements_on_postgresql_and_six_on_sqlite(lms: Caller, engine: sa.Engine) -> None:
    served = (warm := lms.start(learner="grace"))["next"]
    while served is not None:
        served = lms.answer(warm["id"], served).json["next"]
    session = lms.start()
    statements: list[str] = []
    sa.event.listen(engine, "before_cursor_execute", lambda *event: statements.append(event[2]))
    lms.answer(session["id"], session["next"])
    sent = [statement for statement in statements if not statement.startswith("BEGIN")]
    assert len(sent) == (2 if engine.dialect.name == "postgresql" else 6)


def test_a_session_can_ask_for_maximum_information(lms: Caller) -> None:
    session = lms.start(mode="adaptive_test", policy={"criterion": "maximum_information", "maximum_length": 12})
    assert session["policy"]["criterion"] == "maximum_information"
    lms.answer(session["id"], session["next"])
    [first] = lms.get(f"/v1/sessions/{session['id']}/responses").json["data"]
    scores = [candidate["score"] for candidate in first["trace"]["candidates"]]
    assert first["trace"]["criterion"] == "maximum_information"
    assert scores == sorted(scores, reverse=True)
