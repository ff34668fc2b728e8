import csv

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.irt import (
    BOUNDS,
    eap,
    information,
    log_probabilities,
    maximum_likelihood,
    maximum_posterior,
    normal_log_prior,
    probability,
    weighted_likelihood,
)

ESTIMATORS = [maximum_likelihood, maximum_posterior, weighted_likelihood]
FINE = np.linspace(*BOUNDS, 240_001)  # 1e-4 apart
WIDTH = BOUNDS[1] - BOUNDS[0]

guessed = st.tuples(st.floats(0.05, 6.0), st.floats(-6.0, 6.0), st.floats(0.0, 0.4), st.floats(0.7, 1.0))
patterns = st.lists(st.tuples(st.booleans(), guessed), max_size=30)


def estimate(estimator, answers, **options):
    right, items = [answer for answer, _ in answers], np.array([item for _, item in answers]).reshape(-1, 4)
    found = estimator(np.array([right], dtype=float).reshape(1, -1), *items.T, **options)
    return found.theta[0], found.standard_error[0], found.at_bound[0]


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def column(table, name):
    return np.array([np.nan if row[name] == "NA" else float(row[name]) for row in table])


# Reference values. mirt stops its search at about 1e-5 logits and takes second derivatives numerically: 5e-5 for an
# ability, 1e-3 of a standard error.


def agree(found, table, theta, standard_error):
    expected = column(table, theta)
    finite = np.isfinite(expected)
    assert (found.at_bound == ~finite).all()
    assert (found.theta[~finite] == np.where(expected[~finite] > 0.0, BOUNDS[1], BOUNDS[0])).all()
    assert found.theta[finite] == pytest.approx(expected[finite], abs=5e-5)
    assert found.standard_error[finite] == pytest.approx(column(table, standard_error)[finite], rel=1e-3)


@pytest.fixture
def lsat6(shared):
    """Items, one learner per observed pattern, and the variance of the Rasch model's prior."""
    folder = shared / "data" / "responses"
    summary = next(row for row in rows(folder / "ref_summary.csv") if row["set"] == "lsat6")
    people = {model: rows(folder / f"ref_lsat6_{model}_person_scores.csv") for model in ("rasch", "2pl")}
    return rows(folder / "ref_lsat6_items.csv"), people, float(summary["rasch_mml_var"])


def answers_of(people):
    return np.array([[float(answer) for answer in row["pattern"].lstrip("'")] for row in people])


def test_lsat6_scores_of_the_2pl_are_those_of_r_mirt(lsat6):
    items, people = lsat6[0], lsat6[1]["2pl"]
    a = column(items, "pl2_a")
    b = -column(items, "pl2_d") / a
    agree(maximum_posterior(answers_of(people), a, b), people, "MAP", "SE_MAP")
    agree(weighted_likelihood(answers_of(people), a, b), people, "WLE", "SE_WLE")


def test_lsat6_scores_of_the_rasch_model_are_those_of_r_mirt(lsat6):
    items, people, variance = lsat6[0], lsat6[1]["rasch"], lsat6[2]
    b = column(items, "rasch_mml_b")
    agree(maximum_posterior(answers_of(people), 1.0, b, sd=variance**0.5), people, "MAP", "SE_MAP")
    agree(weighted_likelihood(answers_of(people), 1.0, b), people, "WLE", "SE_WLE")


@pytest.fixture
def sat12(shared):
    """A function: model name -> answers (600, 32), item parameters, mirt's scores."""
    responses, reference = shared / "data" / "responses", shared / "peers" / "reference"
    keys = column(rows(responses / "sat12_key.csv"), "key")
    chosen = np.array([[float(option) for option in row.values()] for row in rows(responses / "sat12_options.csv")])

    def read(model):
        items = rows(reference / f"sat12_{model}_items.csv")
        parameters = [column(items, name) for name in ("a", "b", "g", "u")]
        return (chosen == keys).astype(float), parameters, rows(reference / f"sat12_{model}_scores.csv")

    return read


