import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import DEFAULT_DISCRIMINATION, RATING_MARGIN, difficulty_from_rating, guessing, probability


@given(st.floats(0.3, 0.9), st.floats(-2.0, 2.0), st.floats(0.3, 3.0), st.floats(0.0, 0.25))
def test_a_just_qualified_candidate_is_right_as_often_as_the_judge_said(rating, theta_cut, a, c):
    b = difficulty_from_rating(rating, theta_cut=theta_cut, a=a, c=c)
    assert probability(theta_cut, a, b, c) == pytest.approx(rating, abs=1e-12)


def test_an_item_rated_halfway_above_guessing_is_as_hard_as_the_cut_score():
    assert difficulty_from_rating(0.625, theta_cut=-0.3, c=0.25) == pytest.approx(-0.3, abs=1e-12)


def test_easier_ratings_never_give_harder_items():
    b = difficulty_from_rating(np.linspace(0.0, 1.0, 101), theta_cut=0.5, c=0.25)
    assert (np.diff(b) <= 0.0).all()


def test_ratings_at_or_below_guessing_and_of_certainty_stay_within_the_margin():
    b = difficulty_from_rating(np.array([0.0, 0.25, 1.0]), theta_cut=0.0, c=0.25)
    furthest = np.log((1.0 - RATING_MARGIN) / RATING_MARGIN) / DEFAULT_DISCRIMINATION
    assert b == pytest.approx([furthest, furthest, -furthest])


@pytest.mark.parametrize("rating", [-0.1, 1.1, np.nan])
def test_a_rating_outside_0_to_1_is_refused(rating):
    with pytest.raises(ValueError, match="a rating outside"):
        difficulty_from_rating(rating, theta_cut=0.0)


def test_an_item_that_does_not_discriminate_has_no_difficulty():
    with pytest.raises(ValueError, match="above 0"):
        difficulty_from_rating(0.5, theta_cut=0.0, a=0.0)


def test_guessing_is_one_in_the_number_of_options():
    assert [guessing(options) for options in (2, 4, 5)] == [0.5, 0.25, 0.2]
    with pytest.raises(ValueError, match="at least 2"):
        guessing(1)
