"""One learner, one answer: the same numbers as the functions for many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import log_probabilities
from engine.learner import Prior, drifted, faded, initial, moved, places, updated

PRIOR = Prior(mean=0.2, sd=0.9)


def walk(answers):
    """(by single, by many) after these (objective, right, a, b, c) answers, three days apart."""
    one = many = initial(3, PRIOR)
    for objective, right, a, b, c in answers:
        one, many = faded(one, 3.0, PRIOR), drifted(many, 3.0, PRIOR)
        curves = log_probabilities(places(one, objective), a, b, c, 1.0)
        one = moved(one, objective, curves[0 if right else 1][:, 0])
        many = updated(many, objective, right, a, b, c, 1.0)
    return one, many


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.booleans(), st.floats(-3.0, 40.0), st.floats(-6.0, 6.0), st.floats(0.0, 0.4)),
        max_size=12,
    )
)
def test_the_state_is_that_of_the_functions_for_many(answers):
    one, many = walk(answers)
    np.testing.assert_allclose(one.mean, many.mean, atol=1e-10)
    np.testing.assert_allclose(one.covariance, many.covariance, atol=1e-10)
    assert one.answers.tolist() == many.answers.tolist()


def test_no_time_changes_nothing_and_a_long_time_ends_at_the_prior():
    state, _ = walk([(0, True, 1.5, 0.0, 0.2)] * 8)
    assert faded(state, 0.0, PRIOR) is state
    np.testing.assert_allclose(np.diag(faded(state, 1e6, PRIOR).covariance), PRIOR.variances(3))


def test_an_answer_leaves_the_state_before_it_as_it_was():
    before = initial(2, PRIOR)
    copy = before.covariance.copy(), before.answers.copy()
    moved(faded(before, 2.0, PRIOR), 1, np.zeros(121))
    assert (before.covariance == copy[0]).all()
    assert (before.answers == copy[1]).all()


@pytest.mark.parametrize("objective", [0, 1])
def test_an_answer_that_says_nothing_moves_nothing(objective):
    before = initial(2, PRIOR)
    after = moved(before, objective, np.full(121, -3.0))
    np.testing.assert_allclose(after.mean, before.mean, atol=1e-12)
    np.testing.assert_allclose(after.covariance, before.covariance, atol=1e-6)
