"""The replies of sessions, built by hand from content that is rendered already.

Dumping them through their schemas (`api.schemas.sessions`) would cost as much as choosing the item; those document
them, and the contract tests hold them to it. What a learner sees before an answer and after it are different functions.
"""

import math
from datetime import datetime
from typing import Any
from uuid import UUID

from api.schemas.base import format_moment
from engine import delivery
from engine.answers import Filed, Filled, Served, Sheet, Step
from engine.presenting import Explanation, Link, Picture, Presented
from engine.reports import FormResult, Graded, ObjectiveCount, Reviewed, ScaledScore, SessionReport
from engine.selection import Decision, Policy, Reported
from engine.yardsticks import Estimate
from itembank.content import SessionStatus
from itembank.models import Response, Score, Session


def session_json(
    session: Session,
    exam: str,
    learner: str | None,
    ability: tuple[float, float],
    *,
    now: datetime,
    sheet: Sheet | None,
) -> dict[str, Any]:
    """sheet : how far a form is filled, None for a session without one"""
    expires_at = delivery.expires_at(Policy.from_json(session.policy), session.started_at)
    is_open = session.status is not SessionStatus.FINISHED
    left = None if expires_at is None or not is_open else max(0, math.ceil((expires_at - now).total_seconds()))
    answered = len(session.administered) - (session.current is not None) if sheet is None else len(sheet.answered)
    return {
        "id": str(session.uuid),
        "exam": exam,
        "learner": learner,
        "mode": session.mode,
        "policy": session.policy,
        "objectives": session.objectives,
        "seed": session.seed,
        "status": session.status.value,
        "stop_reason": session.stop_reason,
        "answered": answered,
        "ability": ability_json(ability),
        "started_at": format_moment(session.started_at),
        "expires_at": None if expires_at is None else format_moment(expires_at),
        "seconds_left": left,
        "finished_at": None if session.finished_at is None else format_moment(session.finished_at),
        "form": None if sheet is None else _sheet(sheet),
    }


def _sheet(sheet: Sheet) -> dict[str, Any]:
    return {"length": sheet.length, "answered": list(sheet.answered), "flagged": list(sheet.flagged)}


def filled_json(filled: Filled) -> dict[str, Any]:
    """A position of a form; nothing in it tells what is right."""
    return served_json(filled.served) | {
        "selected": None if filled.selected is None else list(filled.selected),
        "flagged": filled.flagged,
        "revision": filled.revision,
    }


def ability_json(ability: tuple[float, float]) -> dict[str, float]:
    return {"theta": ability[0], "standard_error": ability[1]}


def scaled_score_json(score: ScaledScore | None) -> dict[str, float] | None:
    return None if score is None else {"value": score.value, "low": score.low, "high": score.high}


