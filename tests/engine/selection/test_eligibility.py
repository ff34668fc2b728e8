import numpy as np
import pytest

from engine.selection import eligible_items
from engine.selection.eligibility import objectives_with
from tests.factories.pools import make_pool

NOTHING = np.empty(0, dtype=np.int64)


def eligible(pool, administered=NOTHING, blocked=(), objectives=None):
    mask = np.zeros(len(pool), dtype=bool)
    mask[list(blocked)] = True
    found = eligible_items(pool, administered=np.array(administered, dtype=int), blocked=mask, objectives=objectives)
    return np.flatnonzero(found).tolist()


def test_at_first_every_item_is_eligible():
    assert eligible(make_pool(4)) == [0, 1, 2, 3]


def test_administered_and_blocked_items_are_not():
    assert eligible(make_pool(6), administered=[1, 4], blocked=[0, 4]) == [2, 3, 5]


def test_an_enemy_of_an_administered_item_is_not():
    pool = make_pool(6, enemies=[(0, 3), (5, 0), (1, 2)])
    assert eligible(pool, administered=[0]) == [1, 2, 4]
    assert eligible(pool, administered=[5]) == [1, 2, 3, 4]


def test_only_the_items_of_the_chosen_objectives_are():
    pool = make_pool(6, objectives=3)
    assert eligible(pool, objectives=[1]) == [2, 3]
    assert eligible(pool, objectives=[2, 0], administered=[0]) == [1, 4, 5]


@pytest.mark.parametrize("objectives", [[], [3], [-1, 0]])
def test_objectives_that_do_not_exist_are_refused(objectives):
    with pytest.raises(ValueError, match="None or some of 0 to 2 expected"):
        eligible(make_pool(6), objectives=objectives)


def test_a_mask_of_another_pool_is_refused():
    with pytest.raises(ValueError, match=r"blocked has shape \(5,\), the pool 6 items"):
        eligible_items(make_pool(6), administered=NOTHING, blocked=np.zeros(5, dtype=bool))


def test_the_blocked_mask_is_left_as_it_was():
    blocked = np.zeros(6, dtype=bool)
    eligible_items(make_pool(6), administered=np.array([2]), blocked=blocked)
    assert not blocked.any()


def test_an_objective_is_in_play_while_one_of_its_items_is_eligible():
    pool = make_pool(5, objectives=5, objective=[1, 1, 3, 3, 3])
    assert objectives_with(pool, np.array([0, 1, 0, 0, 0], dtype=bool)).tolist() == [False, True, False, False, False]
    assert objectives_with(pool, np.array([0, 0, 0, 0, 1], dtype=bool)).tolist() == [False, False, False, True, False]
