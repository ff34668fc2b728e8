"""Rapid guesses: answers faster than anyone could read the item. They are kept and labelled, and left out of estimates.

Each item has a floor: 15 % of its median response time, at most 10 seconds. The normative threshold method takes 10 %
of the mean; a median is what a few learners who went for coffee can't move, and it lies below the mean, hence 15.
Source: Wise & Ma (2012), Setting response time thresholds for a CAT item pool: the normative threshold method, NCME.
"""

import numpy as np

from engine.irt.types import BoolArray, FloatArray, IntArray

FLOOR_SHARE = 0.15
MOST_MS = 10_000.0
LEAST_TIMES = 30  # below this many times a median is too loose to call somebody a guesser
NUDGE_AFTER = 3
LONGEST_RATIO = 5.0  # times the usual; a longer time was not spent on the item


def medians(times_ms: FloatArray, item: IntArray, items: int) -> tuple[FloatArray, IntArray]:
    """Median response time (I,) in ms, NaN where there is none, and the number of times (I,) behind it.

    times_ms : (N,), NaN where unknown;  item : (N,), index below `items`
    """
    known = ~np.isnan(times_ms)
    where, times = item[known], times_ms[known]
    count = np.bincount(where, minlength=items)
    order = np.lexsort((times, where))
    start = np.cumsum(count) - count
    some = count > 0
    result = np.full(items, np.nan)
    ranked = times[order]
    low, high = (start + (count - 1) // 2)[some], (start + count // 2)[some]
    result[some] = 0.5 * (ranked[low] + ranked[high])
    return result, count


def floors(median_ms: FloatArray, count: IntArray) -> FloatArray:
    """The floor (I,) of each item in ms; NaN, which no time is below, for those with fewer than LEAST_TIMES times."""
    return np.where(count >= LEAST_TIMES, np.minimum(FLOOR_SHARE * median_ms, MOST_MS), np.nan)


def is_rapid(times_ms: FloatArray | float | None, floor_ms: FloatArray | float | None) -> BoolArray:
    """Whether each time is below its item's floor (...); an unknown time or floor (None, NaN) never is.

    >>> is_rapid(900.0, 1500.0).item(), is_rapid(900.0, None).item()
    (True, False)
    """
    times, limits = (np.asarray(np.nan if value is None else value) for value in (times_ms, floor_ms))
    return np.asarray(times < limits)


def wants_nudge(rapid: BoolArray) -> bool:
    """Whether to nudge now: the last answers of a sitting (N,), oldest first, end in 3, 6, 9 ... rapid guesses.

    >>> [wants_nudge(np.array(flags, dtype=bool)) for flags in ([1, 1], [0, 1, 1, 1], [1, 1, 1, 1])]
    [False, True, False]
    """
    honest = np.flatnonzero(~rapid)
    run = rapid.size - (int(honest[-1]) + 1 if honest.size else 0)
    return run > 0 and run % NUDGE_AFTER == 0


def pace(times_ms: FloatArray, median_ms: FloatArray, *, weight: float = 5.0) -> float:
    """How slow a learner is: 1 as everybody, 2 twice as slow. The median ratio of own times to the items' (N,) medians.

    It is drawn towards 1 as if by `weight` answers at the usual pace, on the log scale; times or medians of NaN or 0
    do not count.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(times_ms / median_ms)
    logs = logs[np.isfinite(logs)]
    return float(np.exp(np.median(logs) * logs.size / (logs.size + weight))) if logs.size else 1.0


def average_pace(times_ms: FloatArray, median_ms: FloatArray, *, weight: float = 5.0) -> float:
    """How long a learner's answers take on average, as a multiple of the items' medians; what a day's minutes go by.

    Times are skewed, so a sum of medians is too short a plan: `pace` is lengthened by the mean ratio of the learner's
    times to it, each ratio at most LONGEST_RATIO, so that an afternoon off does not count; drawn towards 1 as there.
    """
    usual = pace(times_ms, median_ms, weight=weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = times_ms / (usual * median_ms)
    ratios = np.minimum(ratios[np.isfinite(ratios) & (ratios > 0.0)], LONGEST_RATIO)
    return usual * float((ratios.sum() + weight) / (ratios.size + weight))
