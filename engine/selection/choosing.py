"""Choosing the next item: eligibility, content need, criterion, exposure control, in this order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.irt import NODES, ability, posterior
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.pool import Pool
from engine.selection.content import deficits, most_urgent, shares
from engine.selection.criteria import CRITERIA, Known
from engine.selection.eligibility import eligible_items, objectives_with
from engine.selection.exposure import Chance, randomesque
from engine.selection.policy import Criterion, Policy

# A trace shows at least this many of the best items, so that a reader sees what the choice was between.
TRACED = 5


@dataclass(frozen=True, slots=True)
class Choice:
    """The item to serve next and why: what a trace stores.

    index : pool index;  theta, standard_error : ability before the item, logits
    candidates : (pool index, score) of the best items, best first, at least all that chance chose between
    objective : index of the objective that content balancing asked for, None without it
    need : (K,) deficits in items by objective, empty without content balancing
    eligible_count : items that could have been served, over all objectives
    """

    index: int
    theta: float
    standard_error: float
    criterion: Criterion
    candidates: tuple[tuple[int, float], ...]
    objective: int | None
    need: tuple[float, ...]
    eligible_count: int

    def to_json(self, pool: Pool) -> dict[str, Any]:
        """A plain dictionary with item version ids and objective codes in place of pool indices."""
        versions, codes = pool.item_versions, pool.objective_codes
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
        }


def choose(
    pool: Pool,
    log_posterior: FloatArray,
    *,
    administered: IntArray,
    blocked: BoolArray,
    objectives: Sequence[int] | None = None,
    policy: Policy,
    rng: Chance,
) -> Choice | None:
    """The next item of a sitting, or None when no eligible item is left.

    log_posterior : (121,), ability so far, up to a constant;  administered : (n,), pool indices of this sitting so far
    blocked : (I,), True for items not to be served, such as those seen earlier or suspended
    objectives : indices of the objectives the sitting is limited to, None for all;  rng : from `rng_for`
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
    objective, need = content_need(pool, administered, eligible) if policy.content_balancing else (None, ())
    span = pool.span(objective)
    available = eligible_count if objective is None else int(np.count_nonzero(eligible[span]))
    count = min(max(TRACED, policy.randomesque), available)
    known = Known(probabilities, theta)
    ranked, scores = CRITERIA[policy.criterion](pool, known, eligible, count, span)
    return Choice(
        index=randomesque(ranked, policy.randomesque, rng),
        theta=theta,
        standard_error=standard_error,
        criterion=policy.criterion,
        candidates=tuple(zip(ranked.tolist(), scores.tolist(), strict=True)),
        objective=objective,
        need=need,
        eligible_count=eligible_count,
    )


def content_need(pool: Pool, administered: IntArray, eligible: BoolArray) -> tuple[int, tuple[float, ...]]:
    """The objective to serve next and every objective's deficit in items; those with an eligible item are in play."""
    in_play = objectives_with(pool, eligible)
    share = shares(pool.objective_weights, in_play)
    counts = np.bincount(pool.objective[administered], minlength=len(in_play))
    deficit = deficits(share, counts, in_play)
    return most_urgent(share, deficit), tuple(deficit.tolist())
