import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import normal_log_prior
from engine.selection import ContentRule, Policy, choose, rng_for
from engine.selection.content import deficits, most_urgent, shares, shortages
from tests.factories.pools import make_pool

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


def test_objectives_that_a_sitting_would_exhaust_are_named_with_what_they_have_and_need():
    pool = make_pool(12, objective=[0] * 2 + [1] * 4 + [2] * 6, objective_weights=[2.0, 1.0, 1.0])
    everything = np.ones(12, dtype=bool)
    assert shortages(pool, everything, length=12) == [("1.1", 2, 6)]
    assert shortages(pool, everything, length=4) == []
    assert shortages(pool, everything, length=10, objectives=[1, 2]) == [("1.2", 4, 5)]


def test_an_objective_with_a_share_and_no_item_is_short():
    pool = make_pool(4, objective=[1] * 4, objectives=2)
    assert shortages(pool, np.ones(4, dtype=bool), length=2) == [("1.1", 0, 1)]


def test_items_that_an_enemy_may_shut_out_do_not_count():
    pool = make_pool(6, objectives=2, enemies=[[0, 5]])
    everything, without_five = np.ones(6, dtype=bool), np.arange(6) != 5
    assert shortages(pool, everything, length=6) == [("1.1", 2, 3), ("1.2", 2, 3)]
    assert shortages(pool, without_five, length=5) == [("1.2", 2, 3)]


@given(st.integers(0, 10_000), st.integers(1, 14), st.sampled_from(ContentRule))
def test_without_a_shortage_a_whole_sitting_keeps_the_proportions(seed, length, rule):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 9, 4)
    pool = make_pool(30, objectives=4, objective=np.sort(rng.integers(0, 4, 30)), objective_weights=weights, seed=seed)
    policy = Policy(maximum_length=length, content_rule=rule)
    if shortages(pool, np.ones(30, dtype=bool), length=length):
        return
    counts, administered = np.zeros(4), np.empty(0, dtype=int)
    for position in range(length):
        arguments = {"administered": administered, "blocked": np.zeros(30, dtype=bool), "policy": policy}
        choice = choose(pool, normal_log_prior(), rng=rng_for(seed, position), **arguments)
        administered = np.append(administered, choice.index)
        counts[pool.objective[choice.index]] += 1
        assert np.abs(counts - (position + 1) * weights / weights.sum()).max() < 1.0
