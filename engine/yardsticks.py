"""What the learners of an exam are measured by: curves, shares of domains, the form they would sit; what that shows.

All of it follows from the pool and the cut score, so it is made once per process and lives as long as the pool does.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from engine import learner
from engine.irt.types import FloatArray, IndexArray, IntArray
from engine.learner import ENOUGH_ANSWERS, Form, Mastery, Readiness, State
from engine.pool import Pool
from engine.selection import POLICIES, Mode
from itembank import calibrations
from itembank.content import ParameterOrigin
from itembank.store import Db

# How far a difficulty that nobody has measured may be off, in logits. Angoff ratings of one item differ between judges
# by some 0.12, a mean of few judges by less; at p = 0.6 a tenth of p is 0.4 logits. An item without a rating has the
# mean of the others, from which items differ by about one logit.
RATED_SD, UNRATED_SD = 0.5, 1.0
SHARED_SD = 0.3  # what the same judges get wrong about all items alike; calibrated items are free of it


@dataclass(frozen=True, eq=False)
class Yardstick:
    """For K objectives in G domains.

    curves : (K, 121), expected score at the nodes;  shares : (G, K), of each objective in its domain
    form : what readiness is about, None where the pool has no scored items
    """

    cut_score: float
    codes: tuple[str, ...]
    domain: IndexArray
    domain_codes: tuple[str, ...]
    curves: FloatArray
    shares: FloatArray
    form: Form | None

    def by_objective(self, state: State) -> tuple["Part", ...]:
        """How good a learner is on each objective."""
        return parts(self.codes, state.answers, learner.mastery(state, self.curves, self.cut_score))

    def by_domain(self, state: State) -> tuple["Part", ...]:
        """How good a learner is on each domain, its objectives weighed as the blueprint does."""
        answers = state.answers @ (self.shares > 0.0).T
        found = learner.mastery(state, self.curves, self.cut_score, self.shares)
        return parts(self.domain_codes, answers, found)

    def readiness(self, state: State) -> Readiness | None:
        """None where there is nothing to be ready for."""
        return None if self.form is None else learner.readiness(state, self.form, self.domain)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 5 and 95 % points."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Level:
    """How good a learner is at something; theta and standard_error in logits.

    share_right : of answers to expect, None where there are no items
    above_cut : probability that the ability is at the cut score or above
    """

    theta: float
    standard_error: float
    share_right: Estimate | None
    above_cut: float


@dataclass(frozen=True, slots=True)
class Part:
    """An objective or a domain. level : None while clean answers are missing, as many as `missing_answers` says"""

    code: str
    answers: int
    missing_answers: int
    level: Level | None


def of_pool(db: Db, pool: Pool, cut_score: float) -> Yardstick:
    """The yardstick of a pool for a cut score in logits."""
    made = _made.setdefault(pool, {})
    found = made.get(cut_score)
    return made.setdefault(cut_score, _make(db, pool, cut_score)) if found is None else found


_made: WeakKeyDictionary[Pool, dict[float, Yardstick]] = WeakKeyDictionary()


def _make(db: Db, pool: Pool, cut_score: float) -> Yardstick:
    kept = scored(pool)
    weights = kept.objective_weights * (np.diff(kept.objective_start) > 0)
    form = None
    if len(kept):
        record = calibrations.get_pool(db, pool.version)
        b_sd, prior = np.zeros(len(kept)), np.zeros(len(kept))
        for version, origin, rated in calibrations.origins(db, record):
            place = kept.index_of_version.get(version)
            if place is not None and origin is ParameterOrigin.PRIOR:
                b_sd[place], prior[place] = RATED_SD if rated else UNRATED_SD, 1.0
        form = mock_form(kept, cut_score, b_sd=b_sd, prior=prior)
    return Yardstick(
        cut_score=cut_score,
        codes=kept.objective_codes,
        domain=kept.domain,
        domain_codes=kept.domain_codes,
        curves=learner.objective_curves(kept),
        shares=learner.domain_shares(kept.domain, weights) if weights.size else np.empty((0, 0)),
        form=form,
    )


def mock_form(pool: Pool, cut_score: float, *, b_sd: FloatArray, prior: FloatArray) -> Form:
    """The form that the mode `mock` would give from a pool of scored items, with what is uncertain of its difficulties.

    b_sd : (I,), each item's own error, logits;  prior : (I,), 1 where the difficulty comes from ratings, else 0
    """
    form = learner.blueprint_form(pool, POLICIES[Mode.mock].maximum_length or 1, cut_score, b_sd=b_sd)
    objectives = len(pool.objective_codes)
    items = np.maximum(np.diff(pool.objective_start), 1)
    shared = SHARED_SD * np.bincount(pool.objective, prior, objectives) / items
    return replace(form, uncertainty=form.uncertainty + shared[:, None] * shared)


def scored(pool: Pool) -> Pool:
    """The same pool without its pretest items."""
    kept = ~pool.pretest
    if kept.all():
        return pool
    names = ("items", "item_versions", "a", "b", "c", "d", "objective", "pretest")
    none = np.empty((0, 2), dtype=np.int32)
    return replace(pool, enemies=none, siblings=none, **{name: getattr(pool, name)[kept] for name in names})


def parts(codes: Sequence[str], answers: IntArray, found: Mastery) -> tuple[Part, ...]:
    """What arrays (G,) say, one by one."""
    return tuple(
        Part(code, count, max(0, ENOUGH_ANSWERS - count), level(found, place) if found.enough[place] else None)
        for place, (code, count) in enumerate(zip(codes, answers.tolist(), strict=True))
    )


def level(found: Mastery, place: int) -> Level:
    """What the arrays (G,) say of one place with enough evidence."""
    share = Estimate(float(found.score[place]), float(found.low[place]), float(found.high[place]))
    return Level(
        theta=float(found.theta[place]),
        standard_error=float(found.standard_error[place]),
        share_right=None if math.isnan(share.value) else share,
        above_cut=float(found.above_cut[place]),
    )
