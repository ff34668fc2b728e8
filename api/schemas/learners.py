"""What is known of a learner, the plan up to the exam, and what remains after one is erased."""

from datetime import datetime
from typing import Any

from marshmallow import fields, validate

from api.schemas.base import Day, Moment, Query, QueryInteger, Reply, format_moment
from api.schemas.session_json import ability_json, estimate_json, graded_json, scaled_score_json
from api.schemas.sessions import AbilitySchema, DomainMasterySchema, EstimateSchema, ScaledScoreSchema
from engine.learner import Phase
from engine.learner_reports import LearnerReport, ReadinessReport, Reading
from engine.plans import Plan, PlannedDay
from engine.reports import TO_95
from engine.selection import Mode
from itembank.models import FormAnswer, Learner, Response, Score, Session

LONGEST_DAY = 24 * 60
EARLIEST_OFFSET, LATEST_OFFSET = -12 * 60, 14 * 60


class ReasonSchema(Reply):
    """The objective that an article is recommended for."""

    code = fields.String(required=True)
    title = fields.String(required=True)


class ArticleReferenceSchema(Reply):
    id = fields.UUID(required=True)
    slug = fields.String(required=True)
    kind = fields.String(required=True)
    title = fields.String(required=True)
    href = fields.String(required=True)
    objective = fields.Nested(ReasonSchema, required=True)


class LikelyAbilitySchema(AbilitySchema):
    """Ability in logits; `low` and `high` are the 5 and 95 % points."""

    low = fields.Float(required=True)
    high = fields.Float(required=True)


class ObjectiveMasterySchema(DomainMasterySchema):
    """An objective and what is known of it."""

    domain = fields.String(required=True, metadata={"description": "code of the domain it is in"})
    right = fields.Integer(required=True, metadata={"description": "of its answers"})


class MissingSchema(Reply):
    """A domain that lacks evidence."""

    code = fields.String(required=True)
    title = fields.String(required=True)
    missing_answers = fields.Integer(required=True, metadata={"description": "clean first ones"})


class ReadinessSchema(Reply):
    """Whether the learner would pass today."""

    evidence = fields.String(required=True, validate=validate.OneOf(["enough", "not_enough"]))
    probability = fields.Nested(
        EstimateSchema, required=True, allow_none=True, metadata={"description": "null without enough evidence"}
    )
    missing = fields.List(
        fields.Nested(MissingSchema), required=True, metadata={"description": "domains to answer more items of first"}
    )
    form_length = fields.Integer(
        required=True, allow_none=True, metadata={"description": "items of the form; null where none can be served yet"}
    )
    pass_mark = fields.Integer(required=True, allow_none=True, metadata={"description": "how many right pass it"})


class StudySchema(Reply):
    """An objective whose study would help most."""

    code = fields.String(required=True)
    title = fields.String(required=True)
    gain = fields.Nested(
        EstimateSchema,
        required=True,
        allow_none=True,
        metadata={
            "description": "what half a logit more on it would add to the probability of passing; null while that has "
            "not enough evidence"
        },
    )


class ReviewsSchema(Reply):
    """What the learner should see again."""

    due = fields.Integer(required=True, metadata={"description": "items that are due now"})
    next_due_at = Moment(
        required=True, allow_none=True, metadata={"description": "when the next one will be; null where none will"}
    )


class LearnerExamSchema(Reply):
    """What a learner's clean first answers to an exam say."""

    learner = fields.String(required=True)
    exam = fields.String(required=True)
    answers = fields.Integer(required=True, metadata={"description": "the clean first ones, which ability rests on"})
    ability = fields.Nested(LikelyAbilitySchema, required=True)
    score = fields.Nested(
        ScaledScoreSchema, required=True, allow_none=True, metadata={"description": "null without enough evidence"}
    )
    evidence = fields.String(
        required=True, validate=validate.OneOf(["enough", "not_enough"]), metadata={"description": "for a score"}
    )
    domains = fields.List(fields.Nested(DomainMasterySchema), required=True)
    objectives = fields.List(fields.Nested(ObjectiveMasterySchema), required=True)
    readiness = fields.Nested(ReadinessSchema, required=True)
    study = fields.List(
        fields.Nested(StudySchema), required=True, metadata={"description": "at most two objectives, best first"}
    )
    reviews = fields.Nested(ReviewsSchema, required=True)
    recommended_articles = fields.List(
        fields.Nested(ArticleReferenceSchema), required=True, metadata={"description": "most needed first"}
    )


class PlanQuery(Query):
    """How much time there is."""

    minutes_per_day = QueryInteger(
        required=True, minimum=1, maximum=LONGEST_DAY, metadata={"description": "that the learner wants to study"}
    )
    exam_date = Day(metadata={"description": "the day of the exam, within a year; without one, a week is planned"})
    utc_offset_minutes = QueryInteger(
        minimum=EARLIEST_OFFSET,
        maximum=LATEST_OFFSET,
        load_default=0,
        metadata={"description": "how far the learner's clock is ahead of UTC: what day it is goes by it"},
    )


class UnseenSchema(Reply):
    """How many items of an objective that were not met yet."""

    objective = fields.String(required=True)
    items = fields.Integer(required=True)


