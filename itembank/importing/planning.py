"""The plan: what importing a bundle would do. It reads the bank and changes nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import sqlalchemy as sa
from sqlmodel import col

from itembank import articles, catalog, rules
from itembank.content import ArticleContent, ExamContent, MisconceptionContent, Stage, digest
from itembank.errors import Issue
from itembank.formats.bundle import Bundle, ItemPart, Part
from itembank.models import Exam, Item, ItemVersion
from itembank.store import Db

_UNFINISHED = rules.DRAFTS | {Stage.IN_REVIEW, Stage.APPROVED}  # an import that may skip review takes these further


class Outcome(StrEnum):
    """`refused`: it has issues, see there."""

    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Step:
    """What is to happen to one thing of the bundle."""

    key: str
    outcome: Outcome
    issues: tuple[Issue, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemStep(Step):
    """item_id, version : of the row that is there already, and its newest version"""

    item_id: int | None = None
    version: int = 0
    promotes: bool = False  # nothing new is said, the version that is there only goes live


@dataclass(frozen=True, slots=True)
class Plan:
    """steps are in the order of the bundle;  issues : all of them, also those of the bundle as a whole"""

    bundle: Bundle
    tenant_id: int
    stage: Stage
    exam: Step
    misconceptions: tuple[Step, ...]
    articles: tuple[Step, ...]
    items: tuple[ItemStep, ...]
    issues: tuple[Issue, ...]

    def count(self, outcome: Outcome) -> int:
        """Of items."""
        return sum(step.outcome == outcome for step in self.items)


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the bank has of an item that the bundle names."""

    item_id: int
    version: int
    newest: tuple[str, Stage]
    live: set[str] = field(default_factory=set)


def plan(db: Db, tenant_id: int, bundle: Bundle, *, stage: Stage = Stage.DRAFT) -> Plan:
    """What importing the bundle would do.

    stage : draft, or operational for callers who may skip review
    """
    if stage not in (Stage.DRAFT, Stage.OPERATIONAL):
        raise ValueError(f"imports end in draft or operational, not {stage}")
    exam_part = bundle.exam
    if exam_part is None or exam_part.issues:
        return _refused(tenant_id, bundle, stage)
    exam = catalog.find_exam(db, tenant_id, exam_part.content.slug)
    exam_step = _exam_step(db, exam, exam_part)
    misconceptions = articles.misconception_contents(db, exam.id) if exam else {}
    article_steps = _article_steps(db, exam, bundle, misconceptions.values())
    anchors = _anchors(db, exam, bundle, article_steps)
    misconception_steps = _misconception_steps(bundle, misconceptions, anchors)
    known = rules.Known(
        objectives={node.code for domain in exam_part.content.blueprint for node in domain.objectives or (domain,)},
        misconceptions=misconceptions.keys() | {s.key for s in misconception_steps if s.outcome != Outcome.REFUSED},
        anchors=anchors,
        media=bundle.media,
    )
    item_steps = _item_steps(db, exam, bundle, stage, known)
    steps: tuple[Step, ...] = (exam_step, *article_steps, *misconception_steps, *item_steps)
    issues = (*bundle.issues, *(issue for step in steps for issue in step.issues))
    return Plan(bundle, tenant_id, stage, exam_step, misconception_steps, article_steps, item_steps, issues)


def _refused(tenant_id: int, bundle: Bundle, stage: Stage) -> Plan:
    """Without a readable exam nothing else can be judged."""
    return Plan(
        bundle=bundle,
        tenant_id=tenant_id,
        stage=stage,
        exam=Step("", Outcome.REFUSED, bundle.exam.issues if bundle.exam else ()),
        misconceptions=tuple(Step(part.key, Outcome.REFUSED, part.issues) for part in bundle.misconceptions),
        articles=tuple(Step(part.key, Outcome.REFUSED, part.issues) for part in bundle.articles),
        items=tuple(ItemStep(part.key, Outcome.REFUSED, part.issues) for part in bundle.items),
        issues=bundle.all_issues,
    )


def _exam_step(db: Db, exam: Exam | None, part: Part[ExamContent]) -> Step:
    content = part.content
    if exam is None:
        return Step(content.slug, Outcome.CREATED)
    blueprint = catalog.find_blueprint(db, exam.id)
    nodes = catalog.blueprint_content(db, blueprint) if blueprint else ()
    assessed = {node.code for domain in content.blueprint for node in domain.objectives or (domain,)}
    issues: tuple[Issue, ...] = ()
    if orphans := catalog.live_objectives(db, exam.id) - assessed:
        what = f"live items are about {', '.join(sorted(orphans))}: keep these objectives, if with weight 0"
        issues = (part.origin.issue("/blueprint", what),)
    return Step(content.slug, _outcome(catalog.exam_content(exam, nodes), content, issues), issues)


def _article_steps(
    db: Db, exam: Exam | None, bundle: Bundle, misconceptions: Iterable[MisconceptionContent]
) -> tuple[Step, ...]:
    stored = list(db.exec(articles.articles(exam.id))) if exam else []
    hashes = {record.content.slug: record.content_hash for record in articles.article_records(db, stored)}
    kinds = {article.slug: article.kind for article in stored}
    codes = _codes(bundle)
    steps = []
    for part in bundle.articles:
        content, issues = part.content, list(part.issues)
        for i, code in enumerate(content.objectives):
            if code not in codes:
                issues.append(part.origin.issue(f"/objectives/{i}", f"the blueprint has no objective {code!r}"))
        if kinds.get(part.key, content.kind) != content.kind:
            issues.append(part.origin.issue("/kind", f"can't change, it is {kinds[part.key]}"))
        for held in misconceptions:
            if held.article == part.key and held.entry not in _anchors_in(content):
                what = f"the misconception {held.code} points at {held.entry!r}: keep that anchor"
                issues.append(part.origin.issue("/entries", what))
        steps.append(Step(part.key, _outcome(hashes.get(part.key), digest(content), issues), tuple(issues)))
    return tuple(steps)


