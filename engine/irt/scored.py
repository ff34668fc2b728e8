"""What one scored answer says of ability: the category it reached under the model of its item, at every node.

An item is kept as a few numbers; the curve of a category is made when an answer first needs it, and kept for the next.
Ability is estimated with these curves. Which item comes next is not: that ranks by a, b, c, d, see `engine.pool`.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Self

import numpy as np

from engine.irt.ability import NODES
from engine.irt.polytomous import Categories, graded_response, nominal, partial_credit
from engine.irt.types import FloatArray

CURVES_KEPT = 4_000  # of categories, 1 kB each


class Kind(StrEnum):
    """How the categories hang together."""

    gpcm = "gpcm"
    grm = "grm"
    nominal = "nominal"


@dataclass(frozen=True, slots=True)
class ScoredModel:
    """One item's model of more than right and wrong, with K categories; make one with the class methods.

    slopes : per logit, one for a gpcm or grm item, K for a nominal one
    places : K - 1 steps or thresholds in logits, K intercepts of a nominal item
    options : what the categories of a nominal item are, as uuids; () where they are points
    """

    kind: Kind
    slopes: tuple[float, ...]
    places: tuple[float, ...]
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        numbers = np.array([*self.slopes, *self.places])
        if not np.isfinite(numbers).all():
            raise ValueError(f"{self}: finite numbers expected")
        if not self.places or len(set(self.options)) != len(self.options):
            raise ValueError(f"{self}: at least one step, or options that all differ, expected")
        _categories(self, NODES[:1])  # raises for disordered thresholds

    @classmethod
    def partial_credit(cls, a: float, steps: tuple[float, ...]) -> Self:
        """Points earned step by step: `partial_credit` of `engine.irt.polytomous`."""
        return cls(Kind.gpcm, (a,), steps)

    @classmethod
    def graded(cls, a: float, thresholds: tuple[float, ...]) -> Self:
        """Points as grades: `graded_response` of `engine.irt.polytomous`."""
        return cls(Kind.grm, (a,), thresholds)

    @classmethod
    def nominal(cls, options: dict[str, tuple[float, float]]) -> Self:
        """Options of any order, each with slope and intercept: `nominal` of `engine.irt.polytomous`."""
        slopes, intercepts = zip(*options.values(), strict=True) if options else ((), ())
        return cls(Kind.nominal, slopes, intercepts, tuple(options))

    @property
    def categories(self) -> int:
        """K."""
        return len(self.places) + (self.kind is not Kind.nominal)


@lru_cache(maxsize=CURVES_KEPT)
def evidence(model: ScoredModel, category: int) -> FloatArray:
    """Log-probability (121,) of a category, 0 to K - 1, at NODES: finite, at most 0, read-only.

    Raises ValueError for a category that the item does not have.

    >>> model = ScoredModel.partial_credit(1.0, (-1.0, 1.0))
    >>> evidence(model, 2)[[20, 60, 100]].round(2)
    array([-8.05, -1.55, -0.05])
    """
    if not 0 <= category < model.categories:
        raise ValueError(f"category {category}: 0 to {model.categories - 1} expected")
    curve = np.ascontiguousarray(_categories(model, NODES).log_probability[:, 0, category])
    curve.setflags(write=False)
    return curve


def _categories(model: ScoredModel, theta: FloatArray) -> Categories:
    slopes, places = np.array(model.slopes), np.array([model.places])
    if model.kind is Kind.nominal:
        return nominal(theta, slopes[None], places)
    return (partial_credit if model.kind is Kind.gpcm else graded_response)(theta, slopes, places)
