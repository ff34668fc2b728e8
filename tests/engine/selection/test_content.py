import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.selection.content import deficits, most_urgent, shares

weight_lists = st.lists(st.integers(0, 40), min_size=1, max_size=15).filter(any)


def sequence(weights, length, in_play=None):
    """The objectives served and the counts after each."""
    weights = np.array(weights, dtype=float)
    in_play = np.ones(len(weights), dtype=bool) if in_play is None else np.array(in_play)
    share, counts = shares(weights, in_play), np.zeros(len(weights), dtype=int)
    history = []
    for _ in range(length):
        counts[most_urgent(share, deficits(share, counts, in_play))] += 1
        history.append(counts.copy())
    return share, np.array(history)


@given(weight_lists)
def test_no_objective_is_ever_a_whole_item_away_from_its_share(weights):
    share, counts = sequence(weights, 120)
    away = np.abs(counts - np.arange(1, 121)[:, None] * share)
    assert away.max() < 1.0


def test_it_keeps_the_bound_where_serving_the_largest_deficit_breaks_it():
    weights = np.array([16, 16, 16, 16, 16, 16, 16, 16, 31, 31, 31, 31, 31, 31, 31, 31, 2, 2, 2, 2], dtype=float)
    share, counts = sequence(weights, 400)
    assert np.abs(counts - np.arange(1, 401)[:, None] * share).max() < 1.0


@given(weight_lists, st.data())
def test_objectives_out_of_play_or_without_weight_get_nothing_and_the_others_all(weights, data):
    in_play = data.draw(st.lists(st.booleans(), min_size=len(weights), max_size=len(weights)).filter(any))
    share, counts = sequence(weights, 40, in_play)
    assert counts[-1].sum() == 40
    assert (counts[-1][share == 0.0] == 0).all()
    assert share.sum() == pytest.approx(1.0)


def test_equal_weights_take_turns_by_index():
    _, counts = sequence([1, 1, 1], 6)
    assert np.diff(counts, axis=0, prepend=0).argmax(axis=1).tolist() == [0, 1, 2, 0, 1, 2]


def test_objectives_without_any_weight_share_equally():
    assert shares(np.zeros(4), np.array([True, False, True, False])).tolist() == [0.5, 0.0, 0.5, 0.0]


def test_an_objective_that_ran_out_leaves_the_others_in_proportion():
    weights, in_play = np.array([2.0, 1.0, 1.0]), np.array([False, True, True])
    share, counts = shares(weights, in_play), np.array([10, 5, 5])
    for _ in range(20):
        counts[most_urgent(share, deficits(share, counts, in_play))] += 1
    assert counts.tolist() == [10, 15, 15]


def test_what_an_objective_out_of_play_was_given_does_not_count():
    in_play = np.array([False, True, True])
    share = shares(np.array([2.0, 3.0, 1.0]), in_play)
    assert deficits(share, np.array([10, 3, 0]), in_play).tolist() == [0.0, 0.0, 1.0]


@given(weight_lists, st.integers(0, 50))
def test_the_deficits_are_one_item_in_all(weights, served):
    share, counts = sequence(weights, served + 1)
    in_play = np.ones(len(weights), dtype=bool)
    assert deficits(share, counts[-1], in_play).sum() == pytest.approx(1.0)
