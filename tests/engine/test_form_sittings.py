"""Forms beside other sittings, below HTTP: who waits for whom, and what is kept."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlmodel import select

from engine import delivery, loading
from engine.answers import Change, Filed, Given, Step, exposure_class
from engine.errors import TimeOver
from engine.selection import Mode
from itembank import sessions
from itembank.models import Exam, FormAnswer, Item, LearnerItem, LearnerState, Response, Session
from itembank.store import autocommitted, transaction
from tests.factories.bank import make_enemies, make_exam, make_items, make_tenant

LENGTH = 12
POLICY = {"maximum_length": LENGTH, "time_limit_s": 600}


@pytest.fixture
def exam(engine: sa.Engine) -> Exam:
    with transaction(engine, writes=True) as db:
        found = make_exam(db, make_tenant(db))
        make_items(db, found, 30)
    return found


@pytest.fixture
def start(engine: sa.Engine, exam: Exam, now: datetime) -> Callable[..., Session]:
    def begin(mode: Mode = Mode.mock, *, at: datetime = now, seed: int = 7, **changes: object) -> Session:
        settings = {"learner": "ada", "objectives": (), "seed": seed, "actor": "test", "mode": mode}
        changes = POLICY | changes if mode is Mode.mock else changes
        with transaction(engine, writes=True) as db:
            fresh = db.exec(select(Exam)).one()
            return delivery.start(db, tenant_id=exam.tenant_id, exam=fresh, now=at, changes=changes, **settings)

    return begin


def answer(engine: sa.Engine, session: Session, now: datetime, number: int = 0) -> Step | Filed:
    with autocommitted(engine) as db:
        session = sessions.get(db, session.tenant_id, session.uuid)
        served = delivery.current(db, session)
        given = Given(served.position, served.item.question.id, (served.item.question.options[number].id,))
        return delivery.answer(db, session.tenant_id, session.uuid, given, now=now)


def test_an_answer_that_was_being_decided_as_a_form_began_gets_none_of_its_items(
    engine: sa.Engine, start: Callable[..., Session], now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine.dialect.name == "sqlite":
        pytest.skip("SQLite lets nobody write between the two")
    practice, look, begun = start(Mode.practice), sessions.look, []

    def looked(*args: object, **kwargs: object) -> object:
        row = look(*args, **kwargs)
        if not begun:
            begun.append(start(maximum_length=20))
        return row

    monkeypatch.setattr(sessions, "look", looked)
    step = answer(engine, practice, now)
    with transaction(engine, writes=False) as db:
        reserved = set(db.exec(select(LearnerState)).one().reserved)
    assert len(reserved) == 20
    assert isinstance(step, Step)
    assert step.next is not None
    assert step.next.item.item_id not in reserved


def test_the_items_at_open_positions_and_enemies_stay_out_of_a_form(
    engine: sa.Engine, start: Callable[..., Session], exam: Exam
) -> None:
    with transaction(engine, writes=True) as db:
        items = list(db.exec(select(Item).order_by(Item.id)).all())
        make_enemies(db, items[0], items[3])
    opened = [start(Mode.practice, seed=seed).current["item_version"] for seed in range(5)]
    form = start(maximum_length=10)
    assert not {*opened} & {*form.queue}
    with transaction(engine, writes=False) as db:
        pool = loading.get_pool(db, form.pool_id)
        assert not {items[0].id, items[3].id} <= {*pool.items_of(form.queue)}


def test_open_forms_of_a_learner_share_nothing_and_bounded_exposure_leaves_enough(
    start: Callable[..., Session],
) -> None:
    forms = [start(seed=seed, maximum_length=3, maximum_exposure=0.5) for seed in range(8)]
    assert len({version for form in forms for version in form.queue}) == 24


def test_time_that_is_over_is_told_until_somebody_ends_the_form(
    engine: sa.Engine, start: Callable[..., Session], now: datetime
) -> None:
    form, later = start(), now + timedelta(seconds=600)
    answer(engine, form, now + timedelta(seconds=599))
    with transaction(engine, writes=True) as db:
        found = sessions.get(db, form.tenant_id, form.uuid)
        with pytest.raises(TimeOver) as failure:
            delivery.check_time(found, later)
        assert failure.value.sessions == [form.uuid]
        with pytest.raises(TimeOver):
            delivery.change(db, found, Change(2, flagged=True), now=later)
        with pytest.raises(TimeOver):
            delivery.check_times(db, form.learner_id, form.exam_id, later)
        for _ in range(2):
            delivery.finish(db, form.tenant_id, form.uuid, now=later)
        delivery.check_times(db, form.learner_id, form.exam_id, later)
    with transaction(engine, writes=False) as db:
        assert db.exec(select(Response.position)).all() == [1]
        session = db.exec(select(Session)).one()
        assert (session.stop_reason, session.finished_at, session.current) == ("time_limit", later, None)


def test_times_on_a_position_add_up_and_only_answers_come_into_the_log(
    engine: sa.Engine, start: Callable[..., Session], now: datetime
) -> None:
    form = start()
    with transaction(engine, writes=True) as db:
        found = sessions.get(db, form.tenant_id, form.uuid)
        question = loading.item(db, form.queue[0]).question
        for option, spent in ((0, 4000), (1, None), (2, 3000)):
            selected = (question.options[option].id,)
            asked = Change(1, selected=selected, selects=True, response_time_ms=spent)
            delivery.change(db, found, asked, now=now)
        delivery.change(db, found, Change(2, flagged=True), now=now)
        delivery.finish(db, form.tenant_id, form.uuid, now=now + timedelta(seconds=9))
    with transaction(engine, writes=False) as db:
        [response] = db.exec(select(Response)).all()
        assert (response.position, response.response_time_ms) == (1, 7000)
        assert response.selected == [question.options[2].id]
        assert len(db.exec(select(FormAnswer)).all()) == 4
        met = db.exec(select(LearnerItem).order_by(LearnerItem.item_id)).all()
        assert sorted(row.answers for row in met) == [0] * (LENGTH - 1) + [1]
        assert {row.reveals for row in met} == {1}
        assert sum(row.due_at is not None for row in met) == 1
        assert response.answered_at == now + timedelta(seconds=9)


def test_an_item_that_was_shown_with_its_answer_is_no_first_exposure() -> None:
    assert exposure_class(0, 1, is_pretest=False, is_rapid=False) == "repeat_revealed"
    assert exposure_class(0, 0, is_pretest=False, is_rapid=False) == "clean_first"
