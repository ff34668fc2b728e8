"""Mode `mock` over HTTP: a form to the blueprint, filled in any order, by the server's clock, told of at the end."""

import json
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from sqlmodel import select

from engine import learner, loading, progress, replaying
from itembank.models import FormAnswer, LearnerState, Response, Score, Session
from itembank.store import transaction
from tests.factories.bank import make_exam, make_items, make_tenant
from tests.factories.clock import Clock
from tests.factories.http import Caller

LENGTH = 10
POLICY = {"maximum_length": LENGTH, "time_limit_s": 600}
TOLD_AT_THE_END = ("correct", "score", "feedback", "ability", "decision")


@pytest.fixture
def lms(engine: sa.Engine, client: FlaskClient, api_key: Callable[..., str]) -> Caller:
    with transaction(engine, writes=True) as db:
        make_items(db, make_exam(db, make_tenant(db)), 60)
    return Caller(client, api_key("admin"))


@pytest.fixture
def mock(lms: Caller) -> dict[str, Any]:
    return begin(lms)


def begin(lms: Caller, learner: str = "ada", **more: Any) -> dict[str, Any]:
    return lms.start(mode="mock", learner=learner, policy=POLICY | more.pop("policy", {}), **more)


def option(place: dict[str, Any], number: int = 0) -> str:
    """The id of an option; the key is number 0."""
    found: str = next(each["id"] for each in place["item"]["options"] if f"Answer {number} " in each["text"])
    return found


def path(mock: dict[str, Any], more: str = "") -> str:
    return f"/v1/sessions/{mock['id']}{more}"


def read(lms: Caller, mock: dict[str, Any], position: int) -> dict[str, Any]:
    reply = lms.get(path(mock, f"/items/{position}"))
    assert reply.status_code == 200, reply.text
    place: dict[str, Any] = reply.json
    return place


def put(lms: Caller, mock: dict[str, Any], position: int, number: int | None = 0, **more: Any) -> dict[str, Any]:
    chosen = {} if number is None else {"selected": [option(read(lms, mock, position), number)]}
    reply = lms.put(path(mock, f"/responses/{position}"), chosen | more)
    assert reply.status_code == 200, reply.text
    place: dict[str, Any] = reply.json
    return place


def finish(lms: Caller, mock: dict[str, Any]) -> dict[str, Any]:
    assert lms.post(path(mock, "/finish")).status_code == 200
    report: dict[str, Any] = lms.get(path(mock, "/report")).json
    return report


def rows(engine: sa.Engine, model: type[Any]) -> list[Any]:
    with transaction(engine, writes=False) as db:
        return list(db.exec(select(model)).all())


def check_replays(engine: sa.Engine, mock: dict[str, Any]) -> None:
    loading.forget(engine)
    with transaction(engine, writes=False) as db:
        session = db.exec(select(Session).where(Session.uuid == UUID(mock["id"]))).one()
        assert replaying.replay(db, session, tolerance=0.0) == []


def test_a_whole_mock(engine: sa.Engine, lms: Caller, mock: dict[str, Any], clock: Clock) -> None:
    assert (mock["form"], mock["seconds_left"]) == ({"length": LENGTH, "answered": [], "flagged": []}, 600)
    places = [read(lms, mock, position) for position in range(1, LENGTH + 1)]
    asked = Counter(place["item"]["objective"] for place in places)
    assert asked == {"1.1": 4, "1.2": 2, "2.1": 4}
    put(lms, mock, 7, 1)  # wrong at first
    assert put(lms, mock, 7, None, flagged=True)["selected"] == [option(places[6], 1)]
    clock.advance(seconds=60)
    put(lms, mock, 7, 0, response_time_ms=9000)
    served = mock["next"]
    while served is not None:
        reply = lms.answer(mock["id"], served, lambda options: place_of(options, 0))
        served = reply.json["next"]
    session = lms.get(path(mock)).json
    assert (session["status"], session["answered"], session["seconds_left"]) == ("in_progress", LENGTH, 540)
    assert session["form"] == {"length": LENGTH, "answered": list(range(1, LENGTH + 1)), "flagged": [7]}
    assert lms.get(path(mock, "/next")).status_code == 409
    put(lms, mock, 2, 1)
    check_replays(engine, mock)
    report = finish(lms, mock)
    assert (report["status"], report["stop_reason"], report["answers"], report["right"]) == (
        "finished",
        "finished",
        LENGTH,
        LENGTH - 1,
    )
    assert report["decision"] == {"outcome": "pass", "rule": "form", "cut_score": 0.0}
    assert [item["position"] for item in report["items"]] == list(range(1, LENGTH + 1))
    assert all(item["feedback"]["full_explanation"] for item in report["items"])
    assert [item["correct"] for item in report["items"]] == [position != 2 for position in range(1, LENGTH + 1)]
    assert report["score"]["low"] < report["score"]["value"] < report["score"]["high"]
    form = report["form"]
    assert (form["right"], form["unanswered"], form["met_before"], form["time_used_s"]) == (9, 0, 0, 60.0)
    chance = form["pass_probability"]
    assert 0.5 < chance["value"] < 1.0
    assert chance["low"] < chance["value"] <= chance["high"]
    assert {each["code"]: each["answers"] for each in form["domains"]} == {"1": 6, "2": 4}
    assert {each["code"]: each["answers"] for each in report["objectives"]} == asked
    check_replays(engine, mock)


