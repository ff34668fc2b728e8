"""One learner's state moved on by one answer: what `state` does for many, as a request needs it.

Between a click and its reply the machinery for many learners would cost more than the arithmetic. Any model of the
answer will do: what is asked for is its likelihood at the places where the learner's ability may be.
"""

from functools import lru_cache

import numpy as np

from engine.irt.types import FloatArray
from engine.learner.state import LEAST_SHRINKAGE, LOG_NORMAL, STEPS, Prior, State


def places(state: State, objective: int) -> FloatArray:
    """Abilities (121,) on an objective, evenly spaced over what is known of it, at which `moved` wants a likelihood."""
    m, variance = _ability(state, objective)
    return np.asarray(m + variance**0.5 * STEPS)


def moved(state: State, objective: int, log_likelihood: FloatArray) -> State:
    """The state after one clean answer with this log-likelihood (121,) at `places`; as `state.updated`, any model."""
    _, variance = _ability(state, objective)
    log_weight = LOG_NORMAL + log_likelihood
    weight = np.exp(log_weight - log_weight.max())
    weight /= np.add.reduce(weight)
    shift = float(weight @ STEPS)
    factor = max(float(weight @ np.square(STEPS - shift)), LEAST_SHRINKAGE)
    gain = (state.covariance[0] + state.covariance[objective + 1]) / variance**0.5
    answers = state.answers.copy()
    answers[objective] += 1
    covariance = state.covariance - gain[:, None] * (gain * (1.0 - factor))
    return State(state.mean + gain * shift, covariance, answers)


def faded(state: State, days: float, prior: Prior) -> State:
    """As `state.drifted`."""
    if days <= 0.0:
        return state
    most, drifts = _variances(prior, state.objectives)
    covariance = state.covariance.copy()
    diagonal = covariance.reshape(-1)[:: state.objectives + 2]
    diagonal += np.minimum(drifts * days, np.maximum(most - diagonal, 0.0))
    return State(state.mean, covariance, state.answers)


def _ability(state: State, objective: int) -> tuple[float, float]:
    """Mean and variance of the ability on an objective."""
    own, covariance = objective + 1, state.covariance
    variance = covariance[0, 0] + covariance[own, own] + 2.0 * covariance[0, own]
    return float(state.mean[0] + state.mean[own]), float(variance)


@lru_cache(maxsize=64)
def _variances(prior: Prior, objectives: int) -> tuple[FloatArray, FloatArray]:
    return prior.variances(objectives), prior.drifts(objectives)
