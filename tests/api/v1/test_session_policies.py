"""What a session's policy can ask for, over HTTP: a test for each family of criteria, content rule and way to stop."""

import json
from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from itembank.store import transaction
from tests.factories.bank import make_exam, make_items, make_tenant
from tests.factories.clock import Clock
from tests.factories.http import Caller

FIXED = {"minimum_length": 1, "maximum_length": 6, "standard_error": None}


@pytest.fixture
def lms(engine: sa.Engine, client: FlaskClient, api_key: Callable[..., str]) -> Caller:
    with transaction(engine, writes=True) as db:
        make_items(db, make_exam(db, make_tenant(db)), 12)
    return Caller(client, api_key("sessions:write", "items:review"))


def right(options: list[dict[str, Any]]) -> int:
    return next(place for place, option in enumerate(options) if "Answer 0" in option["text"])


def wrong(options: list[dict[str, Any]]) -> int:
    return next(place for place, option in enumerate(options) if "Answer 1" in option["text"])


def sit(lms: Caller, choose: Callable[[list[dict[str, Any]]], int] = right, **policy: Any) -> dict[str, Any]:
    """A test from start to end: its last step, its report and its traces."""
    session = lms.start(mode="adaptive_test", policy=FIXED | policy, seed=1)
    served, step = session["next"], {}
    while served is not None:
        step = lms.answer(session["id"], served, choose).json
        served = step["next"]
    path = f"/v1/sessions/{session['id']}"
    traces = [row["trace"] for row in lms.get(f"{path}/responses").json["data"]]
    return {"step": step, "report": lms.get(f"{path}/report").json, "traces": traces, "path": path}


@pytest.mark.parametrize(
    ("criterion", "more"),
    [
        ("posterior_information", {}),
        ("maximum_information", {}),
        ("kullback_leibler", {}),
        ("minimum_expected_posterior_variance", {}),
        ("a_stratified", {"strata": 3}),
        ("progressive", {"randomesque": 1}),
        ("target_success", {"target_success": 0.8}),
        ("random", {}),
    ],
)
def test_a_session_runs_by_each_criterion(lms: Caller, criterion: str, more: dict[str, Any]) -> None:
    sat = sit(lms, criterion=criterion, **more)
    assert (sat["step"]["stop_reason"], sat["step"]["decision"]) == ("maximum_length", None)
    assert {trace["criterion"] for trace in sat["traces"]} == {criterion}
    assert lms.get(sat["path"]).json["policy"].items() >= ({"criterion": criterion} | more).items()


def test_a_session_balances_content_by_the_priority_index(lms: Caller) -> None:
    sat = sit(lms, content_rule="priority_index", maximum_length=5)
    assert {row["code"]: row["answers"] for row in sat["report"]["objectives"]} == {"1.1": 2, "1.2": 1, "2.1": 2}
    assert [trace["objective"] for trace in sat["traces"]] == [None] * 5


def test_a_session_that_the_bank_cannot_fill_in_proportion_is_refused_if_it_has_to(lms: Caller) -> None:
    policy = FIXED | {"maximum_length": 12, "strict_content": True}
    body = {"exam": "exam", "learner": "ada", "mode": "adaptive_test", "policy": policy}
    reply = lms.post("/v1/sessions", body)
    [error] = reply.json["errors"]
    assert (reply.status_code, error["pointer"]) == (422, "/policy/maximum_length")
    assert "1.1 has 4 of 5 items" in error["detail"]


def test_an_item_that_was_served_too_often_gives_way(lms: Caller) -> None:
    policy = FIXED | {"maximum_length": 1, "randomesque": 1, "maximum_exposure": 0.3, "content_balancing": False}
    starts = [
        lms.start(mode="adaptive_test", learner=f"learner-{n}", policy=policy, seed=n)["next"]["item"]["id"]
        for n in range(20)
    ]
    assert len(set(starts)) > 2


@pytest.mark.parametrize(
    ("policy", "choose", "reason"),
    [
        ({"change_of_estimate": 0.3}, right, "estimate_settled"),
        ({"minimum_information": 0.2}, wrong, "no_information"),
        ({"maximum_length": 40}, right, "pool_exhausted"),
        ({"standard_error": 0.9}, right, "standard_error"),
    ],
)
def test_a_session_stops_when_it_has_measured_enough(
    lms: Caller, policy: dict[str, Any], choose: Callable[[list[dict[str, Any]]], int], reason: str
) -> None:
    sat = sit(lms, choose, **policy)
    assert sat["step"]["stop_reason"] == sat["report"]["stop_reason"] == reason
    assert sat["report"]["decision"] is None


@pytest.mark.parametrize(("choose", "outcome"), [(right, "pass"), (wrong, "fail")])
@pytest.mark.parametrize(
    ("classification", "more"), [("confidence_interval", {"confidence": 0.7}), ("sprt", {"indifference": 1.0})]
)
def test_a_session_ends_once_it_is_clear_who_passes(
    lms: Caller,
    choose: Callable[[list[dict[str, Any]]], int],
    outcome: str,
    classification: str,
    more: dict[str, Any],
) -> None:
    sat = sit(lms, choose, classification=classification, maximum_length=12, **more)
    assert sat["step"]["stop_reason"] == "classified"
    assert sat["step"]["decision"] == {"outcome": outcome, "rule": classification, "cut_score": 0.0}
    assert sat["report"]["decision"] == sat["step"]["decision"]
    assert all(trace["standing"]["cut_score"] == 0.0 for trace in sat["traces"])


