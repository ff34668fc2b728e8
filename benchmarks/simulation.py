"""Simulated examinees per second: 30 items by maximum information, EAP, one thread, and how right the results are.

Simulated 2PL banks of 500 and 1,000 items: a ~ lognormal(0, 0.3) on [0.3, 3], b ~ N(0, 1); abilities N(0, 1).

- nextitem: `engine.simulation` in lock-step, EAP on 121 nodes
- mirt: the batch simulator of the Python package, its Rust core, EAP
- catsim: its simulator with the maximum likelihood estimator and the maximum-information selector, on fewer examinees

Accuracy is over 20,000 examinees, each of whom answers an item the same way whoever asks. *rmse / full grid* compares
our estimates with those of all 30 answers on 601 nodes, *se / rmse* our mean standard error with our error. The second
table has ours with the adaptive test's policy (content balancing over 12 objectives, randomesque, enemies), in two
numbers of examinees, the second of which should add hardly any memory to the first.
Run: python -m benchmarks.simulation [--json]
"""

import argparse
import os

# One thread for every library; they read this when they are imported.
for variable in (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
):
    os.environ[variable] = "1"

import resource  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Mapping  # noqa: E402
from dataclasses import replace  # noqa: E402

import numpy as np  # noqa: E402
from catsim.estimation import NumericalSearchEstimator  # noqa: E402
from catsim.initialization import FixedPointInitializer  # noqa: E402
from catsim.item_bank import ItemBank  # noqa: E402
from catsim.selection import MaxInfoSelector  # noqa: E402
from catsim.simulation import Simulator  # noqa: E402
from catsim.stopping import TestLengthStopper  # noqa: E402
from mirt.cat import CATEngine, CombinedStop, MaxItemsStop, StandardErrorStop  # noqa: E402
from mirt.models import TwoParameterLogistic  # noqa: E402

from benchmarks._common import emit, print_table  # noqa: E402
from engine.irt import log_posteriors, normal_log_prior, posterior  # noqa: E402
from engine.irt.ability import grid, moments  # noqa: E402
from engine.pool import Pool  # noqa: E402
from engine.selection import ADAPTIVE_TEST, Criterion  # noqa: E402
from engine.simulation import Normal, Rules, report, simulate, simulate_batches  # noqa: E402

SIZES = (500, 1_000)
LENGTH = 30
EXAMINEES, CATSIM_EXAMINEES, ACCURACY_EXAMINEES = 1_000, 20, 20_000
ROUNDS = 5
FULL_POLICY = (10_000, 100_000)
OBJECTIVES = 12
SEED = 20261130
FINE = grid(-8.0, 8.0, 601)
PLAIN = replace(
    ADAPTIVE_TEST,
    criterion=Criterion.maximum_information,
    content_balancing=False,
    randomesque=1,
    standard_error=None,
    minimum_length=0,
    maximum_length=LENGTH,
)


