"""One step of a shadow test: 30 items out of 1,000 under 36 hard constraints, whole sittings, one thread.

The pool and its constraints are the science pool of the R package TestDesign (918 3PL and 82 partial credit items),
where it lies in ../shared/data/banks. Elsewhere a stand-in of the same size is drawn, with as many constraints of the
same kinds around a form that exists. A step updates the posterior, computes the information of every item at its mean,
assembles the form and picks the item.

- shadow test: ours, which solves over the few items that matter
- whole program: the same form by one call of SciPy's `milp` over all items, every fifth step

Run: python -m benchmarks.shadow [--sittings 10] [--json]
"""

import argparse
import os

# One thread for every library; they read this when they are imported.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import statistics  # noqa: E402
import time  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: E402

from benchmarks._common import emit, print_table  # noqa: E402
from engine.irt import NODES, ability, normal_log_prior, posterior  # noqa: E402
from engine.selection.constraints import (  # noqa: E402
    AllOrNone,
    Constraint,
    Count,
    Enemies,
    Exclude,
    Include,
    Ordered,
    Where,
)
from engine.selection.program import Program, compile_constraints  # noqa: E402
from engine.selection.shadow import shadow_test  # noqa: E402
from tests.factories.science import Bank, read_science  # noqa: E402

BANKS = Path(__file__).parent.parent.parent / "shared" / "data" / "banks"
LENGTH = 30
SEED = 20261130
EVERY = 5  # the whole program is slow: one step in this many


@dataclass
class Measured:
    """What the sittings came to; times in milliseconds."""

    steps: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    violations: int = 0
    worst: float = 0.0  # the largest part of the optimum that a form was short of


def stand_in() -> Bank:
    """A pool like the science pool, for where that isn't at hand."""
    rng, size = np.random.default_rng(SEED), 1_000
    standard = rng.choice(4, size, p=[0.69, 0.06, 0.17, 0.08]) + 1
    attributes = {
        "ID": np.array([f"I{i:04}" for i in range(size)]),
        "LEVEL": rng.integers(3, 6, size).astype(float),
        "STANDARD": standard.astype(float),
        "OBJECTIVE": np.array([f"{one}{'ABCD'[k]}" for one, k in zip(standard, rng.integers(0, 4, size), strict=True)]),
        "DOK": rng.choice(3, size, p=[0.3, 0.5, 0.2]) + 1.0,
        "TYPE": rng.choice([*"STUVWXYZ"], size, p=[0.45, 0.2, 0.12, 0.07, 0.07, 0.03, 0.03, 0.03]),
        "PTBIS": rng.normal(0.45, 0.15, size),
    }
    parameters = np.full((size, 4), np.nan)
    parameters[:, :3] = np.column_stack(
        [rng.lognormal(-0.1, 0.35, size), rng.normal(0.0, 1.2, size), rng.uniform(0.1, 0.3, size)]
    )
    return Bank(attributes, parameters, np.zeros(size, dtype=bool), tuple(around_a_form(attributes, rng)))


def around_a_form(attributes: dict[str, np.ndarray], rng: np.random.Generator) -> list[Constraint]:
    """36 constraints that a form drawn at random meets: 10 items of each level, the other counts as they fell."""
    good = attributes["PTBIS"] >= 0.15
    form = np.concatenate(
        [rng.choice(np.flatnonzero(good & (attributes["LEVEL"] == k)), 10, False) for k in (3.0, 4.0, 5.0)]
    )
    found: list[Constraint] = [Count(name="length", least=LENGTH, most=LENGTH)]
    for name, slack in (("LEVEL", 0), ("STANDARD", 1), ("OBJECTIVE", 0), ("TYPE", 1)):
        for value in np.unique(attributes[name]).tolist():
            count = int((attributes[name][form] == value).sum())
            where = (Where(attribute=name, among=(value,)),)
            found.append(Count(name=f"{name} {value}", where=where, least=max(0, count - slack), most=count + slack))
    ids = attributes["ID"]
    outside = ids[np.setdiff1d(np.flatnonzero(good & (attributes["LEVEL"] == 3.0)), form)].tolist()
    pair, others = tuple(ids[form[:2]].tolist()), (tuple(outside[:2]), tuple(outside[2:4]))
    return [
        *found[:31],
        Ordered(name="order", attribute="LEVEL"),
        Include(name="include", where=(Where(attribute="ID", among=pair),)),
        Enemies(name="enemies", where=(Where(attribute="ID", among=others[0]),)),
        AllOrNone(name="all or none", where=(Where(attribute="ID", among=others[1]),)),
        Exclude(name="exclude", where=(Where(attribute="PTBIS", least=0.15, negated=True),)),
    ]


