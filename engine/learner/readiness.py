"""Readiness: the probability that the learner would pass today, with its interval, or what evidence is missing.

At abilities x the learner passes a form of n items, spread over the objectives as the blueprint says, with probability
pi(x). Readiness is the posterior mean of pi(x), its interval the 5 to 95 % quantiles of pi(x). Only clean answers move
the posterior, so answering seen items again can't raise it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from engine.irt.types import FloatArray, IntArray, Real
from engine.learner.mastery import ENOUGH_ANSWERS, INTERVAL
from engine.learner.scores import draws, expected_scores, objective_curves
from engine.learner.state import State
from engine.pool import Pool

# What a study session is taken to lift an objective by when the objectives are compared, in logits.
STUDY_STEP = 0.5
TO_STUDY = 2


@dataclass(frozen=True, eq=False)
class Form:
    """The exam a learner would sit: K objectives, n items.

    counts : (K,), items per objective, sum n;  curves : (K, 121), expected score on an objective at NODES
    pass_mark : number right that passes;  uncertainty : (K, K), covariance in logits^2 of the parameters' own error
    """

    counts: IntArray
    curves: FloatArray
    pass_mark: int
    uncertainty: FloatArray


@dataclass(frozen=True, eq=False)
class Readiness:
    """What to tell a learner: a probability with its interval, or the domains to practise first.

    probability, low, high : None where evidence is missing;  missing : indices of domains without enough evidence
    study : indices of the objectives whose study would help most, best first
    gains : (K,), what an improvement of STUDY_STEP on each objective would add to the probability
    gains_low, gains_high : (K,), its 5 and 95 % quantiles
    """

    probability: float | None
    low: float | None
    high: float | None
    missing: tuple[int, ...]
    study: tuple[int, ...]
    gains: FloatArray
    gains_low: FloatArray
    gains_high: FloatArray


def blueprint_form(pool: Pool, length: int, theta_cut: float, *, b_sd: Real = 0.0, scale_sd: float = 0.0) -> Form:
    """A form of `length` items as the blueprint wants it, passed by the score to expect of someone at the cut score.

    theta_cut : logits;  b_sd : (I,) or a scalar, standard errors of the items' difficulties, logits
    scale_sd : sd of an error that all difficulties share, as ratings by the same judges have
    Objectives without items get no place. An error e in all difficulties of an objective looks like -e in ability on
    it, so the error of their mean is added to the posterior. Raises ValueError for a length below 1 or an empty pool.
    """
    if length < 1 or not len(pool):
        raise ValueError(f"a form of {length} items from a pool of {len(pool)}: at least one of each expected")
    objectives = len(pool.objective_codes)
    items = np.diff(pool.objective_start)
    curves = objective_curves(pool)
    counts = proportional_counts(pool.objective_weights, items, length)
    at_cut = expected_scores(np.nan_to_num(curves), np.full(objectives, theta_cut))
    errors = np.bincount(pool.objective, np.square(np.broadcast_to(b_sd, pool.b.shape)), objectives)
    uncertainty = np.diag(errors / np.square(np.maximum(items, 1))) + scale_sd**2
    pass_mark = int(np.ceil(counts @ at_cut - 1e-9))
    return Form(counts, np.nan_to_num(curves), pass_mark, uncertainty)


def proportional_counts(weights: FloatArray, items: IntArray, length: int) -> IntArray:
    """`length` places (K,) in proportion to weights among objectives with items; largest remainders first.

    >>> proportional_counts(np.array([0.5, 0.3, 0.2]), np.array([9, 9, 0]), 10)
    array([6, 4, 0])
    """
    kept = weights * (items > 0)
    kept = kept if kept.sum() > 0.0 else (items > 0).astype(np.float64)
    quota = kept / kept.sum() * length
    counts: IntArray = np.floor(quota).astype(np.int64)
    order = np.argsort(-(quota - counts), kind="stable")
    counts[order[: length - counts.sum()]] += 1
    return counts


def pass_probability(x: FloatArray, form: Form) -> FloatArray:
    """pi(x), (...), at abilities x (..., K): the chance of at least `pass_mark` right.

    The distribution of the number right, item by item. Source: Lord & Wingersky (1984), APM 8(4), 453-461.
    """
    p = np.moveaxis(expected_scores(form.curves, x), -1, 0)  # (K, ...)
    length = int(form.counts.sum())
    distribution = np.zeros((length + 1, *p.shape[1:]))  # the number right first: sums run along memory
    moved = np.empty_like(distribution)
    distribution[0] = 1.0
    for asked, k in enumerate(np.repeat(np.arange(form.counts.size), form.counts), start=1):
        reached = np.multiply(distribution[:asked], p[k], out=moved[:asked])
        distribution[:asked] -= reached
        distribution[1 : asked + 1] += reached
    return np.asarray(distribution[form.pass_mark :].sum(axis=0))


def pass_probability_normal(mean: FloatArray, variance: FloatArray, pass_mark: int) -> FloatArray:
    """pi (...) by a normal number right with this mean and variance (...), continuity corrected; for comparisons.

    Within 0.02 of `pass_probability` for forms of 20 items or more, mostly within 0.005.
    """
    return np.asarray(ndtr((mean - pass_mark + 0.5) / np.sqrt(np.maximum(variance, 1e-12))))


def pass_posterior(state: State, form: Form) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Posterior mean of pi and its 5 and 95 % quantiles, each (...), for one learner or many."""
    pi = pass_probability(draws(state, direction(form), form.uncertainty), form)
    low, high = np.quantile(pi, INTERVAL, axis=-1)
    return pi.mean(axis=-1), low, high