def _misconception_steps(
    bundle: Bundle, stored: Mapping[str, MisconceptionContent], anchors: set[tuple[str, str]]
) -> tuple[Step, ...]:
    codes = _codes(bundle)
    steps = []
    for part in bundle.misconceptions:
        content, issues = part.content, list(part.issues)
        if content.objective not in codes:
            issues.append(part.origin.issue("/objective", f"the blueprint has no objective {content.objective!r}"))
        if content.article is not None and (content.article, content.entry) not in anchors:
            what = f"there is no article {content.article!r} with an anchor {content.entry!r}"
            issues.append(part.origin.issue("/entry", what))
        steps.append(Step(part.key, _outcome(stored.get(part.key), content, issues), tuple(issues)))
    return tuple(steps)


def _item_steps(db: Db, exam: Exam | None, bundle: Bundle, stage: Stage, known: rules.Known) -> tuple[ItemStep, ...]:
    stored = _stored_items(db, exam, [part.key for part in bundle.items]) if exam else {}
    names = {part.key for part in bundle.items} | _external_ids(db, exam, bundle, stored)
    return tuple(_item_step(part, stored.get(part.key), names, stage, known) for part in bundle.items)


def _item_step(part: ItemPart, stored: _Stored | None, names: set[str], stage: Stage, known: rules.Known) -> ItemStep:
    issues = list(part.issues)
    if not issues:
        links = rules.link_problems(part.content, known)
        issues += part.origin.placed(replace(i, pointer=i.pointer.replace("/reading", "/read")) for i in links)
        issues += part.origin.placed(rules.problems(part.content, stage)) if stage not in rules.DRAFTS else ()
    for name, others in (("enemies", part.enemies), ("siblings", part.siblings)):
        for i, other in enumerate(others):
            if other not in names or other == part.key:
                issues.append(part.origin.issue(f"/{name}/{i}", f"there is no other item {other!r}"))
    if issues:
        return ItemStep(part.key, Outcome.REFUSED, tuple(issues))
    if stored is None:
        return ItemStep(part.key, Outcome.CREATED)
    said = digest(part.content)
    if stored.newest[0] == said:
        promotes = stage == Stage.OPERATIONAL and stored.newest[1] in _UNFINISHED
        outcome = Outcome.CHANGED if promotes else Outcome.UNCHANGED
        return ItemStep(part.key, outcome, (), stored.item_id, stored.version, promotes)
    outcome = Outcome.UNCHANGED if said in stored.live else Outcome.CHANGED
    return ItemStep(part.key, outcome, (), stored.item_id, stored.version)


def _stored_items(db: Db, exam: Exam, external_ids: Sequence[str]) -> dict[str, _Stored]:
    """By external id."""
    found: dict[str, _Stored] = {}
    for start in range(0, len(external_ids), catalog.IDS_AT_ONCE):
        query = (
            sa.select(
                col(Item.external_id),
                col(Item.id),
                col(Item.version),
                col(ItemVersion.number),
                col(ItemVersion.content_hash),
                col(ItemVersion.stage),
            )
            .join(ItemVersion, col(ItemVersion.item_id) == col(Item.id))
            .where(
                col(Item.exam_id) == exam.id,
                col(Item.external_id).in_(external_ids[start : start + catalog.IDS_AT_ONCE]),
                sa.or_(col(ItemVersion.number) == col(Item.version), col(ItemVersion.stage) == Stage.OPERATIONAL),
            )
            .order_by(col(Item.id), col(ItemVersion.number).desc())
        )
        for external_id, item_id, version, number, content_hash, stage in db.execute(query):
            if number == version:
                found[external_id] = _Stored(item_id, version, (content_hash, stage))
            else:
                found[external_id].live.add(content_hash)
    return found


def _external_ids(db: Db, exam: Exam | None, bundle: Bundle, stored: Mapping[str, _Stored]) -> set[str]:
    """Items that are related to by the bundle, but not in it."""
    named = {other for part in bundle.items for other in (*part.enemies, *part.siblings)}
    missing = sorted(named - stored.keys() - {part.key for part in bundle.items})
    if exam is None or not missing:
        return set()
    return set(catalog.item_ids(db, exam.id, missing))


def _anchors(db: Db, exam: Exam | None, bundle: Bundle, article_steps: Sequence[Step]) -> set[tuple[str, str]]:
    """As they will be once the articles of the bundle are in."""
    usable = {step.key for step in article_steps if step.outcome != Outcome.REFUSED}
    stored = articles.anchors(db, exam.id) if exam else set()
    found = {(slug, anchor) for slug, anchor in stored if slug not in usable}
    for part in bundle.articles:
        if part.key in usable:
            found |= {(part.key, anchor) for anchor in _anchors_in(part.content)}
    return found


def _anchors_in(content: ArticleContent) -> set[str]:
    return {section.anchor for section in content.sections} | {entry.anchor for entry in content.entries}


def _codes(bundle: Bundle) -> set[str]:
    domains = bundle.exam.content.blueprint if bundle.exam else ()
    return {node.code for domain in domains for node in (domain, *domain.objectives)}


def _outcome(stored: object, submitted: object, issues: Sequence[Issue]) -> Outcome:
    if issues:
        return Outcome.REFUSED
    if stored is None:
        return Outcome.CREATED
    return Outcome.UNCHANGED if stored == submitted else Outcome.CHANGED
