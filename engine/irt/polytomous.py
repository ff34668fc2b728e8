"""Items scored in more than two categories: graded response, generalized partial credit and the nominal model.

Use them to give partial credit for a multiple_choice item (categories 0, 1, ... by points) or to learn from which
distractor was chosen (categories are options; nominal model). Category k of K is written 0 to K - 1. Items with fewer
categories than the widest are padded with NaN on the right; a missing category has probability 0.
"""

from typing import NamedTuple

import numpy as np

from engine.irt.curves import LOGIT_LIMIT, expit, logits
from engine.irt.types import BoolArray, FloatArray, Real

# Sums of absurd parameters are cut off here: differences of two such numbers are still numbers.
LARGEST = 1e300


class Categories(NamedTuple):
    """Each category of each item at each ability, (..., I, K).

    log_probability : natural logarithm, never under -LOGIT_LIMIT, but -inf where the item has no such category
    score : its derivative by ability, per logit; what choosing the category adds to the slope of the log-likelihood
    """

    log_probability: FloatArray
    score: FloatArray


def graded_response(theta: Real, a: FloatArray, b: FloatArray) -> Categories:
    """Graded response model (GRM): P(category k or higher) = expit(a (theta - b_k)).

    theta : (...), logits;  a : (I,), per logit;  b : (I, K - 1), logits, NaN where an item has fewer categories
    For ordered categories. Thresholds ascend (descend where a is negative), else ValueError. With two categories it is
    the 2PL.  Source: Samejima (1969), Psychometrika Monograph 17.

    >>> np.exp(graded_response(0.0, np.array([1.0]), np.array([[-1.0, 1.0]])).log_probability).round(3)
    array([[0.269, 0.462, 0.269]])
    """
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    exists = _existing(a, b)
    z = logits(np.asarray(theta)[..., None], a[:, None], b)  # (..., I, K - 1)
    if (np.diff(np.sign(a)[:, None] * b, axis=1) < 0.0).any():
        raise ValueError("thresholds of the graded response model must ascend with the category (descend where a < 0)")
    edge = np.ones((*z.shape[:-1], 1))
    above = np.concatenate([edge * np.inf, np.where(exists[:, 1:], z, -np.inf)], axis=-1)
    below = np.concatenate([above[..., 1:], edge * -np.inf], axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        # expit(u) - expit(v) = expit(u) expit(-v) (1 - exp(v - u)): no difference of two numbers near 1
        width = np.log(-np.expm1(below - above))
    log_probability = width - np.logaddexp(0.0, -above) - np.logaddexp(0.0, below)
    score = a[:, None] * (_expit(-above) - _expit(below))
    return _finished(log_probability, score, exists)


def partial_credit(theta: Real, a: FloatArray, b: FloatArray) -> Categories:
    """Generalized partial credit model (GPCM): P(k) / P(k - 1) = exp(a (theta - b_k)) for the steps k = 1 to K - 1.

    theta : (...), logits;  a : (I,), per logit;  b : (I, K - 1), step difficulties in any order, logits, NaN-padded
    For points earned step by step. With a = 1 it is Masters' partial credit model, with two categories the 2PL.
    Source: Muraki (1992), Applied Psychological Measurement 16(2), 159-176.

    >>> np.exp(partial_credit(0.0, np.array([1.0]), np.array([[-1.0, 1.0]])).log_probability).round(3)
    array([[0.212, 0.576, 0.212]])
    """
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    exists = _existing(a, b)
    steps = np.arange(exists.shape[1], dtype=np.float64)
    with np.errstate(over="ignore"):
        slopes = a[:, None] * steps
        intercepts = np.pad(np.clip(-a[:, None] * np.cumsum(b, axis=1), -LARGEST, LARGEST), ((0, 0), (1, 0)))
    return nominal(theta, np.where(exists, slopes, np.nan), intercepts)


def nominal(theta: Real, slopes: FloatArray, intercepts: FloatArray) -> Categories:
    """Bock's nominal model: P(k) is proportional to exp(slope_k theta + intercept_k).

    theta : (...), logits;  slopes, intercepts : (I, K), NaN-padded; a constant added to all of an item changes nothing
    For options of unknown order: an option with a low slope is chosen by those of low ability.
    Source: Bock (1972), Psychometrika 37(1), 29-51.

    >>> np.exp(nominal(0.0, np.array([[-1.0, 0.0, 1.0]]), np.zeros((1, 3))).log_probability).round(3)
    array([[0.333, 0.333, 0.333]])
    """
    slopes, intercepts = np.asarray(slopes, np.float64), np.asarray(intercepts, np.float64)
    if slopes.ndim != 2 or slopes.shape != intercepts.shape:
        raise ValueError(f"slopes are {slopes.shape}, intercepts {intercepts.shape}: items by categories expected")
    exists = ~np.isnan(slopes + intercepts)
    slope, intercept = np.where(exists, slopes, 0.0), np.where(exists, intercepts, 0.0)
    with np.errstate(over="ignore"):
        u = np.clip(np.asarray(theta, np.float64)[..., None, None] * slope + intercept, -LARGEST, LARGEST)
    u = np.where(exists, u, -np.inf)
    u = u - u.max(axis=-1, keepdims=True)
    log_probability = u - np.log(np.exp(u).sum(axis=-1, keepdims=True))
    expected = np.vecdot(np.exp(log_probability), slope)
    return _finished(log_probability, slope - expected[..., None], exists)


def category_probability(categories: Categories) -> FloatArray:
    """Probability of each category, (..., I, K)."""
    return np.exp(categories.log_probability)


def category_information(categories: Categories) -> FloatArray:
    """Fisher information of each item, (..., I), per squared logit: the mean of the squared score.

    Source: Samejima (1969), Psychometrika Monograph 17.
    """
    with np.errstate(over="ignore"):
        squares = np.square(np.exp(categories.log_probability / 2.0) * categories.score)
    return np.asarray(np.minimum(squares.sum(axis=-1), np.finfo(np.float64).max))


def expected_points(categories: Categories, points: FloatArray | None = None) -> FloatArray:
    """Mean points of each item, (..., I); points : (I, K) or (K,), the number of the category unless given."""
    worth = np.arange(categories.score.shape[-1], dtype=np.float64) if points is None else points
    return np.asarray(np.vecdot(np.exp(categories.log_probability), worth))


def category_log_likelihood(categories: Categories, chosen: FloatArray) -> FloatArray:
    """Log-likelihood (L, Q) of many learners' choices, to be added to a log-prior or to that of other items.

    categories : at the nodes, (Q, I, K);  chosen : (L, I), 0 to K - 1, NaN not administered
    One answer's share in a sitting is `categories.log_probability[:, item, category]`.
    Raises ValueError for disagreeing shapes and for categories that an item does not have.

    >>> from engine.irt import NODES, moments, normal_log_prior, posterior
    >>> item = partial_credit(NODES, np.array([1.0]), np.array([[-1.0, 1.0]]))
    >>> joint = category_log_likelihood(item, np.array([[0.0], [1.0], [2.0]])) + normal_log_prior()
    >>> moments(posterior(joint))[0].round(3) + 0.0
    array([-0.726,  0.   ,  0.726])
    """
    _, items, count = categories.log_probability.shape
    if chosen.ndim != 2 or chosen.shape[1] != items:
        raise ValueError(f"choices have shape {chosen.shape}: learners by {items} items expected")
    picked = chosen[..., None] == np.arange(count)  # (L, I, K)
    exists = np.isfinite(categories.log_probability[0])
    known = np.isnan(chosen) | (picked & exists).any(axis=-1)
    if not known.all():
        learner, item = np.argwhere(~known)[0]
        raise ValueError(f"learner {learner} chose category {chosen[learner, item]:g}, which item {item} does not have")
    logs = np.where(exists, categories.log_probability, 0.0)
    flat = picked.reshape(chosen.shape[0], -1).astype(np.float64)
    return np.asarray(flat @ logs.reshape(logs.shape[0], -1).T)


def _existing(a: FloatArray, b: FloatArray) -> BoolArray:
    """Which categories (I, K) each item has: one more than thresholds."""
    if a.ndim != 1 or b.ndim != 2 or a.size != b.shape[0]:
        raise ValueError(f"discriminations have shape {a.shape}, thresholds {b.shape}: items, and items by thresholds")
    given = ~np.isnan(b)
    if (given[:, 1:] & ~given[:, :-1]).any():
        raise ValueError("a threshold is missing before one that is given: NaN may only stand on the right")
    return np.pad(given, ((0, 0), (1, 0)), constant_values=True)


def _finished(log_probability: FloatArray, score: FloatArray, exists: BoolArray) -> Categories:
    return Categories(
        np.where(exists, np.maximum(log_probability, -LOGIT_LIMIT), -np.inf), np.where(exists, score, 0.0)
    )


def _expit(z: FloatArray) -> FloatArray:
    return expit(np.clip(z, -LOGIT_LIMIT, LOGIT_LIMIT))
