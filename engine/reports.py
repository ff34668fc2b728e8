"""What a sitting came to. A number that a learner sees has its interval."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import sqlalchemy as sa

from engine import form_sittings, learner, loading, progress, yardsticks
from engine.evidence import evidence, polytomous
from engine.irt import NODES, Ability, estimate, posterior, probability
from engine.presenting import Presented
from engine.progress import Known
from engine.selection import (
    Classification,
    Decision,
    Feedback,
    Policy,
    Progress,
    Reported,
    Standing,
    StartsFrom,
    StopReason,
    decided,
    decided_after,
    form_decision,
    pass_mark,
    reported,
)
from engine.yardsticks import Part
from itembank import catalog, responses
from itembank.content import ObjectiveContent, Scale, SessionStatus
from itembank.models import Exam, Response, Score, Session
from itembank.scoring import Scored
from itembank.store import Db

ENOUGH_ANSWERS = 3  # fewer clean answers than this say nothing that is worth a number
TO_95 = 1.6448536269514722  # standard errors from a normal mean to its 95 % quantile


@dataclass(frozen=True, slots=True)
class ScaledScore:
    """On the exam's reporting scale; low and high are the 5 and 95 % points."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ObjectiveCount:
    """How many answers on an objective, and how many of them right."""

    code: str
    title: str
    answers: int
    right: int


@dataclass(frozen=True, slots=True)
class Reviewed:
    """An answered position, or one of a form that was left out; `shows` says whether it may be explained now.

    exposure_class : None of a position without an answer
    """

    position: int
    item: Presented
    order: tuple[int, ...]
    selected: tuple[str, ...]
    score: float
    correct: bool
    exposure_class: str | None
    shows: bool