@pytest.mark.parametrize(("model", "sd"), [("rasch", 0.81998478615**0.5), ("2pl", 1.0), ("3pl_prior", 1.0)])
def test_sat12_scores_are_those_of_r_mirt(sat12, model, sd):
    answers, items, scores = sat12(model)
    mean, spread = eap(answers, *items, log_prior=normal_log_prior(sd=sd))
    assert mean == pytest.approx(column(scores, "EAP"), abs=1e-5)
    assert spread == pytest.approx(column(scores, "EAP_SE"), abs=1e-5)
    agree(maximum_posterior(answers, *items, sd=sd), scores, "MAP", "MAP_SE")
    agree(maximum_likelihood(answers, *items), scores, "ML", "ML_SE")
    if model != "3pl_prior":
        agree(weighted_likelihood(answers, *items), scores, "WLE", "WLE_SE")


def test_what_r_mirt_calls_wle_under_the_3pl_is_the_mode_under_jeffreys_prior(sat12):
    # Both are Warm's estimate where c = 0. Ours keeps to his equation under the 3PL; mirt maximises log L + log(I) / 2.
    answers, items, scores = sat12("3pl_prior")
    nodes = np.linspace(-7.0, 7.0, 14_001)
    log_right, log_wrong = log_probabilities(nodes, *items)
    jeffreys = answers @ log_right.T + (1.0 - answers) @ log_wrong.T
    jeffreys += 0.5 * np.log(information(nodes, *items).sum(axis=1))
    assert nodes[jeffreys.argmax(axis=1)] == pytest.approx(column(scores, "WLE"), abs=6e-4)
    warm = weighted_likelihood(answers, *items).theta
    assert 0.1 < np.abs(warm - column(scores, "WLE")).max() < 1.0


# What the estimates are, by other means


def numeric(function, at, h=1e-5):
    return (function(at + h) - function(at - h)) / (2.0 * h)


def test_warms_equation_holds_with_derivatives_taken_numerically(rng):
    items = [rng.uniform(0.6, 2.0, 12), rng.normal(size=12), np.full(12, 0.2), np.full(12, 0.97)]
    answers = (rng.random((1, 12)) < 0.5).astype(float)
    theta = weighted_likelihood(answers, *items).theta[0]

    def slope_of_likelihood(at):
        def value(x):
            log_right, log_wrong = log_probabilities(x, *items)
            return (answers[0] * log_right + (1.0 - answers[0]) * log_wrong).sum()

        return numeric(value, at)

    def warm(at):
        p = probability(at, *items)
        first = numeric(lambda x: probability(x, *items), at)
        second = numeric(lambda y: numeric(lambda x: probability(x, *items), y, 1e-4), at, 1e-4)
        j, i = (first * second / (p * (1.0 - p))).sum(), (first**2 / (p * (1.0 - p))).sum()
        return slope_of_likelihood(at) + j / (2.0 * i)

    assert warm(theta) == pytest.approx(0.0, abs=1e-5)
    standard_error = weighted_likelihood(answers, *items).standard_error[0]
    assert standard_error == pytest.approx((-numeric(warm, theta, 1e-3)) ** -0.5, rel=1e-3)


def test_the_rasch_estimate_has_the_expected_score_of_its_raw_score():
    b = np.array([-1.5, -0.4, 0.3, 0.9, 2.0])
    answers = np.tril(np.ones((5, 5)))[:4]  # 1 to 4 right
    found = maximum_likelihood(answers, 1.0, b)
    assert probability(found.theta, 1.0, b).sum(axis=1) == pytest.approx([1.0, 2.0, 3.0, 4.0], abs=1e-9)
    assert found.standard_error == pytest.approx(information(found.theta, 1.0, b).sum(axis=1) ** -0.5, rel=1e-9)


@given(patterns)
def test_no_ability_inside_the_bounds_is_likelier_than_the_global_maximum(answers):
    assume(answers)
    theta, _, at_bound = estimate(maximum_likelihood, answers)
    log_right, log_wrong = log_probabilities(np.append(FINE[::100], theta), *np.array([item for _, item in answers]).T)
    values = np.where([right for right, _ in answers], log_right, log_wrong).sum(axis=1)
    assert at_bound or values[-1] >= values.max() - 2e-9


