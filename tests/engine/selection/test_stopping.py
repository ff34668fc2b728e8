import pytest

from engine.selection import PRACTICE, Policy, StopReason, stop_reason

POLICY = Policy(minimum_length=10, maximum_length=40, standard_error=0.3)


@pytest.mark.parametrize(
    ("administered", "standard_error", "reason"),
    [
        (9, 0.1, None),
        (10, 0.31, None),
        (10, 0.3, StopReason.standard_error),
        (39, 0.31, None),
        (40, 0.31, StopReason.maximum_length),
        (40, 0.29, StopReason.standard_error),
    ],
)
def test_it_stops_when_precise_enough_after_the_minimum_and_at_the_maximum(administered, standard_error, reason):
    assert stop_reason(POLICY, administered=administered, standard_error=standard_error) is reason


def test_practice_goes_on_for_as_long_as_the_learner_likes():
    assert stop_reason(PRACTICE, administered=10_000, standard_error=0.01) is None
