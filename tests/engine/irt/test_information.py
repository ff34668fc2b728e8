import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import information, log_probabilities, probability

THETA = np.linspace(-3.0, 3.0, 25)
H = 1e-4


def test_it_is_the_squared_slope_over_the_variance_of_the_answer():
    item = (1.7, 0.3, 0.22, 0.96)
    slope = (probability(THETA + H, *item) - probability(THETA - H, *item)) / (2 * H)
    p = probability(THETA, *item)
    assert information(THETA, *item) == pytest.approx(slope**2 / (p * (1.0 - p)), rel=1e-6)


def test_it_is_the_expected_negative_curvature_of_the_log_likelihood():
    item = (1.2, -0.4, 0.15, 0.98)

    def curvature(outcome):
        low, mid, high = (log_probabilities(THETA + shift, *item)[outcome] for shift in (-H, 0.0, H))
        return (high - 2.0 * mid + low) / H**2

    p = probability(THETA, *item)
    assert information(THETA, *item) == pytest.approx(-(p * curvature(0) + (1 - p) * curvature(1)), abs=1e-6)


def test_the_2pl_peaks_at_its_difficulty_with_a_quarter_of_the_squared_slope():
    values = information(THETA, 1.6, 0.5)[:, 0]
    assert THETA[values.argmax()] == pytest.approx(0.5)
    assert values.max() == pytest.approx(1.6**2 / 4.0, rel=1e-14)


def test_the_3pl_peaks_where_birnbaum_says():
    # Birnbaum (1968), in Lord & Novick, chapter 20: b + log((1 + sqrt(1 + 8 c)) / 2) / a
    fine = np.linspace(-1.0, 2.0, 30_001)
    peak = fine[information(fine, 1.4, 0.2, 0.25)[:, 0].argmax()]
    assert peak == pytest.approx(0.2 + np.log((1.0 + np.sqrt(3.0)) / 2.0) / 1.4, abs=2e-4)


def test_guessing_and_slipping_only_take_information_away():
    plain = information(THETA, 1.3, 0.0)
    assert (information(THETA, 1.3, 0.0, 0.2) < plain).all()
    assert (information(THETA, 1.3, 0.0, 0.0, 0.9) < plain).all()


def test_the_sign_of_the_discrimination_does_not_matter_to_the_2pl():
    assert (information(THETA, -1.3, 0.4) == information(THETA, 1.3, 0.4)).all()


EXTREME = st.floats(-1e300, 1e300)


@given(theta=EXTREME, a=EXTREME, b=EXTREME, c=st.floats(0.0, 0.5), d=st.floats(0.6, 1.0))
def test_it_is_finite_and_never_negative(theta, a, b, c, d):
    value = information(theta, a, b, c, d)
    assert np.isfinite(value).all()
    assert (value >= 0.0).all()


def test_an_absurd_item_at_its_own_difficulty_stays_finite():
    assert np.isfinite(information(2.0, 1e300, 2.0, 0.2)).all()
