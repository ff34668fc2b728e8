"""The form of a mock: to the blueprint, of items that are new to the learner, as strong as any other, drawn by chance.

What must hold (the length, the counts by objective and domain, the policy's constraints, no enemies) is never given
up: where no form meets it, `Infeasible` says what clashes. What should hold is settled in this order, each as well as
the one before it allows: items the learner has not met and that were in few of the learner's earlier forms; as much
information at the cut score as an average form to the blueprint has; and then chance, so that learners get different
forms of the same worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import Infeasible, Unsolved
from engine.irt import information, probability
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.pool import Pool
from engine.selection.constraints import Constraint, Count, Total, Where
from engine.selection.content import shares
from engine.selection.exposure import rng_for
from engine.selection.forms import Forms, Request, arranged, assemble
from engine.selection.policy import ContentLevel, Policy
from engine.selection.program import NO_ATTRIBUTES, Attributes, compile_constraints

FORM_STREAM, ORDER_STREAM = 3, 4  # set the random numbers for items and for their order apart from all others
SECONDS = 1.0  # for each of three solves
BAND = 0.05  # part of the target that the information at the cut score may be away from it
NEAR_ENOUGH = 0.02  # part of the best sum of random numbers: nearer would only cost time
CANDIDATES, TIMES = 40, 4  # items of an objective that are looked at: at least so many, and so many times its places
MET_COST = 2.0  # of an item the learner has met; each earlier form that had it costs 1
SMALL = 1e-9
COST, INFORMATION = "cost of the item", "information at the cut score"  # no tag's namespace has a blank


@dataclass(frozen=True, slots=True, eq=False)
class Assembled:
    """items : (n,), pool indices in the order they are served;  facts : what a session keeps of the form, plain JSON"""

    items: IntArray
    facts: dict[str, Any]


def assembled(
    pool: Pool,
    policy: Policy,
    *,
    blocked: BoolArray,
    met: BoolArray,
    earlier: Sequence[Sequence[int]],
    objectives: Sequence[int] | None,
    cut_score: float,
    seed: int,
    attributes: Attributes = NO_ATTRIBUTES,
) -> Assembled:
    """A form of the policy's maximum length.

    blocked : (I,), items that may not be in it; pretest items never are;  met : (I,), met by the learner
    earlier : pool indices of the learner's earlier forms;  objectives : indices it is limited to, None for all
    attributes : columns (I,) that the policy's constraints ask for
    Raises Infeasible, naming what clashes, and Unsolved if no form was found in time.
    """
    wanted = np.zeros(len(pool.objective_codes), dtype=np.bool_)
    wanted[list(range(wanted.size)) if objectives is None else list(objectives)] = True
    scored = wanted[pool.objective] & ~pool.pretest
    kept = np.flatnonzero(scored & ~blocked)
    hard, short = hard_constraints(pool, policy, kept, wanted)
    if short:
        raise Infeasible(short)
    informs = information(cut_score, pool.a, pool.b, pool.c, pool.d)
    target = usual_information(pool, informs, scored, wanted, policy.maximum_length or 0)
    cost = MET_COST * met + sum((np.isin(np.arange(len(pool)), form) for form in earlier), np.zeros(len(pool)))
    chance = rng_for(seed, 0, FORM_STREAM).uniforms(len(pool))
    few = candidates(pool, kept, cost, chance, wanted, policy.maximum_length or 0)
    try:
        form = chosen(pool, hard, few, cost[few], informs[few], target, chance[few], attributes)
    except Infeasible:
        if few.size == kept.size:
            raise
        form = chosen(pool, hard, kept, cost[kept], informs[kept], target, chance[kept], attributes)
    items = in_order(pool, policy, form, seed, attributes)
    return Assembled(items, facts_of(pool, items, met, earlier, cut_score, target=target, eligible=kept.size))


def candidates(
    pool: Pool, kept: IntArray, cost: FloatArray, chance: FloatArray, wanted: BoolArray, length: int
) -> IntArray:
    """The kept items, ascending; of an objective with many of them those of the least cost, of equals by chance.

    So the time for a form doesn't grow with the pool. cost, chance : (I,)
    """
    ranked = kept[np.lexsort((-chance[kept], cost[kept], pool.objective[kept]))]
    objective = pool.objective[ranked]
    place = np.arange(ranked.size) - np.searchsorted(objective, objective)
    most = np.maximum(CANDIDATES, TIMES * np.ceil(shares(pool.objective_weights, wanted) * length))
    return np.sort(ranked[place < most[objective]])


def in_order(pool: Pool, policy: Policy, form: IntArray, seed: int, attributes: Attributes = NO_ATTRIBUTES) -> IntArray:
    """The items of a form in the order they are served: shuffled, the same for the same seed.

    An order among the policy's constraints, and sets that stay together, go before chance.
    """
    ascending = np.sort(form)
    rank = rng_for(seed, 0, ORDER_STREAM).uniforms(len(pool))[ascending]
    program = compile_constraints(policy.constraints, attributes_of(pool, ascending, attributes), items=form.size)
    return np.asarray(ascending[arranged(program, np.arange(form.size), rank)])


def facts_of(
    pool: Pool,
    items: IntArray,
    met: BoolArray,
    earlier: Sequence[Sequence[int]],
    cut_score: float,
    *,
    target: float,
    eligible: int,
) -> dict[str, Any]:
    """What is kept of a form: the pass mark, the information at the cut score, and how new it is to the learner."""
    before = {item for form in earlier for item in form}
    at_cut = information(cut_score, pool.a[items], pool.b[items], pool.c[items], pool.d[items])
    return {
        "cut_score": cut_score,
        "pass_mark": pass_mark(pool, items, cut_score),
        "information": float(np.sum(at_cut)),
        "target": target,
        "met": int(np.count_nonzero(met[items])),
        "shared": len(before.intersection(items.tolist())),
        "eligible_count": eligible,
    }


def pass_mark(pool: Pool, items: IntArray, cut_score: float) -> int:
    """The number right that passes: what to expect, rounded up, of someone at the cut score."""
    at_cut = probability(cut_score, pool.a[items], pool.b[items], pool.c[items], pool.d[items])
    return int(np.ceil(float(np.sum(at_cut)) - SMALL))


def chosen(
    pool: Pool,
    hard: Sequence[Constraint],
    kept: IntArray,
    cost: FloatArray,
    informs: FloatArray,
    target: float,
    chance: FloatArray,
    attributes: Attributes,
) -> IntArray:
    """Pool indices of the form's items, of the kept ones (k,); cost, informs, chance : (k,), theirs."""
    own = attributes_of(pool, kept, attributes) | {COST: cost, INFORMATION: informs}
    enemies = enemies_among(pool, kept)

    def solved(more: Sequence[Constraint], scores: FloatArray, **request: Any) -> Forms:
        program = compile_constraints([*hard, *more], own, items=kept.size, enemies=enemies)
        return assemble(program, scores[:, None], Request(seconds=SECONDS, **request))

    newest = solved((), cost.max(initial=0.0) - cost + 1.0, gap=0.0).items[0]
    least = float(cost[newest].sum())
    new = Total(name="as new as can be", attribute=COST, most=least)
    if target <= SMALL:
        return kept[newest]
    try:
        near = solved((new,), informs, target=np.array([target]), gap=BAND)
        if near.gap > BAND + SMALL:
            return kept[near.items[0]]
        low, high = target * (1.0 - BAND) - SMALL, target * (1.0 + BAND) + SMALL
        band = Total(name="information at the cut score", attribute=INFORMATION, least=low, most=high)
        return kept[solved((new, band), chance, gap=NEAR_ENOUGH).items[0]]
    except Unsolved:
        return kept[newest]


