import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import NODES
from engine.learner import memory
from engine.learner.readiness import (
    Form,
    blueprint_form,
    pass_posterior,
    pass_probability,
    pass_probability_normal,
    proportional_counts,
    readiness,
    study_gains,
)
from engine.learner.scores import expected_scores
from engine.learner.state import Prior, State, ability_covariance, ability_means, initial, updated
from tests.factories.pools import make_pool

WEIGHTS = np.array([0.5, 0.3, 0.2])
POOL = make_pool(60, objective_weights=WEIGHTS)
DOMAIN = np.arange(3)


def practised(rng, count=30, chance=0.6, prior=None):
    state = initial(3, prior or Prior())
    for i in range(count):
        state = updated(state, i % 3, bool(rng.random() < chance), 1.2, float(rng.normal()), 0.2)
    return state


def flat_form(*chances, counts, pass_mark):
    """A form on which ability does not matter."""
    curves = np.repeat(np.array(chances)[:, None], NODES.size, axis=1)
    return Form(np.array(counts), curves, pass_mark, np.zeros((len(counts), len(counts))))


def test_equal_items_give_the_binomial_distribution():
    form = flat_form(0.3, counts=[4], pass_mark=3)
    assert pass_probability(np.zeros((1, 1)), form) == pytest.approx([4 * 0.3**3 * 0.7 + 0.3**4])


def test_two_kinds_of_items_give_the_sum_over_their_patterns():
    form = flat_form(0.9, 0.2, counts=[1, 2], pass_mark=2)
    two_of_three = 0.9 * 2 * 0.2 * 0.8 + 0.1 * 0.2**2
    assert pass_probability(np.zeros((1, 2)), form) == pytest.approx([two_of_three + 0.9 * 0.2**2])


@given(st.lists(st.floats(-4.0, 4.0), min_size=3, max_size=3), st.integers(20, 120))
def test_the_normal_approximation_agrees_with_the_recursion(x, length):
    form = blueprint_form(POOL, length, 0.2)
    p = expected_scores(form.curves, np.array([x]))
    normal = pass_probability_normal(p @ form.counts, (p * (1 - p)) @ form.counts, form.pass_mark)
    assert normal == pytest.approx(pass_probability(np.array([x]), form), abs=0.02)


@pytest.mark.parametrize("length", [20, 60, 100])
def test_who_stands_at_the_cut_score_passes_about_every_other_time(length):
    form = blueprint_form(POOL, length, 0.4)
    assert form.counts.tolist() == [length // 2, length * 3 // 10, length // 5]
    assert pass_probability(np.full((1, 3), 0.4), form)[0] == pytest.approx(0.5, abs=0.1)
    assert np.diff(pass_probability(np.linspace(-2.0, 2.0, 9)[:, None] * np.ones(3), form)).min() > 0.0


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8), st.integers(1, 90))
def test_places_are_within_one_of_their_share(weights, length):
    counts = proportional_counts(np.array(weights), np.ones(len(weights), dtype=int), length)
    assert counts.sum() == length
    if sum(weights) > 0.0:
        assert np.abs(counts - np.array(weights) / sum(weights) * length).max() < 1.0 + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_readiness_is_the_posterior_of_the_pass_probability(seed):
    rng = np.random.default_rng(seed)
    state, form = practised(rng), blueprint_form(POOL, 60, 0.0, b_sd=0.4, scale_sd=0.1)
    x = rng.multivariate_normal(ability_means(state), ability_covariance(state) + form.uncertainty, size=20_000)
    exact = pass_probability(x, form)
    mean, low, high = pass_posterior(state, form)
    assert mean == pytest.approx(exact.mean(), abs=0.006)
    assert (low, high) == pytest.approx(np.quantile(exact, [0.05, 0.95]), abs=0.02)


def test_uncertain_parameters_widen_the_interval():
    state = practised(np.random.default_rng(0), 60)
    widths = []
    for b_sd, scale_sd in [(0.0, 0.0), (0.8, 0.0), (0.8, 0.4)]:
        _, low, high = pass_posterior(state, blueprint_form(POOL, 60, 0.0, b_sd=b_sd, scale_sd=scale_sd))
        widths.append(high - low)
    assert widths == sorted(widths)
    assert widths[2] > widths[0] + 0.05


def test_parameter_error_is_that_of_the_mean_difficulty():
    form = blueprint_form(POOL, 60, 0.0, b_sd=np.full(60, 0.6), scale_sd=0.2)
    assert form.uncertainty == pytest.approx(np.eye(3) * 0.36 / 20 + 0.04)


