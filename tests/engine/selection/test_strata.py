import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.selection import strata as module
from engine.selection.strata import by_discrimination, distance_in_strata, strata_of, stratum_at
from tests.factories.pools import make_pool


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


def test_the_strata_of_a_span_are_found_among_its_own_items_and_kept(monkeypatch):
    pool, other = make_pool(90, seed=1), make_pool(90, seed=2)
    for each in (pool, other):
        for span in (each.span(None), each.span(1), each.span(2)):
            for strata in (2, 4):
                expected = by_discrimination(each.a[span], each.b[span], strata=strata)
                assert strata_of(each, span, strata=strata).tolist() == expected.tolist()
    found = strata_of(pool, pool.span(1), strata=4)
    monkeypatch.setattr(module, "by_discrimination", None)  # nothing is sorted again
    assert strata_of(pool, pool.span(1), strata=4) is found


def test_the_strata_are_nobodys_to_change_and_go_with_the_pool():
    pool = make_pool(12)
    with pytest.raises(ValueError, match="read-only"):
        strata_of(pool, pool.span(None), strata=3)[0] = 1
    assert pool in module._known
    before = len(module._known)
    del pool
    gc.collect()
    assert len(module._known) < before


def test_the_distance_is_in_strata_on_either_side():
    pool = make_pool(4, objectives=1, a=[0.5, 0.7, 0.9, 1.1], b=[0.0, 0.0, 0.0, 0.0])
    assert distance_in_strata(pool, pool.span(None), strata=4, stratum=1).tolist() == [1.0, 0.0, 1.0, 2.0]