def test_of_two_maxima_the_higher_one_is_found():
    # Samejima (1973): a wrong answer to an easy item makes a second mode far from where the hard ones lead.
    items = np.array([(2.0, b, 0.2, 1.0) for b in (-2.0, -1.5, -1.0, -0.5, 2.0, 2.5, 3.0, 4.0)]).T
    answers = np.array([[1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]])
    log_right, log_wrong = log_probabilities(FINE, *items)
    values = np.where(answers == 1.0, log_right, log_wrong).sum(axis=1)
    peaks = np.flatnonzero((values[1:-1] > values[:-2]) & (values[1:-1] > values[2:])) + 1
    assert peaks.size == 2
    best = FINE[peaks[values[peaks].argmax()]]
    assert maximum_likelihood(answers, *items).theta[0] == pytest.approx(best, abs=1e-4)


def test_between_steep_items_the_global_maximum_is_found_too(rng):
    # Nodes 0.1 apart would miss it for some patterns in a thousand.
    items = [np.full(16, 29.0), rng.normal(0.0, 0.3, 16), np.full(16, 0.1), np.full(16, 0.9)]
    answers = (rng.random((3_000, 16)) < 0.5).astype(float)
    found = maximum_likelihood(answers, *items)
    inside = np.linspace(-1.5, 1.5, 3_001)
    log_right, log_wrong = log_probabilities(inside, *items)
    highest = (answers @ log_right.T + (1.0 - answers) @ log_wrong.T).max(axis=1)
    reached = np.where(answers == 1.0, *log_probabilities(found.theta, *items)).sum(axis=1)
    assert (reached >= highest - 2e-9)[~found.at_bound].all()
    assert found.at_bound.mean() < 0.5


# Edges


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("item", [(1.0, 0.0, 0.0, 1.0), (1.7, 0.5, 0.25, 1.0), (1e6, 0.0, 0.2, 1.0)])
def test_all_right_and_all_wrong_have_their_maximum_at_the_bound_and_say_so(right, item):
    theta, standard_error, at_bound = estimate(maximum_likelihood, [(right, item)] * 20)
    assert (theta, at_bound) == (BOUNDS[1] if right else BOUNDS[0], True)
    assert 2.0 < standard_error <= WIDTH


def test_a_mixed_3pl_pattern_that_guessing_explains_best_has_the_lower_bound():
    answers = [(False, (1.5, -1.0, 0.25, 1.0)), (False, (1.5, 0.0, 0.25, 1.0)), (True, (1.5, 2.0, 0.25, 1.0))]
    assert estimate(maximum_likelihood, answers)[::2] == (BOUNDS[0], True)
    theta, _, at_bound = estimate(weighted_likelihood, answers)
    assert (-6.0 < theta < -1.0, at_bound) == (True, False)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_lower_mode_between_the_bounds_does_not_hide_an_infinite_maximum(sign):
    # A flat item answered wrong and a steep, hard one answered right: near 5 the likelihood is above that at the lower
    # bound, but below that at minus infinity. With negative discriminations everything is mirrored.
    answers = [(False, (0.2 * sign, 0.0, 0.0, 1.0)), (True, (6.0 * sign, 4.2 * sign, 0.278, 1.0))]
    items = np.array([item for _, item in answers]).T
    log_right, log_wrong = log_probabilities(sign * np.array([-12.0, 5.0, -1e6]), *items)
    bound, inside, infinity = log_wrong[:, 0] + log_right[:, 1]
    assert bound < inside < infinity
    assert estimate(maximum_likelihood, answers)[::2] == (-12.0 * sign, True)


def test_slips_explain_a_mixed_4pl_pattern_at_the_upper_bound():
    answers = [(True, (1.5, 1.0, 0.0, 0.8))] * 4 + [(False, (1.5, -2.0, 0.0, 0.8))]
    assert estimate(maximum_likelihood, answers)[::2] == (BOUNDS[1], True)


