"""Fitting and judging the success model from a log of answers; for jobs, since it loads scikit-learn."""

from dataclasses import dataclass

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.learner.success import SuccessModel

# Fewer answers say less about ten weights than the item response model does without any.
LEAST_ANSWERS = 500


@dataclass(frozen=True, eq=False)
class History:
    """What each answer of a log found already there, (N,): counts of right and wrong, and the time since the last."""

    right: IntArray
    wrong: IntArray
    gap: FloatArray


@dataclass(frozen=True, eq=False)
class Assessment:
    """How good forecasts were: area under the ROC curve, Brier score, log loss per answer, and reliability.

    forecast, observed : mean forecast and share right in each tenth of the answers by forecast, (B,), B at most 10
    """

    auc: float
    brier: float
    log_loss: float
    forecast: FloatArray
    observed: FloatArray


def history(learner: IntArray, thing: IntArray, right: BoolArray, time: FloatArray) -> History:
    """Earlier answers of the same learner on the same thing (an objective or an item), all (N,), in any order.

    time : when the answer was given, in one unit, such as hours; answers of equal time count in the order given
    """
    order = np.lexsort((time, thing, learner))
    who, what, correct, when = learner[order], thing[order], right[order].astype(np.int64), time[order]
    begins = np.ones(order.size, dtype=np.bool_)
    begins[1:] = (who[1:] != who[:-1]) | (what[1:] != what[:-1])
    start = np.maximum.accumulate(np.where(begins, np.arange(order.size), 0))
    before = np.cumsum(correct) - correct
    rights = before - before[start]
    gaps = np.where(begins, np.nan, np.diff(when, prepend=np.nan))
    result = History(np.empty(order.size, np.int64), np.empty(order.size, np.int64), np.empty(order.size))
    result.right[order] = rights
    result.wrong[order] = np.arange(order.size) - start - rights
    result.gap[order] = gaps
    return result


def fit(rows: FloatArray, right: BoolArray, *, strength: float = 1.0) -> SuccessModel:
    """The success model of a log: rows (N, F) from `success.features`, right (N,).

    strength : inverse of the ridge penalty on standardised features, scikit-learn's C
    Raises ValueError for fewer than LEAST_ANSWERS answers, or all of one outcome.
    """
    if right.size < LEAST_ANSWERS or right.all() or not right.any():
        raise ValueError(f"{right.size} answers, {right.sum()} of them right: {LEAST_ANSWERS} of both kinds expected")
    scaler, regression = StandardScaler(), LogisticRegression(C=strength, max_iter=1000)
    make_pipeline(scaler, regression).fit(rows, right)
    coefficients = regression.coef_[0] / scaler.scale_
    intercept = regression.intercept_[0] - coefficients @ scaler.mean_
    return SuccessModel(float(intercept), tuple(coefficients.tolist()), int(right.size))


def assess(right: BoolArray, forecast: FloatArray) -> Assessment:
    """How well forecasts (N,) met what happened (N,); use answers of learners the model was not fitted to."""
    observed, mean_forecast = calibration_curve(right, forecast, n_bins=10, strategy="quantile")
    return Assessment(
        float(roc_auc_score(right, forecast)),
        float(brier_score_loss(right, forecast)),
        float(log_loss(right, forecast)),
        mean_forecast,
        observed,
    )
