"""Whether a pool can meet a policy, told before a learner meets it: by counting and by information, without sittings.

An `error` is a clash that every sitting runs into, or that makes what the policy asks for impossible. A `warning` is
one that some sittings may run into.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.irt.types import BoolArray
from engine.pool import Pool
from engine.selection.attainment import classification, informative, precision
from engine.selection.content import shares, shortages
from engine.selection.finding import Finding, Severity, counted, upwards
from engine.selection.policy import Policy
from engine.selection.sizes import sitting_sizes, sure_length

NAMED = 5  # objectives that one finding names, the worst first


def findings(
    pool: Pool, policy: Policy, *, cut: float = 0.0, prior_mean: float = 0.0, prior_sd: float = 1.0
) -> list[Finding]:
    """Everything that stands between a policy and a pool, errors first.

    cut : logits, for policies that classify;  prior_mean, prior_sd : logits, where each sitting starts
    """
    if not len(pool):
        facts: dict[str, Any] = {"items": 0}
        return [Finding(Severity.error, "maximum_length", "the pool has no items", "add operational items", facts)]
    found = [
        *lengths(pool, policy),
        *contents(pool, policy),
        *precision(pool, policy, prior_sd),
        *informative(pool, policy),
        *classification(pool, policy, cut, prior_mean, prior_sd),
        *exposure(pool, policy),
    ]
    return sorted(found, key=lambda finding: finding.severity is not Severity.error)


def lengths(pool: Pool, policy: Policy) -> Iterator[Finding]:
    least, most = sitting_sizes(pool)
    sure, longest = sure_length(policy), policy.maximum_length
    facts = {"items": len(pool), "least": least, "most": most}
    enemies = "" if most == len(pool) else f", of which a sitting can have {most} without enemies"
    has = f"the pool has {counted(len(pool), 'item')}{enemies}"
    if most < sure:
        field = "maximum_length" if sure == longest else "minimum_length"
        yield Finding(Severity.error, field, f"{sure} asked for, {has}", f"at most {most}, or more items", facts)
    elif longest is not None and most < longest:
        what = f"{longest} allowed, {has}, so a long sitting ends for want of items"
        yield Finding(Severity.warning, "maximum_length", what, f"at most {most}, or more items", facts)
    elif least < (longest or sure):
        what = f"{longest or sure} asked for, but with the wrong one of its enemies first a sitting has only {least}"
        remedy = f"at most {least}, or fewer enemies"
        yield Finding(Severity.warning, "maximum_length" if longest else "minimum_length", what, remedy, facts)


def contents(pool: Pool, policy: Policy) -> Iterator[Finding]:
    """Objectives that run out before the proportions can be kept to the end."""
    if not policy.content_balancing or policy.maximum_length is None:
        return
    everything = np.ones(len(pool), dtype=np.bool_)
    short = shortages(pool, everything, length=policy.maximum_length)
    if not short:
        return
    filled = longest_filled(pool, everything, policy.maximum_length)
    is_error = policy.strict_content or filled < sure_length(policy)
    short.sort(key=lambda each: each.have - each.need)
    names = ", ".join(f"{each.code} has {each.have} of {each.need}" for each in short[:NAMED])
    more = "" if len(short) <= NAMED else f" and {len(short) - NAMED} more objectives"
    missing = sum(each.need - each.have for each in short)
    within = f"at most {filled}" if filled else "other weights"
    yield Finding(
        Severity.error if is_error else Severity.warning,
        "maximum_length",
        f"{policy.maximum_length} items in the blueprint's proportions ask for more than there are: {names}{more}",
        f"{within}, or {counted(missing, 'item')} more",
        {
            "longest_in_proportion": filled,
            "objectives": [{"objective": each.code, "have": each.have, "need": each.need} for each in short],
        },
    )


def longest_filled(pool: Pool, eligible: BoolArray, longest: int) -> int:
    """The longest sitting, up to `longest`, that no objective is too short for; what is needed never falls with it."""
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        if shortages(pool, eligible, length=middle):
            high = middle - 1
        else:
            low = middle
    return low


def exposure(pool: Pool, policy: Policy) -> Iterator[Finding]:
    """Every sitting takes its length from the pool, so rates add up to it; so they do in each objective."""
    rate = policy.maximum_exposure
    if rate is None or rate >= 1.0:
        return
    sure, longest = sure_length(policy), policy.maximum_length or sure_length(policy)
    items = np.diff(pool.objective_start)
    parts: list[tuple[str, float, int]] = [("the pool", 1.0, len(pool))]
    if policy.content_balancing:
        share = shares(pool.objective_weights, items > 0)
        parts += [
            (f"objective {pool.objective_codes[k]}", float(share[k]), int(items[k])) for k in np.flatnonzero(share)
        ]
    lowest = max(share * sure / count for _, share, count in parts)
    severity = Severity.error if rate < lowest else Severity.warning
    length = sure if severity is Severity.error else longest
    short = [(name, part * length, count) for name, part, count in parts if rate * count < part * length - 1e-9]
    if not short:
        return
    name, taken, count = max(short, key=lambda each: each[1] / each[2])
    most = f"{rate:g} of sittings for each of the {counted(count, 'item')} of {name} makes {rate * count:.1f} a sitting"
    needed = taken / count
    remedy = f"at least {upwards(needed):g}" if needed <= 1.0 else "no bound"
    yield Finding(
        severity,
        "maximum_exposure",
        f"{most}, {taken:.1f} are taken from it in one of {length}",
        f"{remedy}, or {math.ceil(taken / rate - 1e-9) - count} more items there",
        {"parts": [{"of": name, "items": count, "taken": round(taken, 4)} for name, taken, count in short]},
    )
