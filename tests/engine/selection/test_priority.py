import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.selection.priority import allowed, unfilled

weight_lists = st.lists(st.integers(0, 40), min_size=1, max_size=12).filter(any)


@given(weight_lists, st.integers(1, 120), st.integers(0, 10_000))
def test_whichever_allowed_objective_is_served_all_stay_within_one_item_at_every_length(weights, length, seed):
    share, counts, rng = (
        np.array(weights) / sum(weights),
        np.zeros(len(weights), dtype=int),
        np.random.default_rng(seed),
    )
    for served in range(length):
        may = np.flatnonzero(allowed(share, counts, remaining=length - served))
        assert may.size
        counts[rng.choice(may)] += 1
        assert np.abs(counts - (served + 1) * share).max() < 1.0


def test_objectives_that_would_get_ahead_of_their_share_wait():
    share = np.array([0.5, 0.3, 0.2])
    assert allowed(share, np.array([0, 0, 0]), remaining=10).tolist() == [True, True, True]
    assert allowed(share, np.array([1, 0, 0]), remaining=9).tolist() == [False, True, True]


def test_an_objective_that_is_due_is_the_only_one_allowed():
    assert allowed(np.array([0.9, 0.1]), np.array([0, 1]), remaining=9).tolist() == [True, False]


def test_counts_that_broke_the_bound_before_allow_nothing():
    assert not allowed(np.array([0.5, 0.5]), np.array([0, 6]), remaining=4).any()


def test_the_index_is_the_part_of_the_quota_that_is_left():
    left = unfilled(np.array([0.5, 0.3, 0.2, 0.0]), np.array([2, 0, 1, 0]), remaining=7)
    assert left == pytest.approx([3 / 5, 1.0, 1 / 2, 0.0])
