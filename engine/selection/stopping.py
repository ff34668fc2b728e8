"""When a sitting ends."""

from enum import StrEnum

from engine.selection.policy import Policy


class StopReason(StrEnum):
    """Why a sitting ended."""

    standard_error = "standard_error"  # the ability is known well enough
    maximum_length = "maximum_length"
    pool_exhausted = "pool_exhausted"  # no eligible item is left
    finished = "finished"  # the caller ended it


def stop_reason(policy: Policy, *, administered: int, standard_error: float) -> StopReason | None:
    """Why the sitting ends after this many items with this standard error in logits, or None if it goes on.

    Whether an item is left is known only by choosing; `finished` is for the caller to say.
    """
    wanted = policy.standard_error
    if wanted is not None and administered >= policy.minimum_length and standard_error <= wanted:
        return StopReason.standard_error
    if policy.maximum_length is not None and administered >= policy.maximum_length:
        return StopReason.maximum_length
    return None
