import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import estimate, information, normal_log_prior, probability, update
from engine.selection import ADAPTIVE_TEST, PRACTICE, ContentRule, Criterion, Policy, choose, rng_for
from engine.selection.criteria import CRITERIA
from engine.selection.policy import DISTANCES
from tests.factories.pools import make_pool

BEST_ONLY = replace(ADAPTIVE_TEST, randomesque=1, content_balancing=False)


def first_choice(pool, policy=ADAPTIVE_TEST, seed=0, log_posterior=None, **limits):
    arguments = {"administered": np.empty(0, dtype=int), "blocked": np.zeros(len(pool), dtype=bool)} | limits
    prior = normal_log_prior() if log_posterior is None else log_posterior
    return choose(pool, prior, policy=policy, rng=rng_for(seed, 0), **arguments)


def sitting(pool, policy=ADAPTIVE_TEST, *, length, seed=0, ability=0.4, objectives=None):
    """The choices a simulated learner is given, until `length` or the pool ends."""
    answers = np.random.default_rng(seed)
    log_posterior, choices, blocked = normal_log_prior(), [], np.zeros(len(pool), dtype=bool)
    for position in range(length):
        administered = np.array([choice.index for choice in choices], dtype=int)
        limits = {"administered": administered, "blocked": blocked, "objectives": objectives}
        choice = choose(pool, log_posterior, **limits, policy=policy, rng=rng_for(seed, position))
        if choice is None:
            break
        choices.append(choice)
        right = bool(answers.random() < probability(ability, *pool.parameters(choice.index))[0])
        log_posterior = update(log_posterior, right, *pool.parameters(choice.index))
    return choices


def test_the_best_item_is_the_one_that_informs_most_about_what_is_known():
    pool = make_pool(3, objectives=1, a=[1.0, 1.0, 1.0], b=[-3.0, 0.5, 3.0], c=[0.0, 0.0, 0.0])
    choices = [first_choice(pool, BEST_ONLY, log_posterior=normal_log_prior(mean, 0.5)) for mean in (-2.5, 0.3, 2.5)]
    assert [choice.index for choice in choices] == [0, 1, 2]


def test_a_choice_says_what_was_known_before_it():
    log_posterior = update(normal_log_prior(), True, 1.2, 0.4, 0.2)
    choice = first_choice(make_pool(), log_posterior=log_posterior)
    assert (choice.theta, choice.standard_error) == estimate(log_posterior)
    assert choice.eligible_count == 30


def test_chance_chooses_among_the_best_n_of_the_neediest_objective_only():
    pool = make_pool(60, objective_weights=[1.0, 2.0, 1.0])
    policy = replace(ADAPTIVE_TEST, randomesque=4)
    choices = [first_choice(pool, policy, seed) for seed in range(200)]
    ranked = [index for index, _ in choices[0].candidates]
    assert {choice.index for choice in choices} == set(ranked[:4])
    assert {choice.objective for choice in choices} == {1}
    assert all(pool.objective[index] == 1 for index in ranked)


@pytest.mark.parametrize(("randomesque", "traced"), [(1, 5), (5, 5), (8, 8), (100, 10)])
def test_a_trace_shows_five_candidates_and_all_that_chance_chose_between(randomesque, traced):
    choice = first_choice(make_pool(30), replace(ADAPTIVE_TEST, randomesque=randomesque))
    scores = [score for _, score in choice.candidates]
    assert len(scores) == traced
    assert scores == sorted(scores, reverse=True)


def test_of_equal_items_the_first_is_the_best():
    pool = make_pool(9, objectives=1, a=np.ones(9), b=np.zeros(9), c=np.zeros(9))
    assert first_choice(pool, BEST_ONLY).index == 0
    assert [index for index, _ in first_choice(pool).candidates] == [0, 1, 2, 3, 4]


@given(st.integers(0, 10_000), st.lists(st.integers(1, 9), min_size=2, max_size=8))
def test_a_sitting_keeps_to_the_blueprint_within_one_item_at_any_length(seed, weights):
    pool = make_pool(40 * len(weights), objectives=len(weights), objective_weights=weights, seed=seed)
    served = pool.objective[[choice.index for choice in sitting(pool, length=25, seed=seed)]]
    counts = np.cumsum(served[:, None] == np.arange(len(weights)), axis=0)
    expected = np.arange(1, 26)[:, None] * np.array(weights) / sum(weights)
    assert np.abs(counts - expected).max() < 1.0


@given(st.integers(0, 10_000), st.data())
def test_no_item_comes_twice_and_no_two_enemies_meet_until_nothing_is_left(seed, data):
    pairs = st.tuples(st.integers(0, 19), st.integers(0, 19)).filter(lambda pair: pair[0] != pair[1])
    enemies = data.draw(st.lists(pairs, max_size=25))
    pool = make_pool(20, seed=seed, enemies=np.array(enemies, dtype=int).reshape(-1, 2))
    served = [choice.index for choice in sitting(pool, PRACTICE, length=25, seed=seed)]
    assert len(set(served)) == len(served)
    assert not any({first, second} <= set(served) for first, second in enemies)
    left = set(range(20)) - set(served) - {e for pair in enemies for e in pair if set(pair) & set(served)}
    assert not left


