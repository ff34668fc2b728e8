"""The life cycle: every move that there is, none that there is not, and what a move entails."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product

import pytest

from itembank import authoring, catalog
from itembank.content import Stage
from itembank.errors import Invalid, NotFound, StageConflict
from itembank.models import Exam, Item
from itembank.store import Db
from tests.factories.bank import TO_OPERATIONAL, item_content, make_item, move

S = Stage
PATHS = {  # to each stage, from draft
    S.DRAFT: (),
    S.IN_REVIEW: (S.IN_REVIEW,),
    S.CHANGES_REQUESTED: (S.IN_REVIEW, S.CHANGES_REQUESTED),
    S.APPROVED: (S.IN_REVIEW, S.APPROVED),
    S.PRETEST: (S.IN_REVIEW, S.APPROVED, S.PRETEST),
    S.OPERATIONAL: TO_OPERATIONAL,
    S.SUSPENDED: (*TO_OPERATIONAL, S.SUSPENDED),
    S.RETIRED: (*TO_OPERATIONAL, S.RETIRED),
}


def stages(db: Db, item: Item) -> list[Stage]:
    """Of all versions, oldest first."""
    db.flush()
    return [version.stage for version in reversed(db.exec(catalog.versions(item.id)).all())]


def submit(db: Db, exam: Exam, now: datetime) -> Item:
    return authoring.submit(db, exam, item_content(), actor="ann", now=now)


def revise(db: Db, item: Item, stem: str, now: datetime) -> None:
    authoring.revise(db, item, replace(item_content(), stem=stem), actor="ann", now=now)


@pytest.mark.parametrize("start", PATHS)
def test_a_version_makes_the_moves_of_the_table_and_no_others(db: Db, exam: Exam, now: datetime, start: Stage) -> None:
    item = move(db, submit(db, exam, now), *PATHS[start])
    for to in Stage:
        if to in authoring.MOVES[start]:
            with db.begin_nested() as savepoint:
                authoring.transition(db, item, to, actor="ann", now=now)
                assert stages(db, item) == [to]
                savepoint.rollback()
        else:
            with pytest.raises(StageConflict):
                authoring.transition(db, item, to, actor="ann", now=now)
            assert stages(db, item) == [start]


def test_every_stage_has_its_moves_and_retired_has_none() -> None:
    assert authoring.MOVES.keys() == set(Stage)
    assert authoring.MOVES[S.RETIRED] == ()
    assert all(start not in moves for start, moves in authoring.MOVES.items())


@pytest.mark.parametrize(("start", "to"), [(s, t) for s, t in product(PATHS, Stage) if t in authoring.MOVES[s]])
def test_moves_that_alter_serving_grow_the_bank_revision(
    db: Db, exam: Exam, now: datetime, start: Stage, to: Stage
) -> None:
    item = move(db, submit(db, exam, now), *PATHS[start])
    db.refresh(exam)
    before, later = exam.bank_revision, now + timedelta(hours=1)
    revision = item.revision
    authoring.transition(db, item, to, actor="ann", now=later)
    db.refresh(exam)
    serving = {S.PRETEST, S.OPERATIONAL, S.SUSPENDED}
    assert exam.bank_revision - before == bool({start, to} & serving)
    assert (item.revision, item.updated_at) == (revision + 1, later)


def test_a_newer_version_takes_over(db: Db, exam: Exam, now: datetime) -> None:
    item = make_item(db, exam)
    revise(db, item, "Second?", now)
    move(db, item, *TO_OPERATIONAL)
    assert stages(db, item) == [S.RETIRED, S.OPERATIONAL]
    assert catalog.get_record(db, item).live_version == 2


def test_a_pretest_leaves_the_operational_version_in_place(db: Db, exam: Exam, now: datetime) -> None:
    item = make_item(db, exam)
    revise(db, item, "Second?", now)
    move(db, item, *PATHS[S.PRETEST])
    assert stages(db, item) == [S.OPERATIONAL, S.PRETEST]
    assert catalog.get_record(db, item).live_version == 1


def test_a_suspended_version_can_not_come_back_beside_its_successor(db: Db, exam: Exam, now: datetime) -> None:
    item = move(db, make_item(db, exam), S.SUSPENDED)
    revise(db, item, "Second?", now)
    move(db, item, *TO_OPERATIONAL)
    assert stages(db, item) == [S.RETIRED, S.OPERATIONAL]


def test_an_item_is_suspended_though_a_draft_is_newer(db: Db, exam: Exam, now: datetime) -> None:
    item = make_item(db, exam)
    revise(db, item, "Second?", now)
    moved = authoring.transition(db, item, S.SUSPENDED, actor="ann", now=now)
    assert (moved.number, stages(db, item)) == (1, [S.SUSPENDED, S.DRAFT])


def test_a_version_can_be_named(db: Db, exam: Exam, now: datetime) -> None:
    item = make_item(db, exam)
    revise(db, item, "Second?", now)
    with pytest.raises(StageConflict):
        authoring.transition(db, item, S.SUSPENDED, actor="ann", now=now, version=2)
    with pytest.raises(NotFound):
        authoring.transition(db, item, S.SUSPENDED, actor="ann", now=now, version=3)
    authoring.transition(db, item, S.RETIRED, actor="ann", now=now, version=1)
    assert stages(db, item) == [S.RETIRED, S.DRAFT]


def test_an_item_without_a_rationale_stays_a_draft(db: Db, exam: Exam, now: datetime) -> None:
    content = item_content()
    options = (*content.options[:3], replace(content.options[3], rationale=""))
    item = authoring.submit(db, exam, replace(content, options=options), actor="ann", now=now)
    with pytest.raises(Invalid) as refused:
        authoring.transition(db, item, S.IN_REVIEW, actor="ann", now=now)
    assert [issue.pointer for issue in refused.value.issues] == ["/options/3/rationale"]
    assert stages(db, item) == [S.DRAFT]