@dataclass(frozen=True, slots=True)
class PassChance:
    """The chance of passing another form as strong as this one, with its 5 and 95 % quantiles."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class FormResult:
    """What a form came to that is over.

    length : positions that count, which are all but those of items suspended meanwhile;  unanswered : of these
    right, pass_mark : of these;  met : items of the form that the learner had met before
    chance : None where there is not enough evidence;  seconds : from the start to the end
    """

    length: int
    unanswered: int
    right: int
    pass_mark: int
    met: int
    chance: PassChance | None
    domains: tuple[ObjectiveCount, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Graded:
    """An objective or a domain with its title, and what is known of it."""

    title: str
    part: Part


@dataclass(frozen=True, slots=True)
class SessionReport:
    """form : of a session on a form, once it is over
    ability : the posterior mean;  estimate : by the policy's estimator, which the score rests on
    score : None says that there is not enough evidence for one;  decision : None where none is made, or not yet

    domains : by what this sitting's clean answers say alone; None of a sitting that starts from what is known already
    next_due_at : when the learner's next review is due; None of a sitting that goes on, and where nothing ever is
    """

    answers: int
    right: int
    ability: Ability
    estimate: Reported
    score: ScaledScore | None
    decision: Decision | None
    objectives: tuple[ObjectiveCount, ...]
    items: tuple[Reviewed, ...]
    domains: tuple[Graded, ...] | None
    next_due_at: datetime | None
    form: FormResult | None = None


def session_report(db: Db, exam: Exam, session: Session, *, now: datetime) -> SessionReport:
    """The course of a session so far. Positions are explained once the policy allows it."""
    if session.form is not None:
        return _form_report(db, exam, session, session.form, now)
    rows = db.execute(responses.answers(session.id)).all()
    shown = loading.items(db, {row[0].item_version_id for row in rows})
    policy = Policy.from_json(session.policy)
    shows = policy.feedback is Feedback.immediate or session.status is SessionStatus.FINISHED
    items = tuple(
        Reviewed(
            position=response.position,
            item=shown[response.item_version_id],
            order=tuple(response.trace["option_order"]),
            selected=tuple(response.selected),
            score=score.score,
            correct=score.correct,
            exposure_class=response.exposure_class.value,
            shows=shows,
        )
        for response, score, *_ in rows
    )
    counts = [(item.item.question.objective, item.correct) for item in items]
    ability, told = estimate(np.frombuffer(session.log_posterior)), _estimate(db, session, policy, rows)
    clean = sum(response.moves_ability for response, *_ in rows)
    return SessionReport(
        answers=len(items),
        right=sum(item.correct for item in items),
        ability=ability,
        estimate=told,
        score=scaled(exam, told, clean),
        decision=_decision(db, session, policy, len(items), ability),
        objectives=_by_objective(db, exam, counts),
        items=items,
        domains=_domains(db, exam, session, rows) if policy.starts_from is StartsFrom.prior else None,
        next_due_at=_next_review(db, exam, session, now) if session.status is SessionStatus.FINISHED else None,
    )


def _form_report(db: Db, exam: Exam, session: Session, facts: Mapping[str, Any], now: datetime) -> SessionReport:
    """Nothing before the end but how many positions are answered; then every position, answered or not."""
    ability = estimate(np.frombuffer(session.log_posterior))
    if session.status is not SessionStatus.FINISHED:
        answered = len(form_sittings.sheet(db, session).answered)
        return SessionReport(answered, 0, ability, Reported(*ability), None, None, (), (), None, None)
    rows = {row[0].position: row for row in db.execute(responses.answers(session.id)).all()}
    items = []
    for position in range(1, len(session.queue) + 1):
        place = form_sittings.served(db, session, position)
        blank = Reviewed(position, place.item, place.order, (), 0.0, False, None, shows=True)
        items.append(blank if position not in rows else _reviewed(blank, *rows[position][:2]))
    counting = [item for item, version in zip(items, session.queue, strict=True) if version not in facts["withdrawn"]]
    clean = sum(row[0].moves_ability for row in rows.values())
    result = _form_result(db, exam, session, facts, counting, clean)
    decision = None
    if session.stop_reason in (StopReason.finished, StopReason.time_limit):
        decision = form_decision(
            Policy.from_json(session.policy),
            facts["cut_score"],
            right=result.right,
            pass_mark=result.pass_mark,
            is_time_out=session.stop_reason == StopReason.time_limit,
        )
    told = _estimate(db, session, Policy.from_json(session.policy), rows.values())
    return SessionReport(
        answers=len(rows),
        right=sum(item.correct for item in items),
        ability=ability,
        estimate=told,
        score=scaled(exam, told, clean),
        decision=decision,
        objectives=_by_objective(db, exam, [(item.item.question.objective, item.correct) for item in counting]),
        items=tuple(items),
        domains=_domains(db, exam, session, rows.values()),
        next_due_at=_next_review(db, exam, session, now),
        form=result,
    )


def _reviewed(blank: Reviewed, response: Response, score: Score) -> Reviewed:
    return replace(
        blank,
        selected=tuple(response.selected),
        score=score.score,
        correct=score.correct,
        exposure_class=response.exposure_class.value,
    )


def _form_result(
    db: Db, exam: Exam, session: Session, facts: Mapping[str, Any], counting: Sequence[Reviewed], clean: int
) -> FormResult:
    """counting : the positions that count;  clean : answers that moved ability"""
    pool = loading.get_pool(db, session.pool_id)
    places = np.array([pool.index_of_version[item.item.item_version_id] for item in counting], dtype=np.int64)
    mark = pass_mark(pool, places, facts["cut_score"])
    chance = None
    if clean >= ENOUGH_ANSWERS:
        right = probability(NODES, pool.a[places], pool.b[places], pool.c[places], pool.d[places])
        weights = posterior(np.frombuffer(session.log_posterior))
        chance = PassChance(*learner.summary(learner.at_least(right, mark), weights))
    domains = [pool.domain_codes[pool.domain[k]] for k in pool.objective[places].tolist()]
    ended = session.finished_at or session.updated_at
    return FormResult(
        length=len(counting),
        unanswered=sum(not item.selected for item in counting),
        right=sum(item.correct for item in counting),
        pass_mark=mark,
        met=facts["met"],
        chance=chance,
        domains=_by_objective(db, exam, [(code, item.correct) for code, item in zip(domains, counting, strict=True)]),
        seconds=(ended - session.started_at).total_seconds(),
    )


def _domains(db: Db, exam: Exam, session: Session, rows: Iterable[sa.Row[*tuple[Any, ...]]]) -> tuple[Graded, ...]:
    """The domains of the session's pool by its clean answers alone."""
    pool = loading.get_pool(db, session.pool_id)
    prior, codes = progress.prior_of(exam), pool.objective_codes
    known = Known(learner.initial(len(codes), prior), codes, session.started_at)
    for response, score, *_ in rows:
        if response.moves_ability:
            place = pool.index_of_version[response.item_version_id]
            said = evidence(pool, place, Scored(score.score, score.correct), response.selected)
            known = known.after(codes[pool.objective[place]], said, now=session.started_at, prior=prior)
    found, named = yardsticks.of_pool(db, pool, exam.cut_score).by_domain(known.state), titles(db, exam)
    return tuple(Graded(named.get(part.code, part.code), part) for part in found)


