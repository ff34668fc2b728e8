"""Ability as a posterior on a fixed grid of quadrature nodes.

A sitting keeps its log-posterior, up to an additive constant, and adds one log-likelihood per answer: an answer costs
the same after 5 as after 500 items. 121 nodes 0.1 logits apart on [-6, 6] stay exact to about 1e-5 logits while the
standard error is above 0.08, which is several hundred answers.
Source of the estimator: Bock & Mislevy (1982), Applied Psychological Measurement 6(4), 431-444.
"""

from typing import NamedTuple

import numpy as np

from engine.irt.curves import log_mixture, log_probabilities, logits
from engine.irt.types import FloatArray, Real


class Ability(NamedTuple):
    """A posterior mean and its standard deviation, both in logits."""

    theta: float
    standard_error: float


def grid(low: float, high: float, count: int) -> FloatArray:
    """`count` evenly spaced read-only nodes from `low` to `high` logits."""
    nodes = np.linspace(low, high, count)
    nodes.setflags(write=False)
    return nodes


NODES = grid(-6.0, 6.0, 121)


def normal_log_prior(mean: float = 0.0, sd: float = 1.0, *, nodes: FloatArray = NODES) -> FloatArray:
    """Log-probabilities (Q,) of a normal ability on the nodes; their exponentials sum to 1.

    >>> float(np.exp(normal_log_prior()).sum().round(12))
    1.0
    """
    if not (np.isfinite(mean) and 0.0 < sd < np.inf):
        raise ValueError(f"prior mean {mean} and sd {sd}: a finite mean and a finite sd above 0 expected")
    log_density = -0.5 * np.square((nodes - mean) / sd)
    peak = log_density.max()
    return np.asarray(log_density - (peak + np.log(np.exp(log_density - peak).sum())))


def log_likelihood(
    right: bool, a: float, b: float, c: float = 0.0, d: float = 1.0, *, nodes: FloatArray = NODES
) -> FloatArray:
    """Log-probability (Q,) of one answer at each node."""
    low, high = (c, d) if right else (1.0 - c, 1.0 - d)
    return log_mixture(logits(nodes, a, b)[:, 0], low, high)


def interpolated(log_likelihood: FloatArray, theta: FloatArray) -> FloatArray:
    """A log-probability known at NODES, (..., 121), at other abilities, (..., X): straight lines, also beyond the ends.

    Between nodes 0.1 apart a curve of slope a is off by at most 0.0004 a^2. Beyond them it never gets above 0, the
    logarithm of certainty. Straight lines keep every order: a difference of two curves that only rises, still does.

    >>> interpolated(-NODES - 7.0, np.array([0.25, 8.0])).round(9)
    array([ -7.25, -15.  ])
    """
    place = (theta - NODES[0]) / (NODES[1] - NODES[0])
    left = np.clip(np.floor(place), 0, NODES.size - 2).astype(np.int64)
    low = np.take_along_axis(log_likelihood, left, -1)
    rise = np.take_along_axis(log_likelihood, left + 1, -1) - low
    return np.asarray(np.minimum(low + (place - left) * rise, 0.0))


def update(
    log_posterior: FloatArray,
    right: bool,
    a: float,
    b: float,
    c: float = 0.0,
    d: float = 1.0,
    *,
    nodes: FloatArray = NODES,
) -> FloatArray:
    """The log-posterior (Q,) after one more answer; the one given is left as it was.

    >>> after = update(normal_log_prior(), True, a=1.0, b=0.0)
    >>> estimate(after).theta > estimate(normal_log_prior()).theta
    True
    """
    return log_posterior + log_likelihood(right, a, b, c, d, nodes=nodes)


def posterior(log_posterior: FloatArray) -> FloatArray:
    """Probabilities (..., Q) of the nodes, sum 1, from log-posteriors known up to a constant."""
    weights = np.exp(log_posterior - np.maximum.reduce(log_posterior, axis=-1, keepdims=True))
    return np.asarray(weights / np.add.reduce(weights, axis=-1, keepdims=True))


def moments(probabilities: FloatArray, *, nodes: FloatArray = NODES) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation (...) in logits of node probabilities (..., Q)."""
    mean = np.vecdot(probabilities, nodes)
    return mean, np.sqrt(np.vecdot(probabilities, np.square(nodes - mean[..., None])))


def ability(probabilities: FloatArray, *, nodes: FloatArray = NODES) -> Ability:
    """One learner's ability from node probabilities (Q,)."""
    mean, sd = moments(probabilities, nodes=nodes)
    return Ability(float(mean), float(sd))


def estimate(log_posterior: FloatArray, *, nodes: FloatArray = NODES) -> Ability:
    """One learner's ability (EAP) from a log-posterior (Q,)."""
    return ability(posterior(log_posterior), nodes=nodes)


def log_posteriors(
    responses: FloatArray,
    a: Real,
    b: FloatArray,
    c: Real = 0.0,
    d: Real = 1.0,
    *,
    nodes: FloatArray = NODES,
    log_prior: FloatArray | None = None,
) -> FloatArray:
    """Log-posteriors (L, Q), up to a constant per learner, of many learners at once.

    responses : (L, I), 1 right, 0 wrong, NaN not administered;  b : (I,), a, c, d : (I,) or scalars
    nodes, log_prior : (Q,), standard normal unless given.  Raises ValueError for disagreeing shapes and other values.
    """
    check_responses(responses, a, b, c, d)
    prior = normal_log_prior(nodes=nodes) if log_prior is None else log_prior
    log_right, log_wrong = log_probabilities(nodes, a, b, c, d)  # (Q, I)
    return np.asarray((responses == 1.0) @ log_right.T + (responses == 0.0) @ log_wrong.T + prior)


def eap(
    responses: FloatArray,
    a: Real,
    b: FloatArray,
    c: Real = 0.0,
    d: Real = 1.0,
    *,
    nodes: FloatArray = NODES,
    log_prior: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and standard deviation (L,) in logits of each learner's ability; arguments as `log_posteriors`.

    >>> mean, sd = eap(np.array([[1.0, np.nan], [np.nan, np.nan]]), 1.0, np.zeros(2))
    >>> mean.round(3), sd.round(3)
    (array([0.413, 0.   ]), array([0.911, 1.   ]))
    """
    joint = log_posteriors(responses, a, b, c, d, nodes=nodes, log_prior=log_prior)
    return moments(posterior(joint), nodes=nodes)


def check_responses(responses: FloatArray, a: Real, b: FloatArray, c: Real, d: Real) -> None:
    """Raise ValueError unless responses are an (L, I) matrix of 1, 0 and NaN and the parameters fit its columns."""
    if responses.ndim != 2:
        raise ValueError(f"responses have {responses.ndim} dimensions, 2 expected: learners by items")
    for name, values in (("a", a), ("b", b), ("c", c), ("d", d)):
        if np.ndim(values) and np.shape(values) != (responses.shape[1],):
            raise ValueError(f"{responses.shape[1]} response columns, but {name} has shape {np.shape(values)}")
    known = (responses == 1.0) | (responses == 0.0) | np.isnan(responses)
    if not known.all():
        raise ValueError(f"a response of {responses[~known][0]}: 1, 0 or NaN expected")
