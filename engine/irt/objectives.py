"""What the point estimators maximise: the value, slope and curvature of each learner's likelihood, one item per column.

With P = low * r + high * s, s = expit(z), r = 1 - s, where (low, high) is (c, d) for a right and (1 - c, 1 - d) for a
wrong answer, (log P)' = a (high - low) s r / P and (log P)'' = a^2 s r (low * high / P^2 - 1). Nothing cancels.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.irt.climbing import TIE
from engine.irt.curves import expit, log_mixture, log_probabilities, logits
from engine.irt.information import information
from engine.irt.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Likelihood:
    """Log-likelihood of L learners' answers (L, I) to items (I,) with `a` not above a few dozens, on nodes (Q,)."""

    responses: FloatArray
    a: FloatArray
    b: FloatArray
    c: FloatArray
    d: FloatArray
    nodes: FloatArray

    def on(self) -> FloatArray:
        """Values (L, Q) at the nodes."""
        log_right, log_wrong = log_probabilities(self.nodes, self.a, self.b, self.c, self.d)
        return np.asarray((self.responses == 1.0) @ log_right.T + (self.responses == 0.0) @ log_wrong.T)

    def at(self, who: IntArray, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Value, slope and negative curvature (P,) for the learners `who` (P,) at the abilities (P,)."""
        given = self.responses[who]
        seen, right = ~np.isnan(given), given == 1.0
        low, high = np.where(right, self.c, 1.0 - self.c), np.where(right, self.d, 1.0 - self.d)
        z = logits(theta, self.a, self.b)  # (P, I)
        s, r = expit(z), expit(-z)
        p = low * r + high * s
        slope = self.a * (high - low) * s * (r / p)
        curvature = np.square(self.a) * (s * r) * (1.0 - (low / p) * (high / p))
        return _sum(log_mixture(z, low, high), seen), _sum(slope, seen), _sum(curvature, seen)

    def limits(self, value: FloatArray) -> tuple[BoolArray, BoolArray]:
        """Whether the likelihood at minus and at plus infinity is as high as anything else, `value` (L,) included."""
        rising, flat = np.sign(self.a), self.a == 0.0
        half = (self.c + self.d) / 2.0
        lowest = np.where(flat, half, np.where(rising > 0.0, self.c, self.d))
        uppermost = np.where(flat, half, np.where(rising > 0.0, self.d, self.c))
        down, up = self._constant(lowest), self._constant(uppermost)
        bar = np.maximum(value, np.maximum(down, up)) - TIE
        return down >= bar, up >= bar

    def precision(self, theta: FloatArray) -> FloatArray:
        """Negative curvature (L,) at one ability per learner (L,): the observed information."""
        return self.at(np.arange(theta.size), theta)[2]

    def _constant(self, p: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            log_right, log_wrong = np.log(p), np.log1p(-p)
        terms = np.where(self.responses == 1.0, log_right, np.where(self.responses == 0.0, log_wrong, 0.0))
        return np.asarray(terms.sum(axis=1))


@dataclass(frozen=True)
class Posterior(Likelihood):
    """The likelihood times a normal prior: no limit at infinity can win."""

    mean: float
    sd: float

    def on(self) -> FloatArray:
        return super().on() - 0.5 * np.square((self.nodes - self.mean) / self.sd)

    def at(self, who: IntArray, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        value, slope, curvature = super().at(who, theta)
        off = (theta - self.mean) / self.sd
        return value - 0.5 * np.square(off), slope - off / self.sd, curvature + self.sd**-2.0

    def limits(self, value: FloatArray) -> tuple[BoolArray, BoolArray]:
        never = np.zeros(value.shape, dtype=np.bool_)
        return never, never


class Weighted(Likelihood):
    """The likelihood times Warm's weight w, known by (log w)' = J / (2 I): summed up between nodes by trapezoids.

    J of one item, P' P'' / (P (1 - P)), is its information times a (1 - 2 s). So J / (2 I) is a weighted mean, here
    called the pull, of the items' a (1 - 2 s) / 2: towards where the items tell most.
    """

    def on(self) -> FloatArray:
        return super().on() + self._log_weights

    def at(self, who: IntArray, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        value, slope, curvature = super().at(who, theta)
        pull, change = self._pull(who, theta)
        node = np.clip(np.searchsorted(self.nodes, theta, side="right") - 1, 0, self.nodes.size - 1)
        weight = self._log_weights[who, node] + (theta - self.nodes[node]) * (self._pulls[who, node] + pull) / 2.0
        return value + weight, slope + pull, curvature - change

    def limits(self, value: FloatArray) -> tuple[BoolArray, BoolArray]:
        nothing = ~(~np.isnan(self.responses) & (self.a != 0.0)).any(axis=1)
        return nothing, nothing

    def _pull(self, who: IntArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """J / (2 I) and its derivative (P,)."""
        seen = ~np.isnan(self.responses[who])
        z = logits(theta, self.a, self.b)  # (P, I)
        s, r = expit(z), expit(-z)
        right, wrong = self.c * r + self.d * s, (1.0 - self.c) * r + (1.0 - self.d) * s
        each = np.where(seen, information(theta, self.a, self.b, self.c, self.d), 0.0)
        growth = self.a * (2.0 * (r - s) - (self.d - self.c) * s * (r / right - r / wrong))  # I' / I
        own = self.a * (r - s) / 2.0
        total = each.sum(axis=1)
        pull = _ratio((each * own).sum(axis=1), total)
        bend = (each * (growth * (own - pull[:, None]) - np.square(self.a) * s * r)).sum(axis=1)
        return pull, _ratio(bend, total)

    @cached_property
    def _pulls(self) -> FloatArray:
        each = information(self.nodes, self.a, self.b, self.c, self.d)  # (Q, I)
        own = -self.a * np.tanh(logits(self.nodes, self.a, self.b) / 2.0) / 2.0
        seen = (~np.isnan(self.responses)).astype(np.float64)
        return _ratio(seen @ (each * own).T, seen @ each.T)

    @cached_property
    def _log_weights(self) -> FloatArray:
        cells = np.diff(self.nodes) * (self._pulls[:, 1:] + self._pulls[:, :-1]) / 2.0
        return np.cumsum(np.pad(cells, ((0, 0), (1, 0))), axis=1)


def _ratio(part: FloatArray, total: FloatArray) -> FloatArray:
    """part / total, and 0 where the information is too small for a number."""
    return np.asarray(np.divide(part, total, out=np.zeros_like(total), where=total > 0.0))


def _sum(values: FloatArray, seen: BoolArray) -> FloatArray:
    return np.asarray(np.where(seen, values, 0.0).sum(axis=1))
