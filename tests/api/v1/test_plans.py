"""The plan up to the exam, over HTTP: it fits the minutes, at the learner's pace, and leaves no backlog."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from itembank.store import transaction
from tests.factories.bank import make_exam, make_items, make_tenant, make_timings
from tests.factories.clock import Clock
from tests.factories.http import Caller

PATH = "/v1/learners/ada/exams/exam/plan"
TODAY = date(2026, 1, 5)
FIXED = {"minimum_length": 1, "standard_error": None}
MEDIAN_S = 40.0


@pytest.fixture
def lms(engine: sa.Engine, client: FlaskClient, api_key: Callable[..., str]) -> Caller:
    """An exam of 120 items whose times are known: half of all answers take longer than MEDIAN_S."""
    with transaction(engine, writes=True) as db:
        make_items(db, make_exam(db, make_tenant(db)), 120)
        make_timings(db, 1000.0 * MEDIAN_S)
    return Caller(client, api_key("sessions:write", "learners:read"))


def sit(
    lms: Caller, clock: Clock, *, seconds: Callable[[int], float], answers: int, mode: str = "adaptive_test"
) -> None:
    """Answers, all wrong but the first option's, that take so long each."""
    session = lms.start(mode=mode, policy=FIXED | {"maximum_length": answers})
    served = session["next"]
    for n in range(answers):
        body = {
            "position": served["position"],
            "item": served["item"]["id"],
            "selected": [served["item"]["options"][0]["id"]],
            "response_time_ms": round(1000.0 * seconds(n)),
        }
        reply = lms.post(f"/v1/sessions/{session['id']}/responses", body)
        assert reply.status_code == 200, reply.text
        clock.advance(seconds=seconds(n))
        served = reply.json["next"]
        if served is None:
            break


def plan(lms: Caller, **query: Any) -> dict[str, Any]:
    wanted = "&".join(f"{name}={value}" for name, value in ({"minutes_per_day": 30} | query).items())
    reply = lms.get(f"{PATH}?{wanted}")
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json
    return found


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0, 3.0])
def test_a_day_fits_its_minutes_at_the_learners_own_pace(lms: Caller, clock: Clock, factor: float) -> None:
    spread = [0.6, 0.8, 1.0, 1.25, 1.8]  # around the usual time, as skewed as real times are
    own = factor * MEDIAN_S
    sit(lms, clock, seconds=lambda n: own * spread[n % 5], answers=60)
    clock.advance(days=1)
    today = plan(lms)["today"]
    items = today["reviews"] + sum(unseen["items"] for unseen in today["unseen"])
    takes = items * own * sum(spread) / len(spread) / 60.0
    assert today["minutes"] == pytest.approx(30.0, rel=0.1)
    assert takes == pytest.approx(30.0, rel=0.1)


def test_the_days_lead_up_to_the_exam(lms: Caller, clock: Clock) -> None:
    sit(lms, clock, seconds=lambda n: MEDIAN_S, answers=30)
    found = plan(lms, exam_date=TODAY + timedelta(days=20))
    days = found["days"]
    assert [day["date"] for day in days] == [str(TODAY + timedelta(days=n)) for n in range(21)]
    assert [day["phase"] for day in days].count("mock") == 2
    assert {day["minutes"] for day in days if day["phase"] == "mock"} == {90.0}
    assert [day["phase"] for day in days[-2:]] == ["light", "exam"]
    assert all(day["minutes"] <= 33.0 for day in days if day["phase"] != "mock")
    served = sum(unseen["items"] for day in days for unseen in day["unseen"])
    assert served <= 90
    assert found["today"]["date"] == days[0]["date"]


def test_missed_days_leave_no_backlog(lms: Caller, clock: Clock) -> None:
    sit(lms, clock, seconds=lambda n: MEDIAN_S, answers=60)
    clock.advance(days=1)
    exam_date = TODAY + timedelta(days=15)
    before = plan(lms, exam_date=exam_date, minutes_per_day=10)
    clock.advance(days=3)
    after = plan(lms, exam_date=exam_date, minutes_per_day=10)
    assert len(after["days"]) == len(before["days"]) - 3
    assert after["today"]["minutes"] == pytest.approx(10.0, rel=0.1)
    assert all(day["minutes"] <= 11.0 for day in after["days"] if day["phase"] != "mock")


def test_todays_reviews_are_the_most_overdue_and_the_session_it_suggests_serves_them(lms: Caller, clock: Clock) -> None:
    sit(lms, clock, seconds=lambda n: MEDIAN_S, answers=20)
    clock.advance(days=30)
    today = plan(lms)["today"]
    assert today["reviews"] == len(today["items"]) > 0
    assert today["session"]["mode"] == "practice"
    session = lms.start(**today["session"])
    served, met = session["next"], []
    while served is not None:
        met.append(served["item"]["id"])
        served = lms.answer(session["id"], served).json["next"]
    reviewed = [item for item in met if item in today["items"]]
    assert len(met) == today["reviews"] + sum(unseen["items"] for unseen in today["unseen"])
    assert reviewed == today["items"]


def test_where_only_reviews_are_left_a_review_is_suggested(lms: Caller, clock: Clock) -> None:
    sit(lms, clock, seconds=lambda n: MEDIAN_S, answers=20)
    clock.advance(days=30)
    today = plan(lms, exam_date=(TODAY + timedelta(days=31)), minutes_per_day=10)["today"]
    assert (today["phase"], today["unseen"], today["session"]["mode"]) == ("light", [], "review")
    assert lms.start(**today["session"])["next"]["item"]["id"] == today["items"][0]


def test_the_day_is_the_learners(lms: Caller, clock: Clock) -> None:
    sit(lms, clock, seconds=lambda n: MEDIAN_S, answers=2)
    clock.advance(hours=12)  # a little after 21:00 UTC
    days = [plan(lms, utc_offset_minutes=offset)["today"]["date"] for offset in (0, 180, -600)]
    assert days == ["2026-01-05", "2026-01-06", "2026-01-05"]


def test_a_learner_who_answered_nothing_has_a_plan_at_the_usual_pace(lms: Caller, engine: sa.Engine) -> None:
    lms.start()
    found = plan(lms)
    assert (found["pace"], found["seconds_per_item"], found["exam_date"]) == (1.0, MEDIAN_S, None)
    assert [len(found["days"]), found["today"]["reviews"]] == [7, 0]
    assert found["today"]["minutes"] == pytest.approx(30.0, rel=0.1)


def test_a_query_that_cannot_be_planned_for_is_refused_with_its_parameter(lms: Caller) -> None:
    lms.start()
    wrong = [
        ("", "minutes_per_day"),
        ("minutes_per_day=0", "minutes_per_day"),
        ("minutes_per_day=1441", "minutes_per_day"),
        ("minutes_per_day=ten", "minutes_per_day"),
        ("minutes_per_day=30&exam_date=2026-01-04", "exam_date"),
        ("minutes_per_day=30&exam_date=2027-01-06", "exam_date"),
        ("minutes_per_day=30&exam_date=2026-02-30", "exam_date"),
        ("minutes_per_day=30&exam_date=tomorrow", "exam_date"),
        ("minutes_per_day=30&utc_offset_minutes=900", "utc_offset_minutes"),
        ("minutes_per_day=30&days=3", "days"),
    ]
    replies = [lms.get(f"{PATH}?{query}") for query, _ in wrong]
    assert {reply.status_code for reply in replies} == {400}
    assert [[error["parameter"] for error in reply.json["errors"]] for reply in replies] == [
        [name] for _, name in wrong
    ]
