import pytest

from engine.irt import Ability
from engine.selection import PRACTICE, Classification, Policy, Progress, Standing, StopReason, TimeOut, stop_reason
from engine.selection.stopping import decided

POLICY = Policy(minimum_length=10, maximum_length=40, standard_error=0.3)
AT_START = Standing(0.0)


def reason(policy, administered=20, theta=0.0, standard_error=0.5, **more):
    return stop_reason(policy, Progress(administered, Ability(theta, standard_error), **more))


@pytest.mark.parametrize(
    ("administered", "standard_error", "expected"),
    [
        (9, 0.1, None),
        (10, 0.31, None),
        (10, 0.3, StopReason.standard_error),
        (39, 0.31, None),
        (40, 0.31, StopReason.maximum_length),
        (40, 0.29, StopReason.standard_error),
    ],
)
def test_it_stops_when_precise_enough_after_the_minimum_and_at_the_maximum(administered, standard_error, expected):
    assert reason(POLICY, administered, standard_error=standard_error) is expected


def test_practice_goes_on_for_as_long_as_the_learner_likes():
    assert reason(PRACTICE, 10_000, standard_error=0.01, change=0.0, seconds=1e9) is None


@pytest.mark.parametrize(
    ("administered", "change", "expected"),
    [
        (10, 0.04, StopReason.estimate_settled),
        (10, -0.04, StopReason.estimate_settled),
        (10, 0.05, None),
        (9, 0.0, None),
        (10, None, None),
    ],
)
def test_it_stops_once_an_answer_that_counts_hardly_moves_the_estimate(administered, change, expected):
    policy = Policy(minimum_length=10, change_of_estimate=0.05)
    assert reason(policy, administered, change=change) is expected


@pytest.mark.parametrize(
    ("administered", "most", "expected"),
    [(10, 0.19, StopReason.no_information), (10, 0.2, None), (9, 0.0, None), (10, None, None)],
)
def test_it_stops_when_no_item_left_would_tell_enough(administered, most, expected):
    policy = Policy(minimum_length=10, minimum_information=0.2)
    assert reason(policy, administered, most_information=most) is expected


@pytest.mark.parametrize(("seconds", "expected"), [(59.9, None), (60.0, StopReason.time_limit)])
def test_time_ends_a_sitting_before_its_minimum_too(seconds, expected):
    assert reason(Policy(minimum_length=10, time_limit_s=60), 1, seconds=seconds) is expected


@pytest.mark.parametrize(
    ("administered", "theta", "expected"),
    [(20, 1.0, StopReason.classified), (20, 0.97, None), (9, 3.0, None), (40, 0.1, StopReason.maximum_length)],
)
def test_it_stops_when_the_interval_leaves_the_cut_score(administered, theta, expected):
    policy = Policy(minimum_length=10, maximum_length=40, classification=Classification.confidence_interval)
    assert reason(policy, administered, theta, standard_error=0.5, standing=Standing(0.0)) is expected


def outcome(policy, why, administered=20, theta=0.5, standing=AT_START):
    decision = decided(policy, Progress(administered, Ability(theta, 0.4), standing=standing), why)
    return None if decision is None else (decision.outcome, decision.rule)


INTERVAL = Policy(minimum_length=10, maximum_length=40, classification=Classification.confidence_interval)


@pytest.mark.parametrize(
    ("why", "administered", "theta", "expected"),
    [
        ("classified", 20, 0.8, ("pass", "confidence_interval")),
        ("classified", 20, -0.8, ("fail", "confidence_interval")),
        ("maximum_length", 40, 0.01, ("pass", "estimate")),
        ("maximum_length", 40, -0.01, ("fail", "estimate")),
        ("pool_exhausted", 12, 0.0, ("pass", "estimate")),
        ("pool_exhausted", 9, 2.0, None),
        ("time_limit", 10, 0.1, ("pass", "estimate")),
        ("time_limit", 9, 2.0, ("fail", "time_out")),
        ("finished", 39, 2.0, None),
        ("erased", 39, 2.0, None),
        (None, 39, 2.0, None),
    ],
)
def test_what_a_sitting_decides_and_by_what_rule(why, administered, theta, expected):
    assert outcome(INTERVAL, why, administered, theta) == expected


@pytest.mark.parametrize(
    ("rule", "administered", "expected"),
    [(TimeOut.fail, 39, ("fail", "time_out")), (TimeOut.none, 39, None), (TimeOut.none, 2, None)],
)
def test_the_policy_says_what_a_time_out_means(rule, administered, expected):
    policy = Policy(
        minimum_length=10, classification=Classification.confidence_interval, time_limit_s=60, on_time_out=rule
    )
    assert outcome(policy, "time_limit", administered, 2.0) == expected


def test_a_sitting_that_does_not_classify_decides_nothing():
    assert outcome(POLICY, "maximum_length", 40, 3.0, standing=None) is None


def test_without_a_single_answer_nobody_passes_on_a_time_out():
    policy = Policy(classification=Classification.sprt, time_limit_s=60)
    assert outcome(policy, "time_limit", 0, 2.0) == ("fail", "time_out")
