from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from engine.irt import probability
from engine.selection import PRACTICE, Profile
from engine.selection.criteria import readiness_gain
from engine.selection.teaching import HEADROOM, shortfall, suitability, worth
from tests.factories.pools import make_context, make_pool

EVERY = np.ones(3, dtype=bool)
NONE = np.zeros(3, dtype=np.int64)
EVEN = np.ones(3)
POLICY = replace(PRACTICE, randomesque=1)


def profile(abilities=(0.0, 0.0, 0.0), errors=(0.4, 0.4, 0.4), cut=0.0):
    return Profile(np.array(abilities), np.array(errors), cut)


def test_the_shortfall_is_the_mean_distance_to_what_is_needed():
    found = shortfall(profile((-1.0, 0.3, 2.0), (0.2, 0.6, 1.1), 0.1))
    for m, s, value in zip((-1.0, 0.3, 2.0), (0.2, 0.6, 1.1), found, strict=True):
        need = 0.1 + HEADROOM
        assert value == pytest.approx(quad(lambda x: (need - x) * norm.pdf(x, m, s), -20.0, need)[0], rel=1e-6)  # noqa: B023 used at once


@given(st.floats(-4, 4), st.floats(0.05, 2), st.floats(0.01, 2))
def test_the_weaker_and_the_less_known_lack_more(ability, error, more):
    found = shortfall(profile((ability, ability - more, ability), (error, error, error + more)))
    assert found[1] >= found[0] - 1e-12
    assert found[2] >= found[0] - 1e-12
    assert (found >= 0.0).all()


def test_worth_grows_with_the_root_of_weight_and_falls_with_answers_of_the_sitting():
    found = worth(profile(), np.array([1.0, 9.0, 1.0]), np.array([0, 0, 1]), EVERY)
    assert found[1] == pytest.approx(3.0 * found[0])
    assert found[2] == pytest.approx(0.5 * found[0])


def test_when_all_is_mastered_the_blueprint_decides():
    found = worth(profile((9.0, 9.0, 9.0)), np.array([1.0, 2.0, 1.0]), NONE, EVERY)
    assert found == pytest.approx(found[0] * np.sqrt([1.0, 2.0, 1.0]))
    assert found[0] > 0.0


def test_only_objectives_with_something_to_serve_share_the_worth():
    in_play = np.array([True, False, True])
    found = worth(None, np.array([0.0, 1.0, 0.0]), NONE, in_play)
    assert found == pytest.approx([np.sqrt(0.5), 0.0, np.sqrt(0.5)])


@given(st.floats(0.05, 0.95))
def test_an_item_at_the_target_suits_best(target):
    b = np.linspace(-4.0, 4.0, 81)
    found = suitability(np.zeros(81), np.ones(81), b, np.zeros(81), np.ones(81), target=target)
    p = probability(0.0, np.ones(81), b, np.zeros(81), np.ones(81))
    assert found.argmax() == np.abs(p - target).argmin()
    assert ((found >= 0.0) & (found <= 1.0)).all()


def gains(pool, **changes):
    return readiness_gain(make_context(pool, policy=POLICY, **changes), slice(0, len(pool)))


ALIKE = make_pool(3, objectives=3, a=np.ones(3), b=np.full(3, -0.8), c=np.zeros(3))


def test_of_items_alike_the_one_of_the_weightier_weaker_or_less_known_objective_comes_first():
    weighty = make_pool(3, objectives=3, a=np.ones(3), b=EVEN, c=np.zeros(3), objective_weights=np.array([1.0, 2.0, 1]))
    assert gains(weighty, profile=profile()).argmax() == 1
    assert gains(ALIKE, profile=profile((0.0, 0.0, -0.2))).argmax() == 2
    assert gains(ALIKE, profile=profile(errors=(0.4, 0.9, 0.4))).argmax() == 1


def test_an_objective_just_practised_gives_way():
    found = gains(ALIKE, profile=profile(), administered=np.array([0]))
    assert found[0] == pytest.approx(0.5 * found[1])


def test_without_a_profile_the_one_ability_counts():
    found = gains(ALIKE)
    assert found == pytest.approx(np.full(3, found[0]))
    assert found[0] > 0.0


@pytest.mark.parametrize("weights", [np.zeros(4), np.array([0.0, 0.0, 0.0, 1.0])])
def test_without_weights_or_with_all_weight_where_nothing_is_left_any_objective_will_do(weights):
    codes = tuple("abcd")  # the last one has no items
    pool = make_pool(6, objectives=3, objective_codes=codes, objective_weights=weights)
    found = gains(pool, profile=Profile(np.zeros(4), np.full(4, 0.5), 0.0))
    assert np.isfinite(found).all()
    assert (found > 0.0).any()


def test_an_item_has_the_same_gain_in_every_slice():
    pool = make_pool(30)
    context = make_context(pool, policy=POLICY, profile=profile((0.3, -0.4, 0.9)), administered=np.array([3, 12]))
    whole = readiness_gain(context, slice(0, 30))
    assert np.array_equal(whole[10:20], readiness_gain(context, pool.span(1)))


def test_absurd_items_have_finite_gains():
    pool = make_pool(4, objectives=1, a=np.array([0.0, 1e6, -1e6, 1.0]), b=np.array([0.0, 1e6, 1.0, -1e6]))
    found = readiness_gain(
        make_context(pool, policy=POLICY, profile=Profile(np.zeros(1), np.full(1, 1e-4), 50.0)), slice(0, 4)
    )
    assert np.isfinite(found).all()
