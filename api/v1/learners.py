"""Learners: what is known of one, a plan for one, all that is stored, and erasing it."""

from datetime import date, timedelta
from typing import Any

from flask import current_app

from api import context
from api.auth import requires
from api.context import reads, writes
from api.errors import Fault, InvalidParameters
from api.schemas.blueprint import Blueprint
from api.schemas.learners import (
    ErasedSchema,
    LearnerDataSchema,
    LearnerExamSchema,
    PlanQuery,
    PlanSchema,
    learner_data_json,
    learner_exam_json,
    learner_session_json,
    plan_json,
)
from api.schemas.sessions import DOMAIN_EXAMPLE
from api.v1._clock import keeps_time
from engine import delivery, learner_reports, plans
from engine.learner import LONGEST_HORIZON
from itembank import catalog, clients, form_answers, learners, responses

blp = Blueprint("learners", __name__, url_prefix="/v1/learners", description="What is known of a learner.")

LEARNER_EXAM_EXAMPLE = {
    "learner": "student-17",
    "exam": "ai-infrastructure",
    "answers": 24,
    "ability": {"theta": 0.42, "standard_error": 0.3, "low": -0.07, "high": 0.91},
    "score": {"value": 542.0, "low": 492.7, "high": 591.3},
    "evidence": "enough",
    "domains": [DOMAIN_EXAMPLE],
    "objectives": [
        DOMAIN_EXAMPLE | {"code": "1.3", "title": "Compare and contrast …", "domain": "1", "answers": 4, "right": 3},
        {
            "code": "1.4",
            "title": "Describe …",
            "domain": "1",
            "answers": 1,
            "right": 1,
            "evidence": "not_enough",
            "missing_answers": 2,
            "mastery": None,
        },
    ],
    "readiness": {
        "evidence": "enough",
        "probability": {"value": 0.71, "low": 0.22, "high": 0.98},
        "missing": [],
        "form_length": 60,
        "pass_mark": 38,
    },
    "study": [{"code": "1.3", "title": "Compare and contrast …", "gain": {"value": 0.04, "low": 0.01, "high": 0.07}}],
    "reviews": {"due": 5, "next_due_at": "2026-01-06T09:00:00.000Z"},
    "recommended_articles": [
        {
            "id": "0197a3f0-7c2e-7b63-9a1f-3e4d5c6b7a89",
            "slug": "training-and-inference",
            "kind": "lesson",
            "title": "Training and inference",
            "href": "/v1/articles/0197a3f0-7c2e-7b63-9a1f-3e4d5c6b7a89",
            "objective": {"code": "1.3", "title": "Compare and contrast …"},
        }
    ],
}
DAY_EXAMPLE = {
    "date": "2026-01-05",
    "phase": "learn",
    "minutes": 29.6,
    "reviews": 5,
    "unseen": [{"objective": "1.3", "items": 15}, {"objective": "2.1", "items": 7}],
}
PLAN_EXAMPLE = {
    "learner": "student-17",
    "exam": "ai-infrastructure",
    "exam_date": "2026-01-20",
    "minutes_per_day": 30,
    "pace": 1.1,
    "seconds_per_item": 66.0,
    "today": DAY_EXAMPLE
    | {
        "items": ["0197a3f0-5a3c-7c1e-9d4b-2f6f0c8e1a52"],
        "session": {
            "mode": "practice",
            "objectives": ["1.3", "2.1"],
            "policy": {"maximum_length": 27, "review_share": 0.185},
        },
        "next_due_at": "2026-01-06T09:00:00.000Z",
    },
    "days": [DAY_EXAMPLE],
}
DATA_EXAMPLE = {
    "learner": "student-17",
    "pseudonym": "0197a3f0-6b1d-7a52-8f0e-1d2c3b4a5968",
    "created_at": "2026-01-05T09:00:00.000Z",
    "sessions": [],
}
ERASED_EXAMPLE = {
    "erased_at": "2026-01-05T09:00:00.000Z",
    "kept": {"pseudonym": "0197a3f0-6b1d-7a52-8f0e-1d2c3b4a5968", "sessions": 3, "responses": 71},
}


