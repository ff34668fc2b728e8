"""Whose turn a position is, before the criterion is asked: a pretest item's, a sibling's, one that is due for review's.

All of it rests on what the sitting holds: its queue, what it served, and which wrong answers wait for a sibling.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from engine.irt.types import BoolArray, IntArray
from engine.pool import Pool
from engine.selection.eligibility import eligible_items, within
from engine.selection.exposure import Chance
from engine.selection.policy import LINED_UP, Policy


class Turn(StrEnum):
    """Why an item is at its position."""

    criterion = "criterion"  # it ranked high
    pretest = "pretest"  # the position is a pretest slot
    sibling = "sibling"  # an item beside it was answered wrong a while ago
    due = "due"  # it is due for review
    form = "form"  # it is next on the form


@dataclass(frozen=True, slots=True)
class Waiting:
    """A wrong answer to the item of this version id; from `position` on, a sibling of it may come."""

    item_version: int
    position: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What takes a position without being ranked. index : pool index;  others : that could have, in their order"""

    index: int
    turn: Turn
    others: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Where a sitting stands. position : to fill, from 1;  administered : (n,), pool indices so far

    off : (I,), what may not come at all;  resting : (I,), nor what was met too lately;  excluded : (I,), nor met at all
    objectives : indices it is limited to, None for all;  queue : pool indices lined up at the start, in order
    """

    position: int
    administered: IntArray
    off: BoolArray
    resting: BoolArray
    excluded: BoolArray
    objectives: Sequence[int] | None
    queue: Sequence[int]
    waiting: Sequence[Waiting]


def taken(pool: Pool, policy: Policy, course: Course, rng: Chance) -> Taken | None:
    """What the position is given to without ranking, or None if the criterion decides."""
    if course.position in policy.pretest_slots:
        slot = pretest(pool, course, rng)
        if slot is not None:
            return slot
    if policy.criterion in LINED_UP:
        return due(pool, course)
    return sibling(pool, course) or (due(pool, course) if wants_review(policy, course) else None)


def pretest(pool: Pool, course: Course, rng: Chance) -> Taken | None:
    """One of the pretest items that could come, by chance: each collects its answers from the same kind of learners."""
    blocked = course.off | course.excluded
    free = within(pool, course.administered, pool.pretest & ~blocked, course.objectives)
    places = np.flatnonzero(free).tolist()
    if not places:
        return None
    return Taken(places[rng.integers(len(places))], Turn.pretest, tuple(places))


def due(pool: Pool, course: Course) -> Taken | None:
    """The first of the queue that was not served yet and still may be."""
    free = within(pool, course.administered, ~course.off, course.objectives)
    left = [place for place in course.queue if free[place]]
    return Taken(left[0], Turn.due, tuple(left)) if left else None


def sibling(pool: Pool, course: Course) -> Taken | None:
    """An unseen sibling of the item that was answered wrong first, of those whose time has come."""
    index_of, ready = pool.index_of_version, [each for each in course.waiting if each.position <= course.position]
    found = (pool.siblings_of.get(index_of.get(wrong.item_version, -1)) for wrong in ready)
    besides = [beside for beside in found if beside is not None]
    if not besides:
        return None
    blocked = course.off | course.excluded
    free = eligible_items(pool, administered=course.administered, blocked=blocked, objectives=course.objectives)
    for beside in besides:
        left = [int(place) for place in beside if free[place]]
        if left:
            return Taken(left[0], Turn.sibling, tuple(left))
    return None


def wants_review(policy: Policy, course: Course) -> bool:
    """Whether fewer of the positions than the policy's share went to items that are due."""
    if not course.queue:
        return False
    reviewed = len(set(course.queue).intersection(course.administered.tolist()))
    return reviewed + 1 <= policy.review_share * course.position


def waiting_after(policy: Policy, trace: Mapping[str, Any], *, right: bool) -> tuple[Waiting, ...]:
    """What waits for a sibling once the item that `trace` is of is answered."""
    before = tuple(waiting_of(trace))
    if right or policy.sibling_after is None:
        return before
    return (*before, Waiting(trace["item_version"], trace["position"] + policy.sibling_after + 1))


def waiting_of(trace: Mapping[str, Any]) -> Iterator[Waiting]:
    """What waited when the item that `trace` is of was chosen."""
    return (Waiting(version, position) for version, position in trace.get("waiting", ()))


def still_waiting(pool: Pool, waiting: Sequence[Waiting], chosen: int) -> list[list[int]]:
    """The same without those that the item at pool index `chosen` is a sibling of, or that have none; plain JSON."""
    beside = {int(pool.item_versions[place]) for place in pool.siblings_of.get(chosen, ())}
    hopeful = [each for each in waiting if pool.index_of_version.get(each.item_version, -1) in pool.siblings_of]
    return [[each.item_version, each.position] for each in hopeful if each.item_version not in beside]
