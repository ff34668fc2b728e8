"""Passing or failing a learner against a cut score, as soon as that is clear and at the latest at the end.

A sitting starts with a `Standing`, which each answer moves on; it is kept in the traces, so that nothing later, such as
a new cut score, changes what was decided.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Self

import numpy as np

from engine.irt import Ability, interpolated, log_probabilities
from engine.irt.types import FloatArray
from engine.selection.policy import Classification, Policy, TimeOut


class Outcome(StrEnum):
    """On which side of the cut score the ability is taken to lie; at the cut score is a pass."""

    passed = "pass"
    failed = "fail"


class Rule(StrEnum):
    """By what a learner passed or failed."""

    confidence_interval = "confidence_interval"  # the interval lies on one side of the cut score
    sprt = "sprt"  # the likelihood ratio left its bounds
    estimate = "estimate"  # it ended without being clear, and the estimate lies on that side
    form = "form"  # so many right answers on a form as to expect of someone at the cut score, or fewer
    time_out = "time_out"  # the time was over, and the policy says fail


@dataclass(frozen=True, slots=True)
class Decision:
    """Pass or fail, by what rule, against which cut score in logits."""

    outcome: Outcome
    rule: Rule
    cut_score: float


@dataclass(frozen=True, slots=True)
class Standing:
    """What a decision rests on besides the ability.

    cut_score : logits, the exam's when the sitting began
    log_ratio : of the likelihoods of the answers that count, at the upper and the lower end of the indifference region
    """

    cut_score: float
    log_ratio: float = 0.0

    @classmethod
    def at_start(cls, policy: Policy, cut_score: float) -> Self | None:
        """Of a sitting that classifies; None for others."""
        return None if policy.classification is Classification.none else cls(cut_score)

    @classmethod
    def of_trace(cls, trace: Mapping[str, Any]) -> Self | None:
        """As it stood before the item that the trace is of."""
        stored = trace.get("standing")
        return None if stored is None else cls(**stored)

    def to_json(self) -> dict[str, float]:
        return asdict(self)

    def after(
        self,
        policy: Policy,
        right: bool,
        parameters: tuple[float, float, float, float],
        log_likelihood: FloatArray | None = None,
    ) -> "Standing":
        """After an answer that counts to an item with these a, b, c, d.

        log_likelihood : (121,) at NODES, of an answer that says more than right or wrong; it speaks instead of them
        """
        ends = self.cut_score - policy.indifference, self.cut_score + policy.indifference
        if log_likelihood is None:
            low, high = (float(log_probabilities(end, *parameters)[0 if right else 1][0]) for end in ends)
        else:
            low, high = interpolated(log_likelihood, np.array(ends)).tolist()
        return Standing(self.cut_score, self.log_ratio + (high - low))


def standing_after(
    policy: Policy,
    trace: Mapping[str, Any],
    *,
    right: bool,
    counts: bool,
    parameters: tuple[float, float, float, float],
    log_likelihood: FloatArray | None = None,
) -> Standing | None:
    """After the answer to the item that `trace` is of.

    counts : the answer moves ability;  parameters : a, b, c, d;  log_likelihood : as in `Standing.after`
    """
    standing = Standing.of_trace(trace)
    return standing.after(policy, right, parameters, log_likelihood) if standing is not None and counts else standing


def clear_outcome(policy: Policy, ability: Ability, standing: Standing) -> Outcome | None:
    """Pass or fail where the policy's rule says that it is clear by now, else None.

    confidence_interval : the central interval of a normal distribution around the estimate, at the policy's confidence,
    lies on one side of the cut score.  Source: Weiss & Kingsbury (1984), Journal of Educational Measurement 21(4),
    361-375; the rule of the NCLEX.
    sprt : the likelihood ratio of cut + indifference to cut - indifference is at least (1 - beta) / alpha, or at most
    beta / (1 - alpha).  Source: Wald (1947), Sequential analysis; Reckase (1983), in Weiss, New horizons in testing.
    """
    if policy.classification is Classification.confidence_interval:
        margin = normal_quantile((1.0 + policy.confidence) / 2.0) * ability.standard_error
        low, high = ability.theta - margin, ability.theta + margin
        is_pass, is_fail = low >= standing.cut_score, high < standing.cut_score
    else:
        is_pass = standing.log_ratio >= math.log((1.0 - policy.beta) / policy.alpha)
        is_fail = standing.log_ratio <= math.log(policy.beta / (1.0 - policy.alpha))
    if is_pass:
        return Outcome.passed
    return Outcome.failed if is_fail else None


def final_decision(
    policy: Policy, ability: Ability, standing: Standing, *, answered: int, is_clear: bool, is_time_out: bool
) -> Decision | None:
    """What a sitting that has ended decides, or None if it decides nothing.

    answered : items;  is_clear : it ended for that reason, so that the policy's own rule speaks
    is_time_out : it ended since its time was over, so that `on_time_out` speaks
    Whatever else ended it, the estimate decides once the minimum length is reached, and nothing is decided before.
    """
    cut = standing.cut_score
    clear = clear_outcome(policy, ability, standing) if is_clear else None
    if clear is not None:
        return Decision(clear, Rule(policy.classification.value), cut)
    too_few = answered < max(1, policy.minimum_length)
    if is_time_out and policy.on_time_out is TimeOut.none:
        return None
    if is_time_out and (too_few or policy.on_time_out is TimeOut.fail):
        return Decision(Outcome.failed, Rule.time_out, cut)
    if too_few:
        return None
    return Decision(Outcome.passed if ability.theta >= cut else Outcome.failed, Rule.estimate, cut)


def form_decision(
    policy: Policy, cut_score: float, *, right: int, pass_mark: int, is_time_out: bool
) -> Decision | None:
    """What a form decides once it is over; a position without an answer is not a right one.

    Source: the expected number right at the cut score, as in Lord (1980), *Applications of Item Response Theory to
    Practical Testing Problems*, chapter 11.
    """
    if is_time_out and policy.on_time_out is TimeOut.none:
        return None
    if is_time_out and policy.on_time_out is TimeOut.fail:
        return Decision(Outcome.failed, Rule.time_out, cut_score)
    return Decision(Outcome.passed if right >= pass_mark else Outcome.failed, Rule.form, cut_score)


@lru_cache(maxsize=64)
def normal_quantile(probability: float) -> float:
    """The standard normal quantile.

    >>> round(normal_quantile(0.975), 4)
    1.96
    """
    return NormalDist().inv_cdf(probability)
