"""Response curves of the one- to four-parameter logistic models, in the logistic metric (D = 1).

P(right) = c + (d - c) / (1 + exp(-a * (theta - b))): `a` discrimination per logit, `b` difficulty in logits, `c` lower
and `d` upper asymptote, 0 <= c < d <= 1.  The 3PL has d = 1, the 2PL also c = 0, the 1PL also one `a` for every item.
Source: Barton & Lord (1981), ETS Research Report 81-20.

>>> probability(0.0, a=np.array([1.0, 2.0]), b=np.array([0.0, 0.0]), c=0.2)
array([0.6, 0.6])
"""

import numpy as np

from engine.irt.types import FloatArray, Real

# exp(-700) is about 1e-304, near the smallest normal double. Beyond this distance the curve is flat to every digit, and
# stopping there keeps each log-probability finite: contradictory answers to absurd items cannot make a posterior NaN.
LOGIT_LIMIT = 700.0


def probability(theta: Real, a: Real, b: Real, c: Real = 0.0, d: Real = 1.0) -> FloatArray:
    """Probability of a right answer: people are rows, items columns.

    theta : (...), logits;  a, b, c, d : (I,) or scalars;  returns (..., I)
    """
    z = logits(theta, a, b)
    return np.asarray(c + np.subtract(d, c) * expit(z))


def log_probabilities(theta: Real, a: Real, b: Real, c: Real = 0.0, d: Real = 1.0) -> tuple[FloatArray, FloatArray]:
    """Natural logarithms of the probabilities of a right and of a wrong answer, each (..., I) and finite.

    Neither is computed from the other, so both keep their digits where one probability is next to 1.
    """
    z = logits(theta, a, b)
    return log_mixture(z, c, d), log_mixture(z, np.subtract(1.0, c), np.subtract(1.0, d))


def logits(theta: Real, a: Real, b: Real) -> FloatArray:
    """`a * (theta - b)`, (..., I), cut off at plus and minus LOGIT_LIMIT."""
    with np.errstate(over="ignore"):
        z = a * (np.asarray(theta, dtype=np.float64)[..., None] - b)
    return np.minimum(np.maximum(z, -LOGIT_LIMIT), LOGIT_LIMIT)


def expit(z: FloatArray) -> FloatArray:
    """1 / (1 + exp(-z)) for |z| <= LOGIT_LIMIT."""
    return np.asarray(1.0 / (1.0 + np.exp(-z)))


def log_mixture(z: FloatArray, low: Real, high: Real) -> FloatArray:
    """log(low * expit(-z) + high * expit(z)): a sum of positive terms, so nothing cancels."""
    small = np.exp(-np.abs(z))
    return np.asarray(np.log(np.where(z < 0.0, low + high * small, high + low * small)) - np.log1p(small))