@blp.route("/<external:learner>/exams/<exam>")
@requires("learners:read")
@keeps_time
@reads
@blp.response(200, LearnerExamSchema, example=LEARNER_EXAM_EXAMPLE)
def get_learner_exam(learner: str, exam: str) -> Any:
    """Read what is known of a learner in an exam

    Ability from clean first answers over all sessions, and a score; mastery of every domain and objective; readiness,
    the probability of passing a form of the blueprint today; which two objectives to study; what is due for review;
    what to read. Each number has its interval, or `evidence` says `not_enough`. Answering seen items again moves none
    of it but the reviews.
    """
    db, tenant = context.db(), context.caller().tenant_id
    found = catalog.get_exam(db, tenant, exam)
    who, now = learners.get(db, tenant, learner), context.now()
    delivery.check_times(db, who.id, found.id, now)
    report = learner_reports.learner_report(db, found, who, now=now)
    return current_app.json.response(learner_exam_json(learner, exam, report))


@blp.route("/<external:learner>/exams/<exam>/plan")
@requires("learners:read")
@reads
@blp.arguments(PlanQuery, location="query")
@blp.response(200, PlanSchema, example=PLAN_EXAMPLE)
def get_learner_plan(query: dict[str, Any], learner: str, exam: str) -> Any:
    """Plan a learner's days up to an exam

    Due reviews and items not met yet that fill the minutes of each day, at the learner's own pace. It is made anew from
    what is known now, so a missed day leaves no backlog: ask again each day. Days after today are a forecast.
    """
    db, tenant, now = context.db(), context.caller().tenant_id, context.now()
    found = catalog.get_exam(db, tenant, exam)
    offset, exam_date = timedelta(minutes=query["utc_offset_minutes"]), query.get("exam_date")
    _check_exam_date(exam_date, (now + offset).date())
    plan = plans.daily_plan(
        db,
        found,
        learners.get(db, tenant, learner),
        minutes_per_day=query["minutes_per_day"],
        exam_date=exam_date,
        utc_offset=offset,
        now=now,
    )
    return current_app.json.response(plan_json(learner, exam, query, plan))


def _check_exam_date(exam_date: date | None, today: date) -> None:
    """Raise InvalidParameters for a day that no plan can lead to."""
    last = today + timedelta(days=LONGEST_HORIZON - 1)
    if exam_date is not None and not today <= exam_date <= last:
        raise InvalidParameters([Fault(f"{exam_date}: a day from {today} to {last} expected", parameter="exam_date")])


@blp.route("/<external:learner>/data")
@requires("learners:read")
@reads
@blp.response(200, LearnerDataSchema, example=DATA_EXAMPLE)
def get_learner_data(learner: str) -> Any:
    """Read all that is stored about a learner"""
    db, tenant = context.db(), context.caller().tenant_id
    found = learners.get(db, tenant, learner)
    answered, forms = responses.by_session(db, found.id), form_answers.by_session(db, found.id)
    sessions = [
        learner_session_json(session, slug, answered.get(session.id, []), forms.get(session.id, []))
        for session, slug in learners.sessions_with_exam(db, found.id)
    ]
    return current_app.json.response(learner_data_json(found, sessions))


@blp.route("/<external:learner>", methods=["DELETE"])
@requires("admin")
@writes
@blp.response(200, ErasedSchema, example=ERASED_EXAMPLE)
def erase_learner(learner: str) -> Any:
    """Erase a learner

    At once and for good: nothing ties the learner's id to the answers any more. The answers themselves are kept under a
    pseudonym, since item statistics rest on them. The same id seen again is a new learner.
    """
    db, who, now = context.db(), context.caller(), context.now()
    found = learners.get(db, who.tenant_id, learner)
    kept = learners.erase(db, found, now)
    clients.audit(
        db, who.tenant_id, actor=who.actor, action="learner.erase", entity="learner", entity_uuid=found.uuid, now=now
    )
    return {
        "erased_at": now,
        "kept": {"pseudonym": found.uuid, "sessions": kept.sessions, "responses": kept.responses},
    }