@pytest.mark.parametrize("estimator", [maximum_likelihood, weighted_likelihood])
def test_without_answers_nothing_is_known_and_the_estimate_says_so(estimator):
    found = estimator(np.full((2, 3), np.nan), 1.0, np.zeros(3))
    assert (found.theta == 0.0).all()
    assert (found.standard_error == WIDTH).all()
    assert found.at_bound.all()


def test_without_answers_the_mode_is_the_priors():
    found = maximum_posterior(np.full((1, 3), np.nan), 1.0, np.zeros(3), mean=0.7, sd=0.5)
    assert (found.theta[0], found.standard_error[0], found.at_bound[0]) == (pytest.approx(0.7), 0.5, False)


def test_a_prior_beyond_the_bounds_is_told():
    found = maximum_posterior(np.full((1, 3), np.nan), 1.0, np.zeros(3), mean=2.0, bounds=(-1.0, 1.0))
    assert (found.theta[0], found.at_bound[0]) == (1.0, True)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_learners_and_no_items_are_no_error(estimator):
    assert estimator(np.empty((0, 3)), 1.0, np.zeros(3)).theta.shape == (0,)
    assert estimator(np.empty((2, 0)), 1.0, np.zeros(0)).theta.tolist() == [0.0, 0.0]


EXTREME = st.floats(-1e300, 1e300) | st.floats(-50.0, 50.0)
absurd = st.tuples(EXTREME, EXTREME, st.floats(0.0, 0.5), st.floats(0.6, 1.0))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@given(answers=st.lists(st.tuples(st.booleans(), absurd), max_size=12))
def test_absurd_and_contradictory_items_leave_a_finite_estimate_within_the_bounds(estimator, answers):
    theta, standard_error, _ = estimate(estimator, answers)
    assert BOUNDS[0] <= theta <= BOUNDS[1]
    assert 0.0 < standard_error <= WIDTH


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_contradictory_answers_to_step_like_items_end_between_them(estimator):
    steps = [(True, (1e6, 1.0, 0.0, 1.0)), (False, (1e6, 0.0, 0.0, 1.0))]
    theta, _, at_bound = estimate(estimator, steps)
    assert (-0.1 <= theta <= 1.1, at_bound) == (True, False)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_negative_discrimination_is_the_positive_one_with_right_and_wrong_exchanged(estimator, rng):
    b, answers = rng.normal(size=10), (rng.random((5, 10)) < 0.5).astype(float)
    mirrored = estimator(1.0 - answers, -1.3, b)
    assert mirrored.theta == pytest.approx(estimator(answers, 1.3, b).theta, abs=1e-9)


@pytest.mark.parametrize("estimator", [maximum_likelihood, maximum_posterior])
@given(answers=patterns, right=st.booleans(), item=guessed)
def test_a_wrong_answer_never_raises_the_estimate_and_a_right_one_never_lowers_it(estimator, answers, right, item):
    change = estimate(estimator, [*answers, (right, item)])[0] - estimate(estimator, answers)[0]
    assert change >= -1e-7 if right else change <= 1e-7


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_learners_do_not_touch_each_other_and_unadministered_items_tell_nothing(estimator, rng):
    items = [rng.uniform(0.5, 2.0, 9), rng.normal(size=9), np.full(9, 0.2)]
    answers = (rng.random((6, 9)) < 0.6).astype(float)
    answers[rng.random((6, 9)) < 0.3] = np.nan
    together = estimator(answers, *items).theta
    for row, theta in zip(answers, together, strict=True):
        seen = ~np.isnan(row)
        alone = estimator(row[None, seen], *(values[seen] for values in items)).theta[0]
        assert alone == pytest.approx(theta, abs=1e-8)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_blocks_of_learners_come_to_the_same_as_one(estimator, rng, monkeypatch):
    b, answers = rng.normal(size=8), (rng.random((50, 8)) < 0.5).astype(float)
    whole = estimator(answers, 1.2, b, 0.2)
    monkeypatch.setattr("engine.irt.points.BLOCK", 1_000)
    assert estimator(answers, 1.2, b, 0.2).theta == pytest.approx(whole.theta, abs=1e-9)


