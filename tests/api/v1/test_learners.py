"""What is known of a learner, over HTTP: ability, mastery, readiness, reviews, what to study and to read."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from sqlmodel import select

from itembank import authoring, learners
from itembank.content import ExamContent, ObjectiveContent
from itembank.models import Tenant
from itembank.store import Db, transaction
from tests.factories.articles import lesson, make_mistakes
from tests.factories.bank import make_exam, make_items, make_tenant
from tests.factories.clock import Clock
from tests.factories.http import Caller

PATH = "/v1/learners/ada/exams/exam"
FIXED = {"minimum_length": 1, "maximum_length": 12, "standard_error": None}


@pytest.fixture
def lms(engine: sa.Engine, client: FlaskClient, api_key: Callable[..., str]) -> Caller:
    with transaction(engine, writes=True) as db:
        exam = make_exam(db, make_tenant(db))
        make_items(db, exam, 24)
        make_mistakes(db, exam)
        authoring.add_article(db, exam, lesson(), actor="test", now=exam.created_at)
    return Caller(client, api_key("sessions:write", "learners:read", "admin"))


def tenant_id(db: Db) -> int:
    return db.exec(select(Tenant.id)).one()


def right(options: list[dict[str, Any]]) -> int:
    return next(place for place, option in enumerate(options) if "Answer 0" in option["text"])


def wrong(options: list[dict[str, Any]]) -> int:
    return next(place for place, option in enumerate(options) if "Answer 1" in option["text"])


def sit(
    lms: Caller,
    choose: Callable[[dict[str, Any]], Callable[[list[dict[str, Any]]], int]] = lambda item: right,
    *,
    mode: str = "adaptive_test",
    **more: Any,
) -> list[dict[str, Any]]:
    """A session from start to end; the items it served. choose : for an item, which option to take"""
    session = lms.start(mode=mode, **({"policy": FIXED} | more))
    served, items = session["next"], []
    while served is not None:
        items.append(served["item"])
        served = lms.answer(session["id"], served, choose(served["item"])).json["next"]
    return items


def weak_at(objective: str) -> Callable[[dict[str, Any]], Callable[[list[dict[str, Any]]], int]]:
    return lambda item: wrong if item["objective"] == objective else right


def test_a_learner_who_answered_is_known_by_objective_and_domain_with_intervals(lms: Caller) -> None:
    sit(lms, weak_at("1.1"))
    report = lms.get(PATH).json
    assert report["answers"] == 12
    assert report["ability"]["low"] < report["ability"]["theta"] < report["ability"]["high"]
    objectives = {each["code"]: each for each in report["objectives"]}
    assert list(objectives) == ["1.1", "1.2", "2.1"]
    assert sum(each["answers"] for each in objectives.values()) == 12
    assert all(each["right"] == (0 if code == "1.1" else each["answers"]) for code, each in objectives.items())
    assert [(each["code"], each["title"], each["evidence"]) for each in report["domains"]] == [
        ("1", "Foundations", "enough"),
        ("2", "Practice", "enough"),
    ]
    shares = [each["mastery"]["share_right"] for each in [objectives["1.1"], *report["domains"]]]
    assert all(0.0 < share["low"] < share["value"] < share["high"] < 1.0 for share in shares)
    assert objectives["1.1"]["mastery"]["above_cut"] < objectives["2.1"]["mastery"]["above_cut"]


def test_readiness_has_an_interval_and_two_objectives_to_study(lms: Caller) -> None:
    sit(lms, weak_at("1.1"))
    report = lms.get(PATH).json
    readiness = report["readiness"]
    assert (readiness["evidence"], readiness["missing"], readiness["form_length"]) == ("enough", [], 60)
    assert 0.0 <= readiness["probability"]["low"] < readiness["probability"]["value"]
    assert readiness["probability"]["value"] < readiness["probability"]["high"] <= 1.0
    assert len(report["study"]) == 2
    gains = [study["gain"] for study in report["study"]]
    assert gains[0]["value"] >= gains[1]["value"] > 0.0
    assert all(gain["low"] <= gain["value"] <= gain["high"] for gain in gains)


def test_what_lacks_evidence_says_how_much_is_missing_and_has_no_number(lms: Caller) -> None:
    sit(lms, objectives=["1.1"], policy=FIXED | {"maximum_length": 2})
    report = lms.get(PATH).json
    assert (report["evidence"], report["score"]) == ("not_enough", None)
    assert [(each["missing_answers"], each["mastery"]) for each in report["objectives"]] == [
        (1, None),
        (3, None),
        (3, None),
    ]
    assert report["readiness"]["evidence"] == "not_enough"
    assert report["readiness"]["probability"] is None
    assert [(each["code"], each["missing_answers"]) for each in report["readiness"]["missing"]] == [("1", 1), ("2", 3)]
    assert [study["gain"] for study in report["study"]] == [None, None]


def test_answering_seen_items_again_never_raises_readiness(lms: Caller, clock: Clock) -> None:
    sit(lms, weak_at("1.1"), policy=FIXED | {"maximum_length": 24})
    again = {"criterion": "random", "repeats": "when_exhausted", "repeat_after_hours": 0, "maximum_length": 24}
    clock.advance(days=2)
    before = lms.get(PATH).json
    for _ in range(5):
        assert len(sit(lms, mode="practice", policy=again)) == 24
    after = lms.get(PATH).json
    assert after["readiness"] == before["readiness"]
    assert after["ability"] == before["ability"]
    assert after["objectives"] == before["objectives"]
    assert after["reviews"] != before["reviews"]


def test_reviews_are_counted_as_they_fall_due(lms: Caller, clock: Clock, now: datetime) -> None:
    sit(lms)
    first = lms.get(PATH).json["reviews"]
    assert first["due"] == 0
    assert datetime.fromisoformat(first["next_due_at"]) >= now + timedelta(days=1)
    clock.advance(days=60)
    assert lms.get(PATH).json["reviews"] == {"due": 12, "next_due_at": None}


def test_articles_are_recommended_for_what_is_weak_and_say_for_which_objective(lms: Caller) -> None:
    sit(lms, weak_at("1.1"))
    found = lms.get(PATH).json["recommended_articles"]
    assert {(each["slug"], each["objective"]["code"]) for each in found} == {("mistakes", "1.1"), ("lesson", "1.1")}
    assert found[0]["href"] == f"/v1/articles/{found[0]['id']}"


def test_a_learner_new_to_the_exam_has_nothing_but_its_prior(lms: Caller, engine: sa.Engine, now: datetime) -> None:
    sit(lms)
    with transaction(engine, writes=True) as db:
        learners.get_or_add(db, tenant_id(db), "eve", now)
    report = lms.get("/v1/learners/eve/exams/exam").json
    assert (report["answers"], report["ability"]["theta"], report["ability"]["standard_error"]) == (
        0,
        0.0,
        pytest.approx(1.03, abs=0.05),
    )
    assert {each["evidence"] for each in [*report["domains"], *report["objectives"]]} == {"not_enough"}
    assert (report["reviews"], report["recommended_articles"]) == ({"due": 0, "next_due_at": None}, [])


def test_an_exam_that_nobody_has_begun_has_a_report_too(lms: Caller, engine: sa.Engine, now: datetime) -> None:
    sit(lms, policy=FIXED | {"maximum_length": 1})
    with transaction(engine, writes=True) as db:
        owner = tenant_id(db)
        authoring.create_exam(db, owner, ExamContent(slug="bare", title="Bare"), actor="test", now=now)
        blueprint = (ObjectiveContent("1", "All", 1.0),)
        content = ExamContent(slug="new", title="New", blueprint=blueprint, prior_mean=0.5)
        authoring.create_exam(db, owner, content, actor="test", now=now)
    bare, new = (lms.get(f"/v1/learners/ada/exams/{slug}").json for slug in ("bare", "new"))
    assert (bare["domains"], bare["objectives"]) == ([], [])
    assert [each["code"] for each in new["readiness"]["missing"]] == ["1"]
    assert (new["ability"]["theta"], new["readiness"]["form_length"]) == (0.5, None)


def test_what_was_learned_stays_with_its_codes_when_the_blueprint_changes(lms: Caller) -> None:
    sit(lms, weak_at("1.1"))
    before = {each["code"]: each for each in lms.get(PATH).json["objectives"]}
    domains = [
        {"code": "2", "title": "Doing", "weight": 0.5, "objectives": [{"code": "2.1", "title": "Do", "weight": 0.5}]},
        {
            "code": "1",
            "title": "Knowing",
            "weight": 0.5,
            "objectives": [
                {"code": "1.2", "title": "Uses", "weight": 0.1},
                {"code": "1.1", "title": "Words", "weight": 0.2},
                {"code": "1.9", "title": "More", "weight": 0.2},
            ],
        },
    ]
    etag = lms.get("/v1/exams/exam/blueprint").headers["ETag"]
    assert lms.put("/v1/exams/exam/blueprint", {"domains": domains}, etag).status_code == 200
    named = {each["code"]: each["title"] for each in lms.get(PATH).json["objectives"]}
    assert named == {"1.1": "Words", "1.2": "Uses", "2.1": "Do"}
    lms.start(learner="bob")  # which makes a pool by the new blueprint
    report = lms.get(PATH).json
    after = {each["code"]: each for each in report["objectives"]}
    assert list(after) == ["2.1", "1.2", "1.1", "1.9"]
    assert after["1.1"]["mastery"]["theta"] == pytest.approx(before["1.1"]["mastery"]["theta"])
    assert (after["1.9"]["answers"], after["1.9"]["mastery"]) == (0, None)
    assert report["readiness"]["evidence"] == "enough"


def test_an_erased_learner_is_not_found(lms: Caller) -> None:
    sit(lms)
    assert lms.delete("/v1/learners/ada").status_code == 200
    assert lms.get(PATH).status_code == 404
    assert lms.get(f"{PATH}/plan?minutes_per_day=30").status_code == 404


def test_another_tenants_learner_and_exam_are_not_found(lms: Caller, stranger: Caller) -> None:
    sit(lms, policy=FIXED | {"maximum_length": 1})
    assert stranger.get(PATH).status_code == 404
    assert stranger.get(f"{PATH}/plan?minutes_per_day=30").status_code == 404
