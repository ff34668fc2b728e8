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


def test_the_random_numbers_of_a_position_depend_on_seed_and_position_only():
    first = rng_for(5, 3).random(4)
    rng_for(5, 2).random(100)
    assert (rng_for(5, 3).random(4) == first).all()
    assert (rng_for(5, 4).random(4) != first).all()
    assert (rng_for(6, 3).random(4) != first).all()
