"""Whether a pool can meet a policy: each clash is found where there is one, and only there."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.irt import information
from engine.selection import ADAPTIVE_TEST, PRACTICE, Policy
from engine.selection.attainment import GRID, best_information, reachable
from engine.selection.feasibility import findings
from engine.selection.finding import Finding, Severity
from engine.selection.sizes import sitting_sizes, sure_length
from tests.factories.pools import make_pool

FIXED = Policy(minimum_length=1, maximum_length=12)


def even_pool(size: int = 60, **changes: Any) -> Any:
    """Good items for every ability, in three objectives."""
    fields = {"a": np.full(size, 1.5), "b": np.tile(np.linspace(-2, 2, size // 3), 3), "c": np.zeros(size)}
    return make_pool(size, **(fields | changes))


def found(pool: Any, policy: Policy = FIXED, **more: Any) -> dict[str, Finding]:
    """Findings by the field that clashes; each at most once."""
    all_found = findings(pool, policy, **more)
    by_field = {finding.field: finding for finding in all_found}
    assert len(by_field) == len(all_found)
    return by_field


def test_what_can_be_met_has_no_findings() -> None:
    policy = Policy(minimum_length=5, maximum_length=30, standard_error=0.4, maximum_exposure=0.6)
    assert findings(even_pool(), policy) == []


def test_practice_without_an_end_asks_for_nothing() -> None:
    assert findings(make_pool(3), PRACTICE) == []


def test_a_pool_without_items_meets_nothing() -> None:
    assert [finding.severity for finding in findings(make_pool(0), FIXED)] == [Severity.error]


@pytest.mark.parametrize(
    ("changes", "sure"),
    [
        ({"maximum_length": 20}, 20),
        ({"minimum_length": 5, "maximum_length": 20, "standard_error": 0.3}, 5),
        ({"minimum_length": 5, "maximum_length": 20, "time_limit_s": 60}, 5),
        ({"maximum_length": 20, "classification": "sprt"}, 1),
        ({"minimum_length": 3}, 3),
    ],
)
def test_how_long_every_sitting_is(changes: dict[str, Any], sure: int) -> None:
    assert sure_length(Policy().with_changes(changes)) == sure


def test_a_fixed_length_that_the_pool_lacks_is_an_error() -> None:
    finding = found(make_pool(9), Policy(maximum_length=12, content_balancing=False))["maximum_length"]
    assert (finding.severity, finding.facts["most"]) == (Severity.error, 9)
    assert str(finding) == "maximum_length: 12 asked for, the pool has 9 items; at most 9, or more items"


def test_a_length_that_only_some_sittings_come_to_is_a_warning() -> None:
    policy = Policy(minimum_length=2, maximum_length=12, standard_error=0.9, content_balancing=False)
    assert found(make_pool(9), policy)["maximum_length"].severity is Severity.warning
    more = Policy(minimum_length=10, maximum_length=12, standard_error=0.9, content_balancing=False)
    assert found(make_pool(9), more)["minimum_length"].severity is Severity.error


def test_enemies_shorten_a_sitting() -> None:
    star = np.array([[0, 1], [0, 2], [0, 3], [4, 5]])  # the middle first: one item of four
    pool = make_pool(8, enemies=star)
    least, most = sitting_sizes(pool)
    assert (least, most) == (2 + 1 + 1, 2 + 3 + 1)
    policy = Policy(maximum_length=6, content_balancing=False)
    assert found(pool, policy)["maximum_length"].severity is Severity.warning
    assert found(pool, Policy(maximum_length=7, content_balancing=False))["maximum_length"].severity is Severity.error


@given(st.integers(1, 8), st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=12), st.randoms())
def test_no_sitting_is_shorter_or_longer_than_the_bounds(size: int, drawn: Any, random: Any) -> None:
    pairs = [pair for pair in drawn if pair[0] < pair[1] < size]
    pool = make_pool(size, objectives=1, enemies=np.array(pairs, dtype=np.int32).reshape(-1, 2))
    left, served = set(range(size)), 0
    while left:
        item = random.choice(sorted(left))
        left -= {item, *(pool.enemies_of[item].tolist() if item in pool.enemies_of else ())}
        served += 1
    least, most = sitting_sizes(pool)
    assert least <= served <= most


def test_an_objective_that_runs_out_is_named_with_what_it_has_and_needs() -> None:
    objective = np.repeat([0, 1, 2], [28, 28, 4])
    policy = Policy(maximum_length=30)
    finding = found(even_pool(objective=objective), policy)["maximum_length"]
    assert finding.severity is Severity.error
    assert finding.facts["objectives"] == [{"objective": "1.3", "have": 4, "need": 10}]
    assert finding.facts["longest_in_proportion"] == 12
    assert "1.3 has 4 of 10" in str(finding)
    shorter = policy.with_changes({"maximum_length": 12})
    assert "maximum_length" not in found(even_pool(objective=objective), shorter)


def test_a_sitting_that_may_end_before_an_objective_runs_out_is_warned_of_unless_it_is_strict() -> None:
    pool = even_pool(objective=np.repeat([0, 1, 2], [28, 28, 4]))
    policy = Policy(minimum_length=6, maximum_length=30, standard_error=0.5)
    assert found(pool, policy)["maximum_length"].severity is Severity.warning
    strict = policy.with_changes({"strict_content": True})
    assert found(pool, strict)["maximum_length"].severity is Severity.error


def test_a_standard_error_out_of_reach_is_an_error_that_says_what_is_in_reach() -> None:
    pool = even_pool()
    policy = Policy(maximum_length=6, standard_error=0.1)
    finding = found(pool, policy)["standard_error"]
    best = reachable(pool, policy, 1.0).min()
    assert (finding.severity, min(finding.facts["smallest_standard_error"])) == (Severity.error, round(best, 4))
    enough = policy.with_changes({"standard_error": float(reachable(pool, policy, 1.0).max())})
    assert "standard_error" not in found(pool, enough)


def test_a_standard_error_out_of_reach_for_some_is_a_warning_that_says_for_whom() -> None:
    pool = even_pool(b=np.full(60, 2.0))
    policy = Policy(maximum_length=10, standard_error=0.5)
    finding = found(pool, policy)["standard_error"]
    assert finding.severity is Severity.warning
    assert "at an ability of -2, -1.5," in finding.what


def test_the_best_items_are_those_that_the_proportions_allow() -> None:
    a = np.concatenate([np.full(10, 2.0), np.full(20, 0.5)])
    pool = make_pool(30, a=a, b=np.zeros(30), c=np.zeros(30))
    policy = Policy(maximum_length=9)
    one, other = (float(information(0.0, value, 0.0)[0]) for value in (2.0, 0.5))
    at_zero = np.zeros(1)
    assert best_information(pool, policy, at_zero) == pytest.approx(3 * one + 6 * other)
    anyhow = policy.with_changes({"content_balancing": False})
    assert best_information(pool, anyhow, at_zero) == pytest.approx(9 * one)


@given(st.integers(1, 40))
def test_longer_sittings_reach_smaller_standard_errors(length: int) -> None:
    pool = make_pool(40)
    shorter, longer = (reachable(pool, Policy(maximum_length=n), 1.0) for n in (length, length + 1))
    assert (longer <= shorter).all()
    assert (shorter < 1.0).all()
    assert shorter.shape == GRID.shape


def test_items_that_never_tell_enough_end_every_sitting_at_once() -> None:
    policy = Policy(maximum_length=10, minimum_information=0.8)
    assert found(even_pool(), policy)["minimum_information"].severity is Severity.error
    assert "minimum_information" not in found(even_pool(), policy.with_changes({"minimum_information": 0.5}))


def test_nobody_can_be_decided_by_a_few_poor_items() -> None:
    poor = even_pool(a=np.full(60, 0.4))
    interval = Policy(maximum_length=8).with_changes({"classification": "confidence_interval"})
    assert found(poor, interval)["classification"].severity is Severity.error
    longer = interval.with_changes({"maximum_length": 40})
    assert "classification" not in found(even_pool(), longer)


def test_a_cut_score_far_from_all_items_is_decided_on_one_side_at_most() -> None:
    interval = Policy(maximum_length=15).with_changes({"classification": "confidence_interval"})
    hard = even_pool(b=np.full(60, 3.0), a=np.full(60, 1.2))
    assert found(hard, interval, cut=1.0)["classification"].severity is Severity.warning


def test_a_likelihood_ratio_that_can_not_leave_its_bounds_is_told_for_each_outcome() -> None:
    sprt = Policy(maximum_length=3).with_changes({"classification": "sprt"})
    clashes = [finding.facts["outcome"] for finding in findings(even_pool(), sprt)]
    assert clashes == ["pass", "fail"]
    assert findings(even_pool(), sprt.with_changes({"maximum_length": 30})) == []


def test_rates_must_add_up_to_the_length() -> None:
    pool = even_pool()
    assert "maximum_exposure" not in found(pool, Policy(maximum_length=12, maximum_exposure=0.2))
    finding = found(pool, Policy(maximum_length=12, maximum_exposure=0.19))["maximum_exposure"]
    assert finding.severity is Severity.error
    assert "at least 0.2, or 4 more items there" in str(finding)


def test_rates_must_add_up_in_every_objective() -> None:
    pool = even_pool(objective=np.repeat([0, 1, 2], [26, 26, 8]))
    finding = found(pool, Policy(maximum_length=12, maximum_exposure=0.4))["maximum_exposure"]
    assert [part["of"] for part in finding.facts["parts"]] == ["objective 1.3"]
    assert "8 items of objective 1.3" in str(finding)
    early = Policy(minimum_length=2, maximum_length=12, maximum_exposure=0.4, standard_error=0.5)
    assert found(pool, early)["maximum_exposure"].severity is Severity.warning


def test_errors_come_first_and_all_is_json() -> None:
    pool = even_pool(objective=np.repeat([0, 1, 2], [26, 26, 8]), b=np.full(60, 2.0))
    policy = ADAPTIVE_TEST.with_changes({"maximum_exposure": 0.1, "standard_error": 0.4})
    severities = [finding.severity for finding in findings(pool, policy)]
    assert severities == sorted(severities)
    assert {"error", "warning"} == set(severities)
    assert all(
        set(finding.to_json()) == {"severity", "field", "what", "remedy", "facts"} for finding in findings(pool, policy)
    )
