from dataclasses import replace

import numpy as np
import pytest

from engine.errors import InvalidPolicy
from engine.selection import ADAPTIVE_TEST, Policy, pack, withheld_items
from tests.factories.pools import make_pool

POOL = make_pool(60)
NOTHING = np.zeros(60, dtype=bool)
SHORT = Policy(maximum_length=5, maximum_exposure=0.2)


def withheld(policy, courses=(), *, pool=POOL, seed=1, blocked=NOTHING, suspended=(), objectives=()):
    limits = {"blocked": blocked, "suspended": suspended, "objectives": objectives}
    return withheld_items(pool, policy, courses, seed=seed, **limits)


def courses(served, count, resting=NOTHING):
    return [([1000 + index for index in served], pack(resting))] * count


def test_without_a_bound_nothing_is_withheld():
    assert not withheld(replace(SHORT, maximum_exposure=None), courses([0], 50)).any()


def test_an_item_that_every_sitting_served_is_withheld_from_most():
    shares = np.mean([withheld(SHORT, courses([0, 3], 50), seed=seed) for seed in range(400)], axis=0)
    assert shares[[0, 3]] == pytest.approx(0.8, abs=0.06)
    assert shares.sum() == shares[[0, 3]].sum()


def test_sittings_that_an_item_could_not_come_in_do_not_count():
    resting = NOTHING.copy()
    resting[0] = True
    some = courses([0], 10) + courses([], 90, resting)
    assert np.mean([withheld(SHORT, some, seed=seed)[0] for seed in range(400)]) == pytest.approx(0.8, abs=0.06)


def test_nothing_is_withheld_where_too_few_would_be_left_for_the_length():
    everything = courses(range(60), 50)
    assert not withheld(replace(SHORT, maximum_length=60, content_balancing=False), everything).any()
    assert withheld(replace(SHORT, maximum_length=2, content_balancing=False), everything).any()


def test_nothing_is_withheld_where_an_objective_would_have_too_few():
    policy = replace(SHORT, maximum_length=24)
    assert not withheld(policy, courses(range(20), 50)).any()
    assert withheld(replace(policy, content_balancing=False), courses(range(20), 50)).any()


def test_the_same_seed_withholds_the_same_items():
    assert (withheld(SHORT, courses([0], 9), seed=4) == withheld(SHORT, courses([0], 9), seed=4)).all()


def test_a_strict_policy_that_the_bank_cannot_fill_is_refused_by_name():
    strict = replace(ADAPTIVE_TEST, strict_content=True)
    blocked = NOTHING.copy()
    blocked[:10] = True
    assert not withheld(strict).any()
    with pytest.raises(InvalidPolicy, match=r"maximum_length: 40 given, a length that .* \(1.1 has 10 of 14 items\)"):
        withheld(strict, blocked=blocked)
    assert not withheld(strict, blocked=blocked, objectives=("1.2", "1.3")).any()
