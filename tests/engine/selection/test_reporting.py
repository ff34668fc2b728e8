"""The ability a sitting reports: each estimator as `engine.irt` has it, finite whatever the answers."""

import numpy as np
import pytest

from engine.irt import NODES, estimate, log_likelihood, maximum_likelihood, normal_log_prior
from engine.selection import Estimator, reported

PARAMETERS = np.array([[1.2, -1.0, 0.2, 1.0], [0.8, 0.0, 0.25, 1.0], [1.5, 0.7, 0.2, 0.98], [1.0, 1.5, 0.0, 1.0]])


def report(estimator: Estimator, right, mean=0.0, sd=1.0, parameters=PARAMETERS):
    right, start = np.array(right, dtype=bool), normal_log_prior(mean, sd)
    now = start + sum((log_likelihood(*pair) for pair in zip_answers(right, parameters)), np.zeros(NODES.size))
    return reported(estimator, start=start, now=now, right=right, parameters=parameters)


def zip_answers(right, parameters):
    return [(bool(answer), *item) for answer, item in zip(right, parameters.tolist(), strict=True)]


def test_eap_is_the_mean_of_the_posterior():
    start = normal_log_prior()
    found = reported(Estimator.eap, start=start, now=start, right=np.empty(0, bool), parameters=np.empty((0, 4)))
    assert tuple(found) == (*estimate(start), False)


def test_map_lies_between_the_prior_and_maximum_likelihood():
    right = [True, True, True, False]
    tight, usual = (report(Estimator.map, right, sd=sd) for sd in (0.3, 1.0))
    likely = report(Estimator.mle, right)
    assert 0.0 < tight.theta < usual.theta < likely.theta
    expected = maximum_likelihood(np.array([right], dtype=float), *PARAMETERS.T)
    assert likely[:2] == (float(expected.theta[0]), float(expected.standard_error[0]))


@pytest.mark.parametrize("estimator", Estimator)
@pytest.mark.parametrize("right", [[True] * 4, [False] * 4, [False, False, True, True], []])
def test_every_estimator_is_finite_whatever_the_answers(estimator, right):
    found = report(estimator, right, parameters=PARAMETERS[: len(right)])
    assert np.isfinite(found[:2]).all()
    if estimator in (Estimator.eap, Estimator.map):
        assert not found.at_bound


def test_only_maximum_likelihood_runs_to_the_bound_for_all_right():
    assert [report(each, [True] * 4).at_bound for each in Estimator] == [False, False, False, True]


@pytest.mark.parametrize("estimator", Estimator)
def test_a_right_answer_never_lowers_what_is_reported(estimator):
    for first in ([True, False], [False, True], [False, False], [True, True]):
        low, high = (report(estimator, [*first, last], parameters=PARAMETERS[:3]) for last in (False, True))
        assert high.theta >= low.theta - 1e-9
