import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import (
    NODES,
    category_information,
    category_log_likelihood,
    category_probability,
    eap,
    expected_points,
    graded_response,
    information,
    log_posteriors,
    log_probabilities,
    moments,
    nominal,
    normal_log_prior,
    partial_credit,
    posterior,
    probability,
)

THETA = np.linspace(-4.0, 4.0, 33)
A = np.array([0.7, 1.4, 2.2])
B = np.array([[-1.0, 0.2, 1.5], [-0.5, 0.5, np.nan], [0.3, np.nan, np.nan]])
SLOPES = np.array([[-0.8, 0.1, 0.7], [0.4, -0.4, np.nan]])
INTERCEPTS = np.array([[0.3, -0.5, 0.2], [1.0, -1.0, np.nan]])
MODELS = {
    "graded_response": lambda theta: graded_response(theta, A, B),
    "partial_credit": lambda theta: partial_credit(theta, A, B),
    "nominal": lambda theta: nominal(theta, SLOPES, INTERCEPTS),
}
EVERY_MODEL = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@EVERY_MODEL
def test_the_categories_of_an_item_share_out_all_probability(model):
    p = category_probability(model(THETA))
    assert p.sum(axis=-1) == pytest.approx(np.ones(p.shape[:-1]), abs=1e-14)
    assert (p >= 0.0).all()


@EVERY_MODEL
def test_a_category_that_an_item_does_not_have_is_never_chosen(model):
    categories = model(THETA)
    assert (categories.log_probability[:, -1, 2:] == -np.inf).all()
    assert (categories.score[:, -1, 2:] == 0.0).all()


@EVERY_MODEL
def test_the_score_is_the_derivative_of_the_log_probability(model):
    h = 1e-5
    high, low = model(THETA + h).log_probability, model(THETA - h).log_probability
    exists = np.isfinite(high)
    assert model(THETA).score[exists] == pytest.approx((high[exists] - low[exists]) / (2.0 * h), abs=1e-7)


@EVERY_MODEL
def test_information_is_the_expected_negative_curvature(model):
    h = 1e-4
    change = (model(THETA + h).score - model(THETA - h).score) / (2.0 * h)
    curvature = (category_probability(model(THETA)) * change).sum(axis=-1)
    assert category_information(model(THETA)) == pytest.approx(-curvature, rel=1e-5, abs=1e-9)


def test_the_graded_response_model_is_the_difference_of_two_curves():
    above = probability(THETA, 0.7, B[0])
    expected = np.column_stack([1.0 - above[:, 0], above[:, 0] - above[:, 1], above[:, 1] - above[:, 2], above[:, 2]])
    assert category_probability(graded_response(THETA, A, B))[:, 0] == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("model", [graded_response, partial_credit])
def test_with_two_categories_both_are_the_2pl(model):
    a, b = np.array([0.8, -1.3, 2.5]), np.array([-1.0, 0.4, 1.2])
    categories = model(THETA, a, b[:, None])
    log_right, log_wrong = log_probabilities(THETA, a, b)
    assert categories.log_probability == pytest.approx(np.stack([log_wrong, log_right], axis=-1), abs=1e-13)
    assert category_information(categories) == pytest.approx(information(THETA, a, b), rel=1e-12)


def test_with_a_of_1_partial_credit_is_masters_model_and_with_two_categories_rasch():
    # Masters (1982), Psychometrika 47(2), 149-174
    powers = np.exp(np.column_stack([0.0 * THETA, THETA + 1.0, (THETA + 1.0) + (THETA - 0.2)]))
    masters = powers / powers.sum(axis=1, keepdims=True)
    found = category_probability(partial_credit(THETA, np.ones(1), np.array([[-1.0, 0.2]])))[:, 0]
    assert found == pytest.approx(masters, rel=1e-13)
    rasch = category_probability(partial_credit(THETA, np.ones(1), np.array([[0.6]])))[:, 0, 1]
    assert rasch == pytest.approx(1.0 / (1.0 + np.exp(0.6 - THETA)), rel=1e-13)


