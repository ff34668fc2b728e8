from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.learner.planning import CONSOLIDATION_DAYS, Phase, Work, phases, plan

TODAY = date(2026, 1, 5)
EXAM = TODAY + timedelta(days=21)


def work(
    review_day=(), *, review_s=60.0, unseen=(200, 200, 200), unseen_s=90.0, gains=(0.06, 0.03, 0.01), weights=None
):
    return Work(
        np.array(review_day, dtype=np.int64),
        np.full(len(review_day), review_s),
        np.array(unseen),
        np.full(len(unseen), unseen_s),
        np.array(gains),
        np.array([0.5, 0.3, 0.2] if weights is None else weights),
    )


@given(st.lists(st.integers(-30, 30), max_size=200), st.integers(20, 180), st.floats(20.0, 120.0), st.integers(1, 60))
def test_every_ordinary_day_fits_its_minutes_within_a_tenth(review_day, minutes, seconds, days_left):
    todo = work(review_day, review_s=seconds, unseen=(10**6,) * 3, unseen_s=seconds)
    for day in plan(todo, minutes, TODAY, TODAY + timedelta(days=days_left)):
        if day.phase in (Phase.learn, Phase.consolidate):
            assert day.minutes == pytest.approx(minutes, rel=0.1)
            assert day.minutes == pytest.approx((len(day.reviews) + day.unseen.sum()) * seconds / 60.0)
        elif day.phase is Phase.light:
            assert day.minutes <= 0.5 * minutes * 1.1


@given(st.lists(st.integers(-30, 30), max_size=200), st.integers(1, 120), st.integers(0, 60))
def test_nothing_is_planned_twice_or_before_it_is_due(review_day, minutes, days_left):
    todo = work(review_day, unseen=(9, 0, 30))
    days = plan(todo, minutes, TODAY, TODAY + timedelta(days=days_left))
    served = [place for day in days for place in day.reviews]
    assert len(served) == len(set(served))
    assert (sum(day.unseen for day in days) <= todo.unseen).all()
    for ahead, day in enumerate(days):
        assert all(todo.review_day[place] <= ahead for place in day.reviews)


def test_three_weeks_learn_first_then_consolidate_then_rest():
    days = plan(work([-1] * 9), 45.0, TODAY, EXAM, mock_minutes=60.0)
    assert len(days) == 22
    assert [day.date for day in days if day.phase is Phase.mock] == [TODAY + timedelta(days=n) for n in (7, 14)]
    assert [day.phase for day in days[-7:]].count(Phase.consolidate) == CONSOLIDATION_DAYS - 2
    assert [day.phase for day in days[-2:]] == [Phase.light, Phase.exam]
    assert days[7].minutes == 60.0
    assert days[-1].minutes == 0.0


def test_missed_days_make_no_day_longer():
    on_time, late = work(range(-2, 60)), work([*range(-5, 57)])
    assert plan(late, 45.0, TODAY + timedelta(days=3), EXAM)[0].minutes == pytest.approx(
        plan(on_time, 45.0, TODAY, EXAM)[0].minutes, rel=0.05
    )
    snowed_under = plan(work([-9] * 500), 45.0, TODAY, EXAM)
    assert max(day.minutes for day in snowed_under) <= 45.0 * 1.1
    assert snowed_under[0].unseen.sum() > 0


def test_reviews_come_most_overdue_first_and_leave_half_of_a_day_for_new_items():
    day = plan(work([0, -8, -3] + [-1] * 100), 45.0, TODAY, EXAM)[0]
    assert day.reviews[:2] == (1, 2)
    assert len(day.reviews) == pytest.approx(22, abs=1)


def test_new_items_go_where_study_helps_most():
    new = plan(work(gains=(0.06, 0.03, 0.0)), 45.0, TODAY, EXAM)[0].unseen
    assert new[2] == 0
    assert new[0] == pytest.approx(2 * new[1], abs=1)
    assert plan(work(gains=(0.0, 0.0, 0.0)), 45.0, TODAY, EXAM)[0].unseen == pytest.approx([15, 9, 6])


def test_before_the_exam_no_new_topics_of_little_weight():
    days = plan(work(gains=(0.01, 0.03, 0.06)), 45.0, TODAY, TODAY + timedelta(days=10))
    consolidating = [day for day in days if day.phase is Phase.consolidate]
    assert len(consolidating) == 3
    assert all(day.unseen[1:].sum() == 0 and day.unseen[0] > 0 for day in consolidating)


def test_what_one_kind_leaves_goes_to_the_other():
    only_reviews = plan(work([-1] * 100, unseen=(0, 0, 0)), 45.0, TODAY, EXAM)[0]
    assert only_reviews.minutes == pytest.approx(45.0, abs=0.5)
    nothing = plan(work(unseen=(0, 0, 0)), 45.0, TODAY, EXAM)[0]
    assert (nothing.reviews, nothing.minutes) == ((), 0.0)


def test_without_an_exam_date_a_week_of_learning_is_planned():
    assert [day.phase for day in plan(work(), 30.0, TODAY)] == [Phase.learn] * 7


@pytest.mark.parametrize(
    ("days", "expected"),
    [(1, [Phase.exam]), (2, [Phase.light, Phase.exam]), (3, [Phase.learn, Phase.light, Phase.exam])],
)
def test_the_last_days_are_the_same_however_few_are_left(days, expected):
    assert phases(days, True, mocks=True) == expected


@pytest.mark.parametrize("exam", [TODAY - timedelta(days=1), TODAY + timedelta(days=400)])
def test_an_exam_that_is_over_or_far_away_is_refused(exam):
    with pytest.raises(ValueError, match="days later expected"):
        plan(work(), 45.0, TODAY, exam)


def test_impossible_times_are_refused():
    with pytest.raises(ValueError, match="0 minutes per day"):
        plan(work(), 0, TODAY)
    with pytest.raises(ValueError, match="seconds above 0"):
        work(unseen_s=0.0)