def study_gains(state: State, form: Form, step: float = STUDY_STEP) -> FloatArray:
    """What `step` logits more on each objective alone would add to readiness, (..., K)."""
    return np.asarray(study_effects(state, form, step).mean(axis=-2))


def study_effects(state: State, form: Form, step: float = STUDY_STEP) -> FloatArray:
    """The same at each of the abilities that stand for the posterior, (..., D, K)."""
    x = draws(state, direction(form), form.uncertainty)  # (..., D, K)
    now, then = expected_scores(form.curves, x), expected_scores(form.curves, x + step)
    mean, variance = now @ form.counts, (now * (1.0 - now)) @ form.counts
    more = form.counts * (then - now)
    wider = form.counts * (then * (1.0 - then) - now * (1.0 - now))
    after = pass_probability_normal(mean[..., None] + more, variance[..., None] + wider, form.pass_mark)
    return np.asarray(after - pass_probability_normal(mean, variance, form.pass_mark)[..., None])


def readiness(state: State, form: Form, domain: npt.ArrayLike) -> Readiness:
    """One learner's readiness; hidden until each domain on the form has ENOUGH_ANSWERS clean answers.

    domain : (K,), index of each objective's domain
    """
    places = np.asarray(domain)
    asked = np.bincount(places, form.counts) > 0
    answered = np.bincount(places, state.answers)
    missing = tuple(np.flatnonzero(asked & (answered < ENOUGH_ANSWERS)).tolist())
    effects = study_effects(state, form)
    gains, (gains_low, gains_high) = effects.mean(axis=-2), np.quantile(effects, INTERVAL, axis=-2)
    best = np.argsort(-gains, kind="stable")[:TO_STUDY]
    study = tuple(best[gains[best] > 0.0].tolist())
    if missing:
        return Readiness(None, None, None, missing, study, gains, gains_low, gains_high)
    probability, low, high = (float(value) for value in pass_posterior(state, form))
    return Readiness(probability, low, high, missing, study, gains, gains_low, gains_high)


def direction(form: Form) -> FloatArray:
    """Shares (K,) of the objectives in the form: the direction in which the number right moves most."""
    return np.asarray(form.counts / form.counts.sum())