def whole_program(program: Program, scores: np.ndarray, given: np.ndarray) -> float:
    """The optimum by SciPy alone."""
    low, high = np.zeros(program.columns), np.ones(program.columns)
    low[given] = 1.0
    if given.size and program.order is not None:
        early = np.flatnonzero(program.order < program.order[given].max())
        high[np.setdiff1d(early, given)] = 0.0
    solved = milp(
        -scores,
        integrality=np.ones(program.columns),
        bounds=Bounds(low, high),
        constraints=LinearConstraint(program.matrix, program.lower, program.upper),
        options={"mip_rel_gap": 1e-6},
    )
    return -float(solved.fun)


def sit(bank: Bank, program: Program, theta: float, rng: np.random.Generator, measured: Measured) -> None:
    """One simulated sitting of LENGTH items."""
    log_posterior, given, score = normal_log_prior(), np.empty(0, dtype=np.int64), -1
    blocked = np.zeros(bank.items, dtype=bool)
    likelihoods = {i: np.log(np.maximum(bank.scores(i, NODES), 1e-300)) for i in range(bank.items)}
    for position in range(LENGTH):
        start = time.perf_counter()
        if given.size:
            log_posterior = log_posterior + likelihoods[int(given[-1])][:, score]
        estimate, _ = ability(posterior(log_posterior))
        information = bank.information(estimate)
        test = shadow_test(program, information, given=given, blocked=blocked)
        measured.steps.append((time.perf_counter() - start) * 1e3)
        if position % EVERY == 0:
            start = time.perf_counter()
            best = whole_program(program, information, given)
            measured.whole.append((time.perf_counter() - start) * 1e3)
            measured.worst = max(measured.worst, 1.0 - test.score / best)
        given = np.append(given, test.next_items[0])
        score = int(rng.choice(4, p=bank.scores(int(given[-1]), np.array([theta]))[0]))
    measured.violations += len(program.violations(given)) + program.out_of_sequence(given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the result as JSON, in the last line")
    parser.add_argument("--sittings", type=int, default=10, help="simulated sittings (default: 10)")
    arguments = parser.parse_args()
    is_real = BANKS.is_dir()
    bank = read_science(BANKS) if is_real else stand_in()
    if not is_real:
        print(f"the science pool is not at {BANKS}: a drawn stand-in is measured instead\n")
    start = time.perf_counter()
    program = compile_constraints(bank.constraints, bank.attributes, items=bank.items)
    compiled = (time.perf_counter() - start) * 1e3
    measured, rng = Measured(), np.random.default_rng(SEED)
    for theta in rng.normal(size=arguments.sittings):
        sit(bank, program, float(theta), rng, measured)
    row = {
        "pool": "science" if is_real else "stand-in",
        "constraints": len(bank.constraints),
        "steps": len(measured.steps),
        "median ms": statistics.median(measured.steps),
        "p95 ms": float(np.quantile(measured.steps, 0.95)),
        "max ms": max(measured.steps),
        "whole program ms": statistics.median(measured.whole),
        "whole / ours": statistics.median(measured.whole) / statistics.median(measured.steps),
        "violations": measured.violations,
        "worst shortfall": measured.worst,
        "compiled in ms": compiled,
    }
    print_table([row])
    emit("shadow", {name.replace(" ", "_").replace("/", "over"): value for name, value in row.items()}, arguments.json)


if __name__ == "__main__":
    main()
