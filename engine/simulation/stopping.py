"""When examinees stop and what is then decided: the rules of `selection.stopping` and `classifying`, by rows."""

import math

import numpy as np
import numpy.typing as npt

from engine.irt import log_probabilities
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.pool import Pool
from engine.selection import Classification, StopReason
from engine.selection.classifying import normal_quantile
from engine.simulation.batch import Batch
from engine.simulation.rules import Rules
from engine.simulation.shortlists import Shortlists, informing
from engine.simulation.sittings import FAILED, PASSED, STOPS, UNDECIDED

Stops = npt.NDArray[np.int8]  # (n,), places in STOPS, or GOES_ON

GOES_ON = -1
CLASSIFIED, PRECISE, SETTLED, UNINFORMED, LONGEST, EXHAUSTED = (
    STOPS.index(stop)
    for stop in (
        StopReason.classified,
        StopReason.standard_error,
        StopReason.estimate_settled,
        StopReason.no_information,
        StopReason.maximum_length,
        StopReason.pool_exhausted,
    )
)


class Stopping:
    """The rules of one policy on one pool.  cut : logits, None for a policy that doesn't classify

    Raises ValueError for a policy that classifies without a finite cut score.
    """

    def __init__(self, pool: Pool, rules: Rules, cut: float | None):
        policy = rules.policy
        self._policy, self._pool = policy, pool
        self._classifies = policy.classification is not Classification.none
        self._by_ratio = policy.classification is Classification.sprt
        if self._classifies and (cut is None or not math.isfinite(cut)):
            raise ValueError(f"cut is {cut}: a finite cut score expected, since the policy classifies")
        self.cut = cut if self._classifies and cut is not None else math.nan
        bounds = (policy.standard_error, policy.change_of_estimate, policy.minimum_information)
        self._measures = self._classifies or any(bound is not None for bound in bounds)
        self._lists = None if policy.minimum_information is None else Shortlists.of(pool, rules.maximum_length)
        self._ratios = self._log_ratios() if self._by_ratio else np.empty(0)

    def hear(self, batch: Batch, items: IntArray, right: BoolArray) -> None:
        """Take in what one answer of each says of the two sides of the cut score.  items, right : (n,)"""
        if self._by_ratio:
            batch.log_ratio += self._ratios[2 * items + right]

    def reasons(self, batch: Batch, position: int) -> Stops | None:
        """Why each stops after the answer at this position, before the maximum length; None if nobody does."""
        policy = self._policy
        if not self._measures or position < policy.minimum_length:
            return None
        stops = np.full(len(batch), GOES_ON, dtype=np.int8)
        least, lists = policy.minimum_information, self._lists
        if least is not None and lists is not None:  # from the last reason to the first, which wins
            stops[most_information(self._pool, lists, batch) < least] = UNINFORMED
        if policy.change_of_estimate is not None:
            stops[np.abs(batch.moved) < policy.change_of_estimate] = SETTLED
        if policy.standard_error is not None:
            stops[batch.deviation <= policy.standard_error] = PRECISE
        if self._classifies:
            stops[self._is_clear(batch)] = CLASSIFIED
        return stops if (stops != GOES_ON).any() else None

    def decisions(self, batch: Batch, stops: Stops, answered: int) -> npt.NDArray[np.int8]:
        """PASSED, FAILED or UNDECIDED (n,) for examinees who stop after so many items for these reasons (n,)."""
        decided = np.full(len(batch), UNDECIDED, dtype=np.int8)
        if self._classifies:
            passes = batch.mean >= self.cut
            if self._by_ratio:
                passes = np.where(stops == CLASSIFIED, batch.log_ratio > 0.0, passes)
            enough = (stops == CLASSIFIED) | (answered >= max(1, self._policy.minimum_length))
            decided[enough] = np.where(passes, PASSED, FAILED)[enough]
        return decided

    def _is_clear(self, batch: Batch) -> BoolArray:
        policy = self._policy
        if self._by_ratio:
            high, low = (1.0 - policy.beta) / policy.alpha, policy.beta / (1.0 - policy.alpha)
            return np.asarray((batch.log_ratio >= math.log(high)) | (batch.log_ratio <= math.log(low)))
        margin = normal_quantile((1.0 + policy.confidence) / 2.0) * batch.deviation
        return np.asarray((batch.mean - margin >= self.cut) | (batch.mean + margin < self.cut))

    def _log_ratios(self) -> FloatArray:
        """What a wrong and a right answer to each item add to the logarithm of the likelihood ratio, (2 I,)."""
        pool, indifference = self._pool, self._policy.indifference
        items = (pool.a, pool.b, pool.c, pool.d)
        low, high = (log_probabilities(self.cut + side, *items) for side in (-indifference, indifference))
        return np.stack([high[1] - low[1], high[0] - low[0]], axis=1).reshape(-1)


def most_information(pool: Pool, lists: Shortlists, batch: Batch) -> FloatArray:
    """Of any available item at the mean (n,); infinite where none is available, which is another reason to stop."""
    best = lists.best(batch.mean, batch.available)
    return np.where(best >= 0, informing(pool, batch.mean, best[:, None])[:, 0], np.inf)
