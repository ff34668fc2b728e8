"""Hard constraints in sittings on a real database: whatever the answers, a whole sitting meets them all."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from engine import constraining, delivery, loading, replaying
from engine.errors import Infeasible, InvalidConstraint, InvalidPolicy
from engine.selection import ContentLevel, Mode, Policy
from engine.selection.constraints import Count
from engine.selection.program import compile_constraints
from itembank import calibrations
from itembank.content import Stage
from itembank.models import Exam, Item, Session
from itembank.store import Db
from tests.engine.test_policies_in_sittings import run
from tests.factories.bank import make_exam, make_items, make_tenant, move

EASY = [f"item-{place}" for place in range(4)]
RULES = [
    {"kind": "count", "name": "easy", "least": 2, "most": 2, "where": [{"attribute": "external_id", "among": EASY}]},
    {"kind": "enemies", "name": "pair", "where": [{"attribute": "external_id", "among": ["item-4", "item-5"]}]},
    {"kind": "mean", "name": "difficulty", "attribute": "b", "least": -0.6, "most": 0.6},
    {"kind": "total", "name": "reading", "attribute": "words", "most": 200},
]


@pytest.fixture
def exam(db: Db) -> Exam:
    return make_exam(db, make_tenant(db))


@pytest.fixture
def items(db: Db, exam: Exam) -> list[Item]:
    made = make_items(db, exam, 18)
    db.refresh(exam)
    return made


@pytest.fixture
def begin(db: Db, exam: Exam, items: list[Item], now: datetime) -> Callable[..., Session]:
    def start(rules: list[dict[str, Any]] = RULES, seed: int = 7, **more: Any) -> Session:
        changes = {"minimum_length": 1, "maximum_length": 8, "standard_error": None, "constraints": rules} | more
        who = {"tenant_id": exam.tenant_id, "exam": exam, "learner": "ada", "actor": "test"}
        return delivery.start(db, **who, mode=Mode.adaptive_test, changes=changes, objectives=(), seed=seed, now=now)

    return start


@pytest.mark.parametrize("rights", [(True,) * 8, (False,) * 8, (True, False) * 4])
@pytest.mark.parametrize("criterion", ["posterior_information", "maximum_information", "target_success", "random"])
def test_a_whole_sitting_meets_every_constraint_whatever_the_answers(
    db: Db, exam: Exam, begin: Callable[..., Session], now: datetime, rights: tuple[bool, ...], criterion: str
) -> None:
    session = begin(criterion=criterion)
    steps = run(db, session, now, rights)
    pool = loading.get_pool(db, session.pool_id)
    program = constraining.program_for(db, pool, Policy.from_json(session.policy), session.objectives)
    assert program is not None
    form = np.array([pool.index_of_version[version] for version in session.administered])
    assert (len(form), steps[-1].stop_reason, program.violations(form)) == (8, "maximum_length", ())
    assert (np.abs(np.bincount(pool.objective[form]) - 8 * pool.objective_weights) < 1).all()
    loading.forget(db.get_bind().engine)
    assert replaying.replay(db, session, tolerance=0.0) == []


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_mock_form_meets_the_constraints_too_and_is_served_in_their_order(
    db: Db, exam: Exam, items: list[Item], now: datetime, seed: int
) -> None:
    rules = [*RULES, {"kind": "ordered", "name": "easy first", "attribute": "b"}]
    who = {"tenant_id": exam.tenant_id, "exam": exam, "learner": "ada", "actor": "test"}
    changes = {"maximum_length": 8, "constraints": rules}
    session = delivery.start(db, **who, mode=Mode.mock, changes=changes, objectives=(), seed=seed, now=now)
    pool = loading.get_pool(db, session.pool_id)
    form = [pool.index_of_version[version] for version in session.queue]
    program = constraining.program_for(db, pool, Policy.from_json(session.policy), ())
    assert program is not None
    assert program.violations(np.array(form)) == ()
    assert (np.diff(pool.b[form]) >= 0).all()
    assert replaying.replay(db, session, tolerance=0.0) == []


def test_constraints_that_clash_are_named_before_a_sitting_begins(begin: Callable[..., Session]) -> None:
    every_easy = {
        "kind": "count",
        "name": "all easy",
        "least": 8,
        "where": [{"attribute": "external_id", "among": EASY}],
    }
    with pytest.raises(Infeasible, match="all easy"):
        begin([every_easy])


def test_an_attribute_that_no_item_has_is_named(begin: Callable[..., Session]) -> None:
    with pytest.raises(InvalidConstraint, match=r"colour.*one of a, b, bloom, domain"):
        begin([{"kind": "count", "name": "blue", "least": 1, "where": [{"attribute": "colour", "among": ["blue"]}]}])


def test_constraints_need_an_end_to_hold_for(begin: Callable[..., Session]) -> None:
    with pytest.raises(InvalidPolicy, match="whole form"):
        begin(maximum_length=None)


def test_a_sitting_whose_form_was_suspended_away_ends_for_lack_of_items(
    db: Db, items: list[Item], begin: Callable[..., Session], now: datetime
) -> None:
    session = begin([{"kind": "include", "name": "these", "where": [{"attribute": "external_id", "among": EASY}]}])
    run(db, session, now, [True])
    for item in items[:4]:
        move(db, item, Stage.SUSPENDED)
    assert run(db, session, now, [True])[-1].stop_reason == "pool_exhausted"


def test_tags_and_their_namespaces_are_attributes(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    pool = loading.current_pool(db, exam, actor="test", now=now)
    columns = constraining.attributes_of(pool, calibrations.pool_facts(db, pool.version))
    assert columns["tags"] == [["bloom:apply"]] * 18
    assert columns["bloom"] == ["apply"] * 18
    assert set(columns["words"]) == {3 + 4 * 4}
    assert columns["domain"] == [code[0] for code in columns["objective"]]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [([["page:3"], ["page:12"]], [3.0, 12.0]), ([["page:iv"], []], ["iv", ""]), ([["page:1", "page:2"], []], None)],
)
def test_a_namespace_holds_numbers_texts_or_several_texts(tags: list[list[str]], expected: list[object] | None) -> None:
    column = constraining.namespace("page", tags)
    assert list(column) == (expected or [["1", "2"], []])


@pytest.mark.parametrize("length", [1, 7, 8, 25])
def test_proportions_leave_no_objective_more_than_an_item_from_its_share(
    db: Db, exam: Exam, items: list[Item], now: datetime, length: int
) -> None:
    pool = loading.current_pool(db, exam, actor="test", now=now)
    for level in ContentLevel:
        rules = constraining.proportions(pool, level, length)
        assert all(isinstance(rule, Count) and rule.most - rule.least <= 1 for rule in rules)  # type: ignore[operator]  # both are set
        assert sum(rule.least for rule in rules) <= length <= sum(rule.most for rule in rules)  # type: ignore[attr-defined,misc]  # counts
        columns = constraining.attributes_of(pool, calibrations.pool_facts(db, pool.version))
        assert compile_constraints(rules, columns, items=len(pool)).names == tuple(rule.name for rule in rules)
