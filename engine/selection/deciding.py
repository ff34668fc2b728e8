"""One step of a sitting as a pure function: from its state to the trace of what is served next.

The trace is plain JSON and holds all that the step depended on beyond the pool, the policy and the sitting's own start.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.errors import Infeasible, Unsolved
from engine.irt.types import BoolArray, FloatArray
from engine.pool import Pool
from engine.selection.choosing import Choice, choose, unranked
from engine.selection.classifying import Standing
from engine.selection.exposure import rng_for
from engine.selection.policy import LINED_UP, Policy, Repeats
from engine.selection.profile import Profile
from engine.selection.program import Program
from engine.selection.turns import Course, Turn, Waiting, still_waiting, taken

OPTION_STREAM = 1  # sets the random numbers for the order of options apart from those for the choice of the item


def decide(
    pool: Pool,
    policy: Policy,
    log_posterior: FloatArray,
    *,
    administered: Sequence[int],
    objectives: Sequence[str],
    excluded: BoolArray,
    resting: BoolArray,
    suspended: Sequence[int],
    seed: int,
    queue: Sequence[int] = (),
    waiting: Sequence[Waiting] = (),
    profile: Profile | None = None,
    program: Program | None = None,
    standing: Standing | None = None,
) -> dict[str, Any] | None:
    """The trace of the item to serve next, or None when none is left.

    administered, suspended, queue : item version ids;  objectives : codes the sitting is limited to, empty for all
    excluded, resting : (I,), met in earlier sittings; of those, not to come back in this one
    waiting : wrong answers that wait for a sibling;  profile : for the criterion that asks for it
    standing : of a sitting that classifies.  These go into the trace.
    program : what the whole sitting must meet.  Raises Infeasible if no first item leads to that.
    """
    position = len(administered) + 1
    index_of = pool.index_of_version
    places = np.array([index_of[version] for version in administered], dtype=np.int64)
    off = versions_mask(pool, suspended)
    limit = indices(pool, objectives)
    lined_up = [index_of[version] for version in queue if version in index_of]
    course = Course(position, places, off, resting, excluded, limit, lined_up, waiting)
    first = taken(pool, policy, course, rng_for(seed, position))

    def attempt(blocked: BoolArray, *, is_last: bool) -> Choice | None:
        try:
            return choose(
                pool,
                log_posterior,
                administered=places,
                blocked=blocked | off,
                objectives=limit,
                policy=policy,
                profile=profile,
                program=program,
                rng=rng_for(seed, position),
            )
        except (Infeasible, Unsolved):  # later on, what the form needs has gone: the sitting ends for lack of items
            if is_last and position == 1:
                raise
            return None

    choice, repeated = None, False
    if first is not None:
        choice = unranked(pool, log_posterior, policy, first.index, first.others)
        repeated = bool(excluded[first.index])
    elif policy.criterion not in LINED_UP:
        again = policy.repeats is Repeats.when_exhausted
        choice = attempt(excluded, is_last=not again)
        repeated = choice is None and again
        choice = attempt(resting, is_last=True) if repeated else choice
    if choice is None:
        return None
    turn = Turn.criterion if first is None else first.turn
    facts: dict[str, Any] = {"position": position, "seed": seed, "repeated": repeated, "suspended": list(suspended)}
    facts["turn"] = turn.value
    if waiting:
        facts["waiting"] = still_waiting(pool, waiting, choice.index)
    if profile is not None:
        facts["profile"] = profile.to_json()
    if standing is not None:
        facts["standing"] = standing.to_json()
    return choice.to_json(pool) | facts


def versions_mask(pool: Pool, versions: Sequence[int]) -> BoolArray:
    """True (I,) for the items of these version ids."""
    mask = np.zeros(len(pool), dtype=np.bool_)
    mask[[pool.index_of_version[version] for version in versions]] = True
    return mask


def indices(pool: Pool, objectives: Sequence[str]) -> list[int] | None:
    """Objectives by index; None for no codes, which is all of them."""
    return [pool.objective_codes.index(code) for code in objectives] or None


def option_order(policy: Policy, *, options: int, may_shuffle: bool, seed: int, position: int) -> list[int]:
    """The order in which an item's options stand on screen, as indices into the author's order."""
    if not (policy.shuffle_options and may_shuffle):
        return list(range(options))
    return rng_for(seed, position, OPTION_STREAM).permutation(options)


def pack(mask: BoolArray) -> bytes:
    """A mask (I,) as bits, the way a session stores it."""
    return np.packbits(mask).tobytes()


def unpack(bits: bytes, pool: Pool) -> BoolArray:
    """The mask (I,) over a pool's items that `pack` made."""
    return np.unpackbits(np.frombuffer(bits, dtype=np.uint8), count=len(pool)).view(np.bool_)
