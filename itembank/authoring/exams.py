"""Exams and their blueprints."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from itembank import catalog, clients, rules
from itembank.authoring._changes import insert, lock, refuse
from itembank.content import ExamContent, ObjectiveContent
from itembank.errors import AlreadyExists, Issue
from itembank.models import Blueprint, BlueprintNode, Exam, Objective
from itembank.store import Db


def create_exam(db: Db, tenant_id: int, content: ExamContent, *, actor: str, now: datetime) -> Exam:
    """A new exam, with its blueprint where the content has one."""
    content = rules.cleaned(content)
    refuse(rules.exam_problems(content))
    if catalog.find_exam(db, tenant_id, content.slug) is not None:
        raise AlreadyExists("exam", content.slug)
    exam = Exam(tenant_id=tenant_id, slug=content.slug, created_at=now, updated_at=now, **_columns(content))
    insert(db, exam, "exam", content.slug)
    _audit(db, exam, "exam.create", actor, now)
    if content.blueprint:
        put_blueprint(db, exam, content.blueprint, actor=actor, now=now, at="/blueprint")
    return exam


def put_exam(db: Db, exam: Exam, content: ExamContent, *, actor: str, now: datetime) -> Exam:
    """Replace what the exam says of itself, without its blueprint. The same again changes nothing."""
    content = rules.cleaned(content)
    issues = list(rules.exam_problems(content))
    if content.slug != exam.slug:
        issues.append(Issue("/slug", f"can't change, it is {exam.slug!r}"))
    refuse(issues)
    lock(db, exam)
    before, after = _columns(catalog.exam_content(exam)), _columns(content)
    changed = sorted(name for name in after if after[name] != before[name])
    if not changed:
        return exam
    for name in changed:
        setattr(exam, name, after[name])
    exam.revision += 1
    exam.updated_at = now
    if any(name.startswith(("prior_", "cut_")) for name in changed):
        exam.bank_revision += 1  # under the lock
    db.add(exam)
    db.flush()
    _audit(db, exam, "exam.update", actor, now, fields=changed)
    return exam


def put_blueprint(
    db: Db, exam: Exam, domains: Sequence[ObjectiveContent], *, actor: str, now: datetime, at: str = "/domains"
) -> Blueprint:
    """A new version of the content outline; the current one again if nothing differs.

    at : where the list of domains stands in the author's document
    """
    refuse(rules.blueprint_problems(domains, at))
    lock(db, exam)
    exam_id = exam.id
    current = catalog.find_blueprint(db, exam_id)
    if current is not None and catalog.blueprint_content(db, current) == tuple(domains):
        return current
    orphans = catalog.live_objectives(db, exam_id) - {node.code for node in _assessed(domains)}
    if orphans:
        refuse(
            [Issue(at, f"live items are about {', '.join(sorted(orphans))}: keep these objectives, or move the items")]
        )
    blueprint = Blueprint(exam_id=exam_id, number=current.number + 1 if current else 1, created_at=now)
    db.add(blueprint)
    ids = _objectives(db, exam_id, domains)
    db.flush()
    for position, (node, parent) in enumerate(_nodes(domains)):
        row = BlueprintNode(
            blueprint_id=blueprint.id,
            objective_id=ids[node.code],
            parent_id=ids[parent.code] if parent else None,
            title=node.title,
            weight=node.weight,
            position=position,
        )
        db.add(row)
    db.flush()
    catalog.grow_bank_revision(db, exam_id)
    _audit(db, exam, "blueprint.put", actor, now, version=blueprint.number)
    return blueprint


def _objectives(db: Db, exam_id: int, domains: Sequence[ObjectiveContent]) -> dict[str, int]:
    """Ids of all objectives named; an objective that the exam had once is the same one again."""
    ids = catalog.objective_ids(db, exam_id)
    new = [Objective(exam_id=exam_id, code=node.code) for node, _ in _nodes(domains) if node.code not in ids]
    db.add_all(new)
    db.flush()
    return ids | {objective.code: objective.id for objective in new}


def _nodes(domains: Sequence[ObjectiveContent]) -> Iterator[tuple[ObjectiveContent, ObjectiveContent | None]]:
    """Every node with its domain, domains before what is below them."""
    for domain in domains:
        yield domain, None
        for objective in domain.objectives:
            yield objective, domain


def _assessed(domains: Sequence[ObjectiveContent]) -> Iterator[ObjectiveContent]:
    """What items may be about: objectives, and domains that have none."""
    for domain in domains:
        yield from domain.objectives or (domain,)


def _columns(content: ExamContent) -> dict[str, Any]:
    return {
        "title": content.title,
        "description": content.description,
        "scale_mean": content.scale.mean,
        "scale_sd": content.scale.sd,
        "scale_minimum": content.scale.minimum,
        "scale_maximum": content.scale.maximum,
        "cut_score": content.cut_score,
        "prior_mean": content.prior_mean,
        "prior_sd": content.prior_sd,
    }


def _audit(db: Db, exam: Exam, action: str, actor: str, now: datetime, **detail: Any) -> None:
    clients.audit(
        db,
        exam.tenant_id,
        actor=actor,
        action=action,
        entity="exam",
        entity_uuid=exam.uuid,
        now=now,
        detail={"slug": exam.slug, **detail},
    )
