"""The ability that a sitting reports, by the policy's estimator; choosing and stopping rest on the posterior."""

from typing import NamedTuple

import numpy as np

from engine.irt import ability, estimate, maximum_likelihood, maximum_posterior, posterior, weighted_likelihood
from engine.irt.types import BoolArray, FloatArray
from engine.selection.policy import Estimator


class Reported(NamedTuple):
    """theta, standard_error : logits;  at_bound : the answers have no finite estimate, so theta is the bound"""

    theta: float
    standard_error: float
    at_bound: bool = False


def reported(
    estimator: Estimator,
    *,
    start: FloatArray,
    now: FloatArray,
    right: BoolArray,
    parameters: FloatArray,
) -> Reported:
    """One sitting's ability.

    start, now : (121,), log posteriors before the first answer and after the last
    right : (n,), of the answers that count;  parameters : (n, 4), a, b, c, d of their items
    EAP is the mean of the posterior, MAP its mode with the start taken as normal; WLE and MLE leave the start aside.
    """
    if estimator is Estimator.eap:
        return Reported(*estimate(now))
    a, b, c, d = parameters.reshape(-1, 4).T
    answers = right.astype(np.float64)[None]
    if estimator is Estimator.map:
        mean, sd = ability(posterior(start))
        found = maximum_posterior(answers, a, b, c, d, mean=mean, sd=sd)
    elif estimator is Estimator.wle:
        found = weighted_likelihood(answers, a, b, c, d)
    else:
        found = maximum_likelihood(answers, a, b, c, d)
    return Reported(float(found.theta[0]), float(found.standard_error[0]), bool(found.at_bound[0]))
