import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.irt import NODES, estimate, information, normal_log_prior, posterior, probability, update
from engine.selection import LINED_UP, Criterion, Policy, rng_for
from engine.selection.criteria import (
    CRITERIA,
    a_stratified,
    kullback_leibler,
    maximum_information,
    minimum_expected_posterior_variance,
    posterior_information,
    progressive,
    random,
    table_weights,
    target_success,
)
from engine.selection.strata import by_discrimination
from tests.factories.pools import make_context, make_pool

ROOT = Path(__file__).parents[3]
POOL = make_pool(500, seed=4)


@pytest.mark.parametrize("spread", [1.0, 0.4, 0.15])
def test_the_score_is_the_information_averaged_over_the_posterior(spread):
    context = make_context(POOL, normal_log_prior(0.35, spread))
    exact = context.probabilities @ information(NODES, POOL.a, POOL.b, POOL.c, POOL.d)
    scores = posterior_information(context, POOL.span(None))
    assert scores == pytest.approx(exact, rel=0.025)
    assert exact[scores.argmax()] > 0.995 * exact.max()


def test_a_posterior_between_two_nodes_of_the_table_still_finds_the_item_for_it():
    pool = make_pool(3, objectives=1, a=[2.0, 2.0, 2.0], b=[-1.0, 0.1, 1.0])
    scores = posterior_information(make_context(pool, probabilities=(abs(NODES - 0.1) < 0.01) * 1.0), pool.span(None))
    assert scores.argmax() == 1


@pytest.mark.parametrize("spread", [1.0, 0.3, 0.05])
def test_the_weights_of_the_table_are_probabilities_without_subnormal_numbers(spread):
    weights = table_weights(posterior(normal_log_prior(0.42, spread)))
    assert weights.sum() == pytest.approx(1.0, abs=1e-6)
    assert weights[weights > 0.0].min() >= 1e-12


def test_the_scores_are_the_callers_to_change():
    context = make_context(POOL)
    posterior_information(context, POOL.span(None))[:] = -1.0
    assert (posterior_information(context, POOL.span(None)) > 0.0).all()


def test_a_wide_posterior_prefers_the_broad_item_and_a_narrow_one_the_sharp_item():
    pool = make_pool(2, objectives=1, a=[6.0, 1.4], b=[0.0, 0.0], c=[0.0, 0.0])
    narrow = posterior_information(make_context(pool, normal_log_prior(0.0, 0.2)), pool.span(None))
    off = posterior_information(make_context(pool, normal_log_prior(1.5, 0.3)), pool.span(None))
    assert narrow[0] > narrow[1]
    assert off[1] > off[0]


@pytest.mark.parametrize("criterion", sorted(CRITERIA.keys() - {"a_stratified", "progressive"}))
def test_an_item_scores_the_same_in_every_slice_of_the_pool(criterion):
    context = make_context(POOL, normal_log_prior(-0.5, 0.3), position=5)
    whole = CRITERIA[criterion](context, slice(0, 500))
    for start, stop in [(0, 1), (1, 130), (127, 129), (255, 500), (499, 500), (40, 40)]:
        part = CRITERIA[criterion](context, slice(start, stop))
        assert part.shape == (stop - start,)
        assert (part == whole[start:stop]).all()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_scores_are_finite_and_repeatable_for_the_most_absurd_items(criterion):
    a = [1e200, -3.0, 0.0, 1e-9, 50.0, 1.0]
    pool = make_pool(6, objectives=1, a=a, b=[0.0, 1.0, 0.0, 1e300, -9.0, 0.0], c=[0.0, 0.2, 0.0, 0.0, 0.99, 0.25])
    for spread in (1.0, 0.02):
        context = make_context(pool, normal_log_prior(0.3, spread), position=3)
        scores = CRITERIA[criterion](context, pool.span(None))
        assert np.isfinite(scores).all()
        assert (scores == CRITERIA[criterion](context, pool.span(None))).all()


def test_every_criterion_has_a_function():
    assert CRITERIA.keys() == set(Criterion) - set(LINED_UP)


def test_maximum_information_is_the_information_at_the_estimate():
    context = make_context(POOL, normal_log_prior(0.42, 0.3))
    exact = [information(context.theta, *POOL.parameters(i))[0] for i in range(30)]
    assert maximum_information(context, slice(0, 30)).tolist() == pytest.approx(exact, rel=1e-12)


def test_maximum_information_is_not_the_nearest_difficulty():
    pool = make_pool(3, objectives=1, a=[0.4, 2.0, 1.0], b=[0.0, 0.5, -0.1], c=[0.0, 0.0, 0.35])
    context = make_context(pool)
    assert maximum_information(context, pool.span(None)).argmax() == 1
    assert np.abs(pool.b - context.theta).argmin() == 0


def test_kullback_leibler_is_the_divergence_averaged_over_the_posterior():
    context = make_context(POOL, normal_log_prior(0.4, 0.5))
    p = probability(context.theta, POOL.a, POOL.b, POOL.c, POOL.d)
    there = probability(NODES, POOL.a, POOL.b, POOL.c, POOL.d)
    divergence = p * np.log(p / there) + (1 - p) * np.log((1 - p) / (1 - there))
    expected = context.probabilities @ divergence
    assert kullback_leibler(context, POOL.span(None)) == pytest.approx(expected, rel=1e-3)


def test_for_a_narrow_posterior_the_divergence_is_half_the_information_times_the_variance():
    context = make_context(POOL, normal_log_prior(0.4, 0.06))
    ratio = kullback_leibler(context, POOL.span(None)) / maximum_information(context, POOL.span(None))
    assert ratio == pytest.approx(context.standard_error**2 / 2, rel=0.03)