class PlannedDaySchema(Reply):
    date = fields.Date(required=True)
    phase = fields.Enum(
        Phase,
        by_value=True,
        required=True,
        metadata={
            "description": "`learn` (what helps most, reviews up to half of the time), `consolidate` (reviews first), "
            "`light` (the eve: reviews, half of the time), `mock` (a full form), `exam`"
        },
    )
    minutes = fields.Float(required=True, metadata={"description": "at the learner's own pace"})
    reviews = fields.Integer(required=True, metadata={"description": "items to see again"})
    unseen = fields.List(fields.Nested(UnseenSchema), required=True)


class SuggestionSchema(Reply):
    """Members for the body of `POST /v1/sessions`."""

    mode = fields.Enum(Mode, by_value=True, required=True)
    objectives = fields.List(fields.String(), required=True)
    policy = fields.Dict(required=True)


class TodaySchema(PlannedDaySchema):
    items = fields.List(
        fields.UUID(), required=True, metadata={"description": "ids of the items to review, in their order"}
    )
    session = fields.Nested(
        SuggestionSchema,
        required=True,
        allow_none=True,
        metadata={"description": "what to start for it; null where nothing can be served now"},
    )
    next_due_at = Moment(
        required=True, allow_none=True, metadata={"description": "when the next item is due that is not due yet"}
    )


class PlanSchema(Reply):
    """A daily queue. It is made anew with each call, and nothing of it is stored."""

    learner = fields.String(required=True)
    exam = fields.String(required=True)
    exam_date = fields.Date(required=True, allow_none=True)
    minutes_per_day = fields.Integer(required=True)
    pace = fields.Float(
        required=True, metadata={"description": "how long the learner's answers take, as a multiple of the usual"}
    )
    seconds_per_item = fields.Float(required=True, metadata={"description": "for this learner"})
    today = fields.Nested(TodaySchema, required=True)
    days = fields.List(fields.Nested(PlannedDaySchema), required=True, metadata={"description": "today first"})


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
    margin = TO_95 * report.ability.standard_error
    interval = {"low": report.ability.theta - margin, "high": report.ability.theta + margin}
    return {
        "learner": learner,
        "exam": exam,
        "answers": report.answers,
        "ability": ability_json(report.ability) | interval,
        "score": scaled_score_json(report.score),
        "evidence": "not_enough" if report.score is None else "enough",
        "domains": [graded_json(domain) for domain in report.domains],
        "objectives": [
            graded_json(each.graded) | {"domain": each.domain, "right": each.right} for each in report.objectives
        ],
        "readiness": _readiness_json(report.readiness),
        "study": [
            {"code": study.code, "title": study.title, "gain": estimate_json(study.gain)} for study in report.study
        ],
        "reviews": {"due": report.reviews.due, "next_due_at": _moment_or_none(report.reviews.next_due_at)},
        "recommended_articles": [_reading_json(reading) for reading in report.articles],
    }


def _readiness_json(readiness: ReadinessReport) -> dict[str, Any]:
    return {
        "evidence": "not_enough" if readiness.probability is None else "enough",
        "probability": estimate_json(readiness.probability),
        "missing": [
            {"code": domain.part.code, "title": domain.title, "missing_answers": domain.part.missing_answers}
            for domain in readiness.missing
        ],
        "form_length": readiness.form_length,
        "pass_mark": readiness.pass_mark,
    }


def _reading_json(reading: Reading) -> dict[str, Any]:
    return {
        "id": str(reading.article),
        "slug": reading.slug,
        "kind": reading.kind.value,
        "title": reading.title,
        "href": f"/v1/articles/{reading.article}",
        "objective": {"code": reading.because.part.code, "title": reading.because.title},
    }


def plan_json(learner: str, exam: str, query: dict[str, Any], plan: Plan) -> dict[str, Any]:
    exam_date, suggestion = query.get("exam_date"), plan.suggestion
    days = [_day_json(day) for day in plan.days]
    session = suggestion and {
        "mode": suggestion.mode.value,
        "objectives": list(suggestion.objectives),
        "policy": suggestion.policy,
    }
    today = {"items": [str(item) for item in plan.reviews], "session": session}
    return {
        "learner": learner,
        "exam": exam,
        "exam_date": None if exam_date is None else exam_date.isoformat(),
        "minutes_per_day": query["minutes_per_day"],
        "pace": plan.pace,
        "seconds_per_item": plan.seconds_per_item,
        "today": days[0] | today | {"next_due_at": _moment_or_none(plan.next_due_at)},
        "days": days,
    }


def _day_json(day: PlannedDay) -> dict[str, Any]:
    return {
        "date": day.date.isoformat(),
        "phase": day.phase.value,
        "minutes": day.minutes,
        "reviews": day.reviews,
        "unseen": [{"objective": code, "items": count} for code, count in day.unseen.items()],
    }


def _moment_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else format_moment(moment)


def learner_session_json(
    session: Session, exam: str, rows: list[tuple[Response, Score, Any]], form_answers: list[FormAnswer]
) -> dict[str, Any]:
    return {
        "id": str(session.uuid),
        "exam": exam,
        "mode": session.mode,
        "status": session.status.value,
        "started_at": format_moment(session.started_at),
        "finished_at": _moment_or_none(session.finished_at),
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
