"""Linking: bringing the parameters of one calibration onto the ability scale of another by the items they share.

Abilities of the new scale become theta' = slope * theta + intercept, so a' = a / slope and b' = slope * b + intercept;
c and d stay. Sources: Kolen & Brennan (2004), Test Equating, Scaling, and Linking, chapter 6; Haebara (1980), Japanese
Psychological Research 22(3), 144-149; Stocking & Lord (1983), Applied Psychological Measurement 7(2), 201-210.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

from engine.irt.ability import grid
from engine.irt.curves import expit, logits, probability
from engine.irt.types import FloatArray, Real

# Where curves are compared unless said otherwise: evenly weighted, on the range that tests are made for. Even weights
# keep the curves' ends in view; a normal weighting says what happens where the learners of the target scale are.
LINKING_POINTS = grid(-4.0, 4.0, 161)


class ItemParameters(NamedTuple):
    """Parameters (I,) of the shared items on one scale, in the same order on both."""

    a: FloatArray
    b: FloatArray
    c: Real = 0.0
    d: Real = 1.0


class Link(NamedTuple):
    """A change of scale; `Link(1.0, 0.0)` changes nothing."""

    slope: float
    intercept: float

    def abilities(self, theta: Real) -> FloatArray:
        """Abilities, difficulties or cut scores (...) on the target scale, logits."""
        return np.asarray(self.slope * np.asarray(theta) + self.intercept)

    def standard_errors(self, standard_error: Real) -> FloatArray:
        """Standard errors (...) of abilities or difficulties on the target scale, logits."""
        return np.asarray(self.slope * np.asarray(standard_error))

    def items(self, items: ItemParameters) -> ItemParameters:
        """The items with their parameters on the target scale: their curves at linked abilities are what they were.

        >>> Link(2.0, 1.0).items(ItemParameters(np.array([1.0]), np.array([0.5])))
        ItemParameters(a=array([0.5]), b=array([2.]), c=0.0, d=1.0)
        """
        return items._replace(a=np.asarray(items.a) / self.slope, b=self.abilities(items.b))

    def inverse(self) -> "Link":
        """The way back."""
        return Link(1.0 / self.slope, -self.intercept / self.slope)


def mean_mean(source: ItemParameters, target: ItemParameters) -> Link:
    """From the means of a and b. Quick, needs no curve; one wild `a` moves it.

    Source: Loyd & Hoover (1980), Journal of Educational Measurement 17(3), 179-193.
    """
    _check(source, target, at_least=1)
    return _through_means(float(np.mean(source.a) / np.mean(target.a)), source, target)


def mean_sigma(source: ItemParameters, target: ItemParameters) -> Link:
    """From the means and standard deviations of b. Quick; one wild `b`, or items of like difficulty, mislead it.

    Source: Marco (1977), Journal of Educational Measurement 14(2), 139-160.
    """
    _check(source, target, at_least=2)
    if not np.ptp(source.b) > 0.0:
        raise ValueError("all shared items have the same difficulty: mean_sigma has no spread to compare")
    return _through_means(float(np.std(target.b) / np.std(source.b)), source, target)


def haebara(
    source: ItemParameters,
    target: ItemParameters,
    *,
    points: FloatArray = LINKING_POINTS,
    weights: FloatArray | None = None,
) -> Link:
    """The link under which each shared item's curve differs least from its curve on the target scale.

    points, weights : (Q,), abilities on the target scale where curves are compared, and how much each counts (even)
    It minimises the weighted sum over points and items of the squared differences of probabilities.
    """
    return _fit(source, target, points, weights, lambda difference: difference)


def stocking_lord(
    source: ItemParameters,
    target: ItemParameters,
    *,
    points: FloatArray = LINKING_POINTS,
    weights: FloatArray | None = None,
) -> Link:
    """The link under which the shared items' expected score differs least: the usual choice. Arguments as `haebara`.

    It minimises the weighted sum over points of the squared difference of the sums of probabilities, so that one item's
    change can hide behind another's; compare with `haebara` to see whether it does.
    """
    return _fit(source, target, points, weights, lambda difference: difference.sum(axis=1, keepdims=True))


def _through_means(slope: float, source: ItemParameters, target: ItemParameters) -> Link:
    if not 0.0 < slope < np.inf:
        raise ValueError(f"the shared items give a slope of {slope}, a finite one above 0 expected")
    return Link(slope, float(np.mean(target.b) - slope * np.mean(source.b)))


def _fit(
    source: ItemParameters,
    target: ItemParameters,
    points: FloatArray,
    weights: FloatArray | None,
    combine: Callable[[FloatArray], FloatArray],
) -> Link:
    _check(source, target, at_least=1)
    share = np.ones(points.shape) if weights is None else weights
    if share.shape != points.shape or not (share >= 0.0).all() or not share.any():
        raise ValueError(f"weights {share}: one for each of {points.size} points, none below 0, some above")
    root = np.sqrt(share / share.sum())[:, None]
    wanted = probability(points, *target)  # (Q, I)

    def gaps(at: FloatArray) -> FloatArray:
        # a / slope * (point - slope * b - intercept) = a * (back - b): instead of the items, the points are moved
        back = (points - at[1]) / np.exp(at[0])
        return np.ravel(root * combine(wanted - probability(back, *source)))

    def changes(at: FloatArray) -> FloatArray:
        slope = np.exp(at[0])
        back = (points - at[1]) / slope
        z = logits(back, source.a, source.b)
        rise = source.a * np.subtract(source.d, source.c) * expit(z) * expit(-z)
        by = (combine(rise * back[:, None]), combine(rise / slope))
        return np.stack([(root * each).ravel() for each in by], axis=1)

    begin = _through_means(float(np.mean(np.abs(source.a)) / np.mean(np.abs(target.a))), source, target)
    start = np.array([np.log(begin.slope), begin.intercept])
    found = least_squares(gaps, start, changes, xtol=1e-12, ftol=1e-14, gtol=1e-12)
    return Link(float(np.exp(found.x[0])), float(found.x[1]))


def _check(source: ItemParameters, target: ItemParameters, *, at_least: int) -> None:
    for name, items in (("source", source), ("target", target)):
        for field, values in zip(ItemParameters._fields, items, strict=True):
            if np.ndim(values) and np.shape(values) != np.shape(source.a):
                raise ValueError(f"{name} {field} has shape {np.shape(values)}, {np.shape(source.a)} expected")
            if not np.isfinite(values).all():
                raise ValueError(f"{name} {field} has a value that is not finite")
    if np.size(source.a) < at_least:
        raise ValueError(f"{np.size(source.a)} shared items: at least {at_least} needed")
