import numpy as np
import pytest

from engine.irt import ScoredModel, information
from engine.pool import TABLE_NODES
from tests.factories.pools import make_pool

MODEL = ScoredModel.partial_credit(1.0, (0.0, 0.5))


def test_its_models_are_copies_that_nobody_can_change():
    given = {2: MODEL}
    pool = make_pool(5, scored=given)
    given[3] = MODEL
    assert pool.scored == {2: MODEL}
    with pytest.raises(TypeError):
        pool.scored[3] = MODEL


def test_its_arrays_are_copies_that_nobody_can_write_to():
    a = np.ones(30)
    pool = make_pool(30, a=a)
    a[0] = 9.0
    assert pool.a[0] == 1.0
    for value in [v for v in vars(pool).values() if isinstance(v, np.ndarray)] + [pool.information_table]:
        assert not value.flags.writeable


def test_the_information_table_is_the_information_of_each_item_at_every_second_node():
    pool = make_pool(300)
    exact = information(TABLE_NODES, pool.a, pool.b, pool.c, pool.d).T
    assert pool.information_table.shape == (300, 61)
    assert pool.information_table == pytest.approx(exact, rel=1e-6, abs=1e-12)


def test_extreme_items_leave_a_finite_table():
    extreme = np.array([1e300, -1e300, 1e-300, 0.0])
    pool = make_pool(4, a=extreme, b=np.array([0.0, 0.0, 1e300, -1e300]))
    assert np.isfinite(pool.information_table).all()


def test_an_item_is_found_by_its_version():
    pool = make_pool(5, item_versions=[50, 40, 30, 20, 10])
    assert [pool.index_of_version[version] for version in (50, 30, 10)] == [0, 2, 4]


def test_the_items_of_an_objective_are_a_slice():
    pool = make_pool(6, objectives=4, objective=[0, 0, 2, 2, 2, 3])
    assert [pool.span(k) for k in range(4)] == [slice(0, 2), slice(2, 2), slice(2, 5), slice(5, 6)]
    assert pool.span(None) == slice(0, 6)


def test_enemies_know_each_other_in_whatever_order_they_were_given():
    pool = make_pool(6, enemies=[(4, 1), (1, 2), (2, 1)])
    assert {index: found.tolist() for index, found in pool.enemies_of.items()} == {1: [2, 4], 2: [1], 4: [1]}


def test_a_pool_of_no_items_says_so():
    pool = make_pool(0)
    assert len(pool) == 0
    assert pool.information_table.shape == (0, 61)
    assert repr(pool) == "Pool(version=7, 0 items, 3 objectives)"


def test_its_size_in_memory_is_about_that_of_its_arrays():
    assert 10_000 * 61 * 4 < make_pool(10_000).nbytes < 6_000_000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"a": np.ones(4)}, r"a has shape \(4,\), \(5,\) expected"),
        ({"a": [1, 1, np.nan, 1, 1]}, r"a\[2\] is nan: finite numbers expected"),
        ({"b": [0, 0, 0, np.inf, 0]}, r"b\[3\] is inf: finite"),
        ({"c": [0, -0.1, 0, 0, 0]}, r"c\[1\] is -0\.1: 0 or more"),
        ({"d": [1, 1, 1, 1, 1.5]}, r"d\[4\] is 1\.5: 1 or less"),
        ({"d": [1, 1, 0.2, 1, 1]}, r"d\[2\] is 0\.2: more than c"),
        ({"objective": [0, 0, 1, 2, 3]}, r"objective\[4\] is 3: 0 to 2"),
        ({"objective": [0, 1, 0, 2, 2]}, r"objective\[2\] is 0: items sorted by objective"),
        ({"objective": [0.0, 0.0, 1.0, 1.5, 2.0]}, "objective holds float64, int32 expected"),
        ({"objective_weights": [1, 1]}, r"objective_weights has shape \(2,\), \(3,\) expected"),
        ({"objective_weights": [1, -1, 1]}, r"objective_weights\[1\] is -1\.0: 0 or more"),
        ({"items": [1, 2, 3, 2, 5]}, r"items\[3\] is 2: each id at most once"),
        ({"item_versions": [1, 2, 3, 4, 4]}, r"item_versions\[4\] is 4: each id at most once"),
        ({"enemies": [(0, 1), (2, 5)]}, r"enemies\[1\] is \[2, 5\]: pool indices from 0 to 4"),
        ({"enemies": [(3, 3)]}, r"enemies\[0\] is \[3, 3\]: two different items"),
        ({"enemies": [0, 1]}, r"enemies has shape \(2,\), \('any', 2\) expected"),
        ({"scored": {5: MODEL}}, "scored has a model for 5: pool indices from 0 to 4"),
    ],
)
def test_what_a_pool_must_not_have_is_refused_with_its_place(changes, message):
    with pytest.raises(ValueError, match=message):
        make_pool(5, **changes)


def test_a_part_of_a_pool_is_a_pool_with_the_same_items_relations_and_domains():
    pool = make_pool(
        12,
        objectives=4,
        enemies=np.array([[0, 11], [1, 2]], dtype=np.int32),
        siblings=np.array([[9, 10]], dtype=np.int32),
        domain=np.array([0, 0, 1, 2], dtype=np.int32),
        domain_codes=("A", "B", "C"),
        pretest=np.arange(12) == 5,
    )
    kept = ~pool.pretest & np.isin(pool.objective, [0, 3])
    codes = (pool.objective_codes[0], pool.objective_codes[3])
    part = pool.part(kept, codes)
    assert part.item_versions.tolist() == pool.item_versions[kept].tolist()
    assert (part.objective_codes, part.domain_codes) == (codes, ("A", "C"))
    assert part.domain.tolist() == [0, 1]
    pairs = [part.item_versions[pair].tolist() for pair in (*part.enemies, *part.siblings)]
    old = [pool.item_versions[pair].tolist() for pair in (*pool.enemies, *pool.siblings)]
    assert pairs == [pair for pair in old if np.isin(pair, part.item_versions).all()]
    assert not part.pretest.any()
    whole = pool.part(np.ones(12, dtype=bool))
    assert (whole.domain_codes, whole.enemies.tolist()) == (pool.domain_codes, pool.enemies.tolist())
