"""Sessions: start one, get an item, answer it, and so on to the report. All of it is `engine.delivery`."""

import secrets
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
from flask import current_app

from api import context
from api.auth import tokens
from api.auth.guard import requires
from api.context import creates, reads, writes, writes_at_once
from api.schemas.blueprint import Blueprint
from api.schemas.paging import PageQuery, page, page_of, place
from api.schemas.session_json import filled_json, report_json, served_json, session_json, step_json, traced_json
from api.schemas.sessions import (
    DOMAIN_EXAMPLE,
    ITEM_EXAMPLE,
    AnswerSchema,
    ChangeSchema,
    FilledSchema,
    ReportSchema,
    ServedSchema,
    SessionSchema,
    StartedSchema,
    StartSessionSchema,
    StepSchema,
    TokenSchema,
    TracedResponseSchema,
)
from api.v1._clock import keeps_time
from engine import delivery, reports, tracing
from engine.answers import Change, Given, Sheet
from engine.delivery import LARGEST_SEED
from engine.irt import estimate
from engine.selection import Feedback, Policy
from itembank import catalog, responses, sessions
from itembank.content import SessionStatus
from itembank.errors import NotFound
from itembank.models import Session

blp = Blueprint("sessions", __name__, url_prefix="/v1/sessions", description="A learner's sittings, item by item.")

ANSWER_EXAMPLE = {
    "position": 1,
    "item": "0197a3f0-5a3c-7c1e-9d4b-2f6f0c8e1a52",
    "selected": ["5f0c9c3e-8a34-4f0e-9b5e-0d6f7f3b9a11"],
    "response_time_ms": 21500,
}
START_EXAMPLE = {"exam": "ai-infrastructure", "learner": "student-17", "mode": "practice"}
SESSION_EXAMPLE = {
    "id": "0197a3f0-6b1d-7a52-8f0e-1d2c3b4a5968",
    "exam": "ai-infrastructure",
    "learner": "student-17",
    "mode": "practice",
    "policy": {"criterion": "posterior_information", "feedback": "immediate"},
    "objectives": [],
    "seed": 4210583027,
    "status": "in_progress",
    "stop_reason": None,
    "answered": 0,
    "ability": {"theta": 0.0, "standard_error": 1.0},
    "started_at": "2026-01-05T09:00:00.000Z",
    "expires_at": None,
    "seconds_left": None,
    "finished_at": None,
    "form": None,
}
FILLED_EXAMPLE = ITEM_EXAMPLE | {
    "selected": ["c2f1b7de-3f3a-4f57-8a0e-6a2f8f1f0b22"],
    "flagged": True,
    "revision": 2,
}
CHANGE_EXAMPLE = {"selected": ["c2f1b7de-3f3a-4f57-8a0e-6a2f8f1f0b22"], "flagged": True, "response_time_ms": 9000}
STEP_EXAMPLE = {
    "position": 1,
    "correct": True,
    "score": 1.0,
    "feedback": {
        "short_explanation": "<p>Training keeps what it needs to change the weights.</p>",
        "full_explanation": "<p>Backpropagation needs …</p>",
        "options": [
            {
                "id": "5f0c9c3e-8a34-4f0e-9b5e-0d6f7f3b9a11",
                "correct": True,
                "selected": True,
                "rationale": "<p>Only training updates weights.</p>",
                "misconception": None,
            }
        ],
        "articles": [],
        "media": [],
        "references": [],
    },
    "ability": {"theta": 0.31, "standard_error": 0.93},
    "status": "in_progress",
    "stop_reason": None,
    "decision": None,
    "next": ITEM_EXAMPLE | {"position": 2},
}
REPORT_EXAMPLE = {
    "session": "0197a3f0-6b1d-7a52-8f0e-1d2c3b4a5968",
    "status": "finished",
    "stop_reason": "standard_error",
    "answers": 24,
    "right": 15,
    "ability": {"theta": 0.42, "standard_error": 0.3},
    "estimate": {"estimator": "eap", "theta": 0.42, "standard_error": 0.3, "at_bound": False},
    "score": {"value": 542.0, "low": 492.7, "high": 591.3},
    "evidence": "enough",
    "decision": None,
    "objectives": [{"code": "1.3", "title": "Compare and contrast …", "answers": 4, "right": 3}],
    "domains": [
        DOMAIN_EXAMPLE,
        {
            "code": "2",
            "title": "AI programming and integration",
            "answers": 2,
            "evidence": "not_enough",
            "missing_answers": 1,
            "mastery": None,
        },
    ],
    "next_due_at": "2026-01-06T09:00:00.000Z",
    "items": [],
    "form": None,
}