def test_a_domain_without_evidence_hides_the_number_and_is_named():
    state = initial(3, Prior())
    for objective in (0, 0, 0, 1, 1):
        state = updated(state, objective, True, 1.2, 0.0, 0.2)
    shown = readiness(state, blueprint_form(POOL, 60, 0.0), DOMAIN)
    assert (shown.probability, shown.low, shown.high) == (None, None, None)
    assert shown.missing == (1, 2)
    assert readiness(state, blueprint_form(POOL, 60, 0.0), [0, 0, 1]).missing == (1,)


def test_a_domain_that_is_not_on_the_form_is_not_asked_for():
    pool = make_pool(60, objective_weights=np.array([0.6, 0.4, 0.0]))
    state = initial(3, Prior())
    for objective in (0, 0, 0, 1, 1, 1):
        state = updated(state, objective, True, 1.2, 0.0, 0.2)
    shown = readiness(state, blueprint_form(pool, 60, 0.0), DOMAIN)
    assert shown.missing == ()
    assert 0.0 <= shown.low <= shown.probability <= shown.high <= 1.0
    assert shown.gains[2] == 0.0


def test_right_answers_raise_readiness_and_wrong_ones_lower_it():
    state, form = practised(np.random.default_rng(2)), blueprint_form(POOL, 60, 0.0)
    now = pass_posterior(state, form)[0]
    assert pass_posterior(updated(state, 0, True, 1.2, 0.0, 0.2), form)[0] > now
    assert pass_posterior(updated(state, 0, False, 1.2, 0.0, 0.2), form)[0] < now


def test_answering_seen_items_again_leaves_readiness_where_it_was(now):
    state, form = practised(np.random.default_rng(2)), blueprint_form(POOL, 60, 0.0)
    before = readiness(state, form, DOMAIN)
    remembered = None
    for _ in range(20):
        remembered = memory.reviewed(remembered, memory.rating(True), now)
    assert remembered.stability > 1.0
    assert readiness(state, form, DOMAIN).probability == before.probability


def test_the_weightier_of_two_equal_objectives_is_worth_more_study():
    form = blueprint_form(make_pool(60, a=np.ones(60), b=np.zeros(60), objective_weights=WEIGHTS), 60, 0.0)
    shown = readiness(initial(3, Prior()), form, DOMAIN)
    assert shown.study == (0, 1)
    assert (np.diff(shown.gains) < 0.0).all()


def test_an_objective_that_is_mastered_is_worth_less_study_than_a_weak_one():
    form = blueprint_form(make_pool(60, a=np.ones(60), b=np.zeros(60)), 60, 1.0)
    state = State(np.array([0.0, 3.0, 0.0, 3.0]), 0.01 * np.eye(4), np.array([9, 9, 9]))
    shown = readiness(state, form, DOMAIN)
    assert shown.study[0] == 1
    assert shown.gains[1] > 2.0 * shown.gains[0]


def test_gains_are_the_difference_that_the_improvement_makes():
    state, form, step = practised(np.random.default_rng(3)), blueprint_form(POOL, 60, 0.0), 0.5
    now = pass_posterior(state, form)[0]
    for k, gain in enumerate(study_gains(state, form, step)):
        mean = state.mean.copy()
        mean[1 + k] += step
        then = pass_posterior(State(mean, state.covariance, state.answers), form)[0]
        assert gain == pytest.approx(then - now, abs=0.004)


def test_many_learners_at_once():
    rng = np.random.default_rng(6)
    states, form = [practised(rng), practised(rng)], blueprint_form(POOL, 60, 0.0)
    both = State(*(np.stack([getattr(s, f) for s in states]) for f in ("mean", "covariance", "answers")))
    assert pass_posterior(both, form)[0] == pytest.approx([pass_posterior(state, form)[0] for state in states])
    assert study_gains(both, form)[1] == pytest.approx(study_gains(states[1], form))


@pytest.mark.parametrize(("pool", "length"), [(POOL, 0), (make_pool(0), 20)])
def test_a_form_needs_items_and_places(pool, length):
    with pytest.raises(ValueError, match="at least one of each"):
        blueprint_form(pool, length, 0.0)


def test_a_learner_who_surely_passes_or_fails_is_told_so():
    form = blueprint_form(POOL, 60, 0.0)
    right, wrong = (practised(np.random.default_rng(0), 60, chance) for chance in (1.0, 0.0))
    assert readiness(right, form, DOMAIN).probability > 0.99
    assert readiness(wrong, form, DOMAIN).probability < 0.01
