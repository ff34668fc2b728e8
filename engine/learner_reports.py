"""What is known of a learner in an exam: ability, mastery, readiness, reviews, what to study and what to read.

It rests on the Gaussian state that clean first answers make, as of now, so answering seen items again changes nothing
of it but the reviews.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from engine import loading, progress, yardsticks
from engine.irt import Ability
from engine.learner import ENOUGH_ANSWERS, Readiness, State
from engine.pool import Pool
from engine.reports import Graded, ScaledScore, scaled, titles
from engine.yardsticks import Estimate, Part, Yardstick
from itembank import articles, catalog, learners, responses
from itembank.content import ArticleKind
from itembank.models import Exam, Learner
from itembank.store import Db

ARTICLES_SHOWN = 5
ARTICLES_PER_OBJECTIVE = 2
SURE = 0.9  # an objective that is above the cut score with this probability needs no reading


@dataclass(frozen=True, slots=True)
class ObjectiveReport:
    """right : of its clean answers;  domain : the code of the domain it is in"""

    graded: Graded
    domain: str
    right: int


@dataclass(frozen=True, slots=True)
class ReadinessReport:
    """probability : of passing today, None while domains in `missing` lack evidence

    form_length, pass_mark : items of the form that it is about, and how many right pass; None where there is no form
    """

    probability: Estimate | None
    missing: tuple[Graded, ...]
    form_length: int | None
    pass_mark: int | None


@dataclass(frozen=True, slots=True)
class Study:
    """An objective to study. gain : what it would add to readiness; None while readiness is"""

    code: str
    title: str
    gain: Estimate | None


@dataclass(frozen=True, slots=True)
class Reviews:
    """due : how many items;  next_due_at : when the next one that is not due yet will be"""

    due: int
    next_due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Reading:
    """An article, and the objective it is recommended for."""

    article: UUID
    slug: str
    kind: ArticleKind
    title: str
    because: Graded


@dataclass(frozen=True, slots=True)
class LearnerReport:
    """answers : the clean first ones, which ability rests on;  articles : what to read, most needed first"""

    answers: int
    ability: Ability
    score: ScaledScore | None
    objectives: tuple[ObjectiveReport, ...]
    domains: tuple[Graded, ...]
    readiness: ReadinessReport
    study: tuple[Study, ...]
    reviews: Reviews
    articles: tuple[Reading, ...]


def learner_report(db: Db, exam: Exam, learner: Learner, *, now: datetime) -> LearnerReport:
    """What a learner's clean first answers to an exam say now, over all sessions, by its last pool's objectives."""
    pool, named = loading.latest_pool(db, exam), titles(db, exam)
    if pool is None:
        return _before_the_first_session(db, exam, named)
    kept = learners.find_state(db, learner.id, exam.id)
    state = progress.state_of(db, kept, exam, pool, now)
    answers, ability = 0 if kept is None else kept.answers, progress.overall(state, pool)
    yardstick = yardsticks.of_pool(db, pool, exam.cut_score)
    objectives = _objectives(db, exam, learner, pool, yardstick.by_objective(state), named)
    domains = tuple(Graded(named.get(part.code, part.code), part) for part in yardstick.by_domain(state))
    readiness, study, gains = _readiness(yardstick, state, domains, named)
    off = loading.withdrawn(db, exam.id, exam.bank_revision)
    coming = progress.reviews(db, learner.id, exam.id, pool, off)
    return LearnerReport(
        answers=answers,
        ability=ability,
        score=scaled(exam, ability, answers),
        objectives=objectives,
        domains=domains,
        readiness=readiness,
        study=study,
        reviews=Reviews(sum(due_at <= now for _, due_at in coming), progress.next_review(coming, now)),
        articles=_to_read(db, exam, objectives, gains) if answers else (),
    )


def _before_the_first_session(db: Db, exam: Exam, named: Mapping[str, str]) -> LearnerReport:
    """Of an exam that nobody has begun: what it assumes of everybody, and what is missing."""
    prior, blueprint = progress.prior_of(exam), catalog.find_blueprint(db, exam.id)
    nodes = () if blueprint is None else catalog.blueprint_content(db, blueprint)
    domains = tuple(_unknown(node.code, named) for node in nodes)
    objectives = tuple(
        ObjectiveReport(_unknown(leaf.code, named), node.code, 0)
        for node in nodes
        for leaf in node.objectives or (node,)
    )
    readiness = ReadinessReport(None, domains, None, None)
    ability = Ability(prior.mean, prior.sd)
    return LearnerReport(0, ability, None, objectives, domains, readiness, (), Reviews(0, None), ())


def _unknown(code: str, named: Mapping[str, str]) -> Graded:
    return Graded(named.get(code, code), Part(code, 0, ENOUGH_ANSWERS, None))


def _objectives(
    db: Db, exam: Exam, learner: Learner, pool: Pool, parts: Sequence[Part], named: Mapping[str, str]
) -> tuple[ObjectiveReport, ...]:
    right = {code: count for code, _, count in responses.count_by_objective(db, learner.id, exam.id)}
    domains = [pool.domain_codes[place] for place in pool.domain.tolist()]
    return tuple(
        ObjectiveReport(Graded(named.get(part.code, part.code), part), domain, right.get(part.code, 0))
        for part, domain in zip(parts, domains, strict=True)
    )


def _readiness(
    yardstick: Yardstick, state: State, domains: Sequence[Graded], named: Mapping[str, str]
) -> tuple[ReadinessReport, tuple[Study, ...], dict[str, float]]:
    """Readiness, the objectives whose study would help most, and what study of each would add, by code."""
    found = yardstick.readiness(state)
    if found is None or yardstick.form is None:
        return ReadinessReport(None, tuple(domains), None, None), (), {}
    form = yardstick.form
    missing = tuple(domains[place] for place in found.missing)
    length, mark = int(form.counts.sum()), form.pass_mark
    study = []
    for place in found.study:
        gain = Estimate(float(found.gains[place]), float(found.gains_low[place]), float(found.gains_high[place]))
        code = yardstick.codes[place]
        study.append(Study(code, named.get(code, code), None if missing else gain))
    gains = dict(zip(yardstick.codes, found.gains.tolist(), strict=True))
    return ReadinessReport(probability(found), missing, length, mark), tuple(study), gains


def probability(found: Readiness) -> Estimate | None:
    """Of passing, None without enough evidence."""
    if found.probability is None or found.low is None or found.high is None:
        return None
    return Estimate(found.probability, found.low, found.high)


def _to_read(
    db: Db, exam: Exam, objectives: Sequence[ObjectiveReport], gains: Mapping[str, float]
) -> tuple[Reading, ...]:
    """Articles on the objectives whose study adds most, a few each; none on those surely above the cut score."""
    needed = [each.graded for each in objectives if not _is_sure(each.graded.part)]
    needed.sort(key=lambda graded: -gains.get(graded.part.code, 0.0))
    about: dict[str, list[Any]] = {}
    for row in articles.on_objectives(db, exam.id, [graded.part.code for graded in needed]):
        about.setdefault(row.objective, []).append(row)
    chosen: dict[UUID, Reading] = {}
    for graded in needed:
        fresh = [row for row in about.get(graded.part.code, ()) if row.uuid not in chosen]
        for row in fresh[:ARTICLES_PER_OBJECTIVE]:
            chosen[row.uuid] = Reading(row.uuid, row.slug, row.kind, row.title, graded)
    return tuple(chosen.values())[:ARTICLES_SHOWN]


def _is_sure(part: Part) -> bool:
    return part.level is not None and part.level.above_cut >= SURE