# Recovery: 2,000 learners, so a mean is known to standard error / sqrt(2000) and an RMSE to 1 / sqrt(4000) of itself.
# Four of those, as the seed is fixed and the true ability is the same for all.


@pytest.mark.parametrize("estimator", [maximum_likelihood, weighted_likelihood])
def test_simulated_abilities_come_back_within_monte_carlo_error(estimator, rng):
    items = [np.exp(rng.normal(0.2, 0.3, 80)), rng.normal(size=80), np.full(80, 0.15)]
    truth = 0.5
    answers = (rng.random((2_000, 80)) < probability(truth, *items)).astype(float)
    found = estimator(answers, *items)
    rmse = np.sqrt(np.mean(np.square(found.theta - truth)))
    assert rmse == pytest.approx(information(truth, *items).sum() ** -0.5, rel=4.0 / np.sqrt(4_000))
    assert found.standard_error.mean() == pytest.approx(rmse, rel=4.0 / np.sqrt(4_000))


def test_the_weighted_likelihood_takes_away_the_bias_of_the_maximum_likelihood(rng):
    b = rng.normal(size=15)
    answers = (rng.random((5_000, 15)) < probability(1.2, 1.3, b)).astype(float)
    plain = maximum_likelihood(answers, 1.3, b)
    noise = 4.0 * plain.standard_error[~plain.at_bound].mean() / np.sqrt(5_000)
    assert np.mean(plain.theta[~plain.at_bound]) - 1.2 > noise
    assert abs(np.mean(weighted_likelihood(answers, 1.3, b).theta) - 1.2) < noise


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_five_hundred_answers_end_where_the_likelihood_does(estimator, rng):
    a, b = np.exp(rng.normal(0.0, 0.3, 500)), rng.normal(0.3, 0.7, 500)
    answers = (rng.random((20, 500)) < probability(np.full(20, 0.3), a, b)).astype(float)
    found = estimator(answers, a, b)
    nodes = np.linspace(-0.5, 1.0, 1_501)
    log_right, log_wrong = log_probabilities(nodes, a, b)
    values = answers @ log_right.T + (1.0 - answers) @ log_wrong.T
    if estimator is maximum_posterior:
        values -= 0.5 * nodes**2
    if estimator is weighted_likelihood:
        values += 0.5 * np.log(information(nodes, a, b).sum(axis=1))
    assert found.theta == pytest.approx(nodes[values.argmax(axis=1)], abs=6e-4)


def test_a_grid_of_33_nodes_would_not_do_for_five_hundred_answers(rng):
    a, b = np.exp(rng.normal(0.0, 0.3, 500)), rng.normal(0.3, 0.7, 500)
    answers = (rng.random((20, 500)) < probability(np.full(20, 0.3), a, b)).astype(float)
    exact = eap(answers, a, b, nodes=np.linspace(-6.0, 6.0, 4_801))[1]
    coarse = eap(answers, a, b, nodes=np.linspace(-6.0, 6.0, 33))[1]
    assert np.abs(coarse / exact - 1.0).max() > 0.1
    assert eap(answers, a, b)[1] == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize("bounds", [(1.0, 1.0), (2.0, -2.0), (-np.inf, 3.0), (np.nan, 3.0)])
def test_bounds_that_are_none_are_refused(bounds):
    with pytest.raises(ValueError, match="two finite numbers expected"):
        maximum_likelihood(np.ones((1, 1)), 1.0, np.zeros(1), bounds=bounds)


@pytest.mark.parametrize("prior", [{"sd": 0.0}, {"sd": np.nan}, {"mean": np.inf}])
def test_a_prior_without_a_finite_spread_is_refused(prior):
    with pytest.raises(ValueError, match="a finite sd above 0"):
        maximum_posterior(np.ones((1, 1)), 1.0, np.zeros(1), **prior)