def place_of(options: list[dict[str, Any]], number: int) -> int:
    return next(place for place, each in enumerate(options) if f"Answer {number} " in each["text"])


def test_what_it_comes_to_is_stored_as_answers_are(engine: sa.Engine, lms: Caller, mock: dict[str, Any]) -> None:
    put(lms, mock, 3, 1)
    put(lms, mock, 1, 0)
    assert rows(engine, Response) == []
    finish(lms, mock)
    assert lms.post(path(mock, "/finish")).status_code == 200
    stored = rows(engine, Response)
    assert [(row.position, row.exposure_class.value, row.moves_ability) for row in stored] == [
        (1, "clean_first", True),
        (3, "clean_first", True),
    ]
    assert [row.correct for row in rows(engine, Score)] == [True, False]
    [state] = rows(engine, LearnerState)
    assert (state.answers, state.reserved) == (2, [])
    known = lms.get("/v1/learners/ada/exams/exam").json
    assert known["answers"] == 2
    traces = lms.get(path(mock, "/responses")).json["data"]
    assert [row["trace"]["turn"] for row in traces] == ["form", "form"]


def test_the_learners_state_is_what_the_log_makes_of_it(engine: sa.Engine, lms: Caller, clock: Clock) -> None:
    practice = lms.start()
    lms.answer(practice["id"], practice["next"])
    clock.advance(hours=3)
    mock = begin(lms)
    for position in (5, 2, 9):
        clock.advance(seconds=30)
        put(lms, mock, position, position % 2)
    finish(lms, mock)
    with transaction(engine, writes=False) as db:
        state = db.exec(select(LearnerState)).one()
        prior = learner.Prior(mean=0.0, sd=1.0)
        again = progress.from_log(db, state.learner_id, state.exam_id, prior, since=state.updated_at)
        rebuilt, kept = again.on(state.codes, prior), learner.unpack(state.gaussian)
        assert learner.ability_means(rebuilt) == pytest.approx(learner.ability_means(kept), abs=1e-12)


def test_positions_left_out_are_wrong_on_the_form_and_say_nothing_of_ability(lms: Caller, mock: dict[str, Any]) -> None:
    for position in (1, 2, 3):
        put(lms, mock, position)
    report = finish(lms, mock)
    assert (report["form"]["right"], report["form"]["unanswered"]) == (3, LENGTH - 3)
    assert report["decision"]["outcome"] == "fail"
    assert report["ability"]["theta"] > 0.0
    assert report["items"][9]["exposure_class"] is None
    assert report["items"][9]["feedback"] is not None


def test_an_item_that_was_only_reviewed_is_new_no_more(engine: sa.Engine, lms: Caller, mock: dict[str, Any]) -> None:
    shown = {read(lms, mock, position)["item"]["id"] for position in range(1, LENGTH + 1)}
    finish(lms, mock)
    practice, seen = lms.start(), set()
    for _ in range(50):
        seen.add(practice["next"]["item"]["id"])
        practice["next"] = lms.answer(practice["id"], practice["next"]).json["next"]
        if practice["next"] is None:
            break
    assert not seen & shown
    again = begin(lms, policy={"maximum_length": 10, "repeat_after_hours": 0, "time_limit_s": None})
    put(lms, again, 1)
    finish(lms, again)
    assert rows(engine, Response)[-1].exposure_class.value == "repeat_revealed"


