"""A sitting from start to finish, on both databases."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from engine import delivery, loading, progress, replaying
from engine.answers import Given, Step
from engine.errors import NothingToServe, PositionConflict, SessionFinished
from engine.selection import Mode
from itembank import authoring, catalog, sessions
from itembank.content import ExposureClass, SessionStatus, Stage
from itembank.errors import Invalid, KeyReused, NotFound
from itembank.models import Exam, Item, LearnerState, Response, Score, Session, Tenant
from itembank.store import Db
from tests.factories.bank import (
    TO_OPERATIONAL,
    item_content,
    make_enemies,
    make_exam,
    make_item,
    make_items,
    make_tenant,
    move,
)


@pytest.fixture
def tenant(db: Db) -> Tenant:
    return make_tenant(db)


@pytest.fixture
def exam(db: Db, tenant: Tenant) -> Exam:
    return make_exam(db, tenant)


@pytest.fixture
def items(db: Db, exam: Exam) -> list[Item]:
    return make_items(db, exam, 12)


def begin(
    db: Db, exam: Exam, now: datetime, *, learner: str = "ada", mode: Mode = Mode.practice, **more: Any
) -> Session:
    wanted: dict[str, Any] = {"changes": {}, "objectives": (), "seed": 7, **more}
    db.refresh(exam)
    return delivery.start(
        db, tenant_id=exam.tenant_id, exam=exam, learner=learner, mode=mode, actor="test", now=now, **wanted
    )


def reply_to(db: Db, session: Session, *, right: bool = True, key: str | None = None, **changes: Any) -> Given:
    """An answer to the open position."""
    db.refresh(session)
    served = delivery.current(db, session)
    options = [option.id for option in served.item.question.options]
    chosen = next(option for option in options if (option in served.item.keys) is right)
    given = Given(served.position, served.item.question.id, (chosen,), 5000, key)
    return replace(given, **changes)


def answer(db: Db, session: Session, now: datetime, *, right: bool = True) -> Step:
    return delivery.answer(db, session.tenant_id, session.uuid, reply_to(db, session, right=right), now=now)


def run(db: Db, session: Session, now: datetime, rights: Sequence[bool]) -> list[Step]:
    return [answer(db, session, now, right=right) for right in rights]


def responses_of(db: Db, session: Session) -> Sequence[Response]:
    query = sa.select(Response).where(Response.session_id == session.id).order_by(Response.position)
    return db.scalars(query).all()


def test_a_right_answer_raises_ability_and_a_wrong_one_lowers_it(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    session = begin(db, exam, now)
    first, second = run(db, session, now, [True, False])
    assert first.theta > 0 > second.theta - first.theta


def test_an_answer_is_stored_with_its_score_and_its_trace(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    session = begin(db, exam, now)
    answer(db, session, now)
    [response] = responses_of(db, session)
    score = db.scalars(sa.select(Score).where(Score.response_id == response.id)).one()
    assert (score.key_version, score.score, score.correct) == (1, 1.0, True)
    assert response.trace["theta"] == response.theta_before == pytest.approx(0.0, abs=1e-12)
    assert response.trace.keys() >= {"candidates", "need", "seed", "eligible_count", "suspended", "now", "option_order"}


def test_no_item_comes_twice_in_a_session(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    session = begin(db, exam, now)
    steps = run(db, session, now, [True] * 12)
    assert len({step.served.item.item_id for step in steps}) == 12


def test_a_bank_that_runs_out_ends_the_session_with_that_reason(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    session = begin(db, exam, now)
    last = run(db, session, now, [True] * 12)[-1]
    assert (last.stop_reason, last.next) == ("pool_exhausted", None)
    with pytest.raises(SessionFinished, match="pool_exhausted"):
        reply_to(db, session)


def test_the_same_answer_again_gets_the_same_reply_and_stores_nothing(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    session = begin(db, exam, now)
    given = reply_to(db, session)
    first = delivery.answer(db, session.tenant_id, session.uuid, given, now=now)
    run(db, session, now, [False, True])
    again = delivery.answer(db, session.tenant_id, session.uuid, given, now=now + timedelta(hours=1))
    assert again == first
    assert len(responses_of(db, session)) == 3


def test_the_last_answer_of_a_session_can_be_retried_too(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    session = begin(db, exam, now, changes={"maximum_length": 1})
    given = reply_to(db, session)
    first = delivery.answer(db, session.tenant_id, session.uuid, given, now=now)
    assert first.stop_reason == "maximum_length"
    assert delivery.answer(db, session.tenant_id, session.uuid, given, now=now) == first


def test_a_retry_after_the_caller_finished_gets_the_reply_from_before(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    session = begin(db, exam, now)
    given = reply_to(db, session)
    first = delivery.answer(db, session.tenant_id, session.uuid, given, now=now)
    delivery.finish(db, session.tenant_id, session.uuid, now=now)
    assert delivery.answer(db, session.tenant_id, session.uuid, given, now=now) == first


def test_another_answer_to_a_settled_position_is_a_conflict(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    session = begin(db, exam, now)
    given, other = reply_to(db, session), reply_to(db, session, right=False)
    delivery.answer(db, session.tenant_id, session.uuid, given, now=now)
    with pytest.raises(PositionConflict, match=r"position 1 .* was answered otherwise"):
        delivery.answer(db, session.tenant_id, session.uuid, other, now=now)


def test_a_position_that_is_not_open_yet_is_a_conflict(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    session = begin(db, exam, now)
    with pytest.raises(PositionConflict, match=r"position 2 .* not open yet"):
        delivery.answer(db, session.tenant_id, session.uuid, reply_to(db, session, position=2), now=now)


def test_an_idempotency_key_sent_with_another_answer_is_refused(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    session = begin(db, exam, now)
    delivery.answer(db, session.tenant_id, session.uuid, reply_to(db, session, key="k"), now=now)
    with pytest.raises(KeyReused):
        delivery.answer(db, session.tenant_id, session.uuid, reply_to(db, session, key="k"), now=now)


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"selected": ()}, "/selected"),
        ({"selected": ("5f0c9c3e-8a34-4f0e-9b5e-0d6f7f3b9a11",)}, "/selected/0"),
        ({"item": "5f0c9c3e-8a34-4f0e-9b5e-0d6f7f3b9a11"}, "/item"),
    ],
)
def test_an_answer_that_does_not_fit_the_item_is_refused_with_its_place(
    db: Db, exam: Exam, items: list[Item], now: datetime, changes: dict[str, Any], pointer: str
) -> None:
    session = begin(db, exam, now)
    with pytest.raises(Invalid) as refused:
        delivery.answer(db, session.tenant_id, session.uuid, reply_to(db, session, **changes), now=now)
    assert refused.value.issues[0].pointer == pointer
    assert not responses_of(db, session)


def test_another_tenants_session_does_not_exist(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    session = begin(db, exam, now)
    given = reply_to(db, session)
    other = make_tenant(db, "other")
    with pytest.raises(NotFound):
        delivery.answer(db, other.id, session.uuid, given, now=now)


def test_repeats_never_move_ability(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    run(db, begin(db, exam, now), now, [True] * 12)
    learned = db.scalars(sa.select(LearnerState)).one().gaussian
    tomorrow = now + timedelta(hours=25)
    again = begin(db, exam, tomorrow)
    steps = run(db, again, tomorrow, [False] * 3)
    db.expire_all()
    assert {step.theta for step in steps} == {steps[0].theta}
    assert [r.exposure_class for r in responses_of(db, again)] == [ExposureClass.REPEAT_REVEALED] * 3
    assert db.scalars(sa.select(LearnerState)).one().gaussian == learned


def test_a_met_item_does_not_come_back_before_the_next_day(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    run(db, begin(db, exam, now), now, [True] * 12)
    with pytest.raises(NothingToServe):
        begin(db, exam, now + timedelta(hours=23))


def test_an_item_answered_in_a_parallel_session_is_a_repeat(db: Db, exam: Exam, now: datetime) -> None:
    make_item(db, exam, "only")
    one, other = begin(db, exam, now), begin(db, exam, now)
    answer(db, one, now)
    step = answer(db, other, now)
    assert responses_of(db, other)[0].exposure_class == ExposureClass.REPEAT_REVEALED
    assert step.theta == pytest.approx(0.0, abs=1e-12)


def test_items_of_a_test_without_feedback_count_as_revealed_once_it_ends(db: Db, exam: Exam, now: datetime) -> None:
    make_items(db, exam, 2)
    test = begin(db, exam, now, mode=Mode.adaptive_test)
    parallel = begin(db, exam, now)
    answer(db, test, now)
    delivery.finish(db, test.tenant_id, test.uuid, now=now)
    run(db, parallel, now, [True, True])
    assert {r.exposure_class for r in responses_of(db, parallel)} == {
        ExposureClass.REPEAT_REVEALED,
        ExposureClass.CLEAN_FIRST,
    }


def test_practice_starts_from_what_is_known_and_a_test_from_the_exams_prior(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    run(db, begin(db, exam, now), now, [True] * 3)
    [state] = db.scalars(sa.select(LearnerState))
    prior, pool = progress.prior_of(exam), loading.current_pool(db, exam, actor="test", now=now)
    known = progress.overall(progress.known(db, state, pool, prior).on(pool.objective_codes, prior), pool)
    practice, test = begin(db, exam, now), begin(db, exam, now, mode=Mode.adaptive_test)
    assert practice.current is not None
    assert test.current is not None
    assert known.theta > 0.5
    assert practice.current["theta"] == pytest.approx(known.theta, abs=1e-6)
    assert practice.current["standard_error"] == pytest.approx(known.standard_error, abs=1e-6)
    assert test.current["theta"] == pytest.approx(0.0, abs=1e-12)


def test_enemies_never_meet_in_a_session(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    make_enemies(db, items[0], items[3])
    make_enemies(db, items[0], items[6])
    session = begin(db, exam, now)
    steps = run(db, session, now, [True] * 10)
    met = {step.served.item.item_id for step in steps}
    assert not (items[0].id in met and met & {items[3].id, items[6].id})


def test_a_session_limited_to_a_domain_serves_only_its_objectives(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    session = begin(db, exam, now, objectives=("1",))
    steps = run(db, session, now, [True] * 8)
    assert {step.served.item.question.objective for step in steps} == {"1.1", "1.2"}
    assert steps[-1].stop_reason == "pool_exhausted"


def test_an_objective_that_the_blueprint_lacks_is_refused(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    with pytest.raises(Invalid) as refused:
        begin(db, exam, now, objectives=("1.1", "9.9"))
    assert refused.value.issues[0].pointer == "/objectives/1"


def test_a_new_operational_item_is_in_the_next_sessions_pool_only(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    before = begin(db, exam, now)
    make_item(db, exam, "late")
    after = begin(db, exam, now, learner="grace")
    sizes = [len(loading.get_pool(db, session.pool_id)) for session in (before, after)]
    assert sizes == [12, 13]


def test_an_exam_that_did_not_change_keeps_its_pool(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    assert begin(db, exam, now).pool_id == begin(db, exam, now, learner="grace").pool_id


def test_a_suspended_item_leaves_running_sessions_at_once(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    session = begin(db, exam, now)
    served = delivery.current(db, session).item.item_id
    off = next(item for item in items if item.id != served)
    move(db, off, Stage.SUSPENDED)
    steps = run(db, session, now, [True] * 11)
    assert off.id not in {step.served.item.item_id for step in steps}
    assert steps[-1].stop_reason == "pool_exhausted"


def test_an_answer_to_an_item_suspended_meanwhile_is_kept_but_moves_nothing(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    session = begin(db, exam, now)
    served = delivery.current(db, session).item.item_id
    move(db, next(item for item in items if item.id == served), Stage.SUSPENDED)
    step = answer(db, session, now)
    [response] = responses_of(db, session)
    assert (step.theta, response.moves_ability) == (response.theta_before, False)


def test_priors_follow_the_ratings(db: Db, exam: Exam, now: datetime) -> None:
    easy, hard, unrated = (
        make_item(db, exam, name, angoff=rating) for name, rating in [("e", 0.9), ("h", 0.4), ("u", None)]
    )
    pool = loading.get_pool(db, begin(db, exam, now).pool_id)
    b = {item.external_id: float(pool.b[list(pool.items).index(item.id)]) for item in (easy, hard, unrated)}
    assert b["e"] < b["h"]
    assert b["u"] == pytest.approx((b["e"] + b["h"]) / 2)
    assert set(pool.c) == {0.25}


@pytest.mark.parametrize("mode", [Mode.practice, Mode.diagnostic, Mode.adaptive_test])
def test_a_session_replays_bit_for_bit(db: Db, exam: Exam, items: list[Item], now: datetime, mode: Mode) -> None:
    session = begin(db, exam, now, mode=mode, seed=20260105)
    move(db, items[5], Stage.SUSPENDED)
    run(db, session, now, [True, False, True, True, False])
    db.refresh(session)
    loading.forget(db.get_bind().engine)
    assert replaying.replay(db, session, tolerance=0.0) == []


def test_replaying_notices_a_forged_seed(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    session = begin(db, exam, now)
    run(db, session, now, [True, False, True, True, False])
    db.refresh(session)
    session.seed += 1
    assert replaying.replay(db, session)


def test_the_same_seed_gives_the_same_session_to_another_learner(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    rights = [True, False, True, True]
    one = run(db, begin(db, exam, now, seed=3), now, rights)
    other = run(db, begin(db, exam, now, seed=3, learner="grace"), now, rights)
    assert [(s.served, s.theta) for s in one] == [(s.served, s.theta) for s in other]


def test_finishing_twice_changes_nothing(db: Db, exam: Exam, items: list[Item], now: datetime) -> None:
    session = begin(db, exam, now)
    delivery.finish(db, session.tenant_id, session.uuid, now=now)
    delivery.finish(db, session.tenant_id, session.uuid, now=now + timedelta(hours=1))
    db.refresh(session)
    assert (session.status, session.stop_reason, session.finished_at) == (SessionStatus.FINISHED, "finished", now)
    assert sessions.get(db, session.tenant_id, session.uuid).id == session.id


def test_a_version_that_was_suspended_stays_away_when_it_is_replaced(
    db: Db, exam: Exam, items: list[Item], now: datetime
) -> None:
    session = begin(db, exam, now)
    served = delivery.current(db, session).item.item_id
    bad = next(item for item in items if item.id != served)
    move(db, bad, Stage.SUSPENDED)
    authoring.revise(db, bad, item_content("corrected"), actor="test", now=now)
    move(db, bad, *TO_OPERATIONAL)
    steps = run(db, session, now, [True] * 11)
    assert bad.id not in {step.served.item.item_id for step in steps}


def test_a_suspended_item_that_is_resumed_comes_back(db: Db, exam: Exam, now: datetime) -> None:
    one, other = make_items(db, exam, 2)
    session = begin(db, exam, now)
    served = delivery.current(db, session).item.item_id
    move(db, other if served == one.id else one, Stage.SUSPENDED, Stage.OPERATIONAL)
    assert run(db, session, now, [True, True])[-1].stop_reason == "pool_exhausted"


def test_a_new_cut_score_moves_every_prior(db: Db, exam: Exam, now: datetime) -> None:
    make_item(db, exam, "one", angoff=0.5)
    before = loading.get_pool(db, begin(db, exam, now).pool_id).b
    content = replace(catalog.exam_content(exam), cut_score=2.0)
    authoring.put_exam(db, exam, content, actor="test", now=now)
    make_item(db, exam, "two", angoff=0.5)
    make_item(db, exam, "unrated", angoff=None)
    after = loading.get_pool(db, begin(db, exam, now, learner="grace").pool_id).b
    assert after.tolist() == pytest.approx([before[0] + 2.0] * 3)
