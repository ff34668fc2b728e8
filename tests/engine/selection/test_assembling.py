import numpy as np
import pytest

from engine.errors import Infeasible
from engine.irt import information
from engine.selection import MOCK, assembled, broken, in_order
from tests.factories.pools import make_pool

SIZE, LENGTH, CUT = 120, 20, 0.3
WEIGHTS = np.array([0.31, 0.22, 0.3, 0.17])
POOL = make_pool(
    SIZE,
    objectives=4,
    objective_weights=WEIGHTS,
    domain=np.array([0, 0, 1, 1]),
    domain_codes=("1", "2"),
    enemies=np.array([[0, 40], [1, 2], [70, 110]]),
    pretest=np.arange(SIZE) % 10 == 9,
)
POLICY = MOCK.with_changes({"maximum_length": LENGTH})
NONE = np.zeros(SIZE, dtype=bool)


def form(seed=1, *, policy=POLICY, blocked=NONE, met=NONE, earlier=(), objectives=None, pool=POOL):
    more = {"earlier": earlier, "objectives": objectives, "cut_score": CUT, "seed": seed}
    return assembled(pool, policy, blocked=blocked, met=met, **more)


@pytest.mark.parametrize("seed", range(6))
def test_a_form_keeps_to_the_blueprint_within_one_item(seed):
    items = form(seed).items
    objective = POOL.objective[items]
    assert np.unique(items).size == LENGTH
    assert np.all(np.abs(np.bincount(objective, minlength=4) - WEIGHTS * LENGTH) < 1.0)
    assert np.all(np.abs(np.bincount(POOL.domain[objective]) - np.array([0.53, 0.47]) * LENGTH) < 1.0)
    assert not POOL.pretest[items].any()
    assert not any({*pair} <= {*items.tolist()} for pair in POOL.enemies.tolist())
    assert broken(POOL, POLICY, items, blocked=NONE, objectives=None) == ()


def test_forms_inform_alike_at_the_cut_score_and_differ_by_seed():
    forms = [form(seed) for seed in range(6)]
    told = np.array([each.facts["information"] for each in forms])
    assert np.all(np.abs(told / forms[0].facts["target"] - 1.0) <= 0.05 + 1e-6)
    informs = information(CUT, POOL.a, POOL.b, POOL.c, POOL.d)
    assert told[2] == pytest.approx(informs[forms[2].items].sum())
    assert len({frozenset(each.items.tolist()) for each in forms}) == 6
    assert np.array_equal(form(3).items, forms[3].items)


def test_the_order_is_shuffled_and_can_be_drawn_again():
    items = form().items
    assert not np.all(np.diff(items) > 0)
    assert np.array_equal(in_order(POOL, POLICY, items[::-1], 1), items)


def test_seen_items_come_only_as_far_as_they_are_needed():
    objective_has = np.bincount(POOL.objective[~POOL.pretest], minlength=4)
    met = ~NONE
    met[[3, 4, 5, 33, 34, 61, 62, 91]] = False  # 3, 2, 2 and 1 new ones of 6, 4, 6 and 3
    found = form(met=met)
    assert objective_has.min() > 20
    assert found.facts["met"] == LENGTH - 8
    assert not met[found.items].all()
    assert np.count_nonzero(~met[found.items]) == 8


def test_of_seen_items_those_of_earlier_forms_come_last():
    first = form(1).items.tolist()
    found = form(2, met=~NONE, earlier=[first])
    assert found.facts["shared"] == 0
    again = form(3, earlier=[first, found.items.tolist()])
    assert again.facts["shared"] == 0


def test_blocked_items_stay_out_and_a_limit_holds():
    blocked = np.arange(SIZE) % 3 == 0
    assert not blocked[form(blocked=blocked).items].any()
    only = form(objectives=[2], policy=POLICY.with_changes({"maximum_length": 15})).items
    assert {*POOL.objective[only].tolist()} == {2}


def test_where_the_target_is_out_of_reach_the_nearest_form_is_taken():
    weak = information(CUT, POOL.a, POOL.b, POOL.c, POOL.d) > 0.12
    found = form(blocked=weak)
    assert found.items.size == LENGTH
    assert found.facts["information"] < 0.95 * found.facts["target"]


def test_too_few_items_are_told_all_at_once_and_enemies_by_the_solver():
    with pytest.raises(Infeasible) as failure:
        form(blocked=POOL.objective >= 2)
    assert failure.value.constraints == [
        "domain 2 (9 to 10 items, 0 can be served)",
        "objective 1.3 (6 items, 0 can be served)",
        "objective 1.4 (3 to 4 items, 0 can be served)",
    ]
    pairs = np.array([[i, j] for i in range(10) for j in range(i)])
    pool = make_pool(30, objectives=3, enemies=pairs)
    nothing = np.zeros(30, dtype=bool)
    with pytest.raises(Infeasible) as failure:
        form(pool=pool, blocked=nothing, met=nothing, policy=POLICY.with_changes({"maximum_length": 9}))
    assert "enemies of the bank" in failure.value.constraints


def test_a_large_pool_is_looked_at_in_part_and_fully_where_that_is_needed():
    size = 600
    pairs = np.array([[i, j] for i in range(595) for j in range(595, 600)])
    pool = make_pool(size, objectives=2, enemies=pairs)
    nothing = np.zeros(size, dtype=bool)
    found = form(pool=pool, blocked=nothing, met=nothing)
    assert found.facts["eligible_count"] == size
    assert found.items.size == LENGTH


def test_broken_promises_are_named():
    items = form().items
    assert broken(POOL, POLICY, items[:-1], blocked=NONE, objectives=None)[0].startswith("length")
    blocked = NONE.copy()
    blocked[items[0]] = True
    assert broken(POOL, POLICY, items, blocked=blocked, objectives=None) == ("items that can't be served",)
