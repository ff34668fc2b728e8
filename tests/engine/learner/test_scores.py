import numpy as np
import pytest

from engine.irt import NODES, probability
from engine.learner.scores import DRAWS, draws, expected_scores, normal_scores, objective_curves
from engine.learner.state import Prior, ability_covariance, ability_means, initial, updated
from tests.factories.pools import make_pool


def practised(objectives=3, learners=()):
    rng = np.random.default_rng(1)
    state = initial(objectives, Prior(), learners=learners)
    for i in range(30):
        state = updated(state, i % objectives, rng.random(learners) < 0.6, 1.2, rng.normal(), 0.2)
    return state


def test_the_expected_score_is_the_mean_over_the_objectives_items():
    pool = make_pool(30)
    curves = objective_curves(pool)
    x = np.array([[-1.234, 0.0, 2.71]])
    exact = [probability(x[0, k], pool.a[s], pool.b[s], pool.c[s]).mean() for k in range(3) for s in [pool.span(k)]]
    assert expected_scores(curves, x)[0] == pytest.approx(exact, abs=3e-4)
    assert expected_scores(curves, np.full((1, 3), NODES[17]))[0] == pytest.approx(curves[:, 17], abs=1e-12)


def test_beyond_the_grid_scores_stay_where_they_were_and_an_empty_objective_has_none():
    curves = objective_curves(make_pool(10, objective=np.repeat([0, 2], 5)))
    assert np.isnan(curves[1]).all()
    scores = expected_scores(curves, np.array([[99.0, 0.0, -99.0]]))[0]
    assert scores[[0, 2]].tolist() == [curves[0, -1], curves[2, 0]]


@pytest.mark.parametrize("learners", [(), (2,)])
def test_draws_have_the_posteriors_mean_and_covariance(learners):
    state = practised(learners=learners)
    x = draws(state, np.array([0.6, 0.3, 0.1]))
    assert x.shape == (*learners, DRAWS, 3)
    centred = x - x.mean(axis=-2, keepdims=True)
    assert x.mean(axis=-2) == pytest.approx(ability_means(state), abs=1e-3)
    assert np.swapaxes(centred, -1, -2) @ centred / DRAWS == pytest.approx(ability_covariance(state), abs=1e-3)


def test_extra_uncertainty_adds_to_the_covariance():
    state = practised()
    x = draws(state, np.ones(3), np.diag([0.5, 0.0, 0.0]) + 0.1)
    assert np.cov(x.T, bias=True) == pytest.approx(ability_covariance(state) + np.diag([0.5, 0.0, 0.0]) + 0.1, abs=2e-3)


def test_the_same_state_gives_the_same_draws_and_the_table_cannot_be_written_to():
    assert (draws(practised(), np.ones(3)) == draws(practised(), np.ones(3))).all()
    with pytest.raises(ValueError, match="read-only"):
        normal_scores(4)[0, 0] = 0.0
