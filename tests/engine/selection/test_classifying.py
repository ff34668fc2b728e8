import math

import numpy as np
import pytest

from engine.irt import Ability, estimate, log_probabilities, normal_log_prior, probability, update
from engine.selection import Classification, Policy, Standing, standing_after
from engine.selection.classifying import clear_outcome

SPRT = Policy(classification=Classification.sprt, indifference=0.4, alpha=0.05, beta=0.1)
ITEM = (1.2, 0.3, 0.2, 1.0)


def test_the_ratio_is_that_of_the_likelihoods_of_all_answers_at_both_ends_of_the_region():
    standing, expected = Standing(0.25), 0.0
    for right, b in [(True, 0.0), (False, 0.5), (True, 1.0)]:
        standing = standing.after(SPRT, right, (1.5, b, 0.2, 1.0))
        high, low = (probability(0.25 + shift, 1.5, b, 0.2)[0] for shift in (0.4, -0.4))
        expected += math.log(high / low) if right else math.log((1 - high) / (1 - low))
    assert standing.log_ratio == pytest.approx(expected)
    assert standing.cut_score == 0.25


@pytest.mark.parametrize(
    ("log_ratio", "expected"),
    [
        (math.log(0.9 / 0.05), "pass"),
        (math.log(0.9 / 0.05) - 1e-9, None),
        (math.log(0.1 / 0.95) + 1e-9, None),
        (math.log(0.1 / 0.95), "fail"),
    ],
)
def test_the_bounds_of_the_ratio_are_walds(log_ratio, expected):
    assert clear_outcome(SPRT, Ability(0.0, 1.0), Standing(0.0, log_ratio)) == expected


@pytest.mark.parametrize(
    ("theta", "confidence", "expected"),
    [(0.98, 0.95, "pass"), (0.97, 0.95, None), (0.83, 0.9, "pass"), (-0.98, 0.95, "fail"), (-0.97, 0.95, None)],
)
def test_the_interval_reaches_so_many_standard_errors_to_each_side(theta, confidence, expected):
    policy = Policy(classification=Classification.confidence_interval, confidence=confidence)
    assert clear_outcome(policy, Ability(0.3 + theta, 0.5), Standing(0.3)) == expected


def test_an_answer_that_does_not_count_leaves_the_standing_as_it_was():
    trace = {"standing": {"cut_score": 0.5, "log_ratio": 1.25}}
    kept = standing_after(SPRT, trace, right=True, counts=False, parameters=ITEM)
    moved = standing_after(SPRT, trace, right=True, counts=True, parameters=ITEM)
    assert kept == Standing(0.5, 1.25)
    assert moved.log_ratio > 1.25


def test_a_sitting_that_does_not_classify_has_no_standing():
    assert Standing.at_start(Policy(), 0.5) is None
    assert standing_after(Policy(), {}, right=True, counts=True, parameters=ITEM) is None


def test_the_standing_survives_its_trace():
    standing = Standing(0.1, -0.7)
    assert Standing.of_trace({"standing": standing.to_json()}) == standing


@pytest.mark.parametrize("policy", [SPRT, Policy(classification=Classification.confidence_interval)])
@pytest.mark.parametrize(("ability", "expected"), [(1.2, "pass"), (-1.2, "fail")])
def test_learners_far_from_the_cut_score_are_classified_as_what_they_are(policy, ability, expected):
    rng, wrong = np.random.default_rng(5), 0
    for _ in range(60):
        standing, log_posterior, outcome = Standing(0.0), normal_log_prior(), None
        for _ in range(60):
            item = (float(rng.uniform(0.8, 2.0)), float(rng.normal()), 0.2, 1.0)
            right = bool(np.log(rng.random()) < log_probabilities(ability, *item)[0][0])
            standing, log_posterior = standing.after(policy, right, item), update(log_posterior, right, *item)
            outcome = clear_outcome(policy, estimate(log_posterior), standing)
            if outcome is not None:
                break
        wrong += outcome != expected
    assert wrong <= 4
