"""Sittings in which an answer says more than right or wrong, on both databases."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from engine import delivery, learner, loading, progress, replaying, reports
from engine.answers import Given, Step
from engine.irt import NODES, log_likelihood, nominal
from engine.selection import Mode
from itembank.content import Parameters
from itembank.models import Exam, LearnerState, Session
from itembank.store import Db
from tests.factories.bank import make_exam, make_item, make_items, make_tenant
from tests.factories.scored import make_multiple, parameters, release

SPRT = {"classification": "sprt", "minimum_length": 1, "maximum_length": 6, "standard_error": None}


@pytest.fixture
def exam(db: Db) -> Exam:
    return make_exam(db, make_tenant(db))


@pytest.fixture
def begin(db: Db, exam: Exam, now: datetime) -> Callable[..., Session]:
    def start(who: str = "ada", *, mode: Mode = Mode.practice, **changes: Any) -> Session:
        db.refresh(exam)
        return delivery.start(
            db,
            tenant_id=exam.tenant_id,
            exam=exam,
            learner=who,
            mode=mode,
            changes=changes,
            objectives=(),
            seed=7,
            actor="test",
            now=now,
        )

    return start


def answer(db: Db, session: Session, now: datetime, *places: int) -> Step:
    """Choose the options at these places of the author's order."""
    db.refresh(session)
    served = delivery.current(db, session)
    options = served.item.question.options
    given = Given(served.position, served.item.question.id, tuple(options[place].id for place in places), 60_000)
    return delivery.answer(db, session.tenant_id, session.uuid, given, now=now)


def replays(db: Db, session: Session) -> bool:
    db.refresh(session)
    loading.forget(db.get_bind().engine)
    return replaying.replay(db, session, tolerance=0.0) == []


def state_of(db: Db, session: Session) -> LearnerState:
    query = sa.select(LearnerState).where(LearnerState.learner_id == session.learner_id)
    return db.scalars(query.execution_options(populate_existing=True)).one()


def course(
    db: Db, begin: Callable[..., Session], exam: Exam, now: datetime, who: str, said: Parameters
) -> list[tuple[float, float]]:
    """Abilities after right, wrong, right, when every item has these parameters."""
    release(db, exam, {f"item-{place}": said for place in range(6)})
    session = begin(who, mode=Mode.adaptive_test, minimum_length=5, standard_error=None)
    steps = [answer(db, session, now, *places) for places in ((0,), (1,), (0,))]
    assert replays(db, session)
    return [(step.theta, step.standard_error) for step in steps]


@pytest.mark.parametrize("model", ["gpcm", "grm"])
def test_a_model_of_one_step_is_the_two_parameter_logistic(
    db: Db, exam: Exam, begin: Callable[..., Session], now: datetime, model: str
) -> None:
    make_items(db, exam, 6)
    plain = course(db, begin, exam, now, "ada", parameters(1.3, 0.4))
    scored = course(db, begin, exam, now, "bob", parameters(1.3, 0.4, model=model, steps=(0.4,)))
    np.testing.assert_allclose(scored, plain, rtol=0, atol=1e-9)


@pytest.mark.parametrize("model", ["gpcm", "grm"])
def test_more_points_never_lower_ability_and_are_shown_as_a_score(
    db: Db, exam: Exam, begin: Callable[..., Session], now: datetime, model: str
) -> None:
    make_multiple(db, exam, keys=3)
    release(db, exam, {"multiple": parameters(0.9, 0.5, model=model, steps=(-1.0, 0.2, 1.1))})
    chosen = ((4,), (0, 1, 2, 3, 4), (0, 1), (0, 1, 2))  # 0, 3 - 2 = 1, 2 and 3 points
    steps = [answer(db, begin(f"learner-{place}"), now, *places) for place, places in enumerate(chosen)]
    assert [step.scored.score for step in steps] == pytest.approx([0.0, 1 / 3, 2 / 3, 1.0])
    assert [step.scored.correct for step in steps] == [False, False, False, True]
    thetas = [step.theta for step in steps]
    assert thetas == sorted(thetas)
    assert thetas[3] - thetas[0] > 0.5


def test_two_wrong_options_lead_to_different_abilities(
    db: Db, exam: Exam, begin: Callable[..., Session], now: datetime
) -> None:
    make_item(db, exam, "asked")
    options = {"asked-0": (1.2, 0.0), "asked-1": (0.4, 0.3), "asked-2": (-0.6, 0.1), "asked-3": (-1.0, 0.0)}
    release(db, exam, {"asked": parameters(1.0, 0.0, model="nominal", options=options)})
    near, far = (answer(db, begin(who), now, place) for who, place in (("ada", 1), ("bob", 3)))
    assert near.scored == far.scored
    assert near.theta > far.theta + 0.3
    slopes, intercepts = np.array([*options.values()]).T
    curve = nominal(NODES, slopes[None], intercepts[None]).log_probability[:, 0, 1]
    session = db.scalars(sa.select(Session).order_by(Session.id)).first()
    after = np.frombuffer(session.start_log_posterior) + curve
    np.testing.assert_allclose(np.frombuffer(session.log_posterior), after, rtol=0, atol=1e-12)


