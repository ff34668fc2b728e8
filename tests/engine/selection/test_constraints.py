import json

import numpy as np
import pytest

from engine.errors import InvalidConstraint
from engine.selection.constraints import (
    AllOrNone,
    Count,
    Enemies,
    Exclude,
    Include,
    Mean,
    Ordered,
    Sets,
    Total,
    Where,
    from_json,
)
from engine.selection.program import ENEMIES, compile_constraints, pool_attributes
from tests.factories.pools import make_pool

A = (Where(attribute="objective", among=("1.1", "1.2")), Where(attribute="dok", least=2.0, negated=True))
EVERY_KIND = (
    Count(name="length", least=30, most=30),
    Count(name="at least", where=A, least=2),
    Total(name="words", attribute="words", most=900.5),
    Mean(name="difficulty", attribute="b", least=-0.2, most=0.2),
    Enemies(name="enemies", where=A),
    AllOrNone(name="together", where=A),
    Include(name="in", where=A),
    Exclude(name="out", where=A),
    Sets(name="passages", attribute="stimulus", least=2, most=4, least_sets=1, most_sets=3, contiguous=False),
    Sets(name="whole passages", attribute="stimulus", whole=True),
    Ordered(name="order", attribute="level"),
)


def test_every_kind_goes_through_json_and_back():
    assert from_json(json.loads(json.dumps([one.to_json() for one in EVERY_KIND]))) == EVERY_KIND


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"kind": "sum", "name": "x"}, 'constraint x, kind: "sum" given, one of count, total'),
        ({"name": "x"}, "constraint x, kind: null given"),
        ({"kind": "count", "least": 1}, "constraint #1, name: null given, a text"),
        ({"kind": "count", "name": "x"}, "x, least: null given, `least` or `most` expected"),
        ({"kind": "count", "name": "x", "least": 1.5}, "x, least: 1.5 given, null or a whole number from 0"),
        ({"kind": "count", "name": "x", "least": True}, "x, least: true given"),
        ({"kind": "count", "name": "x", "least": 3, "most": 2}, "x, most: 2 given, at least 3"),
        ({"kind": "count", "name": "x", "least": 3, "maximum": 2}, "x, maximum: 2 given, no such field; one of least"),
        ({"kind": "total", "name": "x", "least": 3}, "x, attribute: null given, a text"),
        ({"kind": "total", "name": "x", "attribute": "w", "most": float("nan")}, "x, most: NaN given"),
        ({"kind": "sets", "name": "x", "attribute": "s", "least": 0}, "x, least: 0 given"),
        ({"kind": "sets", "name": "x", "attribute": "s", "least": 2, "whole": True}, "no `least` or `most` where"),
        ({"kind": "enemies", "name": "x", "where": "all"}, 'x, where: "all" given, a list of conditions'),
        ({"kind": "enemies", "name": "x", "where": [{"among": [1]}]}, "an object with `attribute`"),
        ({"kind": "enemies", "name": "x", "where": [{"attribute": "s"}]}, "either `among`, not empty, or bounds"),
        ({"kind": "enemies", "name": "x", "where": [{"attribute": "s", "among": "s"}]}, "`among` as a list"),
        ({"kind": "enemies", "name": "x", "where": [{"attribute": "s", "among": [None]}]}, "for each a printable text"),
        ({"kind": "enemies", "name": "x", "where": [{"attribute": "s", "least": "1"}]}, "null or a number from"),
        ({"kind": "ordered", "name": "x", "attribute": "s", "where": [{"attribute": "s", "least": 1}]}, "no condition"),
        ("count", 'constraint #1, constraint: "count" given, an object expected'),
    ],
)
def test_what_is_wrong_is_named_with_its_value_and_what_is_right(entry, words):
    with pytest.raises(InvalidConstraint) as failure:
        from_json([entry])
    assert words in str(failure.value)


def test_two_constraints_of_one_name_are_refused():
    with pytest.raises(InvalidConstraint, match="a name of its own"):
        from_json([{"kind": "count", "name": "x", "most": 1}, {"kind": "count", "name": "x", "most": 2}])


def broken(constraint, attributes, *forms):
    program = compile_constraints([constraint], attributes, items=len(next(iter(attributes.values()))))
    return [bool(program.violations(np.array(form, dtype=int))) for form in forms]


