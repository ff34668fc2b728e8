import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import log_probabilities, probability
from engine.learner.state import (
    Prior,
    State,
    ability_covariance,
    ability_means,
    ability_sds,
    after_answers,
    drifted,
    initial,
    overall,
    rearranged,
    updated,
)

PRIOR = Prior()
items = st.tuples(st.floats(0.05, 4.0), st.floats(-5.0, 5.0), st.floats(0.0, 0.4), st.floats(0.7, 1.0))
answers = st.lists(st.tuples(st.integers(0, 2), st.booleans(), items), max_size=30)


def after(given_answers, objectives=3, prior=PRIOR):
    state = initial(objectives, prior)
    for objective, right, item in given_answers:
        state = updated(state, objective, right, *item)
    return state


def simulated(rng, count, theta, a=(0.7, 1.8), c=0.2):
    """Answers of a learner with abilities `theta` (K,), in turn over the objectives."""
    a, b = rng.uniform(*a, count), rng.normal(0.0, 1.0, count)
    objective = np.arange(count) % len(theta)
    right = rng.random(count) < np.diag(probability(np.asarray(theta)[objective], a, b, c))
    return [(k, r, (x, y, c, 1.0)) for k, r, x, y in zip(objective, right, a, b, strict=True)]


def brute_force(given_answers, prior=PRIOR):
    """Mean and covariance of (x_1, x_2) and mean of g on a plane of 161 x 161 points."""
    x = np.linspace(-6.0, 6.0, 161)
    spread = prior.sd**2 + prior.deviation_sd**2 * np.eye(2)
    points = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)  # (Q, Q, 2)
    log_weight = -0.5 * np.einsum("...i,ij,...j", points - prior.mean, np.linalg.inv(spread), points - prior.mean)
    for objective, right, item in given_answers:
        likelihood = log_probabilities(x, *(np.array([value]) for value in item))[0 if right else 1][:, 0]
        log_weight = log_weight + (likelihood[:, None] if objective == 0 else likelihood[None, :])
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = np.einsum("ij,ijk->k", weight, points)
    covariance = np.einsum("ij,ijk,ijl->kl", weight, points - mean, points - mean)
    g = prior.mean + prior.sd**2 * np.linalg.inv(spread).sum(axis=0) @ (mean - prior.mean)
    return mean, covariance, g


def test_a_learner_nobody_has_met_has_the_exams_prior():
    state = initial(4, Prior(mean=0.3, sd=0.8, deviation_sd=0.6))
    assert ability_means(state) == pytest.approx(np.full(4, 0.3))
    assert ability_sds(state) == pytest.approx(np.full(4, 1.0))
    assert np.sqrt(np.diag(ability_covariance(state))) == pytest.approx(ability_sds(state))


def test_the_overall_ability_weighs_the_objectives_by_the_blueprint():
    state = after([(0, True, (2.0, 0.0, 0.0, 1.0)), (1, False, (2.0, 0.0, 0.0, 1.0))])
    assert overall(state, np.array([5.0, 0.0, 0.0])).theta == pytest.approx(ability_means(state)[0])
    assert overall(state, np.zeros(3)).theta == pytest.approx(ability_means(state).mean())
    assert overall(state, np.array([1.0, 1.0, 1.0])).standard_error < ability_sds(state).min()


def test_two_objectives_agree_with_the_posterior_on_a_grid_within_a_fifth_of_a_standard_error():
    apart = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        given_answers = simulated(rng, 40, rng.normal(0.0, 1.0) + rng.normal(0.0, 0.4, 2))
        state, (mean, covariance, g) = after(given_answers, 2), brute_force(given_answers)
        sd = np.sqrt(np.diag(covariance))
        apart.append(
            np.abs([*(ability_means(state) - mean) / sd, (state.mean[0] - g) / sd[0], *ability_sds(state) / sd - 1.0])
        )
    assert np.max(apart) < 0.2
    assert np.mean(apart) < 0.06


def test_one_answer_agrees_with_the_posterior_on_a_grid_to_the_quadratures_error():
    given_answers = [(1, True, (1.7, 0.8, 0.25, 0.97))]
    state, (mean, covariance, g) = after(given_answers, 2), brute_force(given_answers)
    assert ability_means(state) == pytest.approx(mean, abs=1e-5)
    assert ability_covariance(state) == pytest.approx(covariance, abs=1e-5)
    assert state.mean[0] == pytest.approx(g, abs=1e-5)


@given(answers, st.floats(0.0, 3000.0))
def test_time_alone_widens_and_never_moves_the_mean(given_answers, days):
    before = after(given_answers)
    later = drifted(before, days, PRIOR)
    assert (later.mean == before.mean).all()
    assert (ability_sds(later) >= ability_sds(before) - 1e-12).all()
    assert (later.answers == before.answers).all()