def test_the_expected_variance_is_that_after_both_answers_by_their_probability():
    log_posterior = normal_log_prior(-0.3, 0.8)
    context = make_context(POOL, log_posterior)
    scores = minimum_expected_posterior_variance(context, slice(0, 25))
    for i in range(25):
        right = context.probabilities @ probability(NODES, *POOL.parameters(i))[:, 0]
        after = [
            estimate(update(log_posterior, answer, *POOL.parameters(i))).standard_error for answer in (True, False)
        ]
        expected = right * after[0] ** 2 + (1 - right) * after[1] ** 2
        assert context.standard_error**2 - scores[i] == pytest.approx(expected, rel=1e-4)


def test_an_item_without_discrimination_is_expected_to_tell_nothing():
    pool = make_pool(2, objectives=1, a=[0.0, 1.0], b=[0.0, 0.0], c=[0.0, 0.0])
    for criterion in (kullback_leibler, minimum_expected_posterior_variance, maximum_information):
        nothing, something = criterion(make_context(pool), pool.span(None))
        assert nothing == pytest.approx(0.0, abs=1e-15)
        assert something > 0.05


@pytest.mark.parametrize("spread", [1.0, 0.3])
@pytest.mark.parametrize(
    "criterion", [maximum_information, kullback_leibler, minimum_expected_posterior_variance, posterior_information]
)
def test_a_negative_discrimination_informs_as_much_as_the_same_item_with_its_key_turned(criterion, spread):
    pool = make_pool(2, objectives=1, a=[1.3, -1.3], b=[0.4, 0.4], c=[0.0, 0.0])
    one, turned = criterion(make_context(pool, normal_log_prior(0.1, spread)), pool.span(None))
    assert one == pytest.approx(turned, rel=1e-6)


def test_strata_go_from_low_to_high_discriminations_and_within_them_the_nearest_difficulty_wins():
    pool = make_pool(200, objectives=1, seed=8)
    policy = Policy(criterion=Criterion.a_stratified, strata=4, maximum_length=20)
    strata, served = by_discrimination(pool.a, pool.b, strata=4), []
    for position in range(1, 21):
        context = make_context(pool, position=position, policy=policy)
        served.append(int(a_stratified(context, pool.span(None)).argmax()))
        near = np.flatnonzero(strata == (position - 1) // 5)
        assert served[-1] == near[np.abs(pool.b[near] - context.theta).argmin()]
    assert pool.a[served[0]] < pool.a[served[19]]


def test_when_a_stratum_has_run_out_the_next_one_helps():
    pool = make_pool(4, objectives=1, a=[0.5, 2.0, 0.6, 1.9], b=[-1.0, -0.9, 1.0, 1.1])
    policy = Policy(criterion=Criterion.a_stratified, strata=2, maximum_length=4)
    scores = a_stratified(make_context(pool, position=1, policy=policy), pool.span(None))
    assert np.argsort(-scores, kind="stable").tolist() == [0, 2, 1, 3]


def test_the_progressive_criterion_goes_from_chance_to_information():
    policy = Policy(criterion=Criterion.progressive, maximum_length=21)
    informs = maximum_information(make_context(POOL), POOL.span(None))
    at = {n: progressive(make_context(POOL, position=n, policy=policy), POOL.span(None)) for n in (1, 11, 21)}
    drawn = rng_for(7, 1).uniforms(500) * informs.max()
    assert at[1] == pytest.approx(drawn)
    assert at[11] == pytest.approx((drawn + informs) / 2)
    assert at[21] == pytest.approx(informs)


def test_the_progressive_criterion_draws_up_to_the_best_item_that_may_be_served():
    policy = Policy(criterion=Criterion.progressive, maximum_length=21)
    eligible = maximum_information(make_context(POOL), POOL.span(None)) < 0.1
    scores = progressive(make_context(POOL, policy=policy, eligible=eligible), POOL.span(None))
    assert 0.09 < scores.max() < 0.1


def test_target_success_finds_the_item_that_is_right_so_often():
    context = make_context(POOL, policy=Policy(target_success=0.8))
    chance = probability(context.theta, POOL.a, POOL.b, POOL.c, POOL.d)
    best = target_success(context, POOL.span(None)).argmax()
    assert best == np.abs(chance - 0.8).argmin()


def test_by_chance_alone_every_item_comes_first_about_equally_often():
    pool = make_pool(5, objectives=1)
    contexts = (make_context(pool, rng=rng_for(seed, 1)) for seed in range(3000))
    firsts = np.bincount([random(context, pool.span(None)).argmax() for context in contexts], minlength=5)
    assert firsts.min() > 500
    assert firsts.max() < 700


SCRIPT = """
import hashlib
from engine.irt import normal_log_prior
from engine.selection.criteria import CRITERIA
from tests.factories.pools import make_context, make_pool
for size in (3_003, 10_003, 20_003, 30_007):
    pool = make_pool(size, objectives=1)
    context = make_context(pool, normal_log_prior(0.2, 0.3), position=4)
    for criterion, function in CRITERIA.items():
        if size == 3_003 or criterion == "posterior_information":
            scores = function(context, pool.span(None))
            print(size, criterion, hashlib.sha256(scores.tobytes()).hexdigest())
"""


def test_the_number_of_threads_changes_no_bit():
    outputs = set()
    for threads in ("1", "2", "3"):
        environment = os.environ | {"OPENBLAS_NUM_THREADS": threads}
        command = [sys.executable, "-c", SCRIPT]
        outputs.add(subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True).stdout)
    assert len(outputs) == 1