@blp.route("", methods=["POST"])
@requires("sessions:write")
@keeps_time
@creates
@blp.problems(404)
@blp.arguments(StartSessionSchema, example=START_EXAMPLE)
@blp.response(201, StartedSchema, example=SESSION_EXAMPLE | {"next": ITEM_EXAMPLE})
def start_session(body: dict[str, Any]) -> Any:
    """Start a session

    The first item comes with the reply. A learner is known by the id you send; the first time one is seen, it is
    created. `409` if no item can be served. A `mock` gets its whole form here; if the bank can't fill the blueprint,
    `422` says what clashes.
    """
    db, who, now = context.db(), context.caller(), context.now()
    exam = catalog.get_exam(db, who.tenant_id, body["exam"])
    seed = secrets.randbelow(LARGEST_SEED + 1) if body["seed"] is None else body["seed"]
    session = delivery.start(
        db,
        tenant_id=who.tenant_id,
        exam=exam,
        learner=body["learner"],
        mode=body["mode"],
        changes=body["policy"],
        objectives=body["objectives"],
        seed=seed,
        actor=who.actor,
        now=now,
    )
    context.concerns_learner(session.learner_id)
    ability = estimate(np.frombuffer(session.log_posterior))
    reply = session_json(session, exam.slug, body["learner"], ability, now=now, sheet=_sheet(session))
    if session.form is not None:
        reply["ability"] = None
    reply["next"] = served_json(delivery.current(db, session))
    response = current_app.json.response(reply)
    response.status_code = 201
    response.headers["Location"] = f"/v1/sessions/{session.uuid}"
    return response


@blp.route("/<uuid:session>")
@requires("sessions:write", session=True)
@keeps_time
@reads
@blp.response(200, SessionSchema, example=SESSION_EXAMPLE)
def get_session(session: UUID) -> Any:
    """Read a session"""
    db = context.db()
    found = _found(session)
    slug, learner = sessions.names(db, found)
    return current_app.json.response(_session_json(found, slug, learner))


@blp.route("/<uuid:session>/next")
@requires("sessions:write", session=True)
@keeps_time
@reads
@blp.problems(409)
@blp.response(200, ServedSchema, example=ITEM_EXAMPLE)
def get_next_item(session: UUID) -> Any:
    """Read the item at the open position

    It was chosen when the answer before it was stored, so reading it again gives the same one. Of a form it is the
    first position without an answer. `409` when the session is finished, or every position of its form has an answer.
    """
    db = context.db()
    found = _found(session)
    return current_app.json.response(served_json(delivery.current(db, found)))


@blp.route("/<uuid:session>/responses", methods=["POST"])
@requires("sessions:write", session=True)
@keeps_time
@writes_at_once
@blp.problems(409)
@blp.arguments(AnswerSchema, example=ANSWER_EXAMPLE)
@blp.response(200, StepSchema, example=STEP_EXAMPLE)
def answer(given: Given, session: UUID) -> Any:
    """Answer the open position

    The reply has the explanation, as the policy allows, and the next item. Sending the same answer again gives the same
    reply and stores nothing; another answer to a settled position is `409`. On a form any position without an answer
    can be answered, and nothing is told of it.
    """
    who = context.caller()
    key = context.idempotency_key()
    step = delivery.answer(context.db(), who.tenant_id, session, replace(given, idempotency_key=key), now=context.now())
    return current_app.json.response(step_json(step, to_learner=who.is_learner))


@blp.route("/<uuid:session>/items/<int:position>")
@requires("sessions:write", session=True)
@keeps_time
@reads
@blp.problems(409)
@blp.response(200, FilledSchema, example=FILLED_EXAMPLE)
def get_session_item(session: UUID, position: int) -> Any:
    """Read a position of a form

    Any position, in any order, with what is selected so far. `409` for a session without a form, `404` beyond its end.
    """
    return current_app.json.response(filled_json(delivery.position_of(context.db(), _found(session), position)))


@blp.route("/<uuid:session>/responses/<int:position>", methods=["PUT"])
@requires("sessions:write", session=True)
@keeps_time
@writes
@blp.problems(409)
@blp.arguments(ChangeSchema, example=CHANGE_EXAMPLE)
@blp.response(200, FilledSchema, example=FILLED_EXAMPLE)
def change_response(body: dict[str, Any], session: UUID, position: int) -> Any:
    """Answer or flag a position of a form, or change its answer

    Until the form is over or its time is. Every change is kept and the last one counts. Sending the same again, or with
    the same `Idempotency-Key`, gives the same reply and stores nothing.
    """
    selected = body.get("selected")
    asked = Change(
        position=position,
        item=body["item"],
        selected=None if selected is None else tuple(selected),
        selects="selected" in body,
        flagged=body.get("flagged"),
        response_time_ms=body["response_time_ms"],
        idempotency_key=context.idempotency_key(),
    )
    found = sessions.get(context.db(), context.caller().tenant_id, session)
    return current_app.json.response(filled_json(delivery.change(context.db(), found, asked, now=context.now())))


