"""Parameters from a file as a release, on both databases."""

from datetime import datetime

import pytest
import sqlalchemy as sa
from sqlmodel import select

from engine import loading
from itembank import authoring, calibrations, clients
from itembank.content import ParameterModel, ParameterOrigin, Stage
from itembank.errors import Invalid
from itembank.models import Exam, ItemParameter
from itembank.store import Db
from tests.factories.bank import START, item_content, make_item, make_items, move
from tests.factories.scored import make_multiple, parameters, release, row


def in_force(db: Db, exam: Exam) -> dict[str | None, tuple[ParameterOrigin, object]]:
    active = calibrations.find_active_release(db, exam.id)
    assert active is not None
    return {version.external_id: (origin, said) for version, origin, said in calibrations.released(db, active.id)}


def refused(db: Db, exam: Exam, *rows: object, **more: object) -> list[str]:
    with pytest.raises(Invalid) as error:
        authoring.release_parameters(db, exam, rows, actor="test", now=START, **more)
    return [str(issue) for issue in error.value.issues]


def test_what_is_put_in_force_is_what_was_given(db: Db, exam: Exam) -> None:
    make_item(db, exam, "one")
    make_multiple(db, exam, keys=2)
    said = {
        "one": parameters(
            1.0, 0.1, c=0.2, model="nominal", options={f"one-{k}": (1.0 - 0.5 * k, 0.1 * k) for k in range(4)}
        ),
        "multiple": parameters(0.8, -0.2, model="grm", steps=(-0.7, 0.4)),
    }
    release(db, exam, said)
    calibrated = ParameterOrigin.CALIBRATED
    assert in_force(db, exam) == {name: (calibrated, each) for name, each in said.items()}


def test_items_that_are_not_named_keep_what_they_had(db: Db, exam: Exam, now: datetime) -> None:
    make_items(db, exam, 3)
    loading.current_pool(db, exam, actor="test", now=now)
    priors = in_force(db, exam)
    release(db, exam, {"item-0": parameters(1.7, 0.3)})
    release(db, exam, {"item-1": parameters(0.6, 0.2)})
    after = in_force(db, exam)
    assert after["item-0"] == (ParameterOrigin.CALIBRATED, parameters(1.7, 0.3))
    assert after["item-1"] == (ParameterOrigin.CALIBRATED, parameters(0.6, 0.2))
    assert after["item-2"] == priors["item-2"]
    numbers = db.scalars(sa.text("SELECT number FROM parameter_release ORDER BY number")).all()
    loading.current_pool(db, exam, actor="test", now=now)
    assert db.scalars(sa.text("SELECT number FROM parameter_release ORDER BY number")).all() == numbers == [1, 2, 3]


def test_the_next_pool_has_the_new_parameters(db: Db, exam: Exam, now: datetime) -> None:
    make_items(db, exam, 3)
    before, revision = loading.current_pool(db, exam, actor="test", now=now), exam.bank_revision
    release(db, exam, {"item-1": parameters(1.7, 0.3, model="gpcm", steps=(0.3,))})
    assert exam.bank_revision == revision + 1
    after = loading.current_pool(db, exam, actor="test", now=now)
    assert after.version != before.version
    [(index, model)] = after.scored.items()
    assert after.parameters(index) == (1.7, 0.3, 0.0, 1.0)
    assert model.places == (0.3,)


def test_parameters_outlive_the_next_priors(db: Db, exam: Exam, now: datetime) -> None:
    make_items(db, exam, 3)
    said = parameters(1.7, 0.3, model="gpcm", steps=(0.3,))
    release(db, exam, {"item-1": said})
    make_item(db, exam, "another")
    db.refresh(exam)
    loading.current_pool(db, exam, actor="test", now=now)
    assert in_force(db, exam)["item-1"] == (ParameterOrigin.CALIBRATED, said)
    assert in_force(db, exam)["another"][0] is ParameterOrigin.PRIOR


def test_a_row_is_about_the_version_in_service_or_the_one_it_names(db: Db, exam: Exam) -> None:
    item = make_item(db, exam, "one")
    authoring.revise(db, item, item_content("one", angoff=0.4), actor="test", now=START)
    move(db, item, Stage.IN_REVIEW, Stage.APPROVED, Stage.PRETEST)
    rows = [row("one", parameters(1.1)), row(None, parameters(1.2), item=str(item.uuid).upper(), version=2, line=3)]
    authoring.release_parameters(db, exam, rows, actor="test", now=START)
    active = calibrations.find_active_release(db, exam.id)
    assert active is not None
    found = {version.number: said.a for version, _, said in calibrations.released(db, active.id)}
    assert found == {1: 1.1, 2: 1.2}


def test_all_that_is_wrong_is_told_at_once_with_its_line(db: Db, exam: Exam) -> None:
    one, other = make_item(db, exam, "one"), make_item(db, exam, "other")
    draft = authoring.submit(db, exam, item_content("draft"), external_id="draft", actor="test", now=START)
    told = refused(
        db,
        exam,
        row("one", parameters(c=0.5, d=0.4), line=2),
        row("nobody", parameters(), line=3),
        row("draft", parameters(), line=4),
        row("one", parameters(), line=5),
        row("one", parameters(), item=str(other.uuid), line=6),
        row("other", parameters(), version=7, line=7),
        row("other", parameters(model="gpcm"), line=8),
    )
    assert told == [
        "new.csv:2 /d: is 0.4, more than c (0.5) and at most 1 expected",
        "new.csv:3: the exam has no item 'nobody' with a version in service",
        "new.csv:4: the exam has no item 'draft' with a version in service",
        "new.csv:5: is about the same version as new.csv:2",
        f"new.csv:6: the exam has no item '{other.uuid}' with a version in service",
        "new.csv:7: the exam has no item 'other' with a version number 7",
        "new.csv:8 /steps: are 0, one for each right option expected, 1",
    ]
    assert calibrations.find_active_release(db, exam.id) is None
    assert one.id != draft.id


def test_a_note_that_is_too_long_is_refused(db: Db, exam: Exam) -> None:
    make_item(db, exam, "one")
    assert refused(db, exam, row("one", parameters()), note="x" * 501) == [
        "/note: has 501 characters, 500 at most expected"
    ]


def test_it_is_in_the_audit_log(db: Db, exam: Exam) -> None:
    make_item(db, exam, "one")
    made = release(db, exam, {"one": parameters()})
    entry = db.exec(clients.audit_entries(exam.tenant_id, "exam", exam.uuid)).all()[-1]
    assert (entry.action, entry.detail) == ("exam.parameters", {"release": made.number, "items": 1})


@pytest.mark.parametrize(
    ("model", "categories"), [("gpcm", None), ("dichotomous", [0.0])], ids=["without numbers", "with numbers"]
)
def test_the_database_refuses_a_model_without_its_numbers(
    db: Db, exam: Exam, model: str, categories: list[float] | None
) -> None:
    make_item(db, exam, "one")
    release(db, exam, {"one": parameters()})
    stored = db.exec(select(ItemParameter)).one()
    stored.model, stored.categories = ParameterModel(model), categories
    with pytest.raises(sa.exc.IntegrityError, match="categories_of_model"):
        db.flush()
    db.rollback()
