"""The worth of practice: what each objective lacks, by what the exam asks of it, and how well a difficulty suits.

The gain of an item is the worth of its objective times its suitability. All of it is a few sums over objectives and one
curve per item, so that a step stays cheap; what it rests on is in the trace.
"""

import numpy as np
from scipy.special import ndtr

from engine.irt.curves import LOGIT_LIMIT, expit
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.selection.content import shares
from engine.selection.profile import Profile

HEADROOM = 0.25  # logits above the cut score that an objective is practised up to: some of it will be forgotten
LEAST_SHORTFALL = 0.02  # logits that an objective is taken to lack at least, so that none is dropped for good
SPREAD = 0.15  # of the probability of a right answer around its target
ROOT_TAU = float(np.sqrt(2.0 * np.pi))


def worth(profile: Profile | None, weights: FloatArray, counts: IntArray, in_play: BoolArray) -> FloatArray:
    """What one more answer on each objective is worth, (K,): sqrt(share of the exam) * logits short / (1 + answers).

    weights : (K,), of the blueprint;  in_play : (K,), objectives with something to serve, at least one
    counts : (K,), answers of this sitting.  Dividing by them spreads a sitting over the objectives in proportion to the
    rest, as seats are given to parties: nobody practises one thing for an hour, and an ability that has risen since it
    was last estimated costs few answers too many. The root is how effort is best shared out where its returns diminish,
    as Neyman (1934), Journal of the Royal Statistical Society 97(4), 558-625, found for samples.
    Without a profile all objectives are equally short.
    """
    short = 1.0 if profile is None else shortfall(profile) + LEAST_SHORTFALL
    return np.asarray(np.sqrt(shares(weights, in_play)) * short / (1.0 + counts))


def shortfall(profile: Profile) -> FloatArray:
    """How many logits each ability (K,) is expected to lie below the cut score plus HEADROOM: E[max(0, need - x)].

    For x ~ N(m, s^2) it is s (z Phi(z) + phi(z)), z = (need - m) / s. It falls with m, and rises with s: an objective
    that looks strong on little evidence still lacks something, and gets a look.
    Source of the formula: the expected improvement of Jones, Schonlau & Welch (1998), Journal of Global Optimization
    13(4), 455-492.
    """
    s = profile.standard_errors
    z = (profile.cut_score + HEADROOM - profile.abilities) / s
    return np.asarray(s * (z * ndtr(z) + np.exp(-0.5 * np.square(z)) / ROOT_TAU))


def suitability(
    theta: FloatArray, a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, *, target: float
) -> FloatArray:
    """How well items suit, (n,): exp(-((p - target) / SPREAD)^2 / 2), p the probability of a right answer.

    theta : (n,), ability on each item's objective, logits
    Practice at 0.7 to 0.8 keeps learners going: Eggen & Verschoor (2006), Applied Psychological Measurement 30(5),
    379-393.
    """
    p = c + (d - c) * expit(np.clip(a * (theta - b), -LOGIT_LIMIT, LOGIT_LIMIT))
    return np.asarray(np.exp(-0.5 * np.square((p - target) / SPREAD)))
