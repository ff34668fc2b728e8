import csv
import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.learner.rapid import FLOOR_SHARE, LEAST_TIMES, average_pace, floors, is_rapid, medians, pace, wants_nudge


@pytest.fixture(scope="session")
def licensure_exam(shared):
    """Response times in ms and correctness of a real exam, each (1636, 170)."""
    folder = shared / "data" / "responses"
    with gzip.open(folder / "credential_form1_seconds.csv.gz", "rt") as file:
        times = np.array([row[1:] for row in csv.reader(file)][1:], dtype=float) * 1000.0
    with gzip.open(folder / "credential_form1_options.csv.gz", "rt") as file:
        header, *rows = csv.reader(file)
    with (folder / "credential_form1_key.csv").open() as file:
        key = {row["item"]: row["key"] for row in csv.DictReader(file)}
    right = np.array([[option == key[item] for item, option in zip(header[6:], row[6:], strict=True)] for row in rows])
    return times, right


def test_what_is_labelled_in_a_real_exam_is_right_about_as_often_as_a_guess(licensure_exam):
    times, right = licensure_exam
    items = np.broadcast_to(np.arange(170), times.shape)
    median, count = medians(times.ravel(), items.ravel(), 170)
    rapid = is_rapid(times, floors(median, count))
    assert median == pytest.approx(np.median(times, axis=0))
    assert 100 < rapid.sum() < 300
    assert right[rapid].mean() < 0.40 < 0.70 < right[~rapid].mean()


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0.0, 1e6) | st.just(np.nan)), max_size=60))
def test_medians_are_numpys(answers):
    item, times = np.array([i for i, _ in answers], dtype=int), np.array([t for _, t in answers], dtype=float)
    median, count = medians(times, item, 4)
    for i in range(4):
        known = times[(item == i) & ~np.isnan(times)]
        assert count[i] == known.size
        assert median[i] == pytest.approx(np.median(known) if known.size else np.nan, nan_ok=True)


def test_an_item_needs_enough_times_before_it_has_a_floor():
    median, count = np.full(3, 40_000.0), np.array([LEAST_TIMES - 1, LEAST_TIMES, 500])
    floor = floors(median, count)
    assert np.isnan(floor[0])
    assert floor[1:] == pytest.approx(FLOOR_SHARE * median[1:])


def test_no_floor_is_above_ten_seconds():
    assert floors(np.array([1e6]), np.array([100])) == pytest.approx([10_000.0])


def test_without_a_time_or_a_floor_nobody_is_a_guesser():
    assert is_rapid(
        np.array([100.0, np.nan, 100.0, 9_000.0]), np.array([5_000.0, 5_000.0, np.nan, 5_000.0])
    ).tolist() == [
        True,
        False,
        False,
        False,
    ]
    assert not is_rapid(None, 5_000.0)


@pytest.mark.parametrize(
    ("flags", "nudged"),
    [("", 0), ("rr", 0), ("rrr", 1), ("hrrr", 1), ("rrrh", 0), ("rrrhrr", 0), ("rrrr", 0), ("rrrrrr", 1)],
)
def test_three_in_a_row_are_nudged_and_not_every_one_after(flags, nudged):
    assert wants_nudge(np.array([flag == "r" for flag in flags], dtype=bool)) is bool(nudged)


def test_pace_is_the_ratio_to_everybodys_times_and_careful_with_few():
    median = np.full(40, 30_000.0)
    assert pace(median * 2.0, median, weight=0.0) == pytest.approx(2.0)
    assert 1.0 < pace(median[:2] * 2.0, median[:2]) < pace(median * 2.0, median) < 2.0
    assert pace(np.array([]), np.array([])) == 1.0
    assert pace(np.array([np.nan, 0.0, 30_000.0]), np.array([1.0, 30_000.0, np.nan])) == 1.0


def test_the_average_pace_is_the_mean_of_skewed_times(rng):
    usual = rng.uniform(20_000, 60_000, 4_000)
    times = 2.0 * usual * np.exp(0.5 * rng.standard_normal(4_000))
    assert average_pace(times, usual) == pytest.approx(2.0 * np.exp(0.125), rel=0.03)
    assert pace(times, usual) == pytest.approx(2.0, rel=0.03)


def test_an_afternoon_off_hardly_moves_the_average_pace():
    usual = np.full(50, 30_000.0)
    times = np.append(usual[:-1], 4 * 3_600_000.0)
    assert average_pace(usual, usual) == 1.0
    assert 1.0 < average_pace(times, usual) < 1.1


def test_nobody_has_the_usual_pace():
    assert average_pace(np.empty(0), np.empty(0)) == 1.0
    assert average_pace(np.array([np.nan, 0.0]), np.array([1.0, 1.0])) == 1.0
