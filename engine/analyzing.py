"""Whether an exam's pool can meet a policy: counted, added up, and tried in a short simulation; pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine import simulating
from engine.errors import InvalidPolicy
from engine.irt.types import FloatArray
from engine.pool import Pool
from engine.selection import Policy
from engine.selection.attainment import GRID, reachable
from engine.selection.feasibility import findings
from engine.selection.finding import Finding, Severity, counted
from engine.simulating import Study
from engine.simulation import Normal, Report

EXAMINEES, SEED = 500, 0
NAMED = 50  # items that one finding names
MOSTLY = 0.5  # share of sittings
NOTABLE = 0.01  # share of sittings


@dataclass(frozen=True, slots=True)
class Analysis:
    """findings : errors first;  smallest : (T,), standard error that can be reached at each ability of GRID
    report : of the short simulation;  not_simulated : why there is none
    """

    findings: list[Finding]
    smallest: FloatArray
    report: Report | None
    not_simulated: str | None

    @property
    def can_be_met(self) -> bool:
        return all(finding.severity is not Severity.error for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        return {
            "can_be_met": self.can_be_met,
            "findings": [finding.to_json() for finding in self.findings],
            "reachable": [
                {"theta": theta, "standard_error": value}
                for theta, value in zip(GRID.tolist(), self.smallest.round(4).tolist(), strict=True)
            ],
            "simulated": None if self.report is None else dict(self.report.summary),
            "not_simulated": self.not_simulated,
        }


def analyze(
    pool: Pool,
    policy: Policy,
    *,
    cut: float,
    prior: Normal,
    names: Sequence[str] | None = None,
    progress: Callable[[int], object] = lambda _count: None,
) -> Analysis:
    """Everything that stands between a policy and a pool.

    cut : ability from which one passes, logits;  names : of the items, their version ids unless given
    """
    scored = simulating.limited(pool, ())
    found = findings(scored, policy, cut=cut, prior_mean=prior.mean, prior_sd=prior.sd)
    if not len(scored):
        return Analysis(found, np.full(GRID.size, prior.sd), None, "the pool has no scored items")
    try:
        study = Study.of({}, policy=policy, examinees=EXAMINEES, seed=SEED, usual_prior=prior, usual_cut=cut)
    except InvalidPolicy as error:
        return Analysis(found, reachable(scored, policy, prior.sd), None, str(error))
    report = simulating.run(pool, study, names=names, progress=progress).report
    return Analysis([*found, *used(policy, report)], reachable(scored, policy, prior.sd), report, None)


def used(policy: Policy, report: Report) -> Iterator[Finding]:
    """What a simulation shows that counting can't; warnings, since other examinees would do something else."""
    summary, items = report.summary, report.items
    examinees = summary["examinees"]
    never = [str(row["item"]) for row in items if not row["served"]]
    if never:
        what = f"{len(never)} of {counted(len(items), 'item')} are never served to {examinees} simulated examinees"
        remedy = "a larger randomesque, a maximum_exposure, or another criterion"
        yield Finding(Severity.warning, "criterion", what, remedy, {"count": len(never), "items": never[:NAMED]})
    out = summary["stopped_by_pool_exhausted"]
    if out:
        what = f"{out:.0%} of {examinees} simulated sittings end for want of items"
        yield Finding(Severity.warning, "maximum_length", what, "a lower one, or more items", {"share": out})
    cap, largest = policy.maximum_exposure, summary["largest_exposure"]
    if cap is not None and largest > cap + 3.0 * (cap * (1.0 - cap) / examinees) ** 0.5:
        over = [str(row["item"]) for row in items if row["exposure"] > cap]
        what = f"{cap:g} asked for, the most used item comes in {largest:.0%} of {examinees} simulated sittings"
        yield Finding(
            Severity.warning,
            "maximum_exposure",
            what,
            "a higher one, or more items",
            {"count": len(over), "items": over[:NAMED]},
        )
    precise = summary["stopped_by_standard_error"]
    if policy.standard_error is not None and precise < MOSTLY:
        what = f"{policy.standard_error:g} is reached by {precise:.0%} of {examinees} simulated examinees"
        remedy = f"about {summary['standard_error']:.2f}, which is what they end with, or longer sittings"
        yield Finding(Severity.warning, "standard_error", what, remedy, {"share": precise})
    strays = summary["content_violations"]
    if policy.content_balancing and strays > NOTABLE:
        what = f"{strays:.0%} of {examinees} simulated sittings stray from the blueprint by an item or more"
        remedy = "shorter sittings, or more items where objectives run out"
        yield Finding(Severity.warning, "content_balancing", what, remedy, {"share": strays})
