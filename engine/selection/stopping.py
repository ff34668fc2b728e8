"""When a sitting ends, and what it then decides."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from engine.irt import Ability
from engine.irt.types import FloatArray
from engine.selection.classifying import Decision, Standing, clear_outcome, final_decision, standing_after
from engine.selection.policy import Policy


class StopReason(StrEnum):
    """Why a sitting ended."""

    classified = "classified"  # it is clear on which side of the cut score the ability lies
    standard_error = "standard_error"  # the ability is known well enough
    estimate_settled = "estimate_settled"  # the last answer hardly moved the estimate
    no_information = "no_information"  # no eligible item would tell enough
    maximum_length = "maximum_length"
    time_limit = "time_limit"
    pool_exhausted = "pool_exhausted"  # no eligible item is left
    nothing_due = "nothing_due"  # all that was due for review came
    finished = "finished"  # the caller ended it


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sitting has come, after an answer or before the first.

    administered : items answered;  ability : after the last of them
    seconds : since the start, by the server's clock
    change : logits, by how much the last answer moved the estimate; None if there is none, or if it doesn't count
    most_information : per squared logit, of the best eligible item, None if there is none or the policy doesn't ask
    standing : None for a sitting that doesn't classify
    """

    administered: int
    ability: Ability
    seconds: float = 0.0
    change: float | None = None
    most_information: float | None = None
    standing: Standing | None = None

    @classmethod
    def after(
        cls,
        trace: Mapping[str, Any],
        ability: Ability,
        *,
        counts: bool,
        seconds: float = 0.0,
        following: Mapping[str, Any] | None = None,
        standing: Standing | None = None,
    ) -> Self:
        """After the answer to the item that `trace` is of. counts : it moves ability;  following : the next trace"""
        change = ability.theta - trace["theta"] if counts else None
        most = None if following is None else following.get("most_information")
        return cls(trace["position"], ability, seconds, change, most, standing)


def stop_reason(policy: Policy, progress: Progress) -> StopReason | None:
    """Why the sitting ends here, or None if it goes on. Where several reasons hold, the first of `StopReason`.

    Whether an item is left is known only by choosing; `finished` is for the caller to say.
    """
    reason = measured_enough(policy, progress) if progress.administered >= policy.minimum_length else None
    if reason is not None:
        return reason
    if policy.maximum_length is not None and progress.administered >= policy.maximum_length:
        return StopReason.maximum_length
    return StopReason.time_limit if is_over_time(policy, progress.seconds) else None


def measured_enough(policy: Policy, progress: Progress) -> StopReason | None:
    """The first reason that has to do with what is known of the ability, or None."""
    ability, standing = progress.ability, progress.standing
    if standing is not None and clear_outcome(policy, ability, standing) is not None:
        return StopReason.classified
    if policy.standard_error is not None and ability.standard_error <= policy.standard_error:
        return StopReason.standard_error
    least_change, change = policy.change_of_estimate, progress.change
    if least_change is not None and change is not None and abs(change) < least_change:
        return StopReason.estimate_settled
    least, most = policy.minimum_information, progress.most_information
    return StopReason.no_information if least is not None and most is not None and most < least else None


def is_over_time(policy: Policy, seconds: float) -> bool:
    """Whether the time is over."""
    return policy.time_limit_s is not None and seconds >= policy.time_limit_s


def decided_after(
    policy: Policy,
    trace: Mapping[str, Any],
    ability: Ability,
    *,
    right: bool,
    counts: bool,
    parameters: tuple[float, float, float, float],
    log_likelihood: FloatArray | None = None,
    reason: str | None,
) -> Decision | None:
    """As `decided`, from what is stored of the last answer: the trace of its item, and the ability after it.

    counts : it moved ability;  parameters, log_likelihood : as in `standing_after`
    """
    standing = standing_after(
        policy, trace, right=right, counts=counts, parameters=parameters, log_likelihood=log_likelihood
    )
    return decided(policy, Progress.after(trace, ability, counts=counts, standing=standing), reason)


def decided(policy: Policy, progress: Progress, reason: str | None) -> Decision | None:
    """Pass or fail for a sitting that ended for this reason; None while it goes on, and where nothing is decided.

    A sitting that its caller ended, or that was erased with its learner, decides nothing.
    """
    undecided = (None, StopReason.finished.value)
    if progress.standing is None or reason in undecided or reason not in list(StopReason):
        return None
    return final_decision(
        policy,
        progress.ability,
        progress.standing,
        answered=progress.administered,
        is_clear=reason == StopReason.classified,
        is_time_out=reason == StopReason.time_limit,
    )
