"""One step of an adaptive test: ability update after the 20th answer and the choice of the 21st item, one thread.

Simulated 3PL pools: a ~ lognormal(0, 0.3) on [0.3, 3], b ~ N(0, 1), c ~ U(0.1, 0.3). All get the same
items and answers.

- nextitem: posterior update, the most informative item at the posterior mean
- posterior: as the first, but information averaged over the posterior, over every item
- full policy: the adaptive test's policy (averaged information, content balancing, randomesque) on 12 objectives
- mirt: the EAP session of the Python package, its Rust core included; it scores the whole record anew
- catpie: EAP on 33 nodes over the whole record, then its maximum-information choice
- catsim: maximum likelihood by its default search over the whole record, then its maximum-information selector

*theta apart* is how far our ability is from catpie's on 121 nodes from -6 to 6, and *same item* whether both, and mirt
with 121 nodes, chose the same.
Run: python -m benchmarks.step [--json]
"""

import argparse
import os

# One thread for every library; they read this when they are imported.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

from collections.abc import Callable  # noqa: E402
from dataclasses import replace  # noqa: E402
from typing import Any  # noqa: E402

import catpie  # noqa: E402
import numpy as np  # noqa: E402
from catsim.estimation import NumericalSearchEstimator  # noqa: E402
from catsim.item_bank import ItemBank  # noqa: E402
from catsim.selection import MaxInfoSelector  # noqa: E402
from mirt.cat import CATEngine  # noqa: E402
from mirt.models import ThreeParameterLogistic  # noqa: E402

from benchmarks._common import emit, median_ms, print_table  # noqa: E402
from engine.irt import estimate, normal_log_prior, probability, update  # noqa: E402
from engine.pool import Pool  # noqa: E402
from engine.selection import ADAPTIVE_TEST, Criterion, Policy, choose, rng_for  # noqa: E402

SIZES = (1_000, 10_000, 100_000)
ANSWERS = 20
OBJECTIVES = 12
ABILITY = 0.5
SEED = 20261130
POSTERIOR = replace(ADAPTIVE_TEST, content_balancing=False, randomesque=1)
PLAIN = replace(POSTERIOR, criterion=Criterion.maximum_information)
NODES = (-6.0, 6.0, 121)


