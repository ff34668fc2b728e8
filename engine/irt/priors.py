"""Item parameters before there are any answers: from a judge's rating and the number of options.

They put a new exam on a working footing; a calibration replaces them.
"""

import numpy as np

from engine.irt.types import FloatArray, Real

# A slope of 1 per logit is an item-ability biserial correlation of 0.51 (r = s / sqrt(1 + s^2) with s = a / 1.702): a
# sound, unremarkable item. A steeper guess would claim information nobody has measured.
DEFAULT_DISCRIMINATION = 1.0

# Judges rate in steps of about 5 %, and often below the guessing rate, where the logit is not defined. Ratings are kept
# this share of the open interval (c, 1) away from its ends, so that b stays within 2.94 / a logits of the cut score.
RATING_MARGIN = 0.05


def difficulty_from_rating(
    rating: Real, *, theta_cut: float, a: Real = DEFAULT_DISCRIMINATION, c: Real = 0.0
) -> FloatArray:
    """Difficulty in logits at which a just-qualified candidate is right with the probability that a judge expects.

    rating : (I,), Angoff rating in [0, 1];  theta_cut : ability at the cut score, logits;  a : (I,), above 0;  c : (I,)
    b = theta_cut - logit((p - c) / (1 - c)) / a, the 3PL inverted, with p kept inside (c, 1) by RATING_MARGIN.
    Returns (I,), or a 0-d array.  Source of the rating: Angoff (1971), in Thorndike, Educational Measurement, 508-600.

    >>> float(difficulty_from_rating(0.625, theta_cut=0.4, c=0.25))
    0.4
    """
    ratings = np.asarray(rating, dtype=np.float64)
    if not ((ratings >= 0.0) & (ratings <= 1.0)).all():
        raise ValueError(f"a rating outside [0, 1]: {rating}")
    if not (np.asarray(a) > 0.0).all():
        raise ValueError(f"discrimination must be above 0 to turn a rating into a difficulty: {a}")
    share = np.clip((ratings - c) / np.subtract(1.0, c), RATING_MARGIN, 1.0 - RATING_MARGIN)
    return np.asarray(theta_cut - np.log(share / (1.0 - share)) / a)


def guessing(options: int) -> float:
    """Lower asymptote of a single-choice item whose options all attract someone who knows nothing: 1 / options.

    >>> guessing(4)
    0.25
    """
    if options < 2:
        raise ValueError(f"{options} options: a single-choice item has at least 2")
    return 1.0 / options