def test_a_month_widens_by_the_drift_and_thirty_days_are_a_month():
    before = after(simulated(np.random.default_rng(1), 60, [0.0, 0.2, -0.3]))
    later = drifted(before, 30.0, PRIOR)
    assert ability_sds(later) ** 2 - ability_sds(before) ** 2 == pytest.approx(np.full(3, 30.0 * 0.003))
    for _ in range(30):
        before = drifted(before, 1.0, PRIOR)
    assert later.covariance == pytest.approx(before.covariance)


def test_someone_long_away_is_known_no_worse_than_a_stranger():
    later = drifted(after([(0, True, (2.0, 0.0, 0.0, 1.0))] * 20), 1e6, PRIOR)
    assert np.diag(later.covariance) == pytest.approx(np.diag(initial(3, PRIOR).covariance))
    assert np.linalg.eigvalsh(later.covariance).min() > 0.0


@given(answers, st.integers(0, 2), st.booleans(), items)
def test_a_right_answer_raises_its_objective_and_a_wrong_one_lowers_it(given_answers, objective, right, item):
    before = after(given_answers)
    change = (ability_means(updated(before, objective, right, *item)) - ability_means(before))[objective]
    assert change >= -1e-9 if right else change <= 1e-9


@pytest.mark.parametrize(("right", "sign"), [(True, 1.0), (False, -1.0)])
def test_an_answer_moves_its_own_objective_most_and_the_others_through_the_whole(right, sign):
    change = sign * (ability_means(after([(1, right, (1.0, 0.0, 0.0, 1.0))])))
    assert change[1] > change[0] == change[2] > 0.0
    tied = after([(1, right, (1.0, 0.0, 0.0, 1.0))], prior=Prior(deviation_sd=1e-6))
    assert np.ptp(ability_means(tied)) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_answers_hardly_matters_without_drift(seed):
    rng = np.random.default_rng(seed)
    given_answers = simulated(rng, 60, rng.normal(0.0, 1.0, 3))
    one = after(given_answers)
    others = [after([given_answers[i] for i in rng.permutation(60)]) for _ in range(10)]
    assert (
        np.mean([np.abs(ability_means(other) - ability_means(one)) for other in others]) < 0.1 * ability_sds(one).min()
    )
    assert np.mean([np.abs(ability_sds(other) - ability_sds(one)) for other in others]) < 0.1 * ability_sds(one).min()


EXTREME = st.floats(-1e300, 1e300)
absurd = st.tuples(EXTREME, EXTREME, st.floats(0.0, 0.5), st.just(1.0))


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), absurd), max_size=40))
def test_absurd_and_contradictory_answers_leave_a_proper_finite_state(given_answers):
    state = after(given_answers)
    assert np.isfinite(state.mean).all()
    assert np.isfinite(state.covariance).all()
    assert np.linalg.eigvalsh(state.covariance).min() > 0.0


def test_a_thousand_answers_keep_the_covariance_symmetric_and_positive():
    state = after(simulated(np.random.default_rng(5), 1000, np.linspace(-1.0, 1.0, 12)), 12)
    assert np.abs(state.covariance - state.covariance.T).max() == 0.0
    assert np.linalg.eigvalsh(state.covariance).min() > 0.0
    assert ability_sds(state).max() < 0.35


def test_the_posterior_covers_the_abilities_that_made_the_answers():
    rng = np.random.default_rng(8)
    learners, objectives, count = 400, 4, 48
    theta = rng.normal(0.0, 1.0, (learners, 1)) + rng.normal(0.0, PRIOR.deviation_sd, (learners, objectives))
    state = initial(objectives, PRIOR, learners=(learners,))
    for i in range(count):
        a, b = rng.uniform(0.7, 1.8), rng.normal()
        right = rng.random(learners) < probability(theta[:, i % objectives], a, b, 0.2)[:, 0]
        state = updated(state, i % objectives, right, a, b, 0.2)
    z = (theta - ability_means(state)) / ability_sds(state)
    assert z.mean() == pytest.approx(0.0, abs=0.1)
    assert z.std() == pytest.approx(1.0, abs=0.06)


def test_many_learners_at_once_come_to_the_same_as_one_by_one():
    rng = np.random.default_rng(2)
    objective, right = rng.integers(0, 3, (20, 4)), rng.random((20, 4)) < 0.5
    a, b, days = rng.uniform(0.5, 2.0, (20, 4)), rng.normal(size=(20, 4)), rng.uniform(0.0, 9.0, (20, 4))
    together, alone = initial(3, PRIOR, learners=(4,)), [initial(3, PRIOR) for _ in range(4)]
    for i in range(20):
        together = updated(drifted(together, days[i], PRIOR), objective[i], right[i], a[i], b[i], 0.2)
        alone = [
            updated(drifted(state, days[i, j], PRIOR), objective[i, j], right[i, j], a[i, j], b[i, j], 0.2)
            for j, state in enumerate(alone)
        ]
    assert together.mean == pytest.approx(np.stack([state.mean for state in alone]))
    assert together.covariance == pytest.approx(np.stack([state.covariance for state in alone]))
    assert (together.answers == np.stack([state.answers for state in alone])).all()
    assert together.answers.sum() == 80


