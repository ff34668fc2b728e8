from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from engine.errors import Infeasible
from engine.selection.constraints import AllOrNone, Count, Enemies, Exclude, Include, Mean, Ordered, Sets, Total, Where
from engine.selection.program import compile_constraints
from engine.selection.shadow import BARRED, GIVEN, shadow_test
from engine.selection.solving import best_form
from tests.factories.science import Bank, read_science, rows

SIZE = 12
ATTRIBUTES = {
    "objective": [*"AAAABBBBCCCC"],
    "words": np.array([30, 50, 40, 90, 35, 60, 20, 45, 70, 25, 55, 80]),
    "stimulus": ["", "", "s", "s", "s", "", "t", "t", "", "u", "u", ""],
    "level": np.array([1, 2, 1, 1, 1, 3, 2, 2, 3, 3, 3, 1]),
}
LENGTH = Count(name="length", least=5, most=5)
TINY = (
    LENGTH,
    Count(name="A", where=(Where(attribute="objective", among=("A",)),), least=1, most=2),
    Total(name="words", attribute="words", least=150, most=260),
    Mean(name="mean words of C", attribute="words", where=(Where(attribute="objective", among=("C",)),), most=60),
    Sets(name="sets", attribute="stimulus", least=2, least_sets=1, most_sets=2),
    Enemies(name="enemies", where=(Where(attribute="words", least=80),)),
)


def nothing(size: int) -> np.ndarray:
    return np.zeros(size, dtype=bool)


def tiny(*more, **changes):
    return compile_constraints((*TINY, *more), ATTRIBUTES, items=SIZE, **changes)


def by_hand(form: set[int]) -> bool:
    """Whether a form meets TINY, written out."""
    objective, words, stimulus = ATTRIBUTES["objective"], ATTRIBUTES["words"], ATTRIBUTES["stimulus"]
    of_c = [words[i] for i in form if objective[i] == "C"]
    used = [sum(stimulus[i] == s for i in form) for s in "stu"]
    return (
        len(form) == 5
        and 1 <= sum(objective[i] == "A" for i in form) <= 2
        and 150 <= sum(words[i] for i in form) <= 260
        and (not of_c or np.mean(of_c) <= 60)
        and all(n == 0 or n >= 2 for n in used)
        and 1 <= sum(n > 0 for n in used) <= 2
        and sum(words[i] >= 80 for i in form) <= 1
    )


ALL_FORMS = [set(form) for form in combinations(range(SIZE), 5) if by_hand(set(form))]


@pytest.fixture(scope="module")
def science(shared) -> Bank:
    return read_science(shared / "data/banks")


def test_the_program_means_what_the_constraints_say():
    program = tiny()
    assert len(ALL_FORMS) > 20
    for form in combinations(range(SIZE), 5):
        assert (program.violations(np.array(form)) == ()) == by_hand(set(form)), form


@pytest.mark.parametrize("seed", range(12))
def test_the_form_is_the_best_of_all(seed, rng):
    rng = np.random.default_rng(seed)
    scores = rng.exponential(size=SIZE)
    given = np.array(sorted(ALL_FORMS[rng.integers(len(ALL_FORMS))]))[: seed % 4]
    best = max(sum(scores[list(form)]) for form in ALL_FORMS if form.issuperset(given.tolist()))
    form = best_form(tiny(), scores, fixed=np.isin(np.arange(SIZE), given), barred=nothing(SIZE))
    assert scores[form].sum() == pytest.approx(best)
    assert set(given.tolist()) <= set(form.tolist())


@pytest.mark.parametrize("seed", range(4))
def test_a_sitting_keeps_sets_together_and_ends_with_a_right_form(seed):
    program, rng, given = tiny(), np.random.default_rng(seed), np.empty(0, dtype=int)
    while True:
        test = shadow_test(program, rng.exponential(size=SIZE), given=given, blocked=nothing(SIZE))
        if not test.next_items.size:
            break
        given = np.append(given, rng.choice(test.next_items))
    assert set(given.tolist()) in ALL_FORMS
    assert not program.out_of_sequence(given)


