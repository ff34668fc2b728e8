import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import log_probabilities, probability

THETA = np.linspace(-4.0, 4.0, 33)


def test_people_are_rows_and_items_columns():
    assert probability(np.zeros(5), np.ones(3), np.zeros(3)).shape == (5, 3)
    assert log_probabilities(0.0, np.ones(3), np.zeros(3))[0].shape == (3,)


def test_the_curve_is_the_closed_form():
    expected = 0.2 + (0.95 - 0.2) / (1.0 + np.exp(-1.3 * (THETA - 0.4)))
    assert probability(THETA, 1.3, 0.4, 0.2, 0.95)[:, 0] == pytest.approx(expected, rel=1e-14)


def test_at_its_difficulty_an_item_is_halfway_between_its_asymptotes():
    assert probability(1.5, 2.0, 1.5, 0.25, 0.9) == pytest.approx(0.575, rel=1e-14)


def test_the_smaller_models_are_special_cases_of_the_4pl():
    a, b = np.full(4, 1.0), np.array([-2.0, -0.5, 0.5, 2.0])
    rasch = 1.0 / (1.0 + np.exp(b - THETA[:, None]))
    assert probability(THETA, a, b, np.zeros(4), np.ones(4)) == pytest.approx(rasch, rel=1e-14)
    assert probability(THETA, 1.0, b) == pytest.approx(rasch, rel=1e-14)


def test_a_negative_discrimination_mirrors_the_curve():
    assert probability(THETA, -1.4, 0.3) == pytest.approx(1.0 - probability(THETA, 1.4, 0.3), abs=1e-15)


def test_log_probabilities_are_logarithms_of_the_probabilities():
    p = probability(THETA, 1.3, 0.4, 0.2, 0.95)
    log_right, log_wrong = log_probabilities(THETA, 1.3, 0.4, 0.2, 0.95)
    assert log_right == pytest.approx(np.log(p), rel=1e-13)
    assert log_wrong == pytest.approx(np.log(1.0 - p), rel=1e-13)


def test_log_probabilities_keep_their_digits_where_the_curve_is_flat():
    log_right, log_wrong = log_probabilities(np.array([50.0, -50.0]), 1.0, 0.0)
    assert log_right[:, 0] == pytest.approx([-np.exp(-50.0), -50.0], rel=1e-12)
    assert log_wrong[:, 0] == pytest.approx([-50.0, -np.exp(-50.0)], rel=1e-12)


def test_guessing_bounds_what_a_right_answer_can_cost():
    assert log_probabilities(-1e6, 3.0, 0.0, 0.25)[0] == pytest.approx(np.log(0.25))
    assert log_probabilities(1e6, 3.0, 0.0, 0.25, 0.9)[1] == pytest.approx(np.log(0.1))


EXTREME = st.floats(-1e300, 1e300)


@given(theta=EXTREME, a=EXTREME, b=EXTREME, c=st.floats(0.0, 0.5), d=st.floats(0.6, 1.0))
def test_no_finite_parameters_give_anything_but_finite_numbers(theta, a, b, c, d):
    p = probability(theta, a, b, c, d)
    log_right, log_wrong = log_probabilities(theta, a, b, c, d)
    assert ((c - 1e-15 <= p) & (p <= d + 1e-15)).all()
    assert np.isfinite([log_right, log_wrong]).all()
    assert (np.array([log_right, log_wrong]) <= 1e-15).all()