def _next_review(db: Db, exam: Exam, session: Session, now: datetime) -> datetime | None:
    pool = loading.latest_pool(db, exam) or loading.get_pool(db, session.pool_id)
    off = loading.withdrawn(db, exam.id, exam.bank_revision)
    return progress.next_review(progress.reviews(db, session.learner_id, exam.id, pool, off), now)


def _estimate(db: Db, session: Session, policy: Policy, rows: Iterable[sa.Row[*tuple[Any, ...]]]) -> Reported:
    """The ability by the policy's estimator, from the answers that count and their latest scores."""
    pool = loading.get_pool(db, session.pool_id)
    counting = [(row[0].item_version_id, row[1].correct) for row in rows if row[0].moves_ability]
    return reported(
        policy.estimator,
        start=np.frombuffer(session.start_log_posterior),
        now=np.frombuffer(session.log_posterior),
        right=np.array([right for _, right in counting], dtype=np.bool_),
        parameters=np.array([pool.parameters_of(version) for version, _ in counting]).reshape(-1, 4),
    )


def _decision(db: Db, session: Session, policy: Policy, answers: int, ability: Ability) -> Decision | None:
    """Pass or fail, of a session that is over and was to decide that; by the scores given when the answers came."""
    if policy.classification is Classification.none or session.stop_reason is None:
        return None
    if session.current is not None:  # it was ended with a position open
        return decided(
            policy, Progress(answers, ability, standing=Standing.of_trace(session.current)), session.stop_reason
        )
    settled = responses.find_settled(db, session.id, answers)
    if settled is None:
        return None
    response, score = settled
    pool = loading.get_pool(db, session.pool_id)
    place = pool.index_of_version[response.item_version_id]
    return decided_after(
        policy,
        response.trace,
        ability,
        right=score.correct,
        counts=response.moves_ability,
        parameters=pool.parameters(place),
        log_likelihood=polytomous(pool, place, Scored(score.score, score.correct), response.selected),
        reason=session.stop_reason,
    )


def scaled(exam: Exam, ability: Ability | Reported, answers: int) -> ScaledScore | None:
    """The score to report, or None while there is not enough evidence, or where the answers have no finite estimate."""
    if answers < ENOUGH_ANSWERS or (isinstance(ability, Reported) and ability.at_bound):
        return None
    scale = Scale(exam.scale_mean, exam.scale_sd, exam.scale_minimum, exam.scale_maximum)
    margin = TO_95 * ability.standard_error
    low, value, high = (scale.score(ability.theta + shift) for shift in (-margin, 0.0, margin))
    return ScaledScore(value, low, high)


def _by_objective(db: Db, exam: Exam, answered: Sequence[tuple[str, bool]]) -> tuple[ObjectiveCount, ...]:
    named = titles(db, exam)
    total = Counter(code for code, _ in answered)
    right = Counter(code for code, correct in answered if correct)
    ordered = [*(code for code in named if code in total), *sorted(total.keys() - named.keys())]
    return tuple(ObjectiveCount(code, named.get(code, code), total[code], right[code]) for code in ordered)


def titles(db: Db, exam: Exam) -> dict[str, str]:
    """Code → title of everything in the current blueprint, in its order; nothing without one."""
    blueprint = catalog.find_blueprint(db, exam.id)
    return (
        {} if blueprint is None else {node.code: node.title for node in _flat(catalog.blueprint_content(db, blueprint))}
    )


def _flat(nodes: Iterable[ObjectiveContent]) -> Iterable[ObjectiveContent]:
    for node in nodes:
        yield node
        yield from _flat(node.objectives)