def test_the_next_item_is_the_best_free_one_of_the_form():
    scores = np.linspace(1.0, 2.0, SIZE)
    first = shadow_test(tiny(), scores, given=np.array([], dtype=int), blocked=nothing(SIZE))
    assert scores[first.next_items].tolist() == sorted(scores[first.items], reverse=True)
    assert first.score == pytest.approx(scores[first.items].sum())


def test_the_same_arguments_give_the_same_form():
    scores = np.ones(SIZE)
    forms = [shadow_test(tiny(), scores, given=np.array([2]), blocked=nothing(SIZE)).items.tolist() for _ in range(3)]
    assert forms[0] == forms[1] == forms[2]


def test_an_item_that_was_given_stays_though_it_is_blocked_now():
    blocked = np.isin(np.arange(SIZE), [7, 8])
    test = shadow_test(tiny(), np.ones(SIZE), given=np.array([7]), blocked=blocked)
    assert 7 in test.items
    assert 8 not in test.items


def test_scores_of_any_size_give_the_same_form():
    scores = np.random.default_rng(3).exponential(size=SIZE)
    forms = [
        shadow_test(tiny(), scores * size, given=np.array([], dtype=int), blocked=nothing(SIZE)).items.tolist()
        for size in (1e-9, 1.0, 1e9)
    ]
    assert forms[0] == forms[1] == forms[2]


def test_scores_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="finite"):
        shadow_test(tiny(), np.full(SIZE, -np.inf), given=np.array([], dtype=int), blocked=nothing(SIZE))


def test_what_clashes_is_named_and_nothing_else():
    impossible = (
        Count(name="five of A", where=(Where(attribute="objective", among=("A",)),), least=5),
        Count(name="at most six", most=6),
    )
    program = compile_constraints((*TINY[2:], *impossible), ATTRIBUTES, items=SIZE)
    with pytest.raises(Infeasible, match="five of A") as failure:
        shadow_test(program, np.ones(SIZE), given=np.array([], dtype=int), blocked=nothing(SIZE))
    assert failure.value.constraints == ["five of A"]


def test_a_clash_of_two_names_both():
    many = Count(name="four of A", where=(Where(attribute="objective", among=("A",)),), least=4)
    program = tiny(many)
    with pytest.raises(Infeasible) as failure:
        shadow_test(program, np.ones(SIZE), given=np.array([], dtype=int), blocked=nothing(SIZE))
    assert failure.value.constraints == ["A", "four of A"]


def test_a_clash_that_only_whole_items_have_is_found():
    attributes = {"words": np.full(SIZE, 10)}
    program = compile_constraints(
        [Total(name="words", attribute="words", least=11, most=19)], attributes, items=SIZE
    )  # one item and a half would do
    with pytest.raises(Infeasible) as failure:
        shadow_test(program, np.ones(SIZE), given=np.array([], dtype=int), blocked=nothing(SIZE))
    assert failure.value.constraints == ["words"]


def test_items_given_or_barred_are_named_when_they_clash():
    with pytest.raises(Infeasible) as failure:
        shadow_test(tiny(), np.ones(SIZE), given=np.array([0, 1, 3]), blocked=nothing(SIZE))
    assert failure.value.constraints == ["A", GIVEN]
    with pytest.raises(Infeasible) as failure:
        shadow_test(tiny(), np.ones(SIZE), given=np.array([], dtype=int), blocked=~nothing(SIZE))
    assert BARRED in failure.value.constraints


def sitting(program, information, ability, seed, length):
    """Items of a simulated learner who is given the shadow test's best item each time; the estimate wanders."""
    rng, given = np.random.default_rng(seed), np.empty(0, dtype=int)
    for position in range(length):
        theta = ability + rng.normal() * 1.5 / np.sqrt(position + 1)
        test = shadow_test(program, information(theta), given=given, blocked=nothing(program.items))
        given = np.append(given, test.next_items[0])
    return given


@pytest.mark.parametrize("ability", [-2.0, 0.3, 2.2])
def test_the_science_pool_is_served_without_a_violation(science, ability):
    program = compile_constraints(science.constraints, science.attributes, items=science.items)
    given = sitting(program, science.information, ability, seed=5, length=30)
    assert program.violations(given) == ()
    assert not program.out_of_sequence(given)
    level, type_ = science.attributes["LEVEL"][given], science.attributes["TYPE"][given]
    assert level.tolist() == [3.0] * 10 + [4.0] * 10 + [5.0] * 10
    assert 12 <= (type_ == "EQTN").sum() <= 15
    assert {"SC00003", "SC00004"} <= set(science.attributes["ID"][given])
    assert (science.attributes["PTBIS"][given] >= 0.15).all()