@pytest.fixture
def mixed(db: Db, exam: Exam) -> Exam:
    """An exam of items of all models."""
    make_items(db, exam, 2)
    for name in ("more", "grades"):
        make_multiple(db, exam, name, objective="2.1")
    make_item(db, exam, "asked")
    slopes = {f"asked-{place}": (1.0 - 0.6 * place, 0.2 * place) for place in range(4)}
    said = {
        "more": parameters(0.9, 0.5, model="gpcm", steps=(-1.0, 0.2, 1.1)),
        "grades": parameters(1.1, 0.5, model="grm", steps=(-1.0, 0.2, 1.1)),
        "asked": parameters(1.0, 0.0, model="nominal", options=slopes),
    }
    release(db, exam, said)
    return exam


def sit(db: Db, session: Session, now: datetime, chosen: Sequence[int] = (1, 0, 1, 0, 0)) -> list[Step]:
    return [answer(db, session, now + timedelta(minutes=place), *places) for place, places in enumerate(zip(chosen))]


@pytest.mark.parametrize("changes", [{}, {"criterion": "readiness_gain"}, SPRT])
def test_a_sitting_of_mixed_models_replays_bit_for_bit(
    db: Db, mixed: Exam, begin: Callable[..., Session], now: datetime, changes: dict[str, Any]
) -> None:
    session = begin(mode=Mode.adaptive_test if "classification" in changes else Mode.practice, **changes)
    assert len(loading.get_pool(db, session.pool_id).scored) == 3
    last = sit(db, session, now)[-1]
    assert last.next is None
    assert replays(db, session)
    db.refresh(session)
    assert reports.session_report(db, mixed, session, now=now).decision == last.decision


def test_a_state_made_anew_from_the_log_is_the_one_that_the_steps_made(
    db: Db, mixed: Exam, begin: Callable[..., Session], now: datetime
) -> None:
    session = begin()
    sit(db, session, now)
    stored = state_of(db, session)
    prior = progress.prior_of(mixed)
    again = progress.from_log(db, session.learner_id, mixed.id, prior, since=now)
    kept = learner.unpack(stored.gaussian)
    rebuilt = again.on(stored.codes, prior)
    np.testing.assert_allclose(rebuilt.mean, kept.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rebuilt.covariance, kept.covariance, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(rebuilt.answers, kept.answers)


def test_a_retry_of_a_partly_right_answer_gets_the_same_reply(
    db: Db, exam: Exam, begin: Callable[..., Session], now: datetime
) -> None:
    make_multiple(db, exam)
    release(db, exam, {"multiple": parameters(0.9, 0.5, model="gpcm", steps=(-1.0, 0.2, 1.1))})
    session = begin(mode=Mode.adaptive_test, **SPRT)
    db.refresh(session)
    served = delivery.current(db, session)
    given = Given(1, served.item.question.id, tuple(option.id for option in served.item.question.options[:2]))
    first = delivery.answer(db, session.tenant_id, session.uuid, given, now=now)
    assert 0.0 < first.scored.score < 1.0
    assert delivery.answer(db, session.tenant_id, session.uuid, given, now=now) == first


def test_sprt_hears_partial_credit(db: Db, exam: Exam, begin: Callable[..., Session], now: datetime) -> None:
    make_multiple(db, exam, "first")
    make_multiple(db, exam, "second")
    said = parameters(0.9, 0.5, model="gpcm", steps=(-1.0, 0.2, 1.1))
    release(db, exam, {"first": said, "second": said})
    ratios = []
    for who, places in (("ada", (4,)), ("bob", (0, 1))):  # both wrong
        session = begin(who, mode=Mode.adaptive_test, **SPRT)
        answer(db, session, now, *places)
        db.refresh(session)
        ratios.append(session.current["standing"]["log_ratio"])
    assert ratios[0] < ratios[1]


def test_an_open_session_keeps_the_parameters_it_began_with(
    db: Db, exam: Exam, begin: Callable[..., Session], now: datetime
) -> None:
    make_items(db, exam, 3)
    session = begin()
    release(db, exam, {f"item-{place}": parameters(2.0, 0.0, model="gpcm", steps=(0.0,)) for place in range(3)})
    later = begin("bob")
    assert session.pool_id != later.pool_id
    before = np.frombuffer(session.log_posterior)
    pool = loading.get_pool(db, session.pool_id)
    index = pool.index_of_version[session.administered[0]]
    answer(db, session, now, 0)
    db.refresh(session)
    after = before + log_likelihood(True, *pool.parameters(index))
    np.testing.assert_array_equal(np.frombuffer(session.log_posterior), after)
    assert not pool.scored
    assert len(loading.get_pool(db, later.pool_id).scored) == 3


def test_a_decision_that_partial_credit_made_is_told_again(
    db: Db, exam: Exam, begin: Callable[..., Session], now: datetime
) -> None:
    said = parameters(3.0, 1.0, model="gpcm", steps=(-1.0, 0.0, 1.0))
    for name in ("first", "second"):
        make_multiple(db, exam, name)
    release(db, exam, {"first": said, "second": said})
    session = begin(mode=Mode.adaptive_test, **SPRT, alpha=0.4, beta=0.4, indifference=0.3)
    served = delivery.current(db, session)
    given = Given(1, served.item.question.id, tuple(option.id for option in served.item.question.options[:2]))
    step = delivery.answer(db, session.tenant_id, session.uuid, given, now=now)
    assert (step.scored.correct, step.stop_reason) == (False, "classified")
    assert step.decision is not None
    assert (step.decision.outcome, step.decision.rule) == ("pass", "sprt")
    db.refresh(session)
    assert delivery.answer(db, session.tenant_id, session.uuid, given, now=now).decision == step.decision
    assert reports.session_report(db, exam, session, now=now).decision == step.decision
    assert replays(db, session)
