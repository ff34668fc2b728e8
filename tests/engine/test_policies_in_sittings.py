"""What a policy can ask for, in sittings on a real database: each replays, and ends and decides as it should."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from engine import delivery, loading, replaying, reports
from engine.answers import Given, Step
from engine.errors import InvalidPolicy
from engine.selection import LINED_UP, ContentRule, Criterion, Mode
from engine.selection.policy import DISTANCES
from itembank.models import Exam, Session
from itembank.store import Db
from tests.factories.bank import make_exam, make_items, make_tenant

FIXED = {"minimum_length": 1, "maximum_length": 8, "standard_error": None}
RIGHTS = (True, False, True, True, False, True, True, False)


@pytest.fixture
def exam(db: Db) -> Exam:
    exam = make_exam(db, make_tenant(db))
    make_items(db, exam, 12)
    db.refresh(exam)
    return exam


@pytest.fixture
def begin(db: Db, exam: Exam, now: datetime) -> Callable[..., Session]:
    def start(learner: str = "ada", seed: int = 7, **changes: Any) -> Session:
        who = {"tenant_id": exam.tenant_id, "exam": exam, "learner": learner, "actor": "test"}
        mode = Mode.adaptive_test
        return delivery.start(db, **who, mode=mode, changes=changes, objectives=(), seed=seed, now=now)

    return start


def answer(db: Db, session: Session, now: datetime, *, right: bool = True) -> Step:
    return delivery.answer(db, session.tenant_id, session.uuid, reply_to(db, session, right=right), now=now)


def reply_to(db: Db, session: Session, *, right: bool = True) -> Given:
    db.refresh(session)
    served = delivery.current(db, session)
    options = [option.id for option in served.item.question.options]
    chosen = next(option for option in options if (option in served.item.keys) is right)
    return Given(served.position, served.item.question.id, (chosen,))


def run(db: Db, session: Session, now: datetime, rights: Sequence[bool] = RIGHTS) -> list[Step]:
    """Answers a second apart until the sitting ends."""
    steps: list[Step] = []
    for place, right in enumerate(rights):
        steps.append(answer(db, session, now + timedelta(seconds=place + 1), right=right))
        if steps[-1].stop_reason is not None:
            break
    db.refresh(session)
    return steps


def replays(db: Db, session: Session) -> bool:
    loading.forget(db.get_bind().engine)
    return replaying.replay(db, session, tolerance=0.0) == []


@pytest.mark.parametrize("rule", ContentRule)
@pytest.mark.parametrize("criterion", [each for each in Criterion if each not in LINED_UP])
def test_a_sitting_by_any_criterion_and_content_rule_replays_bit_for_bit(
    db: Db, begin: Callable[..., Session], now: datetime, criterion: Criterion, rule: ContentRule
) -> None:
    if rule is ContentRule.priority_index and criterion in DISTANCES:
        with pytest.raises(InvalidPolicy):
            begin(criterion=criterion.value, content_rule=rule.value, **FIXED)
        return
    session = begin(criterion=criterion.value, content_rule=rule.value, **FIXED)
    steps = run(db, session, now)
    assert (len(steps), steps[-1].stop_reason) == (8, "maximum_length")
    assert replays(db, session)


STOPPING: list[tuple[dict[str, Any], Sequence[bool], str, tuple[str, str] | None]] = [
    ({"change_of_estimate": 0.25}, RIGHTS, "estimate_settled", None),
    ({"minimum_information": 0.15}, (False,) * 8, "no_information", None),
    ({"time_limit_s": 3}, RIGHTS, "time_limit", None),
    (
        {"classification": "confidence_interval", "confidence": 0.7},
        (False,) * 8,
        "classified",
        ("fail", "confidence_i"),
    ),
    ({"classification": "confidence_interval", "confidence": 0.7}, (True,) * 8, "classified", ("pass", "confidence_i")),
    ({"classification": "confidence_interval", "confidence": 0.999}, RIGHTS, "maximum_length", ("pass", "estimate")),
    ({"classification": "sprt", "indifference": 1.0}, (False,) * 8, "classified", ("fail", "sprt")),
    ({"classification": "sprt", "indifference": 1.0, "alpha": 0.2}, (True,) * 8, "classified", ("pass", "sprt")),
    ({"classification": "sprt", "time_limit_s": 2, "on_time_out": "fail"}, RIGHTS, "time_limit", ("fail", "time_out")),
    ({"classification": "sprt", "time_limit_s": 2}, (True,) * 8, "time_limit", ("pass", "estimate")),
    ({"classification": "sprt", "time_limit_s": 2, "minimum_length": 5}, RIGHTS, "time_limit", ("fail", "time_out")),
    ({"classification": "sprt", "time_limit_s": 2, "on_time_out": "none"}, RIGHTS, "time_limit", None),
    ({"classification": "sprt", "maximum_length": 20, "indifference": 0.01}, RIGHTS + RIGHTS, "pool_exhausted", None),
]


@pytest.mark.parametrize(("changes", "rights", "reason", "decision"), STOPPING)
def test_a_sitting_ends_for_its_reason_decides_by_its_rule_and_replays(
    db: Db,
    exam: Exam,
    begin: Callable[..., Session],
    now: datetime,
    changes: dict[str, Any],
    rights: Sequence[bool],
    reason: str,
    decision: tuple[str, str] | None,
) -> None:
    session = begin(**(FIXED | changes))
    last = run(db, session, now, rights)[-1]
    assert last.stop_reason == session.stop_reason == reason
    found = reports.session_report(db, exam, session, now=now).decision
    assert found == last.decision
    if reason == "pool_exhausted":  # 12 items, minimum reached: the estimate decides
        assert found is not None
        assert found.rule == "estimate"
    elif decision is None:
        assert found is None
    else:
        assert found is not None
        assert (found.outcome, found.rule[:12]) == decision
    assert replays(db, session)


def test_a_retried_last_answer_gets_the_same_decision(db: Db, begin: Callable[..., Session], now: datetime) -> None:
    session = begin(**FIXED, classification="sprt", indifference=1.0)
    while True:
        given = reply_to(db, session, right=False)
        step = delivery.answer(db, session.tenant_id, session.uuid, given, now=now)
        if step.stop_reason is not None:
            break
    assert step.decision is not None
    assert delivery.answer(db, session.tenant_id, session.uuid, given, now=now + timedelta(hours=9)) == step


def test_the_cut_score_is_that_of_the_start(db: Db, exam: Exam, begin: Callable[..., Session], now: datetime) -> None:
    exam.cut_score = 1.5
    session = begin(**FIXED, classification="confidence_interval", confidence=0.999)
    exam.cut_score = -3.0
    db.flush()
    decision = run(db, session, now)[-1].decision
    assert decision is not None
    assert (decision.outcome, decision.cut_score) == ("fail", 1.5)
    assert replays(db, session)


def test_ending_a_sitting_after_its_time_is_a_time_out(
    db: Db, exam: Exam, begin: Callable[..., Session], now: datetime
) -> None:
    session = begin(**FIXED, classification="sprt", time_limit_s=60, on_time_out="fail")
    answer(db, session, now)
    delivery.finish(db, session.tenant_id, session.uuid, now=now + timedelta(seconds=60))
    db.refresh(session)
    decision = reports.session_report(db, exam, session, now=now).decision
    assert session.stop_reason == "time_limit"
    assert decision is not None
    assert (decision.outcome, decision.rule) == ("fail", "time_out")


def test_ending_a_sitting_in_its_time_decides_nothing(
    db: Db, exam: Exam, begin: Callable[..., Session], now: datetime
) -> None:
    session = begin(**FIXED, classification="sprt", time_limit_s=60)
    answer(db, session, now)
    delivery.finish(db, session.tenant_id, session.uuid, now=now + timedelta(seconds=59))
    db.refresh(session)
    assert session.stop_reason == "finished"
    assert reports.session_report(db, exam, session, now=now).decision is None


def test_replaying_notices_a_forged_end_and_a_forged_standing(
    db: Db, begin: Callable[..., Session], now: datetime
) -> None:
    session = begin(**FIXED, classification="sprt")
    run(db, session, now, RIGHTS[:4])
    session.current = session.current | {"standing": {"cut_score": 0.0, "log_ratio": 9.0}}
    assert [difference.what for difference in replaying.replay(db, session)] == ["standing"]
    session.policy = session.policy | {"maximum_length": 3}
    assert "stop reason" in [difference.what for difference in replaying.replay(db, session)]


def test_an_item_that_was_served_too_often_stays_out_of_most_sittings(
    db: Db, begin: Callable[..., Session], now: datetime
) -> None:
    bound = FIXED | {"maximum_length": 1, "randomesque": 1, "content_balancing": False, "maximum_exposure": 0.25}
    firsts = []
    for place in range(40):
        session = begin(learner=f"learner-{place}", seed=place, **bound)
        firsts.append(session.administered[0])
        assert replays(db, session)
    rates = [firsts.count(item) / 40 for item in set(firsts)]
    assert max(rates) <= 0.4
    assert len(rates) >= 3


def test_a_strict_policy_that_the_bank_cannot_fill_is_refused(db: Db, begin: Callable[..., Session]) -> None:
    assert begin(**FIXED, strict_content=True)
    with pytest.raises(InvalidPolicy, match=r"1\.1 has 4 of 5 items"):
        begin(**(FIXED | {"maximum_length": 12}), strict_content=True)