@pytest.mark.parametrize("theta", [-2.5, -1.0, 0.0, 1.7, 2.5])
def test_leaving_items_out_of_the_solve_costs_nothing(science, theta):
    program = compile_constraints(science.constraints, science.attributes, items=science.items)
    scores = science.information(theta)
    form = best_form(program, scores, fixed=nothing(science.items), barred=nothing(science.items))
    whole = milp(
        -scores,
        integrality=np.ones(science.items),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(program.matrix, program.lower, program.upper),
        options={"mip_rel_gap": 1e-7},
    )
    assert scores[form].sum() == pytest.approx(-whole.fun, rel=3e-6)


def test_the_tcals_bank_is_served_with_its_groups_in_proportion(shared):
    table = rows(shared / "data/banks/params_tcals_3pl.csv")
    a, b, c = (np.array([float(row[name]) for row in table]) for name in "abc")
    group = [row["Group"] for row in table]
    wanted = {"Audio1": 3, "Audio2": 5, "Written1": 3, "Written2": 4, "Written3": 5}
    constraints = [
        Count(name=name, where=(Where(attribute="group", among=(name,)),), least=count, most=count)
        for name, count in wanted.items()
    ]
    from engine.irt import information

    program = compile_constraints(constraints, {"group": group}, items=85)
    given = sitting(program, lambda theta: information(theta, a, b, c), -0.5, seed=2, length=20)
    assert {name: sum(group[i] == name for i in given) for name in wanted} == wanted


def test_an_order_and_sets_can_be_kept_together_where_a_set_has_one_place():
    attributes = {**ATTRIBUTES, "stimulus": ["", "", "s", "s", "s", "", "t", "t", "", "u", "u", ""]}
    constraints = (*TINY, Ordered(name="by level", attribute="level"))
    program = compile_constraints(constraints, attributes, items=SIZE)
    given = np.empty(0, dtype=int)
    rng = np.random.default_rng(9)
    for _ in range(5):
        test = shadow_test(program, rng.exponential(size=SIZE), given=given, blocked=nothing(SIZE))
        given = np.append(given, test.next_items[0])
    assert (np.diff(ATTRIBUTES["level"][given]) >= 0).all()
    assert not program.out_of_sequence(given)


def test_an_earlier_place_of_the_order_is_closed_whatever_its_items_are_worth():
    program = compile_constraints([LENGTH, Ordered(name="by level", attribute="level")], ATTRIBUTES, items=SIZE)
    scores = np.where(ATTRIBUTES["level"] == 1, 9.0, 1.0)
    test = shadow_test(program, scores, given=np.array([1]), blocked=nothing(SIZE))
    assert (ATTRIBUTES["level"][test.items] >= 2).all()


def test_a_set_that_was_left_is_closed_whatever_its_items_are_worth():
    program = compile_constraints([LENGTH, Sets(name="sets", attribute="stimulus")], ATTRIBUTES, items=SIZE)
    scores = np.where(np.isin(np.arange(SIZE), [3, 4]), 9.0, 1.0)
    test = shadow_test(program, scores, given=np.array([2, 0]), blocked=nothing(SIZE))
    assert not {3, 4} & set(test.items.tolist())


def test_what_must_be_in_or_out_and_what_goes_together_is_kept():
    program = tiny(
        Include(name="in", where=(Where(attribute="words", among=(20,)),)),
        Exclude(name="out", where=(Where(attribute="objective", among=("C",)), Where(attribute="words", least=70))),
        AllOrNone(name="together", where=(Where(attribute="words", among=(30, 60)),)),
    )
    for seed in range(8):
        scores = np.random.default_rng(seed).exponential(size=SIZE)
        form = shadow_test(program, scores, given=np.array([], dtype=int), blocked=nothing(SIZE)).items.tolist()
        assert 6 in form
        assert not {8, 11} & set(form)
        assert (0 in form) == (5 in form)
