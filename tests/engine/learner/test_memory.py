import csv
import gzip
import json
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from fsrs import Card, Rating
from hypothesis import given
from hypothesis import strategies as st

from engine.learner.memory import (
    SCHEDULE,
    Memory,
    card_of,
    due,
    next_due,
    rating,
    retrievability,
    reviewed,
    schedule,
    usual_time_ms,
)

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)

# Fitted to the log below by py-fsrs 6.3.1, as its own test expects them.
FITTED = (
    0.1234,
    1.2931,
    2.3977,
    8.2956,
    6.6868,
    0.4502,
    3.0779,
    0.0535,
    1.6540,
    0.1466,
    0.6301,
    1.6120,
    0.0128,
    0.3485,
)
FITTED += (1.8879, 0.8546, 1.8729, 0.6749, 0.2045, 0.2262, 0.4603)

ratings = st.lists(st.tuples(st.sampled_from(Rating), st.floats(0.0, 200.0)), min_size=1, max_size=20)


def after(given_ratings, scheduler=SCHEDULE):
    memory, now = None, NOW
    for rated, days in given_ratings:
        now += days * DAY
        memory = reviewed(memory, rated, now, scheduler)
    return memory


@pytest.fixture(scope="session")
def review_log(shared):
    """Reviews of one person in the order of time: card, time, rating."""
    with gzip.open(shared / "data" / "responses" / "fsrs_reviewlog_one_user.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    reviews = [(r["card_id"], datetime.fromisoformat(r["review_time"]), Rating(int(r["review_rating"]))) for r in rows]
    return sorted(reviews, key=lambda review: review[1])


def forecasts(review_log, scheduler):
    """Recall forecast for every review at least a day after the one before, and whether the card was recalled."""
    memories, predicted, recalled = {}, [], []
    for card, now, rated in review_log:
        before = memories.get(card)
        if before is not None and now - before.last_review >= DAY:
            predicted.append(retrievability([before], now, scheduler)[0])
            recalled.append(rated != Rating.Again)
        memories[card] = reviewed(before, rated, now, scheduler)
    return np.array(predicted), np.array(recalled, dtype=float)


def log_loss(predicted, recalled):
    return -np.mean(recalled * np.log(predicted) + (1.0 - recalled) * np.log1p(-predicted))


def test_a_real_persons_recall_is_forecast_better_than_by_their_mean(review_log):
    predicted, recalled = forecasts(review_log, SCHEDULE)
    constant = log_loss(np.full(recalled.size, recalled.mean()), recalled)
    assert predicted.size == 5329
    assert log_loss(predicted, recalled) == pytest.approx(0.4634, abs=1e-3)
    assert log_loss(predicted, recalled) < 0.92 * constant


def test_parameters_fitted_to_the_person_forecast_better_and_are_calibrated(review_log):
    predicted, recalled = forecasts(review_log, schedule(FITTED))
    assert log_loss(predicted, recalled) == pytest.approx(0.4396, abs=1e-3)
    fifths = np.array_split(np.argsort(predicted), 5)
    assert [predicted[part].mean() for part in fifths] == pytest.approx(
        [recalled[part].mean() for part in fifths], abs=0.06
    )


@given(ratings)
def test_stability_difficulty_and_due_date_are_those_of_the_package(given_ratings):
    card, now = Card(0, due=NOW), NOW
    for rated, days in given_ratings:
        now += days * DAY
        card, _ = SCHEDULE.review_card(card, rated, now)
    memory = after(given_ratings)
    assert (memory.stability, memory.difficulty, memory.due) == (card.stability, card.difficulty, card.due)


@given(ratings)
def test_a_memory_survives_json(given_ratings):
    memory = after(given_ratings)
    assert Memory.from_json(json.loads(json.dumps(memory.to_json()))) == memory


@given(ratings)
def test_no_item_comes_back_before_the_next_day(given_ratings):
    memory = after(given_ratings)
    assert memory.due - memory.last_review >= DAY


@given(ratings, st.integers(0, 400))
def test_at_whole_days_recall_is_what_the_package_says(given_ratings, days):
    memory = after(given_ratings)
    now = memory.last_review + days * DAY
    theirs = SCHEDULE.get_card_retrievability(card_of(memory, now), now)
    assert retrievability([memory], now) == pytest.approx([theirs], abs=1e-12)


def test_recall_falls_with_time_and_is_nine_tenths_at_the_stability():
    memory = after([(Rating.Good, 0.0), (Rating.Good, 3.0)])
    moments = [memory.last_review + days * DAY for days in (0.0, 0.5, memory.stability, 90.0)]
    recall = [retrievability([memory], moment)[0] for moment in moments]
    assert recall == sorted(recall, reverse=True)
    assert [recall[0], recall[2]] == pytest.approx([1.0, 0.9], abs=1e-6)


def test_better_ratings_bring_later_returns():
    stabilities = [after([(Rating.Good, 0.0), (rated, 2.0)]).stability for rated in Rating]
    assert stabilities == sorted(stabilities)
    assert len(set(stabilities)) == 4


def test_the_same_answers_give_the_same_dates():
    history = [(Rating.Good, 0.0), (Rating.Easy, 20.0), (Rating.Good, 60.0)]
    assert len({after(history).due for _ in range(20)}) == 1


@pytest.mark.parametrize(
    ("right", "time", "usual", "expected"),
    [
        (False, 1_000, 30_000, Rating.Again),
        (True, None, 30_000, Rating.Good),
        (True, 90_000, None, Rating.Good),
        (True, 14_999, 30_000, Rating.Easy),
        (True, 15_000, 30_000, Rating.Good),
        (True, 60_000, 30_000, Rating.Good),
        (True, 60_001, 30_000, Rating.Hard),
    ],
)
def test_a_rating_comes_from_correctness_and_the_time_taken(right, time, usual, expected):
    assert rating(right, time, usual) is expected


def test_a_slow_reader_is_measured_by_their_own_pace():
    assert usual_time_ms(None, 2.0) is None
    assert rating(True, 80_000, usual_time_ms(30_000)) is Rating.Hard
    assert rating(True, 80_000, usual_time_ms(30_000, 2.0)) is Rating.Good


def test_only_due_items_come_most_overdue_first():
    memories = [Memory(5.0, 5.0, NOW - days * DAY, NOW - 30 * DAY, 1, 0) for days in (1.0, -0.1, 9.0, 0.0, 3.0)]
    assert due(memories, NOW) == [2, 4, 0, 3]
    assert due([], NOW) == []
    assert next_due(memories, NOW) == NOW + 0.1 * DAY
    assert next_due(memories, NOW + DAY) is None


def test_lapses_and_reviews_are_counted():
    memory = after([(Rating.Again, 0.0), (Rating.Good, 1.0), (Rating.Again, 3.0), (Rating.Again, 1.0)])
    assert (memory.reviews, memory.lapses) == (4, 2)


def test_any_time_zone_will_do_but_one_there_must_be():
    east = NOW.astimezone(timezone(timedelta(hours=9)))
    assert reviewed(None, Rating.Good, east) == reviewed(None, Rating.Good, NOW)
    with pytest.raises(ValueError, match="no time zone"):
        reviewed(None, Rating.Good, NOW.replace(tzinfo=None))


def test_reviews_come_in_the_order_of_time():
    with pytest.raises(ValueError, match="but the last was at"):
        reviewed(after([(Rating.Good, 0.0)]), Rating.Good, NOW - DAY)


def test_impossible_values_are_refused():
    with pytest.raises(ValueError, match="stability 0"):
        Memory(0.0, 5.0, NOW, NOW, 1, 0)
    with pytest.raises(ValueError, match="retention 1"):
        schedule(retention=1.0)
    with pytest.raises(ValueError, match="out of bounds"):
        schedule([*FITTED[:-1], 7.0])
