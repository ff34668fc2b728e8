"""What learners are measured by: from scored items only, with what is uncertain of priors."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from engine import delivery, learner, loading, yardsticks
from engine.learner import Prior
from engine.pool import Pool
from engine.selection import Mode
from itembank.models import Exam
from itembank.store import Db
from tests.factories.bank import make_exam, make_items, make_tenant

POOL = Pool(
    version=1,
    items=np.arange(6),
    item_versions=np.arange(6),
    a=np.ones(6),
    b=np.array([-1.0, 0.0, 1.0, -0.5, 0.5, 3.0]),
    c=np.zeros(6),
    d=np.ones(6),
    objective=np.array([0, 0, 0, 1, 1, 1]),
    objective_codes=("1.1", "2.1"),
    objective_weights=np.array([0.5, 0.5]),
    enemies=np.array([[4, 5]]),
    pretest=np.array([False] * 5 + [True]),
)


def test_pretest_items_are_no_part_of_the_yardstick() -> None:
    kept = yardsticks.scored(POOL)
    assert kept.items.tolist() == [0, 1, 2, 3, 4]
    assert not kept.enemies_of
    whole = replace(POOL, pretest=np.zeros(6, dtype=np.bool_))
    assert (learner.objective_curves(kept)[1] > learner.objective_curves(whole)[1]).all()


def test_the_shared_error_of_priors_counts_for_their_share_and_ties_objectives() -> None:
    kept = yardsticks.scored(POOL)
    prior = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    form = yardsticks.mock_form(kept, 0.0, b_sd=0.5 * prior, prior=prior)
    shared = yardsticks.SHARED_SD**2
    assert form.uncertainty == pytest.approx(
        np.array([[shared + 0.25 / 3.0, shared / 2.0], [shared / 2.0, shared / 4.0 + 0.25 / 4.0]])
    )
    exact = yardsticks.mock_form(kept, 0.0, b_sd=np.zeros(5), prior=np.zeros(5))
    assert (exact.uncertainty == 0.0).all()


def test_uncertain_difficulties_make_readiness_less_sure() -> None:
    kept = yardsticks.scored(POOL)
    sure, unsure = (
        yardsticks.mock_form(kept, 0.0, b_sd=0.5 * prior, prior=prior) for prior in (np.zeros(5), np.ones(5))
    )
    answers = [(place % 2, True, (1.5, 0.0, 0.0, 1.0)) for place in range(10)]
    state = learner.after_answers(2, Prior(), answers)
    narrow, wide = (learner.readiness(state, form, kept.domain) for form in (sure, unsure))
    assert (narrow.missing, wide.missing) == ((), ())
    assert wide.high - wide.low > narrow.high - narrow.low  # type: ignore[operator]  # nothing is missing


def test_a_pool_has_one_yardstick_per_cut_score(db: Db, now: datetime) -> None:
    exam = make_exam(db, make_tenant(db))
    make_items(db, exam, 6)
    db.refresh(exam)
    pool = started(db, exam, now)
    yardstick = yardsticks.of_pool(db, pool, 0.0)
    assert yardsticks.of_pool(db, pool, 0.0) is yardstick
    assert yardsticks.of_pool(db, pool, 1.0).form.pass_mark > yardstick.form.pass_mark  # type: ignore[union-attr]
    assert yardstick.form is not None
    assert (np.diag(yardstick.form.uncertainty) > yardsticks.SHARED_SD**2).all()


def started(db: Db, exam: Exam, now: datetime) -> Pool:
    who = {"tenant_id": exam.tenant_id, "exam": exam, "learner": "ada", "actor": "test"}
    session = delivery.start(db, **who, mode=Mode.practice, changes={}, objectives=(), seed=1, now=now)
    return loading.get_pool(db, session.pool_id)
