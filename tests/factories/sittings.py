"""Simulated sittings repeated one learner at a time, with the functions that a session uses."""

from collections.abc import Iterator

import numpy as np

from engine.irt import estimate, normal_log_prior, update
from engine.irt.types import BoolArray
from engine.pool import Pool
from engine.selection import Decision, Policy, Progress, Standing, StopReason, decide, decided, stop_reason
from engine.selection.classifying import standing_after
from engine.simulation import STOPS, Sittings

ALL_TRACED = ("engine.selection.choosing.TRACED", 10_000)  # for monkeypatch.setattr


def repeated(
    pool: Pool, policy: Policy, sittings: Sittings, n: int, *, cut: float = 0.0, withheld: BoolArray | None = None
) -> Iterator[str]:
    """What differs between examinee n and a learner who gives the same answers, in words; nothing if nothing does.

    Items whose scores agree to the last digits are the same: sums may be added up in another order. All candidates have
    to be in the traces for that, which `ALL_TRACED` sees to.
    """
    off = np.zeros(len(pool), dtype=np.bool_) if withheld is None else withheld
    log_posterior, administered, seed = normal_log_prior(), list[int](), int(sittings.seeds[n])

    def following(standing: Standing | None) -> dict[str, object] | None:
        return decide(
            pool,
            policy,
            log_posterior,
            administered=administered,
            objectives=[],
            excluded=off,
            resting=off,
            suspended=[],
            seed=seed,
            standing=standing,
        )

    trace = following(Standing.at_start(policy, cut))
    decision: Decision | None = None
    for position in range(1, int(sittings.length[n]) + 1):
        item, right = int(sittings.items[n, position - 1]), bool(sittings.right[n, position - 1])
        served = int(pool.item_versions[item])
        if trace is None:
            yield f"{position}: nothing is left"
            return
        if served != trace["item_version"]:
            scores = {each["item_version"]: each["score"] for each in trace["candidates"]}
            near = 1e-6 * np.abs(trace["candidates"][0]["score"]) + 1e-12
            if served not in scores or not np.isclose(scores[served], scores[trace["item_version"]], 1e-6, near):
                yield f"{position}: {served} instead of {trace['item_version']}"
        administered.append(served)
        log_posterior = update(log_posterior, right, *pool.parameters(item))
        ability = estimate(log_posterior)
        standing = standing_after(policy, trace, right=right, counts=True, parameters=pool.parameters(item))
        after = following(standing)
        progress = Progress.after(trace, ability, counts=True, following=after, standing=standing)
        stop = stop_reason(policy, progress) or (StopReason.pool_exhausted if after is None else None)
        found = STOPS[sittings.stop[n]] if position == sittings.length[n] else None
        if stop is not found:
            yield f"{position}: {found} instead of {stop}"
        decision, trace = decided(policy, progress, found), after
    outcome = {1: "pass", 0: "fail", -1: None}[int(sittings.decision[n])]
    if outcome != (None if decision is None else str(decision.outcome)):
        yield f"{outcome} instead of {decision}"
    if not np.allclose((sittings.estimate[n], sittings.standard_error[n]), estimate(log_posterior), atol=1e-9):
        yield "another estimate"