def simulated_bank(size: int) -> Pool:
    """A 2PL pool with unequal objective weights and one enemy pair per 20 items."""
    rng = np.random.default_rng([SEED, size])
    return Pool(
        version=1,
        items=np.arange(size),
        item_versions=np.arange(size),
        a=np.clip(np.exp(rng.normal(0.0, 0.3, size)), 0.3, 3.0),
        b=rng.normal(0.0, 1.0, size),
        c=np.zeros(size),
        d=np.ones(size),
        objective=np.sort(rng.integers(0, OBJECTIVES, size)),
        objective_codes=tuple(f"{1 + k // 3}.{1 + k % 3}" for k in range(OBJECTIVES)),
        objective_weights=rng.uniform(1.0, 4.0, OBJECTIVES),
        enemies=rng.permutation(size)[: size // 10].reshape(-1, 2),
    )


def without_enemies(pool: Pool) -> Pool:
    names = ("version", "items", "item_versions", *"abcd", "objective", "objective_codes", "objective_weights")
    return Pool(**{name: getattr(pool, name) for name in names})


def best_rates(runs: Mapping[str, tuple[Callable[[], object], int]]) -> dict[str, float]:
    """Examinees per second by name, of runs of so many examinees each.

    The runs take turns, and the fastest of each counts: what else the machine does only ever slows one down.
    """
    best = dict.fromkeys(runs, 0.0)
    for _ in range(ROUNDS):
        for name, (run, examinees) in runs.items():
            start = time.perf_counter()
            run()
            best[name] = max(best[name], examinees / (time.perf_counter() - start))
    return best


def mirt_run(pool: Pool, theta: np.ndarray) -> Callable[[], object]:
    """mirt's batch simulator. Its Rust core wants a standard error to stop at, so it gets one that is never reached."""
    model = TwoParameterLogistic(len(pool))
    model.set_parameters(discrimination=pool.a, difficulty=pool.b)
    model._is_fitted = True  # parameters that were set count as none
    stopping = CombinedStop([StandardErrorStop(1e-6), MaxItemsStop(LENGTH)], operator="or", min_items=1)
    session = CATEngine(model, stopping_rule=stopping, seed=SEED)
    assert (
        session._can_use_rust_simulation()
    )  # otherwise it falls back to NumPy, several times slower, and says nothing
    assert len(session.run_batch_simulation(theta[:1])[0].items_administered) == LENGTH
    return lambda: session.run_batch_simulation(theta)


def catsim_run(pool: Pool, theta: np.ndarray) -> Callable[[], object]:
    bank = ItemBank(np.column_stack([pool.a, pool.b, pool.c, pool.d]))

    def run() -> Simulator:
        simulator = Simulator(bank, theta)
        stopper = TestLengthStopper(max_items=LENGTH)
        simulator.simulate(FixedPointInitializer(0.0), MaxInfoSelector(), NumericalSearchEstimator(), stopper)
        return simulator

    assert {len(items) for items in run().administered_items} == {LENGTH}
    return run


def accuracy(pool: Pool) -> dict[str, float]:
    """Our error against that of the whole record on a fine, wide grid, and our standard error against our error."""
    theta = Normal().abilities(ACCURACY_EXAMINEES, SEED)
    fine_prior = normal_log_prior(nodes=FINE)
    ours, errors, exact = [], [], []
    for part in simulate_batches(pool, Rules.of(PLAIN), theta, seed=SEED):
        given = np.full((len(part), len(pool)), np.nan)
        np.put_along_axis(given, part.items.astype(np.int64), part.right.astype(float), axis=1)
        joint = log_posteriors(given, pool.a, pool.b, nodes=FINE, log_prior=fine_prior)
        exact.append(moments(posterior(joint), nodes=FINE)[0])
        ours.append(part.estimate)
        errors.append(part.standard_error)
    rmse, full = (float(np.sqrt(np.square(np.concatenate(each) - theta).mean())) for each in (ours, exact))
    return {"rmse": rmse, "rmse / full grid": rmse / full, "se / rmse": float(np.concatenate(errors).mean()) / rmse}


def measure(size: int) -> dict[str, object]:
    pool = without_enemies(simulated_bank(size))
    theta = Normal().abilities(EXAMINEES, SEED)
    rates = best_rates(
        {
            "nextitem per s": (lambda: simulate(pool, Rules.of(PLAIN), theta, seed=SEED), EXAMINEES),
            "mirt per s": (mirt_run(pool, theta), EXAMINEES),
            "catsim per s": (catsim_run(pool, theta[:CATSIM_EXAMINEES]), CATSIM_EXAMINEES),
        }
    )
    return {
        "items": size,
        **rates,
        "nextitem / mirt": rates["nextitem per s"] / rates["mirt per s"],
        "nextitem / catsim": rates["nextitem per s"] / rates["catsim per s"],
        **accuracy(pool),
    }


def full_policy(pool: Pool, examinees: int) -> dict[str, object]:
    policy = replace(ADAPTIVE_TEST, standard_error=None, minimum_length=0, maximum_length=LENGTH)
    theta = Normal().abilities(examinees, SEED)
    start, before = time.perf_counter(), peak_mb()
    violations = [
        report(pool, part, cut=0.0).summary["content_violations"] * len(part)
        for part in simulate_batches(pool, Rules.of(policy), theta, seed=SEED)
    ]
    seconds = time.perf_counter() - start
    return {
        "examinees": examinees,
        "per s": examinees / seconds,
        "content violations": sum(violations) / examinees,
        "added MB": peak_mb() - before,
    }


def peak_mb() -> float:
    """The most memory this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the result as JSON, in the last line")
    arguments = parser.parse_args()
    full = [full_policy(simulated_bank(SIZES[-1]), examinees) for examinees in FULL_POLICY]  # first, for its memory
    rows = [measure(size) for size in SIZES]
    print()  # catsim's progress bar ends without one
    print_table(rows)
    print()
    print_table(full)
    emit("simulation", {"rows": rows, "full_policy": full}, arguments.json)


if __name__ == "__main__":
    main()
