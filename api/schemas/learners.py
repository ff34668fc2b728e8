"""What is known of a learner, and what remains after one is erased."""

from typing import Any

from marshmallow import fields, validate

from api.schemas.base import Moment, Reply, format_moment
from api.schemas.session_json import ability_json, objective_count_json, scaled_score_json
from api.schemas.sessions import AbilitySchema, ObjectiveCountSchema, ScaledScoreSchema
from engine.reports import LearnerReport
from itembank.models import FormAnswer, Learner, Response, Score, Session


class ArticleReferenceSchema(Reply):
    id = fields.UUID(required=True)
    slug = fields.String(required=True)
    kind = fields.String(required=True)
    title = fields.String(required=True)
    href = fields.String(required=True)


class LearnerExamSchema(Reply):
    """What a learner's clean first answers to an exam say."""

    learner = fields.String(required=True)
    exam = fields.String(required=True)
    answers = fields.Integer(required=True, metadata={"description": "the clean first ones, which ability rests on"})
    ability = fields.Nested(AbilitySchema, required=True)
    score = fields.Nested(
        ScaledScoreSchema, required=True, allow_none=True, metadata={"description": "null without enough evidence"}
    )
    evidence = fields.String(
        required=True, validate=validate.OneOf(["enough", "not_enough"]), metadata={"description": "for a score"}
    )
    objectives = fields.List(fields.Nested(ObjectiveCountSchema), required=True)
    recommended_articles = fields.List(fields.Nested(ArticleReferenceSchema), required=True)


class LearnerResponseSchema(Reply):
    position = fields.Integer(required=True)
    item = fields.UUID(required=True)
    selected = fields.List(fields.UUID(), required=True)
    correct = fields.Boolean(required=True)
    response_time_ms = fields.Integer(required=True, allow_none=True)
    answered_at = Moment(required=True)


class FormAnswerSchema(Reply):
    """An answer or a change on a form, as it was made."""

    position = fields.Integer(required=True)
    revision = fields.Integer(required=True)
    selected = fields.List(fields.UUID(), required=True, allow_none=True)
    flagged = fields.Boolean(required=True)
    response_time_ms = fields.Integer(required=True, allow_none=True)
    answered_at = Moment(required=True)


class LearnerSessionSchema(Reply):
    id = fields.UUID(required=True)
    exam = fields.String(required=True)
    mode = fields.String(required=True)
    status = fields.String(required=True)
    started_at = Moment(required=True)
    finished_at = Moment(required=True, allow_none=True)
    responses = fields.List(fields.Nested(LearnerResponseSchema), required=True)
    form_answers = fields.List(
        fields.Nested(FormAnswerSchema), required=True, metadata={"description": "of a form, every change as it came"}
    )


class LearnerDataSchema(Reply):
    """All that is stored about a learner."""

    learner = fields.String(required=True)
    pseudonym = fields.UUID(required=True, metadata={"description": "what exports call the learner"})
    created_at = Moment(required=True)
    sessions = fields.List(fields.Nested(LearnerSessionSchema), required=True)


class KeptSchema(Reply):
    """What is kept, under a pseudonym that nothing ties to the learner any more."""

    pseudonym = fields.UUID(required=True)
    sessions = fields.Integer(required=True)
    responses = fields.Integer(required=True)


class ErasedSchema(Reply):
    erased_at = Moment(required=True)
    kept = fields.Nested(KeptSchema, required=True)


def learner_exam_json(learner: str, exam: str, report: LearnerReport) -> dict[str, Any]:
    return {
        "learner": learner,
        "exam": exam,
        "answers": report.answers,
        "ability": ability_json(report.ability),
        "score": scaled_score_json(report.score),
        "evidence": "not_enough" if report.score is None else "enough",
        "objectives": [objective_count_json(count) for count in report.objectives],
        "recommended_articles": [
            {
                "id": str(record.article.uuid),
                "slug": record.content.slug,
                "kind": record.content.kind.value,
                "title": record.content.title,
                "href": f"/v1/articles/{record.article.uuid}",
            }
            for record in report.articles
        ],
    }


def learner_session_json(
    session: Session, exam: str, rows: list[tuple[Response, Score, Any]], form_answers: list[FormAnswer]
) -> dict[str, Any]:
    return {
        "id": str(session.uuid),
        "exam": exam,
        "mode": session.mode,
        "status": session.status.value,
        "started_at": format_moment(session.started_at),
        "finished_at": None if session.finished_at is None else format_moment(session.finished_at),
        "responses": [
            {
                "position": response.position,
                "item": str(item),
                "selected": response.selected,
                "correct": score.correct,
                "response_time_ms": response.response_time_ms,
                "answered_at": format_moment(response.answered_at),
            }
            for response, score, item in rows
        ],
        "form_answers": [
            {
                "position": answer.position,
                "revision": answer.revision,
                "selected": answer.selected,
                "flagged": answer.flagged,
                "response_time_ms": answer.response_time_ms,
                "answered_at": format_moment(answer.answered_at),
            }
            for answer in form_answers
        ],
    }


def learner_data_json(learner: Learner, sessions: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "learner": learner.external_id,
        "pseudonym": str(learner.uuid),
        "created_at": format_moment(learner.created_at),
        "sessions": sessions,
    }
