"""Reviews, siblings and enemies over whole practice sittings, decided by `decide`."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import normal_log_prior
from engine.pool import Pool
from engine.selection import PRACTICE, Profile, decide, waiting_after
from engine.selection.turns import Course, Turn, wants_review
from tests.factories.pools import make_pool

SIBLINGS = np.array([[i, i + 1] for i in range(0, 60, 2)])


def practise(pool: Pool, length: int, *, rights: Any = True, policy: Any = PRACTICE, **changes: Any) -> list[dict]:
    """Traces of a sitting; rights : whether each answer is, or one for all."""
    objectives = len(pool.objective_codes)
    profile = Profile(np.zeros(objectives), np.full(objectives, 0.5), 0.0)
    nothing = np.zeros(len(pool), dtype=bool)
    fields: dict[str, Any] = {
        "objectives": (),
        "excluded": nothing,
        "resting": nothing,
        "suspended": (),
        "seed": 5,
        "profile": profile,
    }
    traces: list[dict] = []
    waiting: Any = ()
    for place in range(length):
        administered = [trace["item_version"] for trace in traces]
        trace = decide(
            pool, policy, normal_log_prior(), administered=administered, waiting=waiting, **(fields | changes)
        )
        if trace is None:
            break
        traces.append(trace)
        right = rights if isinstance(rights, bool) else bool(rights[place])
        waiting = waiting_after(policy, trace, right=right)
    return traces


def places(pool: Pool, traces: list[dict]) -> list[int]:
    return [pool.index_of_version[trace["item_version"]] for trace in traces]


def test_a_sibling_of_a_wrongly_answered_item_comes_after_the_wait_and_not_before() -> None:
    pool = make_pool(60, siblings=SIBLINGS)
    traces = practise(pool, 8, rights=[False] + [True] * 7, policy=replace(PRACTICE, sibling_after=4))
    served = places(pool, traces)
    assert served[5] == served[0] ^ 1
    assert [trace["turn"] for trace in traces].index(Turn.sibling) == 5
    assert "waiting" not in traces[6] or traces[6]["waiting"] == []


def test_a_sibling_that_came_by_itself_ends_the_wait() -> None:
    pool = make_pool(2, objectives=1, siblings=np.array([[0, 1]]))
    traces = practise(pool, 3, rights=False)
    assert [trace["turn"] for trace in traces] == [Turn.criterion, Turn.criterion]
    assert traces[1]["waiting"] == []


def test_a_sibling_seen_before_or_suspended_does_not_come() -> None:
    pool = make_pool(60, siblings=SIBLINGS)
    first = places(pool, practise(pool, 1))[0]
    seen = np.zeros(60, dtype=bool)
    seen[first ^ 1] = True
    for changes in ({"excluded": seen}, {"suspended": (int(pool.item_versions[first ^ 1]),)}):
        traces = practise(pool, 12, rights=[False] + [True] * 11, **changes)
        assert first ^ 1 not in places(pool, traces)


@given(st.floats(0.0, 1.0), st.integers(0, 15))
def test_reviews_get_their_share_of_any_beginning_of_a_sitting_and_no_more(share: float, due: int) -> None:
    pool = make_pool(40)
    queue = pool.item_versions[:due].tolist()
    met = np.arange(40) < due
    traces = practise(
        pool, 20, policy=replace(PRACTICE, review_share=share), queue=queue, excluded=met, resting=np.zeros(40, bool)
    )
    reviews = np.cumsum([trace["turn"] == Turn.due for trace in traces])
    for position, count in enumerate(reviews.tolist(), 1):
        assert count <= share * position
        assert count >= min(due, int(share * position + 1e-9)) - 1
    served = [trace["item_version"] for trace in traces if trace["turn"] == Turn.due]
    assert served == queue[: len(served)]


def test_an_item_answered_wrong_today_is_not_served_again_today() -> None:
    """It is in no queue before its memory is due, a day later, and a sitting serves an item once."""
    pool = make_pool(12)
    traces = practise(pool, 100, rights=False)
    assert sorted(places(pool, traces)) == list(range(12))


@pytest.mark.parametrize("seen", [False, True])
def test_enemies_never_meet_in_a_sitting_not_even_when_all_is_repeated(seen: bool) -> None:
    pairs = np.array([[i, i + 1] for i in range(0, 30, 2)])
    pool = make_pool(30, enemies=pairs)
    traces = practise(pool, 100, excluded=np.full(30, seen))
    served = set(places(pool, traces))
    assert len(served) == 15
    assert all(place ^ 1 not in served for place in served)
    assert {trace["repeated"] for trace in traces} == {seen}


def test_hundreds_of_answers_spread_over_the_objectives_and_stay_near_the_target() -> None:
    pool = make_pool(900, objectives=6)
    traces = practise(pool, 400, rights=[i % 3 > 0 for i in range(400)])
    served = places(pool, traces)
    assert len(set(served)) == 400
    counts = np.bincount(pool.objective[served], minlength=6)
    assert counts.min() >= 60
    assert all(np.isfinite(candidate["score"]) for trace in traces for candidate in trace["candidates"])
    assert max(len(trace.get("waiting", ())) for trace in traces) == 0  # no item has a sibling


def test_among_the_best_chance_decides() -> None:
    pool = make_pool(60)
    firsts = {practise(pool, 1, seed=seed)[0]["item_version"] for seed in range(40)}
    assert len(firsts) == PRACTICE.randomesque


def test_one_item_and_no_item() -> None:
    assert [trace["item_version"] for trace in practise(make_pool(1, objectives=1), 5)] == [1000]
    assert practise(make_pool(0), 5) == []


def test_without_a_queue_nothing_is_reviewed() -> None:
    empty = np.empty(0, dtype=np.int64)
    mask = np.zeros(3, dtype=bool)
    course = Course(5, empty, mask, mask, mask, None, [], ())
    assert not wants_review(replace(PRACTICE, review_share=1.0), course)
