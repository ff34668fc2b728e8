"""What is known of a learner's ability, overall and per objective, as one Gaussian that outlives the sitting.

The ability an item of objective k calls on is x_k = g + d_k: the learner's overall ability g plus a deviation d_k. The
prior g ~ N(mean, sd^2), d_k ~ N(0, deviation_sd^2) ties the objectives together: an answer moves its own objective most
and the others through g. Deviations of 0.4 make abilities on two objectives correlate by 1 / 1.16 = 0.86, as subscores
of one exam do. Source of the correlation: Sinharay (2010), Journal of Educational Measurement 47(2), 150-174.

Only clean first exposures come here; repeats belong to `memory`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.irt.ability import Ability, grid
from engine.irt.curves import LOGIT_LIMIT, log_mixture
from engine.irt.types import BoolArray, FloatArray, IntArray, Real

Indices = IntArray | int

# Places, in prior standard deviations, where an answer's likelihood is looked at. An answer moves a mean by at most six
# of them, and leaves at least the spread of one cell, so that absurd items can't make a learner infinitely certain.
STEPS = grid(-6.0, 6.0, 121)
LEAST_SHRINKAGE = float((STEPS[1] - STEPS[0]) ** 2 / 12.0)
LOG_NORMAL = -0.5 * np.square(STEPS)

# A logistic curve averaged over a normal of sd s is nearly one whose logit is divided by sqrt(1 + pi s^2 / 8).
# Source: MacKay (1992), Neural Computation 4(5), 720-736.
BLUNTING = float(np.sqrt(np.pi / 8.0))


@dataclass(frozen=True)
class Prior:
    """What an exam assumes of a learner it has not met, and how fast what it knows of one grows old.

    mean, sd : of overall ability, logits;  deviation_sd : of one objective's deviation, logits
    drift, deviation_drift : variance that a day without answers adds to g and to each d_k, logits^2 per day
    The default drifts add 0.09 to the variance of x_k in a month: a sd of 0.30 becomes 0.42.
    """

    mean: float = 0.0
    sd: float = 1.0
    deviation_sd: float = 0.4
    drift: float = 0.002
    deviation_drift: float = 0.001

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mean) and 0.0 < self.sd < np.inf and 0.0 < self.deviation_sd < np.inf):
            raise ValueError(f"{self}: a finite mean and finite sds above 0 expected")
        if not (0.0 <= self.drift < np.inf and 0.0 <= self.deviation_drift < np.inf):
            raise ValueError(f"{self}: finite drifts of 0 or more expected")

    def variances(self, objectives: int) -> FloatArray:
        """Prior variances (K + 1,) of g, d_1, ..., d_K."""
        return np.concatenate([[self.sd**2], np.full(objectives, self.deviation_sd**2)])

    def drifts(self, objectives: int) -> FloatArray:
        """Variances (K + 1,) that one day adds to g, d_1, ..., d_K, logits^2."""
        return np.concatenate([[self.drift], np.full(objectives, self.deviation_drift)])


@dataclass(frozen=True, eq=False)
class State:
    """A Gaussian over (g, d_1, ..., d_K) for one learner, or for many: `...` is () or (L,).

    mean : (..., K + 1), logits;  covariance : (..., K + 1, K + 1), logits^2;  answers : (..., K), clean answers so far
    """

    mean: FloatArray
    covariance: FloatArray
    answers: IntArray

    @property
    def objectives(self) -> int:
        """K, the number of objectives."""
        return int(self.mean.shape[-1]) - 1


def initial(objectives: int, prior: Prior, *, learners: tuple[int, ...] = ()) -> State:
    """The state of learners nobody has seen answer; `learners` is () for one, (L,) for many."""
    mean = np.zeros((*learners, objectives + 1))
    mean[..., 0] = prior.mean
    covariance = np.broadcast_to(np.diag(prior.variances(objectives)), (*mean.shape, objectives + 1)).copy()
    return State(mean, covariance, np.zeros((*learners, objectives), dtype=np.int64))


def drifted(state: State, days: Real, prior: Prior) -> State:
    """The state after `days` (...) without answers: wider by the prior's drift, the mean where it was.

    Widening ends at the prior's own spread: someone long away is known no worse than a stranger.
    Source: Glickman (1999), Applied Statistics 48(3), 377-394.  Raises ValueError for days below 0 or not finite.
    """
    passed = np.asarray(days, dtype=np.float64)[..., None]
    if not ((passed >= 0.0) & (passed < np.inf)).all():
        raise ValueError(f"{days} days: a finite number of 0 or more expected")
    places = np.arange(state.objectives + 1)
    known = state.covariance[..., places, places]
    room = np.maximum(prior.variances(state.objectives) - known, 0.0)
    covariance = np.array(
        np.broadcast_to(state.covariance, (*np.broadcast_shapes(passed.shape, known.shape), places.size))
    )
    covariance[..., places, places] += np.minimum(prior.drifts(state.objectives) * passed, room)
    return State(state.mean, covariance, state.answers)


def updated(
    state: State,
    objective: Indices,
    right: BoolArray | bool,
    a: Real,
    b: Real,
    c: Real = 0.0,
    d: Real = 1.0,
    *,
    b_sd: Real = 0.0,
) -> State:
    """The state after one clean answer of each learner; every argument is (...), or one value for all.

    objective : index into the K objectives;  right : whether the answer was;  a, b, c, d : the item's parameters
    b_sd : standard error of b in logits, which makes the answer tell less
    One assumed-density step: x_k has a normal N(m, v) before; its exact mean and variance after are found by quadrature
    and carried to all of (g, d) by regression on x_k.  Nothing diverges: the 3PL's likelihood need not be log-concave,
    and where a surprising guess makes the variance grow, it grows.
    Source: Opper (1998), in Saad, On-line Learning in Neural Networks, 363-378; Minka (2001), PhD thesis, MIT, ch. 3.

    >>> before = initial(2, Prior())
    >>> after = updated(before, 1, True, a=1.0, b=0.0)
    >>> (ability_means(after) - ability_means(before)).round(2)
    array([0.4 , 0.47])
    """
    place = np.asarray(objective, dtype=np.int64)
    if ((place < 0) | (place >= state.objectives)).any():
        raise ValueError(f"objective {objective}: 0 to {state.objectives - 1} expected")
    own = np.broadcast_to(place, state.mean.shape[:-1])[..., None]  # (..., 1)
    with_x = state.covariance[..., 0] + np.take_along_axis(state.covariance, own[..., None] + 1, -1)[..., 0]  # with x_k
    m = state.mean[..., :1] + np.take_along_axis(state.mean, own + 1, -1)  # (..., 1)
    v = with_x[..., :1] + np.take_along_axis(with_x, own + 1, -1)
    shift, factor = standard_step(m, np.sqrt(v), right, a, b, c, d, b_sd)
    gain = with_x / np.sqrt(v)
    mean = state.mean + gain * shift
    covariance = state.covariance - gain[..., :, None] * gain[..., None, :] * (1.0 - factor)[..., None]
    answers = state.answers + (np.arange(state.objectives) == own)
    return State(mean, covariance, answers)


def after_answers(
    objectives: int, prior: Prior, answers: Iterable[tuple[int, bool, tuple[float, float, float, float]]]
) -> State:
    """What answers of one sitting say by themselves, from the prior on.

    answers : objective, whether right, and the item's a, b, c, d of each clean answer, in order
    """
    state = initial(objectives, prior)
    for objective, right, parameters in answers:
        state = updated(state, objective, right, *parameters)
    return state


def standard_step(
    m: FloatArray, sd: FloatArray, right: BoolArray | bool, a: Real, b: Real, c: Real, d: Real, b_sd: Real
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance (..., 1) of (x - m) / sd after an answer, where x was N(m, sd^2) before; others are (...)."""
    a, b, c, d, b_sd, correct = (np.asarray(value)[..., None] for value in (a, b, c, d, b_sd, right))
    with np.errstate(over="ignore"):
        slope = a / np.hypot(1.0, BLUNTING * a * b_sd)
        z = np.clip(slope * (m + sd * STEPS - b), -LOGIT_LIMIT, LOGIT_LIMIT)  # (..., Q)
    log_weight = LOG_NORMAL + log_mixture(z, np.where(correct, c, 1.0 - c), np.where(correct, d, 1.0 - d))
    weight = np.exp(log_weight - log_weight.max(axis=-1, keepdims=True))
    weight /= weight.sum(axis=-1, keepdims=True)
    shift = (weight * STEPS).sum(axis=-1, keepdims=True)
    factor = (weight * np.square(STEPS - shift)).sum(axis=-1, keepdims=True)
    return shift, np.maximum(factor, LEAST_SHRINKAGE)


