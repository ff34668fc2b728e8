"""What a pool's information can come to: standard errors and decisions that are out of reach however items are chosen.

Information is added up from the best items there are. What is called out of reach is so for every learner of that
ability; what is in reach need not be reached by each of them. A posterior is taken to be about normal.
"""

import math
from collections.abc import Iterator

import numpy as np

from engine.irt import information, log_probabilities
from engine.irt.types import FloatArray, IntArray
from engine.pool import Pool
from engine.selection.classifying import normal_quantile
from engine.selection.content import shares
from engine.selection.finding import Finding, Severity, upwards
from engine.selection.policy import Classification, Policy
from engine.selection.sizes import sitting_sizes

GRID = np.arange(-2.0, 2.25, 0.5)  # logits; where 95 % of a standard normal population are
ROUNDING = 0.005  # standard errors are compared as they are shown
FARTHEST = 2.0  # logits from the cut score; a learner who is decided only beyond it is rare


def best_information(pool: Pool, policy: Policy, theta: FloatArray) -> FloatArray:
    """The most information (T,) that a sitting of the maximum length can add up at each of theta (T,).

    With content balancing no objective has more than its share, rounded up.
    """
    _, most = sitting_sizes(pool)
    length = min(policy.maximum_length or most, most)
    values = np.sort(information(theta, pool.a, pool.b, pool.c, pool.d), axis=1)[:, ::-1]
    if policy.content_balancing:
        has_items = np.diff(pool.objective_start) > 0
        caps = np.ceil(shares(pool.objective_weights, has_items) * length - 1e-9).astype(np.int64)
        values = capped(pool, theta, caps)
    return np.asarray(values[:, :length].sum(axis=1))


def capped(pool: Pool, theta: FloatArray, caps: IntArray) -> FloatArray:
    """Information of the best items of each objective, at most caps (K,) of it, best first, (T, n)."""
    parts = []
    for k, cap in enumerate(caps.tolist()):
        span = pool.span(k)
        part = information(theta, pool.a[span], pool.b[span], pool.c[span], pool.d[span])
        parts.append(np.sort(part, axis=1)[:, ::-1][:, :cap])
    return np.asarray(np.sort(np.concatenate(parts, axis=1), axis=1)[:, ::-1])


def reachable(pool: Pool, policy: Policy, prior_sd: float, theta: FloatArray = GRID) -> FloatArray:
    """About the smallest standard error (T,) a sitting can come to at each ability: 1 / sqrt(I + 1 / prior_sd²)."""
    return np.asarray(1.0 / np.sqrt(best_information(pool, policy, theta) + prior_sd**-2.0))


def precision(pool: Pool, policy: Policy, prior_sd: float) -> Iterator[Finding]:
    if policy.standard_error is None:
        return
    smallest = reachable(pool, policy, prior_sd)
    missed = smallest > policy.standard_error + ROUNDING
    if not missed.any():
        return
    facts = {"theta": GRID.tolist(), "smallest_standard_error": smallest.round(4).tolist()}
    best, worst = float(smallest.min()), float(smallest.max())
    where = f"at most {policy.maximum_length} items" if policy.maximum_length else "all items"
    if missed.all():
        what = f"{policy.standard_error:g} asked for, {where} come to {best:.2f} at best"
        remedy = f"at least {upwards(best):g}, longer sittings, or better items"
        yield Finding(Severity.error, "standard_error", what, remedy, facts)
        return
    places = ", ".join(f"{theta:g}" for theta in GRID[missed].tolist())
    what = f"{policy.standard_error:g} asked for, {where} don't come to it at an ability of {places} ({worst:.2f})"
    remedy = f"at least {upwards(worst):g}, or better items there"
    yield Finding(Severity.warning, "standard_error", what, remedy, facts)


def informative(pool: Pool, policy: Policy) -> Iterator[Finding]:
    least = policy.minimum_information
    if least is None:
        return
    most = information(GRID, pool.a, pool.b, pool.c, pool.d).max(axis=1)
    if most.max() < least:
        what = f"{least:g} asked for, the best item has {most.max():.2f}, so sittings end at the minimum length"
        facts = {"theta": GRID.tolist(), "most_information": most.round(4).tolist()}
        yield Finding(Severity.error, "minimum_information", what, f"less than {most.max():.2f}", facts)


def classification(pool: Pool, policy: Policy, cut: float, prior_mean: float, prior_sd: float) -> Iterator[Finding]:
    match policy.classification:
        case Classification.confidence_interval:
            yield from by_interval(pool, policy, cut, prior_mean, prior_sd)
        case Classification.sprt:
            yield from by_ratio(pool, policy, cut)


def by_interval(pool: Pool, policy: Policy, cut: float, prior_mean: float, prior_sd: float) -> Iterator[Finding]:
    """Whether a learner far from the cut score is decided, on each side of it.

    The estimate of a learner at theta is taken to be where it is on average: drawn to the prior's mean by the share of
    the prior's variance that is left.
    """
    quantile = normal_quantile((1.0 + policy.confidence) / 2.0)
    undecided = []
    for side, towards in (("below", -1.0), ("above", 1.0)):
        theta = cut + towards * np.arange(0.0, FARTHEST + 0.01, 0.05)
        error = reachable(pool, policy, prior_sd, theta)
        estimate = prior_mean + (theta - prior_mean) * (1.0 - np.square(error / prior_sd))
        if not (towards * (estimate - cut) >= quantile * error).any():
            undecided.append(side)
    if undecided:
        severity = Severity.error if len(undecided) == 2 else Severity.warning
        who = f"learners up to {FARTHEST:g} logits {' or '.join(undecided)} the cut score"
        what = f"with a confidence of {policy.confidence:g} the interval of {who} does not leave it"
        remedy = "longer sittings, less confidence, or better items near the cut score"
        yield Finding(severity, "classification", what, remedy, {"undecided": undecided})


def by_ratio(pool: Pool, policy: Policy, cut: float) -> Iterator[Finding]:
    """Whether the likelihood ratio can leave its bounds: with every answer right, or wrong, and on average."""
    low, high = cut - policy.indifference, cut + policy.indifference
    right = np.subtract(*(log_probabilities(end, pool.a, pool.b, pool.c, pool.d)[0] for end in (high, low))).ravel()
    wrong = np.subtract(*(log_probabilities(end, pool.a, pool.b, pool.c, pool.d)[1] for end in (high, low))).ravel()
    _, most = sitting_sizes(pool)
    length = min(policy.maximum_length or most, most)
    reach = {"pass": largest(right, length), "fail": largest(-wrong, length)}
    bound = {
        "pass": math.log((1.0 - policy.beta) / policy.alpha),
        "fail": math.log((1.0 - policy.alpha) / policy.beta),
    }
    remedy = "longer sittings, a larger indifference, alpha or beta, or better items near the cut score"
    for outcome, needed in bound.items():
        facts = {"outcome": outcome, "needed": round(needed, 4), "most": round(reach[outcome], 4)}
        if reach[outcome] < needed:
            what = f"{length} answers, all in favour of {outcome}, come to {reach[outcome]:.2f} of {needed:.2f} needed"
            yield Finding(Severity.error, "classification", what, remedy, facts)


def largest(values: FloatArray, count: int) -> float:
    """The sum of the `count` largest."""
    return float(np.sort(values)[::-1][:count].sum())