def simulated_pool(size: int) -> Pool:
    """A 3PL pool with unequal objective weights and one enemy pair per 20 items."""
    rng = np.random.default_rng([SEED, size])
    return Pool(
        version=1,
        items=np.arange(size),
        item_versions=np.arange(size) + 1_000_000,
        a=np.clip(np.exp(rng.normal(0.0, 0.3, size)), 0.3, 3.0),
        b=rng.normal(0.0, 1.0, size),
        c=rng.uniform(0.1, 0.3, size),
        d=np.ones(size),
        objective=np.sort(rng.integers(0, OBJECTIVES, size)),
        objective_codes=tuple(f"{1 + k // 3}.{1 + k % 3}" for k in range(OBJECTIVES)),
        objective_weights=rng.uniform(1.0, 4.0, OBJECTIVES),
        enemies=rng.permutation(size)[: size // 10].reshape(-1, 2),
    )


def sitting(pool: Pool, policy: Policy) -> tuple[np.ndarray, list[bool]]:
    """The items a simulated learner was given under this policy, and the answers."""
    rng = np.random.default_rng([SEED, len(pool), 1])
    log_posterior, items, answers = normal_log_prior(), np.empty(0, dtype=np.int64), []
    blocked = np.zeros(len(pool), dtype=np.bool_)
    for position in range(ANSWERS):
        arguments = {"administered": items, "blocked": blocked, "policy": policy, "rng": rng_for(SEED, position)}
        choice = choose(pool, log_posterior, **arguments)
        answers.append(bool(rng.random() < probability(ABILITY, *pool.parameters(choice.index))[0]))
        log_posterior = update(log_posterior, answers[-1], *pool.parameters(choice.index))
        items = np.append(items, choice.index)
    return items, answers


def nextitem_step(pool: Pool, items: np.ndarray, answers: list[bool], policy: Policy) -> Callable[[], object]:
    """Our step: the posterior before the last answer is what a session has stored."""
    before = normal_log_prior()
    for item, right in zip(items[:-1], answers[:-1], strict=True):
        before = update(before, right, *pool.parameters(item))
    blocked = np.zeros(len(pool), dtype=np.bool_)

    def step() -> object:
        after = update(before, answers[-1], *pool.parameters(items[-1]))
        rng = rng_for(SEED, ANSWERS)
        return choose(pool, after, administered=items, blocked=blocked, policy=policy, rng=rng)

    return step


def catsim_step(pool: Pool, items: np.ndarray, answers: list[bool]) -> Callable[[], object]:
    """catsim's step on the same items and answers."""
    bank = ItemBank(np.column_stack([pool.a, pool.b, pool.c, pool.d]))
    estimator, selector, administered = NumericalSearchEstimator(), MaxInfoSelector(), items.tolist()

    def step() -> object:
        given = {"item_bank": bank, "administered_items": administered}
        theta = estimator.estimate(**given, response_vector=answers, est_theta=0.0)
        return selector.select(**given, est_theta=theta)

    return step


def catpie_step(
    pool: Pool, items: np.ndarray, answers: list[bool], nodes: tuple[float, float, int] = (-4.0, 4.0, 33)
) -> Callable[[], tuple[float, int]]:
    """catpie's step; it has no session either."""
    bank = np.column_stack([pool.a, pool.b, pool.c, pool.d]).tolist()
    administered, record = items.tolist(), [bank[item] for item in items]
    given = [int(answer) for answer in answers]

    def step() -> tuple[float, int]:
        theta = catpie.thetaEst(record, given, parInt=nodes)
        return theta, catpie.nextItem(bank, theta, administered).item

    return step


def mirt_step(pool: Pool, items: np.ndarray, answers: list[bool], **options: object) -> Callable[[], tuple[float, int]]:
    """The two halves of what mirt's session does with an answer, on a session brought to this state."""
    model = ThreeParameterLogistic(len(pool))
    model.set_parameters(discrimination=pool.a, difficulty=pool.b, guessing=pool.c)
    model._is_fitted = True  # parameters that were set count as none
    session = CATEngine(model, max_items=len(pool), **options)
    session._items_administered = items.tolist()
    session._responses = [int(answer) for answer in answers]
    session._available_items -= set(items.tolist())

    def step() -> tuple[float, int]:
        session._update_theta()
        return session._current_theta, session._select_next_item()

    return step


def agreement(pool: Pool, items: np.ndarray, answers: list[bool]) -> tuple[float, bool]:
    """How far ours and catpie's ability are apart in logits, and whether all EAP engines choose the same item."""
    posterior = normal_log_prior()
    for item, right in zip(items, answers, strict=True):
        posterior = update(posterior, right, *pool.parameters(item))
    choice: Any = nextitem_step(pool, items, answers, PLAIN)()
    theta, item = catpie_step(pool, items, answers, NODES)()
    _, other = mirt_step(pool, items, answers, n_quadpts=NODES[2], theta_bounds=NODES[:2])()
    return abs(theta - estimate(posterior).theta), choice.index == item == other


def measure(size: int, seconds: float) -> dict[str, object]:
    pool = simulated_pool(size)
    items, answers = sitting(pool, PLAIN)
    full_items, full_answers = sitting(pool, ADAPTIVE_TEST)
    ours = median_ms(nextitem_step(pool, items, answers, PLAIN), seconds=seconds)
    averaged = median_ms(nextitem_step(pool, items, answers, POSTERIOR), seconds=seconds)
    full = median_ms(nextitem_step(pool, full_items, full_answers, ADAPTIVE_TEST), seconds=seconds)
    peers = {
        "mirt ms": median_ms(mirt_step(pool, items, answers), seconds=seconds),
        "catpie ms": median_ms(catpie_step(pool, items, answers), seconds=seconds),
        "catsim ms": median_ms(catsim_step(pool, items, answers), seconds=seconds),
    }
    apart, same = agreement(pool, items, answers)
    return {
        "items": size,
        "nextitem ms": ours,
        "posterior ms": averaged,
        "full policy ms": full,
        **peers,
        "best peer / nextitem": min(peers.values()) / ours,
        "catsim / nextitem": peers["catsim ms"] / ours,
        "theta apart": apart,
        "same item": same,
        "pool MB": pool.nbytes / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the result as JSON, in the last line")
    parser.add_argument("--seconds", type=float, default=2.0, help="time per measurement (default: 2)")
    arguments = parser.parse_args()
    rows = [measure(size, arguments.seconds) for size in SIZES]
    print_table(rows)
    keys = [name.replace(" / ", "_per_").replace(" ", "_").lower() for name in rows[0]]
    emit("step", {"rows": [dict(zip(keys, row.values(), strict=True)) for row in rows]}, arguments.json)


if __name__ == "__main__":
    main()