def test_the_nominal_model_with_evenly_rising_slopes_is_partial_credit():
    a, b = 1.3, np.array([-0.4, 0.9, 0.1])
    slopes, intercepts = a * np.arange(4.0) - 5.0, np.append(0.0, -a * np.cumsum(b)) + 2.0
    bock = nominal(THETA, slopes[None], intercepts[None])
    muraki = partial_credit(THETA, np.array([a]), b[None])
    assert bock.log_probability == pytest.approx(muraki.log_probability, abs=1e-12)
    assert bock.score == pytest.approx(muraki.score, abs=1e-12)


def test_neighbouring_categories_of_partial_credit_cross_at_their_step():
    b = np.array([[0.8, -0.6]])  # in no order
    p = category_probability(partial_credit(b[0], np.array([1.7]), b))[:, 0]
    assert p[0, 0] == pytest.approx(p[0, 1])
    assert p[1, 1] == pytest.approx(p[1, 2])


def test_points_rise_with_ability_and_are_worth_what_is_said():
    categories = partial_credit(THETA, A, B)
    assert (np.diff(expected_points(categories), axis=0) > 0.0).all()
    assert expected_points(categories, np.array([0.0, 0.0, 0.0, 2.0]))[:, 0] == pytest.approx(
        2.0 * category_probability(categories)[:, 0, 3]
    )


def test_the_likelihood_of_hci_under_r_mirts_nominal_parameters_is_mirts(shared):
    """651 students, 20 items, options A to E; maximum log-likelihood -11541.34 with 61 nodes. Parameters have 6 digits,
    and at a maximum that costs nothing; a hundredth is what its printed value shows."""
    folder = shared / "data" / "responses"
    with (folder / "ref_hci_nominal.csv").open() as file:
        parameters = list(csv.DictReader(file))
    with (folder / "hci_options.csv").open() as file:
        people = list(csv.DictReader(file))
    items = list(dict.fromkeys(row["item"] for row in parameters))
    slopes, intercepts = np.full((2, len(items), 5), np.nan)
    for row in parameters:
        at = items.index(row["item"]), "ABCDE".index(row["option"])
        slopes[at], intercepts[at] = float(row["slope_sum0"]), float(row["intercept_sum0"])
    chosen = np.array([["ABCDE".index(person[item]) for item in items] for person in people], dtype=float)
    joint = category_log_likelihood(nominal(NODES, slopes, intercepts), chosen) + normal_log_prior()
    peak = joint.max(axis=1)
    assert (peak + np.log(np.exp(joint - peak[:, None]).sum(axis=1))).sum() == pytest.approx(-11541.34, abs=0.01)


def test_which_distractor_was_chosen_says_something_about_ability():
    # Two wrong options, one of which attracts those of low ability.
    item = nominal(NODES, np.array([[1.0, 0.0, -1.0]]), np.zeros((1, 3)))
    joint = category_log_likelihood(item, np.array([[0.0], [1.0], [2.0]])) + normal_log_prior()
    right, near, far = moments(posterior(joint))[0]
    assert right > near + 0.3 > far + 0.6


def test_the_chosen_option_tells_at_least_as_much_as_right_or_wrong():
    categories = nominal(THETA, SLOPES, INTERCEPTS)
    p, score = category_probability(categories)[:, 0, 2], categories.score[:, 0, 2]  # the third option is the key
    right_or_wrong = np.square(p * score) / (p * (1.0 - p))
    assert (category_information(categories)[:, 0] > right_or_wrong).all()


