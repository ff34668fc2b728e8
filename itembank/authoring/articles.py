"""Study pages, misconceptions and images."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from itembank import articles, catalog, clients, rules
from itembank.authoring._changes import insert, lock, refuse
from itembank.content import ArticleContent, MisconceptionContent, digest
from itembank.errors import AlreadyExists, Issue
from itembank.formats import images
from itembank.models import (
    Article,
    ArticleObjective,
    ArticleSection,
    ArticleVersion,
    Exam,
    Media,
    Misconception,
    MistakeEntry,
)
from itembank.store import Db


def add_article(db: Db, exam: Exam, content: ArticleContent, *, actor: str, now: datetime) -> Article:
    content = rules.cleaned(content)
    objectives = catalog.current_nodes(db, exam.id)
    refuse((*rules.article_problems(content), *_objective_problems(content, objectives)))
    if articles.find_article(db, exam.id, content.slug) is not None:
        raise AlreadyExists("article", content.slug)
    article = Article(
        tenant_id=exam.tenant_id,
        exam_id=exam.id,
        slug=content.slug,
        kind=content.kind,
        created_at=now,
        updated_at=now,
    )
    insert(db, article, "article", content.slug)
    _insert_version(db, article, content, objectives, now)
    _audit(db, article, "article.create", actor, now, version=1)
    return article


def revise_article(db: Db, article: Article, content: ArticleContent, *, actor: str, now: datetime) -> Article:
    """A new version of the article; the same again changes nothing."""
    content = rules.cleaned(content)
    objectives = catalog.current_nodes(db, article.exam_id)
    issues = [*rules.article_problems(content), *_objective_problems(content, objectives)]
    if content.slug != article.slug:
        issues.append(Issue("/slug", f"can't change, it is {article.slug!r}"))
    if content.kind != article.kind:
        issues.append(Issue("/kind", f"can't change, it is {article.kind}"))
    kept = {entry.anchor for entry in content.entries} | {section.anchor for section in content.sections}
    for anchor, code in sorted(articles.pointed_at(db, article).items()):
        if anchor not in kept:
            issues.append(Issue("/entries", f"the misconception {code} points at {anchor!r}: keep that anchor"))
    refuse(issues)
    lock(db, article)
    if articles.get_article_record(db, article).content_hash == digest(content):
        return article
    article.version += 1
    article.updated_at = now
    db.add(article)
    _insert_version(db, article, content, objectives, now)
    _audit(db, article, "article.revise", actor, now, version=article.version)
    return article


def put_misconception(db: Db, exam: Exam, content: MisconceptionContent, *, actor: str, now: datetime) -> Misconception:
    """Add a misconception, or change the one that has the code. The same again changes nothing."""
    content = rules.cleaned(content)
    exam_id = exam.id
    objectives = catalog.current_nodes(db, exam_id)
    issues = list(rules.misconception_problems(content))
    if content.objective not in objectives:
        issues.append(Issue("/objective", f"the current blueprint has no objective {content.objective!r}"))
    article = articles.find_article(db, exam_id, content.article) if content.article else None
    if content.article and (content.article, content.entry) not in articles.anchors(db, exam_id, [content.article]):
        issues.append(Issue("/entry", f"there is no article {content.article!r} with an anchor {content.entry!r}"))
    refuse(issues)
    values: dict[str, Any] = {
        "objective_id": objectives[content.objective],
        "statement": content.statement,
        "article_id": article.id if article else None,
        "anchor": content.entry,
    }
    found = articles.find_misconception(db, exam_id, content.code)
    if found is None:
        found = Misconception(exam_id=exam_id, code=content.code, **values)
        insert(db, found, "misconception", content.code)
    elif all(getattr(found, name) == value for name, value in values.items()):
        return found
    else:
        for name, value in values.items():
            setattr(found, name, value)
        db.add(found)
        db.flush()
    clients.audit(
        db,
        exam.tenant_id,
        actor=actor,
        action="misconception.put",
        entity="misconception",
        entity_uuid=found.uuid,
        now=now,
        detail={"code": content.code},
    )
    return found


def add_media(db: Db, tenant_id: int, data: bytes, *, actor: str, now: datetime) -> Media:
    """Keep an image; one with the same bytes is the same image. Raises Unreadable for anything but a safe image."""
    media_type = images.media_type(data)
    sha256 = hashlib.sha256(data).hexdigest()
    found = articles.find_media(db, tenant_id, sha256)
    if found is not None:
        return found
    media = Media(tenant_id=tenant_id, sha256=sha256, media_type=media_type, content=data, created_at=now)
    insert(db, media, "image", sha256)
    clients.audit(
        db,
        tenant_id,
        actor=actor,
        action="media.add",
        entity="media",
        entity_uuid=media.uuid,
        now=now,
        detail={"sha256": sha256, "media_type": media_type},
    )
    return media


def _insert_version(
    db: Db, article: Article, content: ArticleContent, objectives: Mapping[str, int], now: datetime
) -> None:
    version = ArticleVersion(
        article_id=article.id,
        number=article.version,
        title=content.title,
        introduction=content.introduction,
        content_hash=digest(content),
        created_at=now,
    )
    db.add(version)
    db.flush()
    version_id = version.id
    db.add_all(
        ArticleObjective(article_version_id=version_id, objective_id=objectives[code]) for code in content.objectives
    )
    db.add_all(
        ArticleSection(
            article_version_id=version_id,
            position=position,
            anchor=section.anchor,
            heading=section.heading,
            body=section.body,
        )
        for position, section in enumerate(content.sections)
    )
    db.add_all(
        MistakeEntry(
            article_version_id=version_id,
            position=position,
            anchor=entry.anchor,
            name=entry.name,
            mistake=entry.mistake,
            explanation=entry.explanation,
            remedy=entry.remedy,
        )
        for position, entry in enumerate(content.entries)
    )
    db.flush()


def _objective_problems(content: ArticleContent, objectives: Mapping[str, int]) -> list[Issue]:
    return [
        Issue(f"/objectives/{i}", f"the current blueprint has no objective {code!r}")
        for i, code in enumerate(content.objectives)
        if code not in objectives
    ]


def _audit(db: Db, article: Article, action: str, actor: str, now: datetime, **detail: Any) -> None:
    uuid: UUID = article.uuid
    clients.audit(
        db,
        article.tenant_id,
        actor=actor,
        action=action,
        entity="article",
        entity_uuid=uuid,
        now=now,
        detail={"slug": article.slug, **detail},
    )