def ability_means(state: State) -> FloatArray:
    """Posterior means (..., K) of x_k in logits."""
    return state.mean[..., :1] + state.mean[..., 1:]


def ability_covariance(state: State) -> FloatArray:
    """Posterior covariance (..., K, K) of x_1, ..., x_K in logits^2."""
    full = state.covariance
    return full[..., 1:, 1:] + full[..., :1, :1] + full[..., 1:, :1] + full[..., :1, 1:]


def ability_sds(state: State) -> FloatArray:
    """Posterior standard deviations (..., K) of x_k in logits."""
    places = np.arange(1, state.objectives + 1)
    own = state.covariance[..., places, places]
    return np.sqrt(own + state.covariance[..., :1, 0] + 2.0 * state.covariance[..., 0, 1:])


def overall(state: State, weights: FloatArray) -> Ability:
    """One learner's ability on the exam: the mean of x_k by blueprint weights (K,), with its standard error.

    Weights may have any sum above 0; without any, they are equal.
    """
    total = weights.sum()
    share = weights / total if total > 0.0 else np.full(weights.size, 1.0 / weights.size)
    variance = share @ ability_covariance(state) @ share
    return Ability(float(share @ ability_means(state)), float(np.sqrt(variance)))


def rearranged(state: State, origin: npt.ArrayLike, prior: Prior) -> State:
    """The state for another list of objectives: number k is the former number origin[k], or new where that is -1.

    origin : (K',), each former objective at most once.  A new objective has the prior's deviation and no answers; one
    that is left out is forgotten, what it told of the others stays.
    """
    source = np.asarray(origin, dtype=np.int64)
    kept = np.flatnonzero(source >= 0)
    if (source < -1).any() or (source >= state.objectives).any() or np.unique(source[kept]).size != kept.size:
        raise ValueError(f"origin {source.tolist()}: -1, or each of 0 to {state.objectives - 1} at most once, expected")
    fresh = initial(source.size, prior, learners=state.mean.shape[:-1])
    to, there = np.concatenate([[0], kept + 1]), np.concatenate([[0], source[kept] + 1])
    fresh.mean[..., to] = state.mean[..., there]
    fresh.covariance[..., to[:, None], to] = state.covariance[..., there[:, None], there]
    fresh.answers[..., kept] = state.answers[..., source[kept]]
    return fresh
