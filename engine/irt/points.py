"""Ability as a point: maximum likelihood, maximum a posteriori and Warm's weighted likelihood, many learners at once.

Use the grid posterior of `ability` while a sitting runs. These are for reports and for comparison with other programs.
Under the 3PL and 4PL a likelihood can have several maxima: every one that the grid shows is climbed, the highest wins.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from engine.irt.ability import check_responses
from engine.irt.climbing import highest
from engine.irt.curves import LOGIT_LIMIT
from engine.irt.objectives import Likelihood, Posterior, Weighted
from engine.irt.types import BoolArray, FloatArray, Real

# Wider than any ability that is reported: a finite maximum after few or nearly perfect answers can lie beyond 10.
BOUNDS = (-12.0, 12.0)

# A logistic curve crosses a cell of half a logit of its own scale almost straight: no maximum hides between two nodes.
SPACING = 0.1
CELL = 0.5

# Numbers in one block of learners, so that memory stays under 100 MB for any number of learners.
BLOCK = 300_000

# responses, a, b, c, d, nodes
Objective = Callable[[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray], Likelihood]


class PointEstimates(NamedTuple):
    """One ability per learner, each array (L,).

    theta : logits, always within the bounds;  standard_error : logits, at most the distance between the bounds
    at_bound : no finite maximum inside the bounds, so theta is the bound, or their middle where nothing is known
    """

    theta: FloatArray
    standard_error: FloatArray
    at_bound: BoolArray


def maximum_likelihood(
    responses: FloatArray,
    a: Real,
    b: FloatArray,
    c: Real = 0.0,
    d: Real = 1.0,
    *,
    bounds: tuple[float, float] = BOUNDS,
) -> PointEstimates:
    """The ability under which the answers are most probable, with 1 / sqrt(observed information).

    responses : (L, I), 1 right, 0 wrong, NaN not administered;  b : (I,), a, c, d : (I,) or scalars
    The likelihood's limits at infinite ability compete too: all right, all wrong, and under the 3PL many mixed patterns
    are best explained there; they get the bound. Of equal maxima the lowest is taken. Discriminations beyond
    700 / (high - low) count as that. With positive discriminations a right answer never lowers the estimate.
    Raises ValueError for disagreeing shapes and other values.
    Source: Lord (1980), Applications of Item Response Theory to Practical Testing Problems; several maxima: Samejima
    (1973), Psychometrika 38(2), 221-233.

    >>> found = maximum_likelihood(np.array([[1.0, 0.0], [1.0, 1.0]]), 1.0, np.array([-0.5, 0.5]))
    >>> found.theta.round(3) + 0.0, found.at_bound
    (array([ 0., 12.]), array([False,  True]))
    """
    return _estimates(Likelihood, responses, a, b, c, d, bounds)


def maximum_posterior(
    responses: FloatArray,
    a: Real,
    b: FloatArray,
    c: Real = 0.0,
    d: Real = 1.0,
    *,
    mean: float = 0.0,
    sd: float = 1.0,
    bounds: tuple[float, float] = BOUNDS,
) -> PointEstimates:
    """The mode of the posterior under a normal prior (MAP), with 1 / sqrt(observed information + 1 / sd^2).

    mean, sd : of the prior, logits;  other arguments and promises as `maximum_likelihood`. Without answers: the prior.
    Source: Samejima (1969), Psychometrika Monograph 17.

    >>> found = maximum_posterior(np.array([[np.nan, np.nan], [1.0, 1.0]]), 1.0, np.zeros(2))
    >>> found.theta.round(3), found.standard_error.round(3)
    (array([0.   , 0.675]), array([1.   , 0.831]))
    """
    if not (np.isfinite(mean) and 0.0 < sd < np.inf):
        raise ValueError(f"prior mean {mean} and sd {sd}: a finite mean and a finite sd above 0 expected")
    return _estimates(partial(Posterior, mean=mean, sd=sd), responses, a, b, c, d, bounds)


def weighted_likelihood(
    responses: FloatArray,
    a: Real,
    b: FloatArray,
    c: Real = 0.0,
    d: Real = 1.0,
    *,
    bounds: tuple[float, float] = BOUNDS,
) -> PointEstimates:
    """Warm's estimate (WLE), free of the first-order bias of maximum likelihood, with its standard error.

    It solves l'(theta) + J / (2 I) = 0 with I the information and J the sum of P' P'' / (P (1 - P)), and is finite for
    all right and all wrong. The standard error is 1 / sqrt(-slope of the left side). Arguments as `maximum_likelihood`;
    but a right answer may lower this one, because a new item moves it by its mere presence.
    Source: Warm (1989), Psychometrika 54(3), 427-450; apart from Jeffreys' prior where c > 0 or d < 1: Magis & Raîche
    (2012), Psychometrika 77(1), 163-169.

    >>> weighted_likelihood(np.array([[1.0], [0.0]]), 1.0, np.zeros(1)).theta.round(4)
    array([ 1.0986, -1.0986])
    """
    return _estimates(Weighted, responses, a, b, c, d, bounds)


def _estimates(
    objective: Objective,
    responses: FloatArray,
    a: Real,
    b: FloatArray,
    c: Real,
    d: Real,
    bounds: tuple[float, float],
) -> PointEstimates:
    check_responses(responses, a, b, c, d)
    low, high = bounds
    if not -np.inf < low < high < np.inf:
        raise ValueError(f"bounds {low} to {high}: two finite numbers expected, the lower one first")
    steepest = LOGIT_LIMIT / (high - low)  # so that no curve inside the bounds is cut off
    count = responses.shape[1]
    slope = np.clip(np.broadcast_to(np.asarray(a, np.float64), count), -steepest, steepest)
    difficulty, lower, upper = (np.broadcast_to(np.asarray(value, np.float64), count) for value in (b, c, d))
    nodes = _nodes(low, high, slope)
    blocks = max(1, math.ceil(responses.shape[0] * max(nodes.size, count) / BLOCK))
    found = [
        _block(objective(rows, slope, difficulty, lower, upper, nodes)) for rows in np.array_split(responses, blocks)
    ]
    theta, standard_error, at_bound = (np.concatenate(part) for part in zip(*found, strict=True))
    return PointEstimates(theta, standard_error, at_bound)


def _nodes(low: float, high: float, a: FloatArray) -> FloatArray:
    spacing = min(SPACING, CELL / max(float(np.abs(a).max(initial=0.0)), CELL))
    return np.linspace(low, high, math.ceil((high - low) / spacing) + 1)


def _block(objective: Likelihood) -> PointEstimates:
    low, high = objective.nodes[0], objective.nodes[-1]
    theta, value = highest(objective.on(), objective.at, objective.nodes)
    downwards, upwards = objective.limits(value)
    theta = np.where(downwards & upwards, (low + high) / 2.0, np.where(upwards, high, np.where(downwards, low, theta)))
    standard_error = 1.0 / np.sqrt(np.maximum(objective.precision(theta), (high - low) ** -2.0))
    return PointEstimates(theta, standard_error, downwards | upwards | (theta <= low) | (theta >= high))