def broken(
    pool: Pool,
    policy: Policy,
    items: IntArray,
    *,
    blocked: BoolArray,
    objectives: Sequence[int] | None,
    attributes: Attributes = NO_ATTRIBUTES,
) -> tuple[str, ...]:
    """What must hold of a form, by name, and doesn't; the arguments are those that it was assembled with."""
    wanted = np.zeros(len(pool.objective_codes), dtype=np.bool_)
    wanted[list(range(wanted.size)) if objectives is None else list(objectives)] = True
    kept = np.flatnonzero(wanted[pool.objective] & ~pool.pretest & ~blocked)
    if not np.isin(items, kept).all():
        return ("items that can't be served",)
    hard, _ = hard_constraints(pool, policy, kept, wanted)
    own = attributes_of(pool, kept, attributes)
    program = compile_constraints(hard, own, items=kept.size, enemies=enemies_among(pool, kept))
    return program.violations(np.searchsorted(kept, np.sort(items)))


def attributes_of(pool: Pool, kept: IntArray, more: Attributes) -> dict[str, Any]:
    """Objective and domain of the kept items, by code, and what else is known of them. more : columns (I,)"""
    places = kept.tolist()
    return {name: [column[place] for place in places] for name, column in more.items()} | {
        "objective": [pool.objective_codes[place] for place in pool.objective[kept].tolist()],
        "domain": [pool.domain_codes[place] for place in pool.domain[pool.objective[kept]].tolist()],
    }