@EVERY_MODEL
def test_simulated_abilities_come_back_as_well_as_the_standard_errors_say(model, rng):
    # 4,000 learners from the prior, each item ten times: a mean square is known to sqrt(2 / 4000) of
    # itself; four of those.
    truth = rng.normal(size=4_000)
    p = np.tile(category_probability(model(truth)), (1, 10, 1))
    chosen = (rng.random((*p.shape[:2], 1)) > np.cumsum(p, axis=-1)[..., :-1]).sum(axis=-1).astype(float)
    nodes = model(NODES)
    repeated = type(nodes)(*(np.tile(part, (1, 10, 1)) for part in nodes))
    mean, sd = moments(posterior(category_log_likelihood(repeated, chosen) + normal_log_prior()))
    assert np.mean(np.square(mean - truth)) == pytest.approx(np.mean(np.square(sd)), rel=4.0 * np.sqrt(2.0 / 4_000))
    assert np.mean(mean - truth) == pytest.approx(0.0, abs=4.0 * np.sqrt(np.mean(np.square(sd)) / 4_000))
    assert np.mean(np.square(sd)) < 0.25


def test_more_points_never_lower_the_estimate(rng):
    categories = partial_credit(NODES, np.array([1.2]), np.array([[0.7, -0.9, 0.1]]))
    before = np.log(rng.random((20, 1, 121)))  # whatever was answered so far
    after = before + category_log_likelihood(categories, np.arange(4.0)[:, None])
    assert (np.diff(moments(posterior(after))[0], axis=1) > 0.0).all()


def test_dichotomous_and_polytomous_answers_add_up():
    two = np.array([[1.0, 0.0]])
    joint = log_posteriors(two, 1.1, np.array([0.2, -0.3]))
    joint = joint + category_log_likelihood(
        partial_credit(NODES, np.array([0.9]), np.array([[0.5]])), np.array([[1.0]])
    )
    expected = eap(np.array([[1.0, 0.0, 1.0]]), np.array([1.1, 1.1, 0.9]), np.array([0.2, -0.3, 0.5]))
    assert np.array(moments(posterior(joint))) == pytest.approx(np.array(expected), abs=1e-12)


def test_items_not_administered_tell_nothing():
    categories = graded_response(NODES, A, B)
    assert (category_log_likelihood(categories, np.full((2, 3), np.nan)) == 0.0).all()


@pytest.mark.parametrize("choice", [3.0, -1.0, 0.5])
def test_a_choice_that_an_item_does_not_have_is_refused_with_its_place(choice):
    with pytest.raises(ValueError, match=r"learner 1 chose category .* item 1 does not have"):
        category_log_likelihood(graded_response(NODES, A, B), np.array([[3.0, 2.0, 1.0], [0.0, choice, 0.0]]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: graded_response(0.0, np.ones(1), np.array([[1.0, 0.0]])), "must ascend"),
        (lambda: graded_response(0.0, -np.ones(1), np.array([[0.0, 1.0]])), "must ascend"),
        (lambda: partial_credit(0.0, np.ones(2), np.zeros((1, 2))), "items by thresholds"),
        (lambda: partial_credit(0.0, np.ones(1), np.array([[np.nan, 0.0]])), "NaN may only stand on the right"),
        (lambda: nominal(0.0, np.zeros((1, 2)), np.zeros((1, 3))), "items by categories expected"),
        (lambda: category_log_likelihood(graded_response(NODES, A, B), np.zeros((2, 2))), "learners by 3 items"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


EXTREME = st.floats(-1e300, 1e300)


@given(st.lists(EXTREME, min_size=3, max_size=3), EXTREME)
def test_absurd_parameters_leave_finite_numbers(values, a):
    b = np.array([values])
    ordered = np.sort(b) if a >= 0.0 else -np.sort(-b)
    for categories in (
        graded_response(NODES, np.array([a]), ordered),
        partial_credit(NODES, np.array([a]), b),
        nominal(NODES, b, b[:, ::-1]),
    ):
        assert np.isfinite(categories.log_probability).all()
        assert (categories.log_probability <= 1e-15).all()
        assert np.isfinite(categories.score).all()
        assert np.isfinite(category_information(categories)).all()
