import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.selection.exposure import (
    adjusted_control,
    best,
    drawn,
    eligibility,
    randomesque,
    rng_for,
    sympson_hetter,
)

few_values = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=30)


@given(few_values, st.integers(1, 40))
def test_the_best_come_in_order_and_equals_by_their_place(values, count):
    expected = sorted(range(len(values)), key=lambda place: (-values[place], place))[:count]
    assert best(np.array(values, dtype=np.float32), count).tolist() == expected


def test_ranking_leaves_the_scores_alone():
    scores = np.array([0.3, 0.9, 0.1], dtype=np.float32)
    best(scores, 2)
    assert scores.tolist() == np.array([0.3, 0.9, 0.1], dtype=np.float32).tolist()


def test_chance_picks_each_of_the_best_about_equally_often_and_no_other():
    ranked = np.array([40, 30, 20, 10])
    picks = [randomesque(ranked, 3, rng_for(1, position)) for position in range(3000)]
    counts = {item: picks.count(item) for item in set(picks)}
    assert set(counts) == {40, 30, 20}
    assert all(900 < count < 1100 for count in counts.values())


def test_the_random_numbers_of_a_position_depend_on_seed_position_and_stream_only():
    def draws(*key):
        rng = rng_for(*key)
        return [rng.integers(1000) for _ in range(4)]

    assert draws(5, 3) == draws(5, 3)
    assert len({tuple(draws(*key)) for key in [(5, 3), (5, 4), (6, 3), (5, 3, 1)]}) == 4


def test_every_order_of_options_comes_about_equally_often():
    orders = [tuple(rng_for(1, position).permutation(3)) for position in range(6000)]
    assert all(900 < orders.count(order) < 1100 for order in itertools.permutations(range(3)))


def test_twelve_options_keep_all_their_places():
    orders = [rng_for(seed, 1).permutation(12) for seed in range(500)]
    assert all(sorted(order) == list(range(12)) for order in orders)
    assert {order[0] for order in orders} == {order[11] for order in orders} == set(range(12))


def test_uniform_numbers_are_spread_evenly_and_fewer_are_the_first_of_more():
    numbers = rng_for(3, 4).uniforms(10_000)
    assert np.histogram(numbers, bins=10, range=(0.0, 1.0))[0].min() > 900
    assert (rng_for(3, 4).uniforms(17) == numbers[:17]).all()
    assert rng_for(3, 5).uniforms(1)[0] != numbers[0]


def test_uniform_numbers_leave_the_other_draws_alone():
    one, other = rng_for(3, 4), rng_for(3, 4)
    one.uniforms(5)
    assert one.integers(1000) == other.integers(1000)


def test_item_eligibility_brings_every_item_to_the_rate_that_is_wanted():
    """Everybody gets the first eligible of 20 items: without control the first item would be served to all."""
    administered, eligible = np.zeros(20, dtype=int), np.zeros(20, dtype=int)
    for sitting in range(4000):
        mask = drawn(eligibility(administered, eligible, maximum=0.2), rng_for(1, sitting))
        mask = mask if mask.any() else np.ones(20, dtype=bool)
        eligible += mask
        administered[mask.argmax()] += 1
    rates = administered / 4000
    assert rates[:4] == pytest.approx(0.2, abs=0.02)
    assert rates.max() < 0.22


def test_eligibility_is_kept_for_groups_of_ability_apart():
    chances = eligibility(np.array([[30, 0], [10, 10]]), np.array([[60, 60], [40, 40]]), maximum=0.25)
    assert chances.tolist() == [[0.5, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("administered", "eligible", "maximum"), [([2], [1], 0.2), ([1], [1, 1], 0.2), ([-1], [1], 0.2), ([1], [1], 0.0)]
)
def test_counts_that_cannot_be_are_refused(administered, eligible, maximum):
    with pytest.raises(ValueError, match="expected"):
        eligibility(np.array(administered), np.array(eligible), maximum=maximum)


def test_an_item_that_fails_its_lottery_gives_way_to_the_next_best():
    control, uniforms = np.array([0.2, 0.5, 1.0]), np.array([0.3, 0.6, 0.9])
    assert sympson_hetter(np.array([0, 1, 2]), control, uniforms) == 2
    assert sympson_hetter(np.array([0, 1]), control, uniforms) in (0, 1)


def test_iterated_control_brings_every_item_to_the_rate_that_is_wanted():
    """40 simulated examinees' rankings differ by a little noise; one item each, 10 items in the pool."""
    rng = np.random.default_rng(2)
    control = np.ones(10)
    for _ in range(30):
        ranked = np.argsort(np.arange(10) + rng.normal(0.0, 1.0, (4000, 10)), axis=1)
        uniforms = rng.random((4000, 10))
        served = np.array([sympson_hetter(*row) for row in zip(ranked, [control] * 4000, uniforms, strict=True)])
        stops_at = (ranked == served[:, None]).argmax(axis=1)
        selected = np.bincount(ranked[np.arange(10) <= stops_at[:, None]], minlength=10) / 4000
        rates = np.bincount(served, minlength=10) / 4000
        control = adjusted_control(selected, maximum=0.25, longest=1)
    assert rates.max() < 0.28


def test_control_always_serves_as_many_items_as_the_longest_sitting_needs():
    control = adjusted_control(np.array([1.0, 0.9, 0.8, 0.1]), maximum=0.2, longest=2)
    assert control.tolist() == [pytest.approx(0.2), pytest.approx(0.2 / 0.9), 1.0, 1.0]
