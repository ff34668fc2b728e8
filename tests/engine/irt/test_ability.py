import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import (
    NODES,
    eap,
    estimate,
    grid,
    log_posteriors,
    moments,
    normal_log_prior,
    posterior,
    probability,
    update,
)

items = st.tuples(st.floats(0.05, 4.0), st.floats(-5.0, 5.0), st.floats(0.0, 0.4), st.floats(0.7, 1.0))
answers = st.lists(st.tuples(st.booleans(), items), max_size=40)


@pytest.fixture
def reference(shared):
    return shared / "data" / "responses"


def after(given_answers):
    log_posterior = normal_log_prior()
    for right, item in given_answers:
        log_posterior = update(log_posterior, right, *item)
    return log_posterior


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def column(table, name):
    return np.array([float(row[name]) for row in table])


def patterns(table):
    return np.array([[float(answer) for answer in row["pattern"].lstrip("'")] for row in table])


def test_lsat6_abilities_of_the_2pl_are_those_of_r_mirt(reference):
    items, people = rows(reference / "ref_lsat6_items.csv"), rows(reference / "ref_lsat6_2pl_person_scores.csv")
    a, intercept = column(items, "pl2_a"), column(items, "pl2_d")
    mean, sd = eap(patterns(people), a, -intercept / a)
    assert mean == pytest.approx(column(people, "EAP"), abs=1e-5)
    assert sd == pytest.approx(column(people, "SE_EAP"), abs=1e-5)


def test_lsat6_abilities_of_the_rasch_model_are_those_of_r_mirt(reference):
    items, people = rows(reference / "ref_lsat6_items.csv"), rows(reference / "ref_lsat6_rasch_person_scores.csv")
    variance = next(float(row["rasch_mml_var"]) for row in rows(reference / "ref_summary.csv") if row["set"] == "lsat6")
    prior = normal_log_prior(sd=variance**0.5)
    mean, sd = eap(patterns(people), 1.0, column(items, "rasch_mml_b"), log_prior=prior)
    assert mean == pytest.approx(column(people, "EAP"), abs=1e-5)
    assert sd == pytest.approx(column(people, "SE_EAP"), abs=1e-5)


def test_without_answers_the_posterior_is_the_prior():
    assert estimate(normal_log_prior(0.7, 0.5)) == pytest.approx((0.7, 0.5), abs=1e-6)
    mean, sd = eap(np.full((1, 2), np.nan), 1.0, np.zeros(2))
    assert (mean[0], sd[0]) == pytest.approx((0.0, 1.0), abs=1e-6)


def test_updating_leaves_the_posterior_it_was_given_alone():
    before = normal_log_prior()
    update(before, True, 1.0, 0.0)
    assert (before == normal_log_prior()).all()


def test_one_answer_at_a_time_comes_to_the_same_as_all_at_once():
    rng = np.random.default_rng(3)
    item = np.column_stack([rng.uniform(0.5, 2.0, 25), rng.normal(size=25), np.full(25, 0.2), np.full(25, 0.98)])
    right = rng.random(25) < 0.6
    mean, sd = eap(right[None, :].astype(float), *item.T)
    assert estimate(after(zip(right, item, strict=True))) == pytest.approx((mean[0], sd[0]), abs=1e-12)


def test_an_unadministered_item_tells_nothing():
    given_all = eap(np.array([[1.0, np.nan, 0.0]]), 1.0, np.array([0.0, 1.0, 2.0]))
    given_two = eap(np.array([[1.0, 0.0]]), 1.0, np.array([0.0, 2.0]))
    assert np.array(given_all) == pytest.approx(np.array(given_two), abs=1e-14)


def test_learners_do_not_touch_each_other():
    responses = np.random.default_rng(0).integers(0, 2, (6, 8)).astype(float)
    b = np.linspace(-2.0, 2.0, 8)
    together = eap(responses, 1.2, b)[0]
    assert together == pytest.approx([eap(row[None, :], 1.2, b)[0][0] for row in responses], abs=1e-13)


@given(answers, st.booleans(), items)
def test_a_wrong_answer_never_raises_the_estimate_and_a_right_one_never_lowers_it(given_answers, right, item):
    before = after(given_answers)
    change = estimate(update(before, right, *item)).theta - estimate(before).theta
    assert change >= -1e-9 if right else change <= 1e-9


@given(answers, st.randoms())
def test_the_order_of_the_answers_changes_nothing(given_answers, random):
    shuffled = random.sample(given_answers, len(given_answers))
    assert estimate(after(shuffled)) == pytest.approx(estimate(after(given_answers)), abs=1e-9)


EXTREME = st.floats(-1e300, 1e300)


@given(st.lists(st.tuples(st.booleans(), st.tuples(EXTREME, EXTREME, st.floats(0.0, 0.5), st.just(1.0))), max_size=50))
def test_absurd_and_contradictory_items_leave_a_finite_ability_on_the_grid(given_answers):
    theta, standard_error = estimate(after(given_answers))
    assert NODES[0] <= theta <= NODES[-1]
    assert 0.0 <= standard_error <= NODES[-1] - NODES[0]


@pytest.mark.parametrize("right", [True, False])
def test_all_right_and_all_wrong_are_finite_and_certain_of_the_direction(right):
    theta, standard_error = estimate(after([(right, (1.0, 0.0, 0.0, 1.0))] * 30))
    assert 2.0 < (theta if right else -theta) < 6.0
    assert 0.2 < standard_error < 1.0


def test_five_hundred_answers_do_not_degrade_the_grid():
    rng = np.random.default_rng(11)
    a, b = np.exp(rng.normal(0.0, 0.3, 500)), rng.normal(0.3, 0.7, 500)
    responses = (rng.random((20, 500)) < probability(np.full(20, 0.3), a, b)).astype(float)
    mean, sd = eap(responses, a, b)
    fine_mean, fine_sd = eap(responses, a, b, nodes=grid(-6.0, 6.0, 4801))
    assert mean == pytest.approx(fine_mean, abs=1e-5)
    assert sd == pytest.approx(fine_sd, abs=1e-5)


def test_moments_are_those_of_the_normal_they_came_from():
    mean, sd = moments(posterior(np.stack([normal_log_prior(-1.0, 0.4), normal_log_prior(1.5, 0.8)])))
    assert mean == pytest.approx([-1.0, 1.5], abs=1e-6)
    assert sd == pytest.approx([0.4, 0.8], abs=1e-6)


def test_the_grid_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        NODES[0] = 0.0


@pytest.mark.parametrize(
    ("responses", "message"),
    [
        (np.ones(3), "1 dimensions, 2 expected"),
        (np.ones((2, 4)), "4 response columns, but b has shape"),
        (np.full((2, 3), 0.5), r"a response of 0\.5: 1, 0 or NaN expected"),
    ],
)
def test_responses_that_do_not_fit_are_refused_with_their_place(responses, message):
    with pytest.raises(ValueError, match=message):
        log_posteriors(responses, 1.0, np.zeros(3))


@pytest.mark.parametrize("sd", [0.0, -1.0, np.inf, np.nan])
def test_a_prior_needs_a_positive_finite_spread(sd):
    with pytest.raises(ValueError, match="a finite sd above 0"):
        normal_log_prior(sd=sd)
