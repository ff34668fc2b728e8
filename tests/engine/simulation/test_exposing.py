"""Bounded exposure: each examinee does without what a session would do without after the same sittings."""

from dataclasses import replace

import numpy as np
import pytest

from engine import starting
from engine.pool import Pool
from engine.selection import ADAPTIVE_TEST, Policy, pack, withheld_items
from engine.simulation import Normal, Rules, exposing, report, simulate
from engine.simulation.exposing import cohorts
from tests.factories.pools import make_pool
from tests.factories.sittings import ALL_TRACED, repeated

BOUNDED = replace(
    ADAPTIVE_TEST, standard_error=None, minimum_length=0, maximum_length=8, randomesque=1, maximum_exposure=0.3
)


@pytest.fixture(autouse=True)
def traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*ALL_TRACED)


def masks(pool: Pool, policy: Policy, sittings) -> list[np.ndarray]:
    """What each examinee has to do without, by the function that a session calls."""
    nothing = np.zeros(len(pool), dtype=np.bool_)
    courses, found = [], []
    for cohort in cohorts(len(sittings)):
        for n in cohort:
            arguments = {"blocked": nothing, "suspended": [], "objectives": [], "seed": int(sittings.seeds[n])}
            found.append(withheld_items(pool, policy, courses[-exposing.WINDOW :], **arguments))
        for n in cohort:
            items = sittings.items[n, : sittings.length[n]]
            courses.append((pool.item_versions[items].tolist(), pack(found[n])))
    return found


POOLS = {
    "many items": {"size": 120, "enemies": np.arange(40).reshape(-1, 2)},
    "hardly enough items": {"size": 24, "enemies": np.array([[0, 1], [2, 3], [3, 9]])},
    "an objective without items": {"size": 60, "objective_weights": np.array([2.0, 1.0, 0.5, 1.0])},
    "too few items": {"size": 6},
}


@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("balancing", [True, False])
def test_examinees_do_without_the_items_that_a_session_would_withhold(monkeypatch, name, balancing):
    monkeypatch.setattr(exposing, "WINDOW", 40)
    pool, policy = make_pool(**CODES | POOLS[name]), replace(BOUNDED, content_balancing=balancing)
    sittings = simulate(pool, Rules.of(policy), Normal().abilities(150, seed=6), seed=6)
    withheld = masks(pool, policy, sittings)
    assert any(each.any() for each in withheld) is (name != "too few items")
    for n in range(0, 150, 4):
        assert list(repeated(pool, policy, sittings, n, withheld=withheld[n])) == []


CODES = {"objective_codes": ("1.1", "1.2", "1.3", "1.4"), "objective_weights": np.ones(4)}


def test_no_item_is_served_much_more_often_than_the_policy_says():
    pool, theta = make_pool(150), Normal().abilities(1500, seed=1)
    free = report(pool, simulate(pool, Rules.of(replace(BOUNDED, maximum_exposure=None)), theta, seed=1), cut=0.0)
    bounded = report(pool, simulate(pool, Rules.of(replace(BOUNDED, maximum_exposure=0.2)), theta, seed=1), cut=0.0)
    assert free.summary["largest_exposure"] > 0.5
    assert bounded.summary["largest_exposure"] < 0.23
    assert bounded.summary["overlap_rate"] < free.summary["overlap_rate"]
    assert bounded.summary["items_never_served"] < free.summary["items_never_served"]


def test_cohorts_cover_everybody_once_in_order_and_none_is_larger_than_all_before_it():
    for count in (1, 2, 63, 1000):
        found = list(cohorts(count))
        assert [n for cohort in found for n in cohort] == list(range(count))
        assert all(len(cohort) <= max(1, cohort.start) for cohort in found)


def test_a_simulation_looks_back_as_far_as_a_session():
    assert exposing.WINDOW == starting.EXPOSURE_WINDOW