def test_a_sitting_limited_to_objectives_stays_there_in_their_proportion():
    pool = make_pool(90, objective_weights=[5.0, 2.0, 1.0])
    served = pool.objective[[choice.index for choice in sitting(pool, length=12, objectives=[1, 2])]]
    assert np.bincount(served, minlength=3).tolist() == [0, 8, 4]


def test_when_an_objective_runs_out_the_others_go_on():
    pool = make_pool(12, objective=[0] + [1] * 5 + [2] * 6)
    served = pool.objective[[choice.index for choice in sitting(pool, length=20)]]
    assert np.bincount(served).tolist() == [1, 5, 6]


@pytest.mark.parametrize("pool", [make_pool(0), make_pool(0, objectives=0), make_pool(4)])
def test_with_no_eligible_item_there_is_no_choice(pool):
    assert first_choice(pool, blocked=np.ones(len(pool), dtype=bool)) is None


def test_a_blocked_item_is_never_chosen():
    pool, blocked = make_pool(8, objectives=1), np.ones(8, dtype=bool)
    blocked[3] = False
    choice = first_choice(pool, blocked=blocked)
    assert (choice.index, choice.eligible_count) == (3, 1)
    assert [index for index, _ in choice.candidates] == [3]


def test_the_same_sitting_again_makes_the_same_choices_to_the_last_bit():
    pool = make_pool(400, objectives=5, objective_weights=[3.0, 1.0, 2.0, 2.0, 5.0])
    assert sitting(pool, length=30, seed=9) == sitting(pool, length=30, seed=9)
    assert sitting(pool, length=30, seed=9) != sitting(pool, length=30, seed=10)


def test_any_step_can_be_replayed_without_those_before_it():
    pool, log_posterior = make_pool(50), normal_log_prior()
    choices = sitting(pool, length=6, seed=3)
    answers = np.random.default_rng(3)
    for choice in choices[:5]:
        right = bool(answers.random() < probability(0.4, *pool.parameters(choice.index))[0])
        log_posterior = update(log_posterior, right, *pool.parameters(choice.index))
    administered = np.array([choice.index for choice in choices[:5]])
    limits = {"administered": administered, "blocked": np.zeros(50, dtype=bool)}
    assert choose(pool, log_posterior, **limits, policy=ADAPTIVE_TEST, rng=rng_for(3, 5)) == choices[5]


def test_the_order_of_items_within_an_objective_changes_nothing():
    pool = make_pool(60, objectives=1, seed=2)
    order = np.random.default_rng(0).permutation(60)
    columns = {name: getattr(pool, name)[order] for name in ("items", "item_versions", "a", "b", "c", "d")}
    shuffled = make_pool(60, objectives=1, **columns)
    one, other = first_choice(pool).to_json(pool), first_choice(shuffled).to_json(shuffled)
    assert [each["item_version"] for each in one["candidates"]] == [
        each["item_version"] for each in other["candidates"]
    ]
    assert one["item_version"] == other["item_version"]


def test_a_trace_speaks_of_versions_and_codes_and_is_json():
    pool = make_pool(30)
    choice = first_choice(pool)
    trace = choice.to_json(pool)
    assert json.loads(json.dumps(trace, allow_nan=False)) == trace
    assert (trace["theta"], trace["standard_error"]) == (choice.theta, choice.standard_error)
    assert trace["item_version"] == pool.item_versions[choice.index]
    assert [each["item_version"] for each in trace["candidates"]] == [1000 + index for index, _ in choice.candidates]
    assert trace["need"] == pytest.approx({"1.1": 1 / 3, "1.2": 1 / 3, "1.3": 1 / 3})
    assert (trace["objective"], trace["criterion"], trace["pool"]) == ("1.1", "posterior_information", 7)


def test_without_content_balancing_no_objective_is_asked_for():
    choice = first_choice(make_pool(30), BEST_ONLY)
    assert (choice.objective, choice.need) == (None, ())
    assert choice.to_json(make_pool(30))["need"] == {}


def test_a_posterior_on_another_grid_is_refused():
    with pytest.raises(ValueError, match=r"log_posterior has shape \(61,\), \(121,\) expected"):
        first_choice(make_pool(), log_posterior=np.zeros(61))


def test_maximum_information_is_taken_at_the_estimate_and_is_not_nearest_difficulty():
    pool = make_pool(3, objectives=1, a=[1.0, 2.0, 0.5], b=[0.0, 0.4, 0.05], c=[0.2, 0.0, 0.2])
    choice = first_choice(pool, replace(BEST_ONLY, criterion=Criterion.maximum_information))
    assert choice.index == 1
    exact = information(choice.theta, pool.a, pool.b, pool.c, pool.d)
    assert dict(choice.candidates) == pytest.approx(dict(enumerate(exact)))


