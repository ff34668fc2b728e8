"""Learners: what is known of one, all that is stored, and erasing it."""

from typing import Any

from flask import current_app

from api import context
from api.auth import requires
from api.context import reads, writes
from api.schemas.blueprint import Blueprint
from api.schemas.learners import (
    ErasedSchema,
    LearnerDataSchema,
    LearnerExamSchema,
    learner_data_json,
    learner_exam_json,
    learner_session_json,
)
from api.v1._clock import keeps_time
from engine import delivery, reports
from itembank import catalog, clients, form_answers, learners, responses

blp = Blueprint("learners", __name__, url_prefix="/v1/learners", description="What is known of a learner.")

LEARNER_EXAM_EXAMPLE = {
    "learner": "student-17",
    "exam": "ai-infrastructure",
    "answers": 24,
    "ability": {"theta": 0.42, "standard_error": 0.3},
    "score": {"value": 542.0, "low": 492.7, "high": 591.3},
    "evidence": "enough",
    "objectives": [{"code": "1.3", "title": "Compare and contrast …", "answers": 4, "right": 3}],
    "recommended_articles": [],
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

    Ability from clean first answers over all sessions, a score with its interval once there is enough evidence, counts
    by objective, and what to read.
    """
    db, tenant = context.db(), context.caller().tenant_id
    found = catalog.get_exam(db, tenant, exam)
    who, now = learners.get(db, tenant, learner), context.now()
    delivery.check_times(db, who.id, found.id, now)
    report = reports.learner_report(db, found, who, now=now)
    return current_app.json.response(learner_exam_json(learner, exam, report))


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
