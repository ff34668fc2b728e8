"""The chance of passing a form, item by item, and what a posterior of ability says of that chance."""

import numpy as np

from engine.irt.types import FloatArray
from engine.learner.mastery import INTERVAL


def at_least(p: FloatArray, mark: int) -> FloatArray:
    """The chance (...) of at least `mark` right, from the chances p (..., n) of each item, independent of each other.

    The distribution of the number right, item by item. Source: Lord & Wingersky (1984), APM 8(4), 453-461.

    >>> at_least(np.array([0.5, 0.5]), 1)
    array(0.75)
    """
    if mark <= 0:
        return np.ones(p.shape[:-1])
    distribution = np.zeros((*p.shape[:-1], p.shape[-1] + 1))
    distribution[..., 0] = 1.0
    for item in range(p.shape[-1]):
        chance = p[..., item, None]
        moved = distribution[..., :-1] * chance
        distribution *= 1.0 - chance
        distribution[..., 1:] += moved
    return np.asarray(distribution[..., mark:].sum(axis=-1))


def summary(chance: FloatArray, weights: FloatArray) -> tuple[float, float, float]:
    """The mean of a chance (Q,) and its 5 and 95 % quantiles, by the probabilities (Q,) of what it rests on.

    >>> summary(np.array([0.2, 0.6, 0.9]), np.array([0.25, 0.5, 0.25]))
    (0.575, 0.2, 0.9)
    """
    order = np.argsort(chance, kind="stable")
    reached = np.cumsum(weights[order])
    places = np.minimum(np.searchsorted(reached, INTERVAL), order.size - 1)
    low, high = chance[order[places]].tolist()
    return float(chance @ weights), low, high
