"""The probability that a practising learner answers an item right, seen or unseen, from what came before.

Ability alone says nothing of the third meeting with an item. This is logistic regression on ability, difficulty, log
counts of earlier right and wrong answers on the objective and on the item, and how long ago they were. It is linear on
purpose: squares and products forecast slightly better and may let an abler learner look worse.
Source: Pavlik, Cen & Koedinger (2009), AIED 2009, 531-538; Gervet, Koedinger, Schneider & Mitchell (2020), Journal of
Educational Data Mining 12(3), 31-54.  Fitting, which needs scikit-learn, is in `fitting`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from engine.irt.curves import LOGIT_LIMIT, expit
from engine.irt.types import FloatArray, IntArray, Real

FEATURES = (
    "ability",
    "difficulty",
    "log_objective_right",
    "log_objective_wrong",
    "log_item_right",
    "log_item_wrong",
    "objective_is_known",
    "log_objective_gap",
    "item_is_known",
    "log_item_gap",
)


def features(
    ability: Real,
    difficulty: Real,
    *,
    objective_right: IntArray | int,
    objective_wrong: IntArray | int,
    objective_gap: Real,
    item_right: IntArray | int,
    item_wrong: IntArray | int,
    item_gap: Real,
) -> FloatArray:
    """Rows (N, F) in the order of FEATURES; every argument is (N,), or one value for all.

    ability : of the learner on the item's objective, logits;  difficulty : the item's b, logits
    ..._right, ..._wrong : earlier answers of the learner on the objective and on this very item, any exposure class
    ..._gap : time since the last of them, NaN where there is none; hours, or whatever unit the model was fitted with
    """
    rows = np.broadcast_arrays(
        ability,
        difficulty,
        np.log1p(objective_right),
        np.log1p(objective_wrong),
        np.log1p(item_right),
        np.log1p(item_wrong),
        ~np.isnan(objective_gap),
        np.log1p(np.nan_to_num(objective_gap)),
        ~np.isnan(item_gap),
        np.log1p(np.nan_to_num(item_gap)),
    )
    return np.stack(rows, axis=-1).astype(np.float64).reshape(-1, len(FEATURES))


@dataclass(frozen=True)
class SuccessModel:
    """Fitted weights: log-odds of a right answer = intercept + sum of coefficient times feature.

    coefficients : one per name in FEATURES, on the features' own scale;  answers : how many it was fitted to
    """

    intercept: float
    coefficients: tuple[float, ...]
    answers: int

    def __post_init__(self) -> None:
        if len(self.coefficients) != len(FEATURES) or not np.isfinite([self.intercept, *self.coefficients]).all():
            raise ValueError(f"an intercept and {len(FEATURES)} finite coefficients expected: {self}")

    def predict(self, rows: FloatArray) -> FloatArray:
        """Probability (N,) of a right answer for rows (N, F) from `features`."""
        log_odds = self.intercept + rows @ np.array(self.coefficients)
        return expit(np.clip(log_odds, -LOGIT_LIMIT, LOGIT_LIMIT))

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary that names each coefficient."""
        named = dict(zip(FEATURES, self.coefficients, strict=True))
        return {"intercept": self.intercept, "coefficients": named, "answers": self.answers}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The model that `to_json` described.  Raises ValueError for other features than today's."""
        named = data["coefficients"]
        if set(named) != set(FEATURES):
            raise ValueError(f"coefficients of {sorted(named)}: {sorted(FEATURES)} expected")
        return cls(data["intercept"], tuple(named[name] for name in FEATURES), data["answers"])