def test_nothing_is_told_before_the_end_by_any_route(lms: Caller, client: FlaskClient, mock: dict[str, Any]) -> None:
    browser = Caller(client, lms.post(path(mock, "/tokens")).json["token"])
    for caller in (lms, browser):
        session = begin(lms, learner=f"learner-{caller is lms}")
        if caller is browser:
            caller = Caller(client, lms.post(path(session, "/tokens")).json["token"])
        step = caller.answer(session["id"], session["next"], lambda options: place_of(options, 0)).json
        assert [step[name] for name in TOLD_AT_THE_END] == [None] * 5
        changed = put(caller, session, 2, 0)
        assert changed.keys() == {"position", "item", "selected", "flagged", "revision"}
        assert caller.get(path(session)).json["ability"] is None
        report = caller.get(path(session, "/report")).json
        hidden = ("right", "ability", "score", "decision", "objectives", "form")
        assert [report[name] for name in hidden] == [None] * 6
        assert (report["answers"], report["items"], report["evidence"]) == (2, [], "not_enough")
    assert session["ability"] is None
    assert lms.get(path(session, "/responses")).json["data"] == []
    assert browser.get(path(mock, "/responses")).status_code == 403
    assert browser.get(path(session)).status_code == 404
    text = json.dumps([lms.get(path(session, f"/items/{p}")).json for p in range(1, LENGTH + 1)])
    assert not any(word in text for word in ("Why ", "In short", "At length", "correct", "rationale"))


def test_the_clock_ends_it_with_what_was_answered(
    engine: sa.Engine, lms: Caller, mock: dict[str, Any], clock: Clock
) -> None:
    clock.advance(seconds=599)
    put(lms, mock, 1)
    late = {"selected": [option(read(lms, mock, 2))]}
    clock.advance(seconds=1)
    reply = lms.put(path(mock, "/responses/2"), late)
    assert (reply.status_code, reply.json["code"], reply.json["stop_reason"]) == (409, "session_finished", "time_limit")
    session = lms.get(path(mock)).json
    assert (session["status"], session["stop_reason"], session["answered"]) == ("finished", "time_limit", 1)
    assert (session["finished_at"], session["seconds_left"]) == (session["expires_at"], None)
    assert [row.position for row in rows(engine, Response)] == [1]
    body = {"position": 3, "item": mock["next"]["item"]["id"], "selected": late["selected"]}
    assert lms.post(path(mock, "/responses"), body).status_code in (409, 422)
    check_replays(engine, mock)


LOOKS: list[Callable[[Caller, dict[str, Any]], Any]] = [
    lambda lms, mock: lms.get(path(mock)),
    lambda lms, mock: lms.get(path(mock, "/next")),
    lambda lms, mock: lms.get(path(mock, "/items/1")),
    lambda lms, mock: lms.get(path(mock, "/report")),
    lambda lms, mock: lms.get(path(mock, "/responses")),
    lambda lms, mock: lms.post(path(mock, "/finish")),
    lambda lms, mock: lms.answer(mock["id"], mock["next"]),
    lambda lms, mock: lms.get("/v1/learners/ada/exams/exam"),
    lambda lms, mock: lms.start(Idempotency_Key="a"),
]


@pytest.mark.parametrize("look", LOOKS[:8])
def test_one_that_nobody_came_back_to_is_settled_by_whoever_looks(
    engine: sa.Engine, lms: Caller, mock: dict[str, Any], clock: Clock, look: Callable[..., Any]
) -> None:
    put(lms, mock, 4)
    clock.advance(days=3)
    look(lms, mock)
    [session] = rows(engine, Session)
    assert (session.status.value, session.stop_reason) == ("finished", "time_limit")
    assert (session.finished_at - session.started_at).total_seconds() == 600
    assert [row.position for row in rows(engine, Response)] == [4]


def test_a_new_session_settles_it_too(engine: sa.Engine, lms: Caller, mock: dict[str, Any], clock: Clock) -> None:
    put(lms, mock, 4)
    clock.advance(days=3)
    body = {"exam": "exam", "learner": "ada", "mode": "practice"}
    replies = [lms.post("/v1/sessions", body, Idempotency_Key="a") for _ in range(2)]
    assert [reply.status_code for reply in replies] == [201, 201]
    assert replies[0].json == replies[1].json
    assert [row.stop_reason for row in rows(engine, Session)] == ["time_limit", None]


