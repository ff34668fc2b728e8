"""What is settled as a sitting begins: whether its content can be in proportion, and which items it does without."""

from collections.abc import Iterable, Sequence

import numpy as np

from engine.errors import InvalidPolicy
from engine.irt.types import BoolArray
from engine.pool import Pool
from engine.selection.content import Shortage, shortages
from engine.selection.deciding import indices, unpack, versions_mask
from engine.selection.eligibility import eligible_items
from engine.selection.exposure import drawn, eligibility, rng_for
from engine.selection.policy import Policy

EXPOSURE_STREAM = 2  # sets the random numbers for which items a sitting may serve apart from all others


def withheld_items(
    pool: Pool,
    policy: Policy,
    courses: Iterable[tuple[Sequence[int], bytes]],
    *,
    blocked: BoolArray,
    suspended: Sequence[int],
    objectives: Sequence[str],
    seed: int,
) -> BoolArray:
    """The items (I,) that this sitting does without, so that none comes in more than the policy's share of sittings.

    courses : of recent sittings with this pool, the versions served and the packed mask of what could not come
    blocked : (I,), items that may not come anyway;  suspended, objectives : as in `decide`
    None is withheld if the sitting would then have too few items for its length, or for an objective's part of it.
    Raises InvalidPolicy if the policy is strict about content, and too few are there even so.
    """
    nothing = np.zeros(len(pool), dtype=np.bool_)
    limit, first = indices(pool, objectives), np.empty(0, dtype=np.int64)
    wanted = policy.maximum_length or max(1, policy.minimum_length)

    def left(withheld: BoolArray) -> tuple[int, list[Shortage]]:
        off = blocked | withheld | versions_mask(pool, suspended)
        eligible = eligible_items(pool, administered=first, blocked=off, objectives=limit)
        short = shortages(pool, eligible, length=wanted, objectives=limit) if policy.content_balancing else []
        return int(np.count_nonzero(eligible)), short

    if policy.strict_content:
        refuse(policy, left(nothing)[1])
    if policy.maximum_exposure is None:
        return nothing
    withheld = overexposed(pool, courses, maximum=policy.maximum_exposure, seed=seed)
    (all_count, all_short), (count, short) = left(nothing), left(withheld)
    is_enough = count >= min(wanted, all_count) and {each.code for each in short} <= {each.code for each in all_short}
    return withheld if is_enough else nothing


def overexposed(pool: Pool, courses: Iterable[tuple[Sequence[int], bytes]], *, maximum: float, seed: int) -> BoolArray:
    """True (I,) for the items that lost their lottery; one that was served too often plays it with the worse odds."""
    administered, eligible = (np.zeros(len(pool), dtype=np.int64) for _ in range(2))
    for versions, resting in courses:
        administered += versions_mask(pool, versions)
        eligible += ~unpack(resting, pool)
    chances = eligibility(administered, eligible, maximum=maximum)
    return ~drawn(chances, rng_for(seed, 0, EXPOSURE_STREAM))


def refuse(policy: Policy, short: Sequence[Shortage]) -> None:
    """Raise InvalidPolicy if there is a shortage."""
    if short:
        named = ", ".join(f"{each.code} has {each.have} of {each.need} items" for each in short)
        raise InvalidPolicy("maximum_length", policy.maximum_length, f"a length that the bank can fill ({named})")
