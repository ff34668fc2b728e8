import json
from dataclasses import replace

import pytest

from engine.errors import EngineError, InvalidPolicy
from engine.selection import ADAPTIVE_TEST, POLICIES, PRACTICE, Criterion, Feedback, Mode, Policy, Repeats, StartsFrom


@pytest.mark.parametrize("mode", Mode)
def test_a_policy_survives_being_stored_as_json(mode):
    policy = POLICIES[mode]
    assert Policy.from_json(json.loads(json.dumps(policy.to_json()))) == policy


def test_practice_teaches_from_what_is_known_of_the_learner_and_has_no_end():
    assert PRACTICE.feedback is Feedback.immediate
    assert PRACTICE.starts_from is StartsFrom.learner
    assert (PRACTICE.repeats, PRACTICE.repeat_after_hours) == (Repeats.when_exhausted, 24.0)
    assert (PRACTICE.maximum_length, PRACTICE.standard_error) == (None, None)


def test_an_adaptive_test_measures_from_the_prior_and_shows_nothing_before_the_end():
    assert ADAPTIVE_TEST.feedback is Feedback.end
    assert ADAPTIVE_TEST.starts_from is StartsFrom.prior
    assert ADAPTIVE_TEST.repeats is Repeats.never
    lengths = (ADAPTIVE_TEST.minimum_length, ADAPTIVE_TEST.maximum_length, ADAPTIVE_TEST.standard_error)
    assert lengths == (10, 40, 0.30)


def test_changes_are_json_values_on_top_of_a_policy():
    changed = ADAPTIVE_TEST.with_changes({"feedback": "immediate", "maximum_length": 20})
    assert (changed.feedback, changed.maximum_length) == (Feedback.immediate, 20)
    assert changed.minimum_length == ADAPTIVE_TEST.minimum_length


def test_an_unknown_field_is_an_error_that_lists_the_known_ones():
    with pytest.raises(InvalidPolicy, match="policy maximum_lenght: 20 given, no such field; one of criterion"):
        PRACTICE.with_changes({"maximum_lenght": 20})


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("criterion", "best", "one of " + ", ".join(Criterion)),
        ("content_rule", "none", "one of quota, priority_index"),
        ("classification", "nclex", "one of none, confidence_interval, sprt"),
        ("on_time_out", "pass", "one of estimate, fail, none"),
        ("strict_content", None, "true or false"),
        ("target_success", 1.0, "a number above 0 and below 1"),
        ("confidence", 95, "a number above 0 and below 1"),
        ("alpha", 0.5, "a number above 0 and below 0.5"),
        ("beta", True, "a number above 0 and below 0.5"),
        ("indifference", 0, "a number above 0"),
        ("change_of_estimate", 0.0, "null or a number above 0"),
        ("minimum_information", -0.1, "null or a number above 0"),
        ("maximum_exposure", 1.01, "null or a number above 0, at most 1"),
        ("maximum_exposure", True, "null or a number above 0, at most 1"),
        ("strata", 21, "a whole number from 1 to 20"),
        ("time_limit_s", 0, "null or a whole number from 1 to 2592000"),
        ("feedback", "never", "one of immediate, end"),
        ("repeats", None, "one of never, when_exhausted"),
        ("starts_from", 3, "one of prior, learner"),
        ("content_balancing", 1, "true or false"),
        ("shuffle_options", "yes", "true or false"),
        ("randomesque", 0, "a whole number from 1 to 100"),
        ("randomesque", True, "a whole number from 1 to 100"),
        ("minimum_length", -1, "a whole number from 0"),
        ("minimum_length", 2.5, "a whole number from 0"),
        ("maximum_length", 0, "null or a whole number from 1"),
        ("standard_error", 0.0, "null or a number above 0"),
        ("standard_error", float("nan"), "null or a number above 0"),
        ("repeat_after_hours", float("inf"), "a number from 0 to 87600"),
        ("standard_error", "0.3", "null or a number above 0"),
        ("repeat_after_hours", 10**9, "a number from 0 to 87600"),
    ],
)
def test_a_wrong_value_is_refused_with_its_field_and_what_is_right(field, value, expected):
    with pytest.raises(InvalidPolicy) as caught:
        Policy().with_changes({field: value})
    assert isinstance(caught.value, EngineError)
    assert (caught.value.field, caught.value.expected) == (field, expected)
    assert caught.value.value is value


def test_a_sitting_cannot_be_required_to_be_longer_than_it_may_be():
    with pytest.raises(InvalidPolicy, match=r"maximum_length: 5 given, null or a whole number from 10 \(the minimum"):
        ADAPTIVE_TEST.with_changes({"maximum_length": 5})


STORED_BEFORE = {
    "criterion": "posterior_information",
    "content_balancing": False,
    "randomesque": 3,
    "minimum_length": 10,
    "maximum_length": 40,
    "standard_error": 0.3,
    "repeats": "never",
    "repeat_after_hours": 24.0,
    "feedback": "end",
    "starts_from": "prior",
    "shuffle_options": True,
}


def test_a_policy_stored_before_a_field_existed_means_what_it_meant():
    policy = Policy.from_json(STORED_BEFORE)
    assert policy == replace(ADAPTIVE_TEST, content_balancing=False, randomesque=3)
    assert {name: policy.to_json()[name] for name in STORED_BEFORE} == STORED_BEFORE


@pytest.mark.parametrize(
    ("changes", "field", "why"),
    [
        ({"criterion": "a_stratified"}, "maximum_length", "a_stratified is spread over it"),
        ({"criterion": "progressive"}, "maximum_length", "progressive is spread over it"),
        ({"content_rule": "priority_index"}, "maximum_length", "priority_index looks ahead to the end"),
        ({"content_rule": "priority_index", "maximum_length": 501}, "maximum_length", "up to 500"),
        ({"strict_content": True}, "maximum_length", "strict_content is measured by it"),
        ({"strict_content": True, "content_balancing": False}, "content_balancing", "asks for proportions"),
        (
            {"content_rule": "priority_index", "maximum_length": 20, "criterion": "target_success"},
            "criterion",
            "these are distances",
        ),
    ],
)
def test_fields_that_cannot_work_together_are_refused(changes, field, why):
    with pytest.raises(InvalidPolicy, match=why) as caught:
        Policy().with_changes(changes)
    assert caught.value.field == field


def test_without_content_balancing_its_rule_does_not_matter():
    assert Policy().with_changes({"content_balancing": False, "content_rule": "priority_index"})
