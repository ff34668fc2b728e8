"""Mastery: what share of an objective's, or a domain's, items a learner would get right, with a 90 % interval.

Where there are fewer than three clean answers it says that there is not enough evidence, though the whole does tell
something of every objective: a learner should not read a number that rests on answers about something else.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from engine.irt.types import BoolArray, FloatArray
from engine.learner.scores import draws, expected_scores
from engine.learner.state import State, ability_covariance, ability_means

ENOUGH_ANSWERS = 3
INTERVAL = (0.05, 0.95)


class Mastery(NamedTuple):
    """Arrays (..., G), one place per objective or domain; NaN where `enough` is False.

    theta, standard_error : ability in logits;  score, low, high : expected share right and its 5 and 95 % quantiles
    above_cut : probability that the ability is at the cut score or above;  enough : whether the evidence suffices
    Score, low and high are NaN too where the pool has no items.
    """

    theta: FloatArray
    standard_error: FloatArray
    score: FloatArray
    low: FloatArray
    high: FloatArray
    above_cut: FloatArray
    enough: BoolArray


def mastery(state: State, curves: FloatArray, theta_cut: float, shares: FloatArray | None = None) -> Mastery:
    """Mastery of each objective, or of each group of objectives.

    curves : (K, 121), from `scores.objective_curves`;  theta_cut : the exam's cut score, logits
    shares : (G, K), rows of sum 1 from `domain_shares`; each objective by itself where not given
    """
    parts = np.eye(state.objectives) if shares is None else shares
    abilities = draws(state, parts.mean(axis=0))
    scores = expected_scores(np.nan_to_num(curves), abilities) @ parts.T  # (..., D, G)
    theta = ability_means(state) @ parts.T
    variance = np.einsum("gk,...kl,gl->...g", parts, ability_covariance(state), parts)
    sd = np.sqrt(variance)
    low, high = np.quantile(scores, INTERVAL, axis=-2)
    enough = state.answers @ (parts > 0.0).T >= ENOUGH_ANSWERS
    unknown = (parts > 0.0) @ np.isnan(curves[:, 0]) > 0
    shown, told = np.where(enough, 0.0, np.nan), np.where(enough & ~unknown, 0.0, np.nan)
    mean = scores.mean(axis=-2)
    return Mastery(
        theta + shown, sd + shown, mean + told, low + told, high + told, ndtr((theta - theta_cut) / sd) + shown, enough
    )


def domain_shares(domain: npt.ArrayLike, weights: FloatArray) -> FloatArray:
    """Share (G, K) of each objective in its domain by blueprint weight; equal shares in a domain without weight.

    domain : (K,), index of each objective's domain, 0 to G - 1

    >>> domain_shares([0, 0, 1], np.array([1.0, 3.0, 2.0]))
    array([[0.25, 0.75, 0.  ],
           [0.  , 0.  , 1.  ]])
    """
    places = np.asarray(domain)
    member = np.arange(places.max() + 1)[:, None] == places  # (G, K)
    kept = member * weights
    total = kept.sum(axis=1, keepdims=True)
    kept = np.where(total > 0.0, kept, member)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))