@blp.route("/<uuid:session>/finish", methods=["POST"])
@requires("sessions:write", session=True)
@keeps_time
@writes
@blp.response(200, SessionSchema, example=SESSION_EXAMPLE | {"status": "finished", "stop_reason": "finished"})
def finish_session(session: UUID) -> Any:
    """Finish a session

    A session that is finished already stays as it is. A form is counted now; positions without an answer are not right.
    """
    db, who = context.db(), context.caller()
    delivery.finish(db, who.tenant_id, session, now=context.now())
    found = _found(session)
    slug, learner = sessions.names(db, found)
    return current_app.json.response(_session_json(found, slug, learner))


@blp.route("/<uuid:session>/report")
@requires("sessions:write", session=True)
@keeps_time
@reads
@blp.response(200, ReportSchema, example=REPORT_EXAMPLE)
def get_session_report(session: UUID) -> Any:
    """Read what a session came to

    Every answered position with its explanation, as the policy allows, and the score on the exam's scale with its
    interval, or `not_enough` evidence for one. A session whose policy classifies has its decision, pass or fail, once
    it is over; so does a form, whose report has every position, the pass mark and the chance of passing another. One
    that starts from the exam's prior, such as `diagnostic`, has a map of the domains by its own clean answers. When it
    is over, `next_due_at` says when the learner's next review is due.
    """
    db = context.db()
    found = _found(session)
    report = reports.session_report(db, sessions.exam(db, found), found, now=context.now())
    return current_app.json.response(report_json(found, report, shows=_shows(found)))


class ResponsesQuery(PageQuery):
    """A session's answers, page by page."""


@blp.route("/<uuid:session>/responses", methods=["GET"])
@requires("items:review")
@keeps_time
@reads
@blp.arguments(ResponsesQuery, location="query")
@blp.response(200, page_of(TracedResponseSchema), example={"data": [], "next_cursor": None})
def list_session_responses(query: dict[str, Any], session: UUID) -> Any:
    """List a session's answers with their traces

    A trace says what each choice rested on: ability, need of content, the best candidates with their scores, what was
    excluded, the seed.
    """
    db = context.db()
    found = _found(session)
    at = place(query)
    rows = db.execute(responses.answers(found.id, after=at.after or 0, limit=at.fetch)).all()
    body = page(rows, at, key=lambda row: row[0].position)
    public = tracing.public_traces(db, [row[0].trace for row in body["data"]])
    data = [
        traced_json(response, score, item, version, objective, trace)
        for (response, score, item, version, objective), trace in zip(body["data"], public, strict=True)
    ]
    return current_app.json.response(body | {"data": data})


@blp.route("/<uuid:session>/tokens", methods=["POST"])
@requires("sessions:write")
@reads
@blp.response(
    201, TokenSchema, example={"token": "eyJ…", "token_type": "Bearer", "expires_at": "2026-01-05T11:00:00.000Z"}
)
def create_session_token(session: UUID) -> Any:
    """Make a token for a learner's browser

    It is good for this session only, and for a short while.
    """
    who, now = context.caller(), context.now()
    found = sessions.get(context.db(), who.tenant_id, session)
    config = context.config()
    expires_at = now + timedelta(minutes=config.learner_token_minutes)
    claims = tokens.SessionToken(found.uuid, who.client_uuid, who.tenant_uuid, expires_at)
    text = tokens.issue(claims, secret_key=config.secret_key or "", now=now)
    return {"token": text, "token_type": "Bearer", "expires_at": expires_at}


def _session_json(session: Session, exam: str, learner: str | None) -> dict[str, Any]:
    """A session as its caller may see it. The seed would tell a learner the author's order of the options."""
    ability = estimate(np.frombuffer(session.log_posterior))
    reply = session_json(session, exam, learner, ability, now=context.now(), sheet=_sheet(session))
    if not _shows(session):
        reply["ability"] = None
    if context.caller().is_learner:
        reply["seed"] = None
    return reply


def _sheet(session: Session) -> Sheet | None:
    return None if session.form is None else delivery.sheet(context.db(), session)


def _found(session: UUID) -> Session:
    """The session, its time not over; for a learner's token only as long as the learner has not been erased."""
    db, who = context.db(), context.caller()
    found = sessions.get(db, who.tenant_id, session)
    if who.is_learner and sessions.names(db, found)[1] is None:
        raise NotFound("session", session)
    delivery.check_time(found, context.now())
    return found


def _shows(session: Session) -> bool:
    """Whether the caller may see how the session stands: a learner's token not before the policy allows it.

    Of a form nobody may: what there is of it is where it began.
    """
    if session.form is not None:
        return session.status is SessionStatus.FINISHED
    at_once = Policy.from_json(session.policy).feedback is Feedback.immediate
    return not context.caller().is_learner or at_once or session.status is SessionStatus.FINISHED