def test_an_item_of_uncertain_difficulty_tells_less():
    sure, unsure = (updated(initial(1, PRIOR), 0, True, 1.5, 0.0, b_sd=sd) for sd in (0.0, 0.8))
    assert 0.0 < ability_means(unsure)[0] < ability_means(sure)[0]
    assert ability_sds(unsure)[0] > ability_sds(sure)[0]


def test_uncertain_difficulty_is_the_average_over_difficulties():
    rng = np.random.default_rng(0)
    x = np.linspace(-6.0, 6.0, 481)
    curve = probability(x, 1.5, rng.normal(0.4, 0.8, 4000)).mean(axis=1)
    weight = np.exp(-0.5 * x**2 / 1.16) * curve
    exact = (weight @ x) / weight.sum()
    assert ability_means(updated(initial(1, PRIOR), 0, True, 1.5, 0.4, b_sd=0.8))[0] == pytest.approx(exact, abs=0.02)


def test_a_new_list_of_objectives_keeps_what_is_known_of_those_that_stay():
    before = after(simulated(np.random.default_rng(4), 30, [0.5, 0.0, -0.5]))
    moved = rearranged(before, [2, -1, 0], PRIOR)
    assert ability_means(moved)[[2, 0]] == pytest.approx(ability_means(before)[[0, 2]])
    assert ability_covariance(moved)[0, 2] == pytest.approx(ability_covariance(before)[2, 0])
    assert moved.mean[:2:2] == pytest.approx(before.mean[[0]])
    assert moved.answers.tolist() == [10, 0, 10]
    assert moved.covariance[2, 2] == pytest.approx(PRIOR.deviation_sd**2)
    back = rearranged(rearranged(before, [1, 2, 0], PRIOR), [2, 0, 1], PRIOR)
    assert (back.covariance == before.covariance).all()


@pytest.mark.parametrize("origin", [[0, 0], [3], [-2]])
def test_an_impossible_rearrangement_is_refused(origin):
    with pytest.raises(ValueError, match="at most once"):
        rearranged(initial(3, PRIOR), origin, PRIOR)


@pytest.mark.parametrize("objective", [-1, 3])
def test_an_objective_that_does_not_exist_is_refused(objective):
    with pytest.raises(ValueError, match="0 to 2 expected"):
        updated(initial(3, PRIOR), objective, True, 1.0, 0.0)


@pytest.mark.parametrize("days", [-0.1, np.inf, np.nan])
def test_time_runs_forward(days):
    with pytest.raises(ValueError, match="a finite number of 0 or more"):
        drifted(initial(1, PRIOR), days, PRIOR)


@pytest.mark.parametrize("values", [{"sd": 0.0}, {"mean": np.nan}, {"deviation_sd": -1.0}, {"drift": -0.1}])
def test_a_prior_that_is_none_is_refused(values):
    with pytest.raises(ValueError, match="expected"):
        Prior(**values)


def test_updating_leaves_the_state_it_was_given_alone():
    before = initial(2, PRIOR)
    updated(drifted(before, 5.0, PRIOR), 0, True, 1.0, 0.0)
    assert isinstance(before, State)
    assert (before.covariance == initial(2, PRIOR).covariance).all()
    assert before.answers.sum() == 0


def test_one_answer_to_an_absurd_item_does_not_make_anyone_infinitely_certain():
    edge = PRIOR.mean + 5.95 * ability_sds(initial(1, PRIOR))[0]  # only the outermost place lies beyond
    state = updated(initial(1, PRIOR), 0, True, 1e300, edge)
    assert 0.01 < ability_sds(state)[0] < 0.1
    assert np.isfinite(updated(state, 0, False, 1e300, edge).mean).all()


def test_a_sitting_by_itself_is_its_answers_one_after_another():
    answers = [(1, True, (1.0, 0.5, 0.2, 1.0)), (0, False, (0.8, -0.5, 0.0, 1.0))]
    state = after_answers(2, Prior(mean=0.3), answers)
    once = updated(initial(2, Prior(mean=0.3)), 1, True, 1.0, 0.5, 0.2, 1.0)
    twice = updated(once, 0, False, 0.8, -0.5, 0.0, 1.0)
    assert (state.mean == twice.mean).all()
    assert state.answers.tolist() == [1, 1]
