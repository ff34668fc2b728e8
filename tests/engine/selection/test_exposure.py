import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.selection.exposure import best, randomesque, rng_for

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
