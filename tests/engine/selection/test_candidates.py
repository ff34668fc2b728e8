"""The lists never change a choice: whatever they give is what looking at every item gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import NODES, information
from engine.pool import Pool
from engine.selection import candidates
from engine.selection.candidates import LISTED, Candidates, most_informative, peaks
from tests.factories.pools import make_pool


def pool_of(a, b, c, d) -> Pool:
    size = len(a)
    return make_pool(size, a=a, b=b, c=c, d=d)


@pytest.fixture(scope="module")
def pool() -> Pool:
    rng = np.random.default_rng(5)
    size = 3_000
    c = rng.uniform(0.0, 0.35, size) * rng.integers(0, 2, size)
    d = 1.0 - rng.uniform(0.0, 0.2, size) * rng.integers(0, 2, size)
    return pool_of(rng.lognormal(0.0, 0.5, size) * rng.choice([-1, 1], size, p=[0.1, 0.9]), rng.normal(size=size), c, d)


def looking_at_all(pool: Pool, theta: float, eligible: np.ndarray, count: int) -> np.ndarray:
    scores = np.where(eligible, information(theta, pool.a, pool.b, pool.c, pool.d), -np.inf)
    return np.argsort(-scores, kind="stable")[:count]


@given(st.floats(-6.0, 6.0), st.integers(1, 10), st.floats(0.0, 0.9), st.integers(0, 2**32))
def test_the_items_are_those_of_a_full_search(pool, theta, count, share, seed):
    eligible = np.random.default_rng(seed).random(len(pool)) >= share
    ranked, scores = most_informative(pool, theta, eligible, count)
    np.testing.assert_array_equal(ranked, looking_at_all(pool, theta, eligible, count))
    np.testing.assert_allclose(scores, information(theta, pool.a, pool.b, pool.c, pool.d)[ranked], rtol=1e-12)


def test_when_the_listed_items_are_used_up_the_others_are_found(pool):
    theta = 0.31
    cell = int(np.searchsorted(NODES, theta)) - 1
    eligible = np.ones(len(pool), dtype=np.bool_)
    eligible[Candidates.of(pool).listed[cell][:-3]] = False
    ranked, _ = most_informative(pool, theta, eligible, 5)
    np.testing.assert_array_equal(ranked, looking_at_all(pool, theta, eligible, 5))


def test_no_item_left_out_reaches_the_bound_anywhere_in_its_cell(pool):
    lists = Candidates.of(pool)
    for cell in range(NODES.size - 1):
        others = np.setdiff1d(np.arange(len(pool)), lists.listed[cell])
        inside = np.linspace(NODES[cell], NODES[cell + 1], 41)
        most = information(inside, pool.a[others], pool.b[others], pool.c[others], pool.d[others]).max()
        assert most < lists.most[cell, -1]


def test_the_lists_are_enough_for_a_sitting_of_forty(pool, monkeypatch):
    """Else they would be of no use. The best items at every ability so far are taken away."""
    looked_at = []
    eligible = np.ones(len(pool), dtype=np.bool_)
    most_informative(pool, 0.0, eligible, 1)

    def counting(theta, a, b, c, d):
        looked_at.append(a.size)
        return information(theta, a, b, c, d)

    monkeypatch.setattr(candidates, "information", counting)
    for theta in np.random.default_rng(1).normal(0.5, 0.3, 40):
        ranked, _ = most_informative(pool, float(theta), eligible, 1)
        eligible[ranked] = False
    assert len(looked_at) == 40
    assert max(looked_at) <= LISTED


@pytest.mark.parametrize("size", [1, 2, LISTED, LISTED + 1])
def test_small_pools_are_listed_whole(size):
    rng = np.random.default_rng(size)
    small = pool_of(rng.lognormal(size=size), rng.normal(size=size), np.zeros(size), np.ones(size))
    ranked, _ = most_informative(small, 0.2, np.ones(size, dtype=np.bool_), size)
    np.testing.assert_array_equal(ranked, looking_at_all(small, 0.2, np.ones(size, dtype=np.bool_), size))


def test_identical_items_come_in_their_order():
    same = pool_of(np.ones(300), np.zeros(300), np.zeros(300), np.ones(300))
    ranked, _ = most_informative(same, 0.0, np.ones(300, dtype=np.bool_), 3)
    np.testing.assert_array_equal(ranked, [0, 1, 2])


def test_discriminations_of_zero_and_of_any_size_are_no_trouble():
    a = np.array([0.0, 1e-8, 1e8, 1e200, -1e200, -2.0] * 50)
    odd = pool_of(a, np.tile(np.linspace(-7, 7, 6), 50), np.full(300, 0.2), np.ones(300))
    eligible = np.ones(300, dtype=np.bool_)
    for theta in (-6.0, -0.123, 0.0, 1.4, 6.0):
        ranked, scores = most_informative(odd, theta, eligible, 4)
        assert np.isfinite(scores).all()
        np.testing.assert_array_equal(ranked, looking_at_all(odd, theta, eligible, 4))


@given(st.floats(0.1, 4.0), st.floats(-3.0, 3.0), st.floats(0.0, 0.4), st.floats(0.6, 1.0))
def test_a_peak_is_higher_than_what_is_beside_it(a, b, c, d):
    [place], [height] = peaks(*(np.array([value]) for value in (a, b, c, d)))
    around = information(np.array([place - 0.05, place, place + 0.05]), a, b, c, d).ravel()
    assert height == pytest.approx(around[1], rel=1e-9)
    assert around[1] >= max(around[0], around[2])


def test_the_peak_of_a_3pl_item_is_where_birnbaum_puts_it():
    a, b, c = np.array([1.3]), np.array([0.4]), np.array([0.25])
    expected = 0.4 + np.log((1.0 + np.sqrt(1.0 + 8.0 * 0.25)) / 2.0) / 1.3
    assert peaks(a, b, c, np.ones(1))[0] == pytest.approx(expected, abs=1e-9)