def test_an_item_may_have_several_values():
    tags = [{"bloom:apply", "os:linux"}, {"os:linux"}, set(), {"bloom:apply"}]
    apply = (Where(attribute="tags", among=("bloom:apply",)),)
    limit = Count(name="x", where=apply, most=1)
    assert broken(limit, {"tags": tags}, [0, 1, 2], [1, 2, 3], [0, 3]) == [False, False, True]


def test_an_item_without_a_number_meets_no_bound_but_its_negation():
    at_least = Where(attribute="p", least=0.5)
    absent = Where(attribute="p", least=0.5, negated=True)
    p = {"p": [0.9, None, 0.1]}
    assert broken(Exclude(name="x", where=(at_least,)), p, [0], [1], [2]) == [True, False, False]
    assert broken(Exclude(name="x", where=(absent,)), p, [0], [1], [2]) == [False, True, True]


def test_a_mean_is_of_the_items_that_are_there():
    mean = Mean(name="x", attribute="b", least=0.9, most=2.1)
    assert broken(mean, {"b": np.array([1.0, 2.0, 3.0])}, [], [0], [0, 2], [2], [1, 2]) == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_sets_count_their_items_and_themselves():
    sets = Sets(name="x", attribute="s", least=2, most=2, least_sets=1, most_sets=1)
    s = {"s": ["p", "p", "p", "q", "q", None]}
    assert broken(sets, s, [0, 1], [0, 1, 5], [0, 1, 2], [0], [5], [0, 1, 3, 4]) == [
        False,
        False,
        True,
        True,
        True,
        True,
    ]
    assert broken(Sets(name="x", attribute="s", whole=True), s, [0, 1, 2], [0, 1], [3, 4, 5]) == [False, True, False]


def test_a_set_that_was_left_is_not_come_back_to():
    program = compile_constraints([Sets(name="x", attribute="s")], {"s": ["p", "p", "q", None, None]}, items=5)
    sequences = ([0, 1, 2], [3, 0, 1, 4], [0, 2, 1], [0, 3, 1], [3, 2, 4])
    assert [program.out_of_sequence(np.array(s)) for s in sequences] == [False, False, True, True, False]


def test_the_enemies_of_a_pool_never_meet():
    program = compile_constraints([], {}, items=4, enemies=np.array([[0, 1], [1, 0], [2, 3]], dtype=np.int32))
    assert program.violations(np.array([0, 1])) == (ENEMIES,)
    assert program.violations(np.array([1, 3])) == ()
    assert len(program.lower) == 2


def test_a_pool_knows_its_items_by_id_and_objective():
    pool = make_pool(6, objectives=3)
    limit = Count(name="x", where=(Where(attribute="objective", among=("1.2",)),), most=0)
    out = Exclude(name="y", where=(Where(attribute="item", among=(105,)),))
    program = compile_constraints([limit, out], pool_attributes(pool), items=6)
    assert program.possible.tolist() == [True, True, False, False, True, False]


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (Count(name="x", where=(Where(attribute="topic", among=("a",)),), most=1), '"topic" given, one of level, text'),
        (Total(name="x", attribute="text", most=1), '"text" given, a numeric attribute'),
        (Total(name="x", attribute="level", most=1), r"item 1 of the pool has none"),
        (Count(name="x", where=(Where(attribute="text", most=1),), most=1), "bounds on a numeric attribute"),
        (Include(name="x", where=(Where(attribute="text", among=("z",)),)), "conditions that some item meets"),
    ],
)
def test_what_the_items_cant_answer_is_refused(constraint, words):
    with pytest.raises(InvalidConstraint, match=words):
        compile_constraints([constraint], {"level": [1.0, None, 2.0], "text": ["a", "b", "c"]}, items=3)


def test_an_order_that_tears_a_contiguous_set_is_refused():
    attributes = {"s": ["p", "p", None], "level": [1, 2, 3]}
    constraints = [Sets(name="x", attribute="s"), Ordered(name="by level", attribute="level")]
    with pytest.raises(InvalidConstraint, match=r"by level, attribute: .* one place in the order"):
        compile_constraints(constraints, attributes, items=3)


def test_an_attribute_of_the_wrong_length_is_a_programming_error():
    with pytest.raises(ValueError, match="has 2 values, the pool 3 items"):
        compile_constraints([Ordered(name="x", attribute="level")], {"level": [1, 2]}, items=3)