def decision_json(decision: Decision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {"outcome": decision.outcome.value, "rule": decision.rule.value, "cut_score": decision.cut_score}


def objective_count_json(count: ObjectiveCount) -> dict[str, Any]:
    return {"code": count.code, "title": count.title, "answers": count.answers, "right": count.right}


def estimate_json(estimate: Estimate | None) -> dict[str, float] | None:
    return None if estimate is None else {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def graded_json(graded: Graded) -> dict[str, Any]:
    """An objective or a domain, and what is known of it."""
    part, level = graded.part, graded.part.level
    mastery = level and {
        "theta": level.theta,
        "standard_error": level.standard_error,
        "share_right": estimate_json(level.share_right),
        "above_cut": level.above_cut,
    }
    return {
        "code": part.code,
        "title": graded.title,
        "answers": part.answers,
        "evidence": "not_enough" if level is None else "enough",
        "missing_answers": part.missing_answers,
        "mastery": mastery,
    }


def question_json(item: Presented, order: tuple[int, ...]) -> dict[str, Any]:
    """An item before its answer, its options in this order."""
    question = item.question
    return {
        "id": question.id,
        "version": question.version,
        "kind": question.kind,
        "objective": question.objective,
        "stem": question.stem,
        "options": [{"id": question.options[place].id, "text": question.options[place].text} for place in order],
        "media": [_picture(picture) for picture in question.media],
    }


def served_json(served: Served) -> dict[str, Any]:
    return {"position": served.position, "item": question_json(served.item, served.order)}


def feedback_json(explanation: Explanation, selected: tuple[str, ...], order: tuple[int, ...]) -> dict[str, Any]:
    """What explains an answer: the chosen options first, then the keys, then the rest as they stood on screen."""
    options = [explanation.options[place] for place in order]
    ranked = sorted(options, key=lambda option: (option.id not in selected, not option.correct))
    ideas = [option.misconception for option in ranked if option.id in selected and option.misconception is not None]
    links = dict.fromkeys([*(idea.link for idea in ideas if idea.link is not None), *explanation.reading])
    return {
        "short_explanation": explanation.short,
        "full_explanation": explanation.full,
        "options": [
            {
                "id": option.id,
                "correct": option.correct,
                "selected": option.id in selected,
                "rationale": option.rationale,
                "misconception": None
                if option.misconception is None
                else {
                    "code": option.misconception.code,
                    "statement": option.misconception.statement,
                    "link": None if option.misconception.link is None else _link(option.misconception.link),
                },
            }
            for option in ranked
        ],
        "articles": [_link(link) for link in links],
        "media": [_picture(picture) for picture in explanation.media],
        "references": list(explanation.references),
    }


def step_json(step: Step | Filed, *, to_learner: bool) -> dict[str, Any]:
    """The reply to an answer. A learner's token is told nothing that the policy keeps for the end."""
    if isinstance(step, Filed):
        return _filed(step)
    shows = step.reveals or not to_learner
    served = step.served
    return {
        "position": served.position,
        "correct": step.scored.correct if shows else None,
        "score": step.scored.score if shows else None,
        "feedback": feedback_json(served.item.explanation, step.selected, served.order) if step.reveals else None,
        "ability": ability_json((step.theta, step.standard_error)) if shows else None,
        "status": (SessionStatus.IN_PROGRESS if step.stop_reason is None else SessionStatus.FINISHED).value,
        "stop_reason": step.stop_reason,
        "decision": decision_json(step.decision),
        "next": None if step.next is None else served_json(step.next),
    }


def _filed(filed: Filed) -> dict[str, Any]:
    """Nobody is told anything of an answer on a form before it is over."""
    return {
        "position": filed.position,
        "correct": None,
        "score": None,
        "feedback": None,
        "ability": None,
        "status": (SessionStatus.IN_PROGRESS if filed.stop_reason is None else SessionStatus.FINISHED).value,
        "stop_reason": filed.stop_reason,
        "decision": None,
        "next": None if filed.next is None else served_json(filed.next),
    }


def report_json(session: Session, report: SessionReport, *, shows: bool) -> dict[str, Any]:
    """shows : whether what the policy may keep for the end is shown"""
    score = report.score if shows else None
    domains = report.domains if shows else None
    return {
        "session": str(session.uuid),
        "status": session.status.value,
        "stop_reason": session.stop_reason,
        "answers": report.answers,
        "right": report.right if shows else None,
        "ability": ability_json(report.ability) if shows else None,
        "estimate": _estimate(session, report.estimate) if shows else None,
        "score": scaled_score_json(score),
        "evidence": "not_enough" if report.score is None else "enough",
        "decision": decision_json(report.decision),
        "objectives": [objective_count_json(count) for count in report.objectives] if shows else None,
        "domains": None if domains is None else [graded_json(domain) for domain in domains],
        "next_due_at": None if report.next_due_at is None else format_moment(report.next_due_at),
        "items": [_reviewed(item, shows=shows) for item in report.items],
        "form": None if report.form is None else _form(report.form),
    }


def _estimate(session: Session, told: Reported) -> dict[str, Any]:
    return {"estimator": Policy.from_json(session.policy).estimator.value, **told._asdict()}


def _form(form: FormResult) -> dict[str, Any]:
    chance = form.chance
    return {
        "length": form.length,
        "unanswered": form.unanswered,
        "right": form.right,
        "pass_mark": form.pass_mark,
        "met_before": form.met,
        "pass_probability": None if chance is None else {"value": chance.value, "low": chance.low, "high": chance.high},
        "domains": [objective_count_json(count) for count in form.domains],
        "time_used_s": form.seconds,
    }


def traced_json(
    response: Response, score: Score, item: UUID, version: int, objective: str, trace: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": str(response.uuid),
        "position": response.position,
        "item": str(item),
        "version": version,
        "objective": objective,
        "selected": response.selected,
        "correct": score.correct,
        "score": score.score,
        "response_time_ms": response.response_time_ms,
        "exposure_class": response.exposure_class.value,
        "moves_ability": response.moves_ability,
        "ability_before": ability_json((response.theta_before, response.standard_error_before)),
        "ability_after": ability_json((response.theta_after, response.standard_error_after)),
        "trace": trace,
        "served_at": format_moment(response.served_at),
        "answered_at": format_moment(response.answered_at),
    }


def _reviewed(item: Reviewed, *, shows: bool) -> dict[str, Any]:
    feedback = feedback_json(item.item.explanation, item.selected, item.order) if item.shows else None
    return {
        "position": item.position,
        "item": question_json(item.item, item.order),
        "selected": list(item.selected),
        "correct": item.correct if shows else None,
        "score": item.score if shows else None,
        "exposure_class": item.exposure_class,
        "feedback": feedback,
    }


def _picture(picture: Picture) -> dict[str, str]:
    return {"id": picture.id, "alt": picture.alt, "description": picture.description}


def _link(link: Link) -> dict[str, str]:
    href = f"/v1/articles/{link.article}#{link.anchor}"
    return {"article": link.article, "slug": link.slug, "anchor": link.anchor, "href": href}
