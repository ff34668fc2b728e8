import numpy as np
import pytest

from engine.irt import probability
from engine.learner.mastery import ENOUGH_ANSWERS, domain_shares, mastery
from engine.learner.scores import objective_curves
from engine.learner.state import Prior, ability_means, ability_sds, initial, updated
from tests.factories.pools import make_pool

POOL = make_pool(60, objective_weights=np.array([0.5, 0.3, 0.2]))
CURVES = objective_curves(POOL)


def answered(*counts, right=True, learners=(), prior=None):
    state = initial(len(counts), prior or Prior(), learners=learners)
    for objective, count in enumerate(counts):
        for _ in range(count):
            state = updated(state, objective, right, 1.2, 0.0, 0.2)
    return state


def test_fewer_than_three_clean_answers_are_not_enough_evidence():
    shown = mastery(answered(ENOUGH_ANSWERS, ENOUGH_ANSWERS - 1, 0), CURVES, 0.0)
    assert shown.enough.tolist() == [True, False, False]
    for values in shown[:-1]:
        assert np.isfinite(values).tolist() == [True, False, False]


def test_the_score_and_its_interval_are_those_of_the_posterior():
    state = answered(6, 3, 4)
    shown = mastery(state, CURVES, 0.3)
    rng = np.random.default_rng(0)
    for k in range(3):
        x = rng.normal(ability_means(state)[k], ability_sds(state)[k], 40_000)
        part = POOL.span(k)
        exact = probability(x, POOL.a[part], POOL.b[part], POOL.c[part]).mean(axis=1)
        assert shown.score[k] == pytest.approx(exact.mean(), abs=0.005)
        assert (shown.low[k], shown.high[k]) == pytest.approx(np.quantile(exact, [0.05, 0.95]), abs=0.015)
        assert shown.above_cut[k] == pytest.approx((x >= 0.3).mean(), abs=0.01)


def test_right_answers_raise_mastery_and_more_answers_narrow_it():
    few, many = (mastery(answered(count, count, count), CURVES, 0.0) for count in (3, 30))
    wrong = mastery(answered(3, 3, 3, right=False), CURVES, 0.0)
    assert (wrong.score < few.score).all()
    assert (many.high - many.low < few.high - few.low).all()


def test_a_domain_weighs_its_objectives_and_counts_their_answers_together():
    state = answered(2, 1, 2)
    shares = domain_shares([0, 0, 1], POOL.objective_weights)
    shown = mastery(state, CURVES, 0.0, shares)
    assert shown.enough.tolist() == [True, False]
    assert shown.theta[0] == pytest.approx(ability_means(state)[:2] @ [0.625, 0.375])
    assert shown.standard_error[0] < ability_sds(state)[:2].max()


def test_a_domain_of_one_objective_is_that_objective():
    state = answered(4, 3, 5)
    alone, domains = mastery(state, CURVES, 0.0), mastery(state, CURVES, 0.0, np.eye(3))
    assert np.array(alone) == pytest.approx(np.array(domains))


def test_an_objective_without_items_has_an_ability_but_no_score():
    curves = objective_curves(make_pool(10, objective=np.repeat([0, 2], 5)))
    shown = mastery(answered(3, 3, 3), curves, 0.0)
    assert np.isfinite(shown.theta).all()
    assert np.isnan(shown.score).tolist() == [False, True, False]


def test_many_learners_at_once():
    state = answered(4, 3, 1, right=np.array([True, False]), learners=(2,))
    shown = mastery(state, CURVES, 0.0)
    alone = mastery(answered(4, 3, 1), CURVES, 0.0)
    assert shown.score.shape == (2, 3)
    assert shown.score[0] == pytest.approx(alone.score, nan_ok=True)


def test_a_domain_without_weight_shares_equally():
    assert domain_shares([1, 0, 0], np.array([1.0, 0.0, 0.0])).tolist() == [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]