def test_it_goes_on_elsewhere_where_it_was_left(
    app: Flask, engine: sa.Engine, lms: Caller, mock: dict[str, Any], clock: Clock
) -> None:
    put(lms, mock, 1)
    put(lms, mock, 3, 2, flagged=True)
    loading.forget(engine)
    clock.advance(seconds=120)
    elsewhere = Caller(app.test_client(), lms.post(path(mock, "/tokens")).json["token"])
    assert elsewhere.get(path(mock)).json["form"] == {"length": LENGTH, "answered": [1, 3], "flagged": [3]}
    assert elsewhere.get(path(mock)).json["seconds_left"] == 480
    assert elsewhere.get(path(mock, "/next")).json == {
        name: value for name, value in read(lms, mock, 2).items() if name in ("position", "item")
    }
    place = read(elsewhere, mock, 3)
    assert (place["selected"], place["flagged"]) == ([option(place, 2)], True)


def test_the_same_again_is_stored_once_and_gets_the_same_reply(
    engine: sa.Engine, lms: Caller, mock: dict[str, Any]
) -> None:
    first = put(lms, mock, 1, 1)
    assert put(lms, mock, 1, 1) == first
    keyed = {"selected": [option(first, 2)]}
    call = path(mock, "/responses/1")
    replies = [lms.call("PUT", call, keyed, Idempotency_Key="k") for _ in range(2)]
    put(lms, mock, 1, 3)
    replies.append(lms.call("PUT", call, keyed, Idempotency_Key="k"))
    assert [reply.json for reply in replies] == [replies[0].json] * 3
    other = lms.call("PUT", call, {"selected": [option(first, 0)]}, Idempotency_Key="k")
    assert (other.status_code, other.json["code"]) == (422, "key_reused")
    assert [row.revision for row in rows(engine, FormAnswer)] == [1, 2, 3]
    assert read(lms, mock, 1)["selected"] == [option(first, 3)]
    served = read(lms, mock, 2)
    steps = [lms.answer(mock["id"], served) for _ in range(2)]
    assert steps[0].json == steps[1].json
    finish(lms, mock)
    assert lms.answer(mock["id"], served).status_code == 200
    assert lms.answer(mock["id"], served, lambda options: 1).json["code"] == "session_finished"


def test_an_answer_can_be_taken_back(engine: sa.Engine, lms: Caller, mock: dict[str, Any]) -> None:
    put(lms, mock, 1)
    assert lms.put(path(mock, "/responses/1"), {"selected": None}).json["selected"] is None
    assert lms.get(path(mock, "/next")).json["position"] == 1
    assert finish(lms, mock)["answers"] == 0


def test_tabs_at_once_lose_nothing(engine: sa.Engine, app: Flask, lms: Caller, mock: dict[str, Any]) -> None:
    places = {position: read(lms, mock, position) for position in (1, 2)}

    def change(number: int) -> int:
        tab = Caller(app.test_client(), lms.credentials)
        body = {"flagged": True} if number == 7 else {"selected": [option(places[1], number % 4)]}
        return tab.put(path(mock, "/responses/1"), body).status_code

    with ThreadPoolExecutor(4) as threads:
        statuses = list(threads.map(change, range(8)))
    assert statuses == [200] * 8
    stored = sorted(rows(engine, FormAnswer), key=lambda row: row.revision)
    assert [row.revision for row in stored] == list(range(1, len(stored) + 1))
    assert stored[-1].flagged
    assert all(row.selected is not None for row in stored[1:])


def test_two_who_finish_at_once_count_it_once(engine: sa.Engine, app: Flask, lms: Caller, mock: dict[str, Any]) -> None:
    put(lms, mock, 1)
    place = read(lms, mock, 2)

    def end(number: int) -> int:
        tab = Caller(app.test_client(), lms.credentials)
        if number == 3:
            return tab.put(path(mock, "/responses/2"), {"selected": [option(place)]}).status_code
        return tab.post(path(mock, "/finish")).status_code

    with ThreadPoolExecutor(4) as threads:
        statuses = list(threads.map(end, range(4)))
    assert statuses[:3] == [200] * 3
    counted = [row.position for row in rows(engine, Response)]
    assert counted == ([1, 2] if statuses[3] == 200 else [1])
    [state] = rows(engine, LearnerState)
    assert state.answers == len(counted)


