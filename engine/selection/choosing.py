"""Choosing the next item: eligibility, content need, criterion, exposure control, in this order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.irt import NODES, ability, posterior
from engine.irt.types import BoolArray, FloatArray, IntArray, TableArray
from engine.pool import Pool
from engine.selection.candidates import most_informative
from engine.selection.content import deficits, most_urgent, neediest_by_domain, shares
from engine.selection.criteria import CRITERIA, Context, maximum_information
from engine.selection.eligibility import eligible_items, objectives_with
from engine.selection.exposure import Chance, best, randomesque
from engine.selection.policy import ContentLevel, ContentRule, Criterion, Policy
from engine.selection.priority import allowed, unfilled
from engine.selection.profile import Profile
from engine.selection.program import Program
from engine.selection.shadow import shadow_test

# A trace shows at least this many of the best items, so that a reader sees what the choice was between.
TRACED = 5


@dataclass(frozen=True, slots=True)
class Choice:
    """The item to serve next and why: what a trace stores.

    index : pool index;  theta, standard_error : ability before the item, logits
    candidates : (pool index, score) of the best items, best first, at least all that chance chose between
    objective : index of the objective that content balancing asked for, None if it asked for none
    need : (K,) deficits in items by objective, empty without content balancing
    eligible_count : items that could have been served, over all objectives
    most_information : of any of them, at theta; None where the policy doesn't ask
    """

    index: int
    theta: float
    standard_error: float
    criterion: Criterion
    candidates: tuple[tuple[int, float], ...]
    objective: int | None
    need: tuple[float, ...]
    eligible_count: int
    most_information: float | None = None

    def to_json(self, pool: Pool) -> dict[str, Any]:
        """A plain dictionary with item version ids and objective codes in place of pool indices."""
        versions, codes = pool.item_versions, pool.objective_codes
        asked = {} if self.most_information is None else {"most_information": self.most_information}
        return {
            "pool": pool.version,
            "item_version": int(versions[self.index]),
            "theta": self.theta,
            "standard_error": self.standard_error,
            "criterion": str(self.criterion),
            "candidates": [{"item_version": int(versions[i]), "score": score} for i, score in self.candidates],
            "objective": None if self.objective is None else codes[self.objective],
            "need": dict(zip(codes, self.need, strict=False)),
            "eligible_count": self.eligible_count,
        } | asked


def choose(
    pool: Pool,
    log_posterior: FloatArray,
    *,
    administered: IntArray,
    blocked: BoolArray,
    objectives: Sequence[int] | None = None,
    policy: Policy,
    profile: Profile | None = None,
    program: Program | None = None,
    rng: Chance,
) -> Choice | None:
    """The next item of a sitting, or None when no eligible item is left.

    log_posterior : (121,), ability so far, up to a constant;  administered : (n,), pool indices of this sitting so far
    blocked : (I,), True for items not to be served, such as those seen earlier or suspended
    objectives : indices of the objectives the sitting is limited to, None for all;  rng : from `rng_for`
    profile : what a criterion may know of the learner beyond one ability
    program : what the whole sitting must meet, None for nothing.  Raises Infeasible if it can't any more
    The same arguments give the same choice, bit for bit, in every process of one build.
    """
    if log_posterior.shape != NODES.shape:
        raise ValueError(f"log_posterior has shape {log_posterior.shape}, {NODES.shape} expected")
    eligible = eligible_items(pool, administered=administered, blocked=blocked, objectives=objectives)
    eligible_count = int(np.count_nonzero(eligible))
    if eligible_count == 0:
        return None
    probabilities = posterior(log_posterior)
    theta, standard_error = ability(probabilities)
    position = administered.size + 1
    context = Context(
        pool, probabilities, theta, standard_error, position, policy, eligible, rng, profile, administered
    )
    if program is not None:
        return within_form(context, program, administered, eligible_count)
    objective, weights, need = content_need(context, administered)
    span = pool.span(objective)
    if weights is not None:
        eligible = eligible & (weights > 0.0)[pool.objective]
    available = int(np.count_nonzero(eligible[span]))
    ranked, scores = rank(context, eligible, weights, span, min(max(TRACED, policy.randomesque), available))
    return Choice(
        index=randomesque(ranked, policy.randomesque, rng),
        theta=theta,
        standard_error=standard_error,
        criterion=policy.criterion,
        candidates=tuple(zip(ranked.tolist(), scores.tolist(), strict=True)),
        objective=objective,
        need=need,
        eligible_count=eligible_count,
        most_information=None if policy.minimum_information is None else most_information(context),
    )


def within_form(context: Context, program: Program, administered: IntArray, eligible_count: int) -> Choice | None:
    """The choice among the free items of the best whole form; None where the form is complete."""
    pool, policy = context.pool, context.policy
    scores = np.asarray(CRITERIA[policy.criterion](context, pool.span(None)), dtype=np.float64)
    given = administered[~pool.pretest[administered]]
    coming = shadow_test(program, scores, given=given, blocked=~context.eligible).next_items
    if not coming.size:
        return None
    best_ones = coming[: max(TRACED, policy.randomesque)]
    return Choice(
        index=randomesque(best_ones, policy.randomesque, context.rng),
        theta=context.theta,
        standard_error=context.standard_error,
        criterion=policy.criterion,
        candidates=tuple((int(place), float(scores[place])) for place in best_ones),
        objective=None,
        need=(),
        eligible_count=eligible_count,
        most_information=None if policy.minimum_information is None else most_information(context),
    )


def unranked(pool: Pool, log_posterior: FloatArray, policy: Policy, index: int, others: Sequence[int]) -> Choice:
    """The choice of an item whose turn it is; those that would come after it stand as candidates, in their order."""
    theta, standard_error = ability(posterior(log_posterior))
    candidates = tuple((place, float(-rank)) for rank, place in enumerate(others[:TRACED]))
    return Choice(index, theta, standard_error, policy.criterion, candidates, None, (), len(others))


def rank(
    context: Context, eligible: BoolArray, weights: FloatArray | None, span: slice, count: int
) -> tuple[IntArray, FloatArray | TableArray]:
    """Pool indices and scores of the `count` best eligible items of a span, best first; of equals the lower index.

    weights : (K,), by which the scores of the objectives are multiplied, None for none
    """
    pool, criterion = context.pool, context.policy.criterion
    if criterion is Criterion.maximum_information and weights is None:
        return most_informative(pool, context.theta, eligible, count, span=span)
    scores = CRITERIA[criterion](context, span)
    if weights is not None:
        scores = scores * weights[pool.objective]
    np.copyto(scores, -np.inf, where=~eligible[span])
    ranked = best(scores, count)
    return ranked + span.start, scores[ranked]


def content_need(context: Context, administered: IntArray) -> tuple[int | None, FloatArray | None, tuple[float, ...]]:
    """What content balancing asks for: an objective, or weights (K,) of the objectives; and all deficits in items.

    The objectives with an eligible item are in play. Without content balancing nothing is asked for.
    """
    pool, policy = context.pool, context.policy
    if not policy.content_balancing:
        return None, None, ()
    in_play = objectives_with(pool, context.eligible)
    share = shares(pool.objective_weights, in_play)
    scored = administered[~pool.pretest[administered]]
    counts = np.bincount(pool.objective[scored], minlength=len(in_play))
    if policy.content_level is ContentLevel.domains:
        asked, short = neediest_by_domain(pool, counts, in_play)
        return asked, None, tuple(short.tolist())
    deficit = deficits(share, counts, in_play)
    need = tuple(deficit.tolist())
    if policy.content_rule is ContentRule.priority_index:
        kept, remaining = counts * in_play, max(1, (policy.maximum_length or 0) - scored.size)
        weights = unfilled(share, kept, remaining=remaining) * allowed(share, kept, remaining=remaining)
        if weights.any():
            return None, weights, need
    return most_urgent(share, deficit), None, need


def most_information(context: Context) -> float:
    """Fisher information of the most informative eligible item at the estimate, per squared logit."""
    informs = maximum_information(context, context.pool.span(None))
    return float(np.max(informs, initial=0.0, where=context.eligible))
