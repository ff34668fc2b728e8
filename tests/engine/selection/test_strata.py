import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.selection.strata import by_discrimination, stratum_at


@given(st.integers(1, 80), st.integers(1, 6), st.integers(0, 1000))
def test_each_block_of_difficulties_gives_one_item_to_each_stratum_in_the_order_of_discrimination(size, strata, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0.3, 2.0, size), rng.normal(size=size)
    found = by_discrimination(a, b, strata=strata)
    for start in range(0, size - size % strata, strata):
        block = np.argsort(b)[start : start + strata]
        assert found[block[np.argsort(a[block])]].tolist() == list(range(strata))
    assert found.min() >= 0
    assert found.max() < strata


def test_strata_have_like_difficulties_though_discrimination_and_difficulty_go_together():
    rng = np.random.default_rng(3)
    b = rng.normal(size=400)
    a = np.exp(0.3 * b + rng.normal(0.0, 0.2, 400))
    found = by_discrimination(a, b, strata=4)
    means = [[values[found == stratum].mean() for stratum in range(4)] for values in (a, b)]
    assert np.diff(means[0]).min() > 0.05
    assert np.ptp(means[1]) < 0.1


def test_strata_take_equal_stretches_of_the_sitting():
    turns = [stratum_at(position, length=40, strata=4) for position in range(1, 41)]
    assert np.bincount(turns).tolist() == [10, 10, 10, 10]
    assert stratum_at(3, length=2, strata=4) == 3
