"""Fisher information of an item: how much one answer tells about ability, per squared logit."""

import numpy as np

from engine.irt.curves import expit, logits
from engine.irt.types import FloatArray, Real


def information(theta: Real, a: Real, b: Real, c: Real = 0.0, d: Real = 1.0) -> FloatArray:
    """Fisher information of the 1PL to 4PL, (..., I): P'(theta)^2 / (P * (1 - P)), never negative, finite everywhere.

    theta : (...), logits;  a, b, c, d : (I,) or scalars.  With s = expit(a * (theta - b)) it is
    a^2 (d - c)^2 * s (1 - s) * s / P * (1 - s) / Q, where s / P <= 1 / d and (1 - s) / Q <= 1 / (1 - c): no 0 / 0.
    Source: Magis (2013), Applied Psychological Measurement 37(4), 304-315.

    >>> information(0.0, a=2.0, b=0.0)
    array([1.])
    """
    z = logits(theta, a, b)
    s, r = expit(z), expit(-z)  # r = 1 - s with all its digits
    right = c * r + d * s
    wrong = np.subtract(1.0, c) * r + np.subtract(1.0, d) * s
    shape = (s * r) * (s / right) * (r / wrong) * np.square(np.subtract(d, c))
    with np.errstate(over="ignore"):
        return np.minimum(a * shape * a, np.finfo(np.float64).max)