def test_at_the_maximum_length_the_estimate_decides(lms: Caller) -> None:
    sat = sit(lms, right, classification="confidence_interval", confidence=0.9999)
    assert sat["step"]["stop_reason"] == "maximum_length"
    assert sat["report"]["decision"] == {"outcome": "pass", "rule": "estimate", "cut_score": 0.0}


def test_a_session_ends_when_its_time_is_over_by_the_servers_clock(lms: Caller, clock: Clock) -> None:
    policy = FIXED | {"time_limit_s": 90, "classification": "sprt", "on_time_out": "fail"}
    session = lms.start(mode="adaptive_test", policy=policy)
    clock.advance(seconds=89)
    step = lms.answer(session["id"], session["next"], right).json
    assert (step["stop_reason"], step["decision"]) == (None, None)
    clock.advance(seconds=1)
    step = lms.answer(session["id"], step["next"], right).json
    assert step["stop_reason"] == "time_limit"
    assert step["decision"] == {"outcome": "fail", "rule": "time_out", "cut_score": 0.0}
    assert lms.get(f"/v1/sessions/{session['id']}/report").json["decision"] == step["decision"]


def test_a_learner_is_told_no_decision_before_the_end(lms: Caller, client: FlaskClient) -> None:
    session = lms.start(mode="adaptive_test", policy=FIXED | {"classification": "confidence_interval"})
    browser = Caller(client, lms.post(f"/v1/sessions/{session['id']}/tokens").json["token"])
    assert browser.answer(session["id"], session["next"], right).json["decision"] is None
    assert browser.get(f"/v1/sessions/{session['id']}/report").json["decision"] is None


@pytest.mark.parametrize(
    ("policy", "pointer"),
    [
        ({"criterion": "best"}, "/policy/criterion"),
        ({"criterion": "progressive"}, "/policy/maximum_length"),
        (
            {"content_balancing": True, "content_rule": "priority_index", "criterion": "random"},
            "/policy/maximum_length",
        ),
        ({"classification": "sprt", "alpha": 0.5}, "/policy/alpha"),
        ({"confidence": 1}, "/policy/confidence"),
        ({"maximum_exposure": 0}, "/policy/maximum_exposure"),
        ({"time_limit_s": 1.5}, "/policy/time_limit_s"),
        ({"target_success": None}, "/policy/target_success"),
    ],
)
def test_a_policy_that_cannot_be_used_is_refused_with_its_field(
    lms: Caller, policy: dict[str, Any], pointer: str
) -> None:
    reply = lms.post("/v1/sessions", {"exam": "exam", "learner": "ada", "mode": "practice", "policy": policy})
    assert (reply.status_code, [error["pointer"] for error in reply.json["errors"]]) == (422, [pointer])


@pytest.mark.parametrize("estimator", ["eap", "map", "wle", "mle"])
def test_the_report_tells_ability_by_the_policys_estimator(lms: Caller, estimator: str) -> None:
    turns = cycle([right, wrong])
    report = sit(lms, lambda options: next(turns)(options), maximum_length=6, estimator=estimator)["report"]
    told = report["estimate"]
    assert (told["estimator"], told["at_bound"]) == (estimator, False)
    assert (told["theta"] == report["ability"]["theta"]) is (estimator == "eap")
    assert report["score"]["value"] == pytest.approx(500 + 100 * told["theta"])


def test_all_right_has_no_maximum_likelihood_and_says_so(lms: Caller) -> None:
    report = sit(lms, right, maximum_length=6, estimator="mle")["report"]
    assert (report["estimate"]["at_bound"], report["score"], report["evidence"]) == (True, None, "not_enough")


@pytest.mark.parametrize("mode", ["adaptive_test", "mock"])
@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "count", "name": "q", "least": 10**300},
        {"kind": "count", "name": "q", "most": 2**64},
        {"kind": "total", "name": "w", "attribute": "words", "most": 10**400},
        {"kind": "count", "name": "w", "most": 1, "where": [{"attribute": "words", "most": 10**400}]},
        {"kind": "count", "name": "w", "most": 1, "where": [{"attribute": "words", "least": 5, "most": 1}]},
        {"kind": "count", "name": "n\ud800", "least": 1},
        {"kind": "count", "name": "n" * 50_000, "least": 1},
        {"kind": "count", "name": "q", "least": 1, "where": [{"attribute": "objective", "among": ["\ud800"]}]},
    ],
)
def test_a_constraint_that_nothing_could_work_with_is_refused(lms: Caller, mode: str, rule: dict[str, Any]) -> None:
    policy = {"maximum_length": 10, "constraints": [rule]}
    body = json.dumps({"exam": "exam", "learner": "ada", "mode": mode, "policy": policy})  # as others may write it
    bearer = {"Authorization": f"Bearer {lms.credentials}"}
    reply = lms.client.post("/v1/sessions", data=body, content_type="application/json", headers=bearer)
    assert (reply.status_code, len(reply.get_data()) < 2_000) == (422, True)
    assert [error["pointer"] for error in reply.json["errors"]] == ["/policy/constraints"]