@pytest.mark.parametrize("balanced", [True, False])
def test_maximum_information_finds_the_best_eligible_item_of_the_neediest_objective(balanced):
    pool = make_pool(600, seed=3)
    policy = replace(BEST_ONLY, criterion=Criterion.maximum_information, content_balancing=balanced)
    rng = np.random.default_rng(2)
    log_posterior, administered = normal_log_prior(), np.empty(0, dtype=np.int64)
    blocked = rng.random(600) < 0.3
    for position in range(30):
        choice = choose(
            pool, log_posterior, administered=administered, blocked=blocked, policy=policy, rng=rng_for(1, position)
        )
        left = ~blocked
        left[administered] = False
        if balanced:
            left &= pool.objective == choice.objective
        scores = np.where(left, information(choice.theta, pool.a, pool.b, pool.c, pool.d), -np.inf)
        assert choice.index == int(scores.argmax())
        administered = np.append(administered, choice.index)
        log_posterior = update(log_posterior, bool(rng.random() < 0.5), *pool.parameters(choice.index))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_chance_picks_among_the_best_never_the_worst_whatever_the_criterion(criterion):
    pool = make_pool(40, objectives=1, seed=6)
    policy = Policy(criterion=criterion, maximum_length=20, randomesque=3)
    choices = [first_choice(pool, policy, seed) for seed in range(40)]
    for choice in choices:
        scores = dict(choice.candidates)
        assert choice.index in list(scores)[:3]
        assert scores[choice.index] >= sorted(scores.values())[-3]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("rule", ContentRule)
def test_every_criterion_serves_the_whole_bank_and_then_says_that_nothing_is_left(criterion, rule):
    if rule is ContentRule.priority_index and criterion in DISTANCES:
        pytest.skip("refused by the policy")
    policy = Policy(criterion=criterion, content_rule=rule, maximum_length=14)
    served = [choice.index for choice in sitting(make_pool(12), policy, length=14)]
    assert sorted(served) == list(range(12))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_pool_of_one_item_and_one_of_identical_items_are_served(criterion):
    policy = Policy(criterion=criterion, maximum_length=10, randomesque=1)
    same = make_pool(6, objectives=1, a=np.ones(6), b=np.zeros(6), c=np.zeros(6))
    assert [choice.index for choice in sitting(make_pool(1, objectives=1), policy, length=3)] == [0]
    assert len(sitting(same, policy, length=10)) == 6
    if criterion not in (Criterion.progressive, Criterion.random, Criterion.a_stratified):
        assert [choice.index for choice in sitting(same, policy, length=10)] == list(range(6))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_absurd_discriminations_neither_stop_a_sitting_nor_make_a_number_that_json_lacks(criterion):
    a = np.array([-2.0, 1e160, 1e-12, 30.0, 0.0, 1.0, -500.0, 1.5])
    pool = make_pool(8, objectives=1, a=a, b=np.linspace(-2.0, 2.0, 8), c=np.full(8, 0.2))
    choices = sitting(pool, Policy(criterion=criterion, maximum_length=8), length=8)
    assert len(choices) == 8
    assert all(np.isfinite(choice.theta) and json.dumps(choice.to_json(pool), allow_nan=False) for choice in choices)


def test_the_information_that_is_left_is_that_of_the_best_eligible_item():
    pool, policy = make_pool(30), replace(ADAPTIVE_TEST, minimum_information=0.1)
    informs = information(first_choice(pool).theta, pool.a, pool.b, pool.c, pool.d)
    blocked = informs > np.sort(informs)[-4]
    assert first_choice(pool, policy, blocked=blocked).most_information == np.sort(informs)[-4]
    assert first_choice(pool).most_information is None
    assert "most_information" not in first_choice(pool).to_json(pool)


def test_the_priority_index_weighs_information_by_what_its_objective_lacks():
    pool = make_pool(60, objective_weights=[3.0, 2.0, 1.0])
    policy = Policy(criterion=Criterion.maximum_information, content_rule=ContentRule.priority_index, maximum_length=12)
    choice = first_choice(pool, policy, administered=np.array([3, 24]))
    informs = information(choice.theta, pool.a, pool.b, pool.c, pool.d)
    index = informs * np.array([5 / 6, 3 / 4, 1.0])[pool.objective]
    index[[3, 24]] = 0.0
    assert choice.candidates[0] == (int(index.argmax()), pytest.approx(index.max()))
    assert choice.objective is None
    assert len(choice.need) == 3


def test_when_an_objective_runs_out_the_priority_index_goes_on_with_the_others():
    pool = make_pool(12, objective=[0] + [1] * 5 + [2] * 6)
    policy = Policy(content_rule=ContentRule.priority_index, maximum_length=12)
    served = pool.objective[[choice.index for choice in sitting(pool, policy, length=12)]]
    assert np.bincount(served).tolist() == [1, 5, 6]