def test_practice_during_a_mock_does_not_get_its_items(lms: Caller) -> None:
    before = lms.start()
    mock = begin(lms)
    reserved = {read(lms, mock, position)["item"]["id"] for position in range(1, LENGTH + 1)}
    assert before["next"]["item"]["id"] not in reserved
    after = lms.start(policy={"repeat_after_hours": 0})
    seen = set()
    for practice in (before, after):
        served = practice["next"]
        while served is not None and len(seen) < 45:
            seen.add(served["item"]["id"])
            served = lms.answer(practice["id"], served).json["next"]
    assert len(seen) >= 45
    assert not seen & reserved
    other = begin(lms, policy={"maximum_length": 5, "repeat_after_hours": 0})
    assert not {read(lms, other, position)["item"]["id"] for position in range(1, 6)} & reserved


def test_forms_are_new_to_the_learner_and_differ_between_learners(lms: Caller) -> None:
    def items(mock: dict[str, Any]) -> set[str]:
        return {read(lms, mock, position)["item"]["id"] for position in range(1, LENGTH + 1)}

    taken: set[str] = set()
    for _ in range(3):
        mock = begin(lms)
        assert not items(mock) & taken
        taken |= items(mock)
        finish(lms, mock)
    assert items(begin(lms, "bob", seed=1)) != items(begin(lms, "eve", seed=2))
    assert items(begin(lms, "pat", seed=1)) == items(begin(lms, "sam", seed=1))


@pytest.mark.parametrize(
    ("policy", "named"),
    [
        ({"maximum_length": 61, "content_balancing": False}, ["length (61 items, 60 can be served)"]),
        (
            {"maximum_length": 55},
            [
                "domain 2 (22 items, 20 can be served)",
                "objective 1.1 (22 items, 20 can be served)",
                "objective 2.1 (22 items, 20 can be served)",
            ],
        ),
    ],
)
def test_a_blueprint_that_the_bank_cannot_fill_is_refused_by_name(
    engine: sa.Engine, lms: Caller, policy: dict[str, Any], named: list[str]
) -> None:
    body = {"exam": "exam", "learner": "ada", "mode": "mock", "policy": policy}
    reply = lms.post("/v1/sessions", body)
    assert (reply.status_code, reply.json["code"]) == (422, "infeasible")
    assert reply.json["constraints"] == named
    assert rows(engine, Session) == rows(engine, LearnerState) == []


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"pretest_slots": [1]}, "pretest_slots"),
        ({"standard_error": 0.3}, "standard_error"),
        ({"classification": "sprt"}, "classification"),
        ({"feedback": "immediate"}, "feedback"),
        ({"maximum_length": None}, "maximum_length"),
    ],
)
def test_a_policy_that_no_form_can_follow_is_refused(lms: Caller, policy: dict[str, Any], field: str) -> None:
    reply = lms.post("/v1/sessions", {"exam": "exam", "learner": "ada", "mode": "mock", "policy": policy})
    assert [error["pointer"] for error in reply.json["errors"]] == [f"/policy/{field}"]


def test_what_does_not_fit_is_refused(lms: Caller, mock: dict[str, Any]) -> None:
    practice = lms.start(learner="bob")
    assert lms.get(path(practice, "/items/1")).status_code == 409
    assert lms.put(path(practice, "/responses/1"), {"flagged": True}).status_code == 409
    assert lms.get(path(mock, f"/items/{LENGTH + 1}")).status_code == 404
    assert lms.put(path(mock, "/responses/0"), {"flagged": True}).status_code == 404
    assert lms.put(path(mock, "/responses/1"), {}).status_code == 422
    assert lms.put(path(mock, "/responses/1"), {"selected": []}).status_code == 422
    foreign = {"selected": [option(read(lms, mock, 2))]}
    assert lms.put(path(mock, "/responses/1"), foreign).status_code == 422
    put(lms, mock, 1, 1)
    other = lms.answer(mock["id"], read(lms, mock, 1), lambda options: place_of(options, 2))
    assert (other.status_code, other.json["code"]) == (409, "position_conflict")


def test_any_mode_may_sit_a_form_and_the_policy_says_what_running_out_of_time_means(lms: Caller, clock: Clock) -> None:
    changes = {"criterion": "blueprint_form", "standard_error": None, "minimum_length": 0}
    policy = POLICY | changes | {"on_time_out": "fail"}
    session = lms.start(mode="adaptive_test", policy=policy)
    for position in range(1, LENGTH + 1):
        put(lms, session, position)
    clock.advance(seconds=600)
    report = lms.get(path(session, "/report")).json
    assert (report["right"], report["decision"]["rule"], report["decision"]["outcome"]) == (LENGTH, "time_out", "fail")


