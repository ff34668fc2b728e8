"""Exams and blueprints: versions, what counts as a change, what is refused."""

from dataclasses import replace
from datetime import datetime

import pytest

from itembank import authoring, catalog, clients
from itembank.content import ExamContent, ObjectiveContent, Scale
from itembank.errors import AlreadyExists, Invalid, NotFound
from itembank.models import Exam, Tenant
from itembank.store import Db
from tests.factories.bank import BLUEPRINT, make_item, make_tenant


def test_an_exam_comes_back_as_it_was_made(db: Db, tenant: Tenant, now: datetime) -> None:
    content = ExamContent("a", "A", "*text*", Scale(0.0, 10.0, -50.0, 50.0), 0.3, 0.1, 1.2, BLUEPRINT)
    exam = authoring.create_exam(db, tenant.id, content, actor="ann", now=now)
    db.expire_all()
    blueprint = catalog.get_blueprint(db, exam)
    assert catalog.exam_content(exam, catalog.blueprint_content(db, blueprint)) == content
    assert blueprint.number == 1


def test_a_slug_is_taken_once_per_tenant(db: Db, exam: Exam, now: datetime) -> None:
    with pytest.raises(AlreadyExists):
        authoring.create_exam(db, exam.tenant_id, ExamContent(exam.slug, "Again"), actor="ann", now=now)
    other = make_tenant(db, "other")
    authoring.create_exam(db, other.id, ExamContent(exam.slug, "Mine"), actor="ann", now=now)


def test_another_tenants_exam_is_not_there(db: Db, exam: Exam) -> None:
    with pytest.raises(NotFound):
        catalog.get_exam(db, make_tenant(db, "other").id, exam.slug)


def test_the_same_again_changes_nothing(db: Db, exam: Exam, now: datetime) -> None:
    before = (exam.revision, exam.bank_revision)
    authoring.put_exam(db, exam, catalog.exam_content(exam), actor="ann", now=now)
    authoring.put_blueprint(db, exam, BLUEPRINT, actor="ann", now=now)
    assert (exam.revision, exam.bank_revision) == before
    assert catalog.get_blueprint(db, exam).number == 1


@pytest.mark.parametrize(
    ("changes", "grows"),
    [({"title": "New"}, 0), ({"cut_score": 0.5}, 1), ({"prior_mean": 0.5}, 1), ({"prior_sd": 2.0}, 1)],
)
def test_only_what_alters_serving_grows_the_bank_revision(
    db: Db, exam: Exam, now: datetime, changes: dict[str, object], grows: int
) -> None:
    revision, bank_revision = exam.revision, exam.bank_revision
    content = replace(catalog.exam_content(exam), **changes)
    authoring.put_exam(db, exam, content, actor="ann", now=now)
    db.refresh(exam)
    assert catalog.exam_content(exam) == content
    assert (exam.revision, exam.bank_revision) == (revision + 1, bank_revision + grows)


def test_the_slug_of_an_exam_stays(db: Db, exam: Exam, now: datetime) -> None:
    with pytest.raises(Invalid) as refused:
        authoring.put_exam(db, exam, ExamContent("other", "Exam"), actor="ann", now=now)
    assert [issue.pointer for issue in refused.value.issues] == ["/slug"]


def test_a_new_blueprint_is_a_new_version_with_the_same_objectives(db: Db, exam: Exam, now: datetime) -> None:
    ids, bank_revision = catalog.objective_ids(db, exam.id), exam.bank_revision
    domains = (
        replace(BLUEPRINT[0], weight=0.5, objectives=BLUEPRINT[0].objectives[:1]),
        ObjectiveContent("3", "New", 0.5),
    )
    domains = (replace(domains[0], objectives=(replace(domains[0].objectives[0], weight=0.5),)), domains[1])
    blueprint = authoring.put_blueprint(db, exam, domains, actor="ann", now=now)
    db.refresh(exam)
    assert (blueprint.number, exam.bank_revision) == (2, bank_revision + 1)
    assert catalog.blueprint_content(db, blueprint) == domains
    assert catalog.current_objectives(db, exam.id).keys() == {"1.1", "3"}
    assert catalog.current_nodes(db, exam.id).keys() == {"1", "1.1", "3"}
    assert ids.items() <= catalog.objective_ids(db, exam.id).items()


def test_an_objective_of_live_items_can_not_be_dropped(db: Db, exam: Exam, now: datetime) -> None:
    make_item(db, exam, objective="2.1")
    with pytest.raises(Invalid, match=r"2\.1"):
        authoring.put_blueprint(db, exam, (ObjectiveContent("1", "All", 1.0),), actor="ann", now=now)


def test_every_change_is_in_the_audit_log(db: Db, exam: Exam, now: datetime) -> None:
    authoring.put_exam(db, exam, replace(catalog.exam_content(exam), title="New"), actor="ann", now=now)
    db.flush()
    entries = db.exec(clients.audit_entries(exam.tenant_id, "exam", exam.uuid)).all()
    assert [(entry.action, entry.actor) for entry in entries] == [
        *(("exam.create", "test"), ("blueprint.put", "test"), ("exam.update", "ann"))
    ]