def hard_constraints(
    pool: Pool, policy: Policy, kept: IntArray, wanted: BoolArray
) -> tuple[list[Constraint], list[str]]:
    """The length, and within one item the blueprint's proportions of domains and, if the policy says so, objectives.

    Their names say what is asked for and what there is, for whoever has to mend a clash. With them come the names of
    those that there are too few items for, all at once; a solver would find one of them.
    """
    length = policy.maximum_length or 0
    found: list[Constraint] = [
        Count(name=f"length ({length} items, {kept.size} can be served)", least=length, most=length)
    ]
    short = [found[0].name] if kept.size < length else []
    found += policy.constraints
    if not policy.content_balancing:
        return found, short
    own = {rule.name for rule in policy.constraints}
    share = shares(pool.objective_weights, wanted)
    have = np.bincount(pool.objective[kept], minlength=share.size)
    domains = len(pool.domain_codes)
    levels: list[tuple[str, tuple[str, ...], FloatArray, IntArray]] = [
        (
            "domain",
            pool.domain_codes,
            np.bincount(pool.domain, share, domains).astype(np.float64),
            in_domains(pool, have),
        )
    ]
    if policy.content_level is ContentLevel.objectives:
        levels.append(("objective", pool.objective_codes, share, have))
    for kind, codes, part, there in levels:
        for place, code in enumerate(codes):
            least, most = int(np.floor(part[place] * length + SMALL)), int(np.ceil(part[place] * length - SMALL))
            if most == 0 or f"{kind} {code}" in own:  # the policy's own word goes first
                continue
            asked = f"{least}" if least == most else f"{least} to {most}"
            name = f"{kind} {code} ({asked} items, {int(there[place])} can be served)"
            found.append(Count(name=name, where=(Where(attribute=kind, among=(code,)),), least=least, most=most))
            if there[place] < least:
                short.append(name)
    return found, short


def in_domains(pool: Pool, counts: IntArray) -> IntArray:
    """Counts by objective (K,) as counts by domain (D,)."""
    return np.bincount(pool.domain, counts, len(pool.domain_codes)).astype(np.int64)


def enemies_among(pool: Pool, kept: IntArray) -> IntArray:
    """Pairs (M, 2) of places among the kept items that are enemies."""
    place = np.full(len(pool), -1, dtype=np.int64)
    place[kept] = np.arange(kept.size)
    pairs = place[pool.enemies]
    return np.asarray(pairs[(pairs >= 0).all(axis=1)])


def usual_information(pool: Pool, informs: FloatArray, scored: BoolArray, wanted: BoolArray, length: int) -> float:
    """What a form to the blueprint of average items tells at the cut score; informs : (I,), there.

    It rests on all scored items, so it is the same for every learner, whatever is left for one of them.
    """
    count = np.bincount(pool.objective[scored], minlength=wanted.size)
    total = np.bincount(pool.objective[scored], informs[scored], wanted.size)
    filled = wanted & (count > 0)
    if not filled.any():
        return 0.0
    mean = total / np.maximum(count, 1)
    return float(shares(pool.objective_weights, filled) @ mean * length)