def test_a_suspended_item_counts_for_nothing(engine: sa.Engine, lms: Caller, mock: dict[str, Any]) -> None:
    for position in range(1, LENGTH + 1):
        put(lms, mock, position)
    item = read(lms, mock, 5)["item"]["id"]
    assert lms.post(f"/v1/items/{item}/transitions", {"to": "suspended", "comment": "wrong key"}).status_code == 200
    report = finish(lms, mock)
    assert (report["form"]["length"], report["form"]["right"], report["right"]) == (LENGTH - 1, LENGTH - 1, LENGTH)
    assert [row.moves_ability for row in rows(engine, Response)] == [position != 5 for position in range(1, LENGTH + 1)]
    check_replays(engine, mock)


def test_the_learners_data_has_every_change_and_erasure_ends_an_open_form(
    engine: sa.Engine, lms: Caller, mock: dict[str, Any]
) -> None:
    put(lms, mock, 1, 1)
    put(lms, mock, 1, 0)
    [session] = lms.get("/v1/learners/ada/data").json["sessions"]
    assert [(row["position"], row["revision"]) for row in session["form_answers"]] == [(1, 1), (1, 2)]
    assert session["responses"] == []
    browser = Caller(lms.client, lms.post(path(mock, "/tokens")).json["token"])
    assert lms.delete("/v1/learners/ada").status_code == 200
    assert browser.put(path(mock, "/responses/1"), {"flagged": True}).status_code in (404, 409)
    [state] = rows(engine, LearnerState)
    assert state.reserved == []
    check_replays(engine, mock)


def test_exports_have_a_mocks_answers(lms: Caller, mock: dict[str, Any]) -> None:
    put(lms, mock, 2)
    finish(lms, mock)
    made = lms.post("/v1/exams/exam/exports", {"dataset": "responses", "format": "jsonl"}).json
    [row] = lms.get(f"/v1/exports/{made['id']}/file").text.strip().splitlines()
    found = json.loads(row)
    assert (found["mode"], found["position"], found["criterion"]) == ("mock", 2, "blueprint_form")


def test_another_tenant_sees_none_of_it(
    client: FlaskClient, api_key: Callable[..., str], lms: Caller, mock: dict[str, Any]
) -> None:
    stranger = Caller(client, api_key("admin", tenant="other"))
    assert stranger.get(path(mock, "/items/1")).status_code == 404
    assert stranger.put(path(mock, "/responses/1"), {"flagged": True}).status_code == 404


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_answers_and_changes_comes_to_the_same(
    engine: sa.Engine, lms: Caller, clock: Clock, seed: int
) -> None:
    chance = random.Random(seed)
    final = [chance.randrange(4) for _ in range(LENGTH)]
    results = []
    for who in ("once", "changing"):
        mock = begin(lms, who, seed=5)
        moves = [(position, final[position - 1]) for position in range(1, LENGTH + 1)]
        if who == "changing":
            chance.shuffle(moves)
            moves = [(chance.randrange(1, LENGTH + 1), chance.randrange(4)) for _ in range(12)] + moves
        for position, number in moves:
            put(lms, mock, position, number)
        report = finish(lms, mock)
        told = {name: report[name] for name in ("answers", "right", "ability", "score", "decision", "objectives")}
        chances = report["form"]["pass_probability"]
        memories = lms.get(f"/v1/learners/{who}/exams/exam").json["ability"]
        results.append((told, chances, memories, [item["selected"] for item in report["items"]]))
        check_replays(engine, mock)
    assert results[0] == results[1]


def test_replaying_notices_what_was_tampered_with(engine: sa.Engine, lms: Caller, mock: dict[str, Any]) -> None:
    put(lms, mock, 1)
    finish(lms, mock)
    with transaction(engine, writes=True) as db:
        session = db.exec(select(Session)).one()
        session.queue = [session.queue[1], session.queue[0], *session.queue[2:]]
        session.form = session.form | {"pass_mark": 1}
        found = {difference.what for difference in replaying.replay(db, session)}
        assert {"order", "pass_mark", "item"} <= found
        db.rollback()
