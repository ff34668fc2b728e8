"""Every query on study pages, the misconceptions that lead to them, and images."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col, select
from sqlmodel.sql.expression import SelectOfScalar

from itembank.content import (
    ArticleContent,
    ArticleKind,
    MediaRole,
    MisconceptionContent,
    MistakeContent,
    SectionContent,
)
from itembank.errors import NotFound
from itembank.models import (
    Article,
    ArticleObjective,
    ArticleSection,
    ArticleVersion,
    ItemMedia,
    Media,
    Misconception,
    MistakeEntry,
    Objective,
)
from itembank.store import Db

Part = TypeVar("Part")


# Articles


@dataclass(frozen=True, slots=True)
class ArticleRecord:
    """An article with what one of its versions says."""

    article: Article
    number: int
    content: ArticleContent
    content_hash: str


def articles(
    exam_id: int, *, kind: ArticleKind | None = None, objective: str | None = None, after: int = 0
) -> SelectOfScalar[Article]:
    """An exam's articles in id order; pass the last id seen as `after` to page."""
    query = select(Article).where(Article.exam_id == exam_id, col(Article.id) > after).order_by(col(Article.id))
    if kind is not None:
        query = query.where(col(Article.kind) == kind)
    if objective is not None:
        about = (
            sa.exists()
            .where(col(ArticleVersion.article_id) == col(Article.id), _is_newest())
            .where(col(ArticleObjective.article_version_id) == col(ArticleVersion.id))
            .where(col(Objective.id) == col(ArticleObjective.objective_id), col(Objective.code) == objective)
        )
        query = query.where(about)
    return query


def on_objectives(db: Db, exam_id: int, codes: Collection[str]) -> Sequence[sa.Row[*tuple[Any, ...]]]:
    """(objective, uuid, slug, kind, title) of every current article on an objective named, by article, then by code."""
    query = (
        sa.select(
            col(Objective.code).label("objective"),
            *(col(getattr(Article, name)) for name in ("uuid", "slug", "kind")),
            col(ArticleVersion.title),
        )
        .select_from(Article)
        .join(ArticleVersion, sa.and_(col(ArticleVersion.article_id) == col(Article.id), _is_newest()))
        .join(ArticleObjective, col(ArticleObjective.article_version_id) == col(ArticleVersion.id))
        .join(Objective, col(Objective.id) == col(ArticleObjective.objective_id))
        .where(col(Article.exam_id) == exam_id, col(Objective.code).in_(codes))
        .order_by(col(Article.id), col(Objective.code))
    )
    return db.execute(query).all()


def find_article(db: Db, exam_id: int, slug: str) -> Article | None:
    return db.exec(select(Article).where(Article.exam_id == exam_id, Article.slug == slug)).one_or_none()


def get_article(db: Db, tenant_id: int, uuid: UUID, *, lock: bool = False) -> Article:
    """`lock` : hold the row until the transaction ends"""
    query: Any = select(Article).where(Article.tenant_id == tenant_id, Article.uuid == uuid)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    article: Article | None = db.exec(query).one_or_none()
    if article is None:
        raise NotFound("article", uuid)
    return article


def article_records(db: Db, found: Sequence[Article]) -> list[ArticleRecord]:
    """What the current versions of articles say, in the order given: four statements, however many."""
    query = (
        sa.select(ArticleVersion)
        .join(Article, sa.and_(col(Article.id) == col(ArticleVersion.article_id), _is_newest()))
        .where(col(Article.id).in_([article.id for article in found]))
    )
    current = {version.article_id: version for version in db.scalars(query)}
    ids = [version.id for version in current.values()]
    objectives, sections, entries = _objectives(db, ids), _sections(db, ids), _entries(db, ids)
    records = []
    for article in found:
        version = current[article.id]
        content = ArticleContent(
            slug=article.slug,
            kind=article.kind,
            title=version.title,
            objectives=tuple(objectives[version.id]),
            introduction=version.introduction,
            sections=tuple(sections[version.id]),
            entries=tuple(entries[version.id]),
        )
        records.append(ArticleRecord(article, version.number, content, version.content_hash))
    return records


def get_article_record(db: Db, article: Article) -> ArticleRecord:
    return article_records(db, [article])[0]


def anchors(db: Db, exam_id: int, slugs: Collection[str] | None = None) -> set[tuple[str, str]]:
    """(slug, anchor) of every section and entry in the current versions of an exam's articles."""
    found: set[tuple[str, str]] = set()
    for part in (ArticleSection, MistakeEntry):
        query = (
            sa.select(col(Article.slug), col(part.anchor))
            .join(ArticleVersion, sa.and_(col(ArticleVersion.article_id) == col(Article.id), _is_newest()))
            .join(part, col(part.article_version_id) == col(ArticleVersion.id))
            .where(col(Article.exam_id) == exam_id)
        )
        if slugs is not None:
            query = query.where(col(Article.slug).in_(slugs))
        found |= {(slug, anchor) for slug, anchor in db.execute(query)}
    return found


# Misconceptions


def find_misconception(db: Db, exam_id: int, code: str) -> Misconception | None:
    query = select(Misconception).where(Misconception.exam_id == exam_id, Misconception.code == code)
    return db.exec(query).one_or_none()


def misconception_ids(db: Db, exam_id: int, codes: Collection[str] | None = None) -> dict[str, int]:
    """Code → id of the misconceptions named, or of all; unknown ones are left out."""
    query = sa.select(col(Misconception.code), col(Misconception.id)).where(col(Misconception.exam_id) == exam_id)
    if codes is not None:
        query = query.where(col(Misconception.code).in_(codes))
    return {code: key for code, key in db.execute(query).all()}  # noqa: C416  # for mypy, a Row is no tuple


def misconception_contents(db: Db, exam_id: int) -> dict[str, MisconceptionContent]:
    """Code → what it says, for all of an exam's misconceptions."""
    query = (
        sa.select(
            col(Misconception.code),
            col(Objective.code),
            col(Misconception.statement),
            col(Article.slug),
            col(Misconception.anchor),
        )
        .join(Objective, col(Objective.id) == col(Misconception.objective_id))
        .outerjoin(Article, col(Article.id) == col(Misconception.article_id))
        .where(col(Misconception.exam_id) == exam_id)
    )
    return {row[0]: MisconceptionContent(*row) for row in db.execute(query)}


def pointed_at(db: Db, article: Article) -> dict[str, str]:
    """Anchor → code of a misconception that points at it, for one article."""
    query = sa.select(col(Misconception.anchor), col(Misconception.code)).where(
        col(Misconception.article_id) == article.id, col(Misconception.anchor).is_not(None)
    )
    return {anchor: code for anchor, code in db.execute(query) if anchor is not None}


# Images


def get_media(db: Db, tenant_id: int, uuid: UUID) -> Media:
    media = db.exec(select(Media).where(Media.tenant_id == tenant_id, Media.uuid == uuid)).one_or_none()
    if media is None:
        raise NotFound("image", uuid)
    return media


def find_media(db: Db, tenant_id: int, sha256: str) -> Media | None:
    return db.exec(select(Media).where(Media.tenant_id == tenant_id, Media.sha256 == sha256)).one_or_none()


def media_ids(db: Db, tenant_id: int, digests: Collection[str]) -> dict[str, int]:
    """SHA-256 → id, without reading the images; unknown ones are left out."""
    query = sa.select(col(Media.sha256), col(Media.id)).where(
        col(Media.tenant_id) == tenant_id, col(Media.sha256).in_(digests)
    )
    return {digest: key for digest, key in db.execute(query).all()}  # noqa: C416


def media_digests(db: Db, tenant_id: int, uuids: Collection[UUID]) -> dict[UUID, str]:
    """The id the outside knows → SHA-256; unknown ones are left out."""
    query = sa.select(col(Media.uuid), col(Media.sha256)).where(
        col(Media.tenant_id) == tenant_id, col(Media.uuid).in_(uuids)
    )
    return {uuid: digest for uuid, digest in db.execute(query).all()}  # noqa: C416


def media_roles(db: Db, media: Media, version_ids: Collection[int]) -> list[tuple[int, MediaRole]]:
    """In which of the versions an image stands, and where in each."""
    query = sa.select(col(ItemMedia.item_version_id), col(ItemMedia.role)).where(
        col(ItemMedia.media_id) == media.id, col(ItemMedia.item_version_id).in_(version_ids)
    )
    return [(version_id, role) for version_id, role in db.execute(query)]


# Helpers


def _objectives(db: Db, ids: Sequence[int]) -> dict[int, list[str]]:
    query = (
        sa.select(col(ArticleObjective.article_version_id), col(Objective.code))
        .join(Objective, col(Objective.id) == col(ArticleObjective.objective_id))
        .where(col(ArticleObjective.article_version_id).in_(ids))
        .order_by(col(Objective.code))
    )
    found: dict[int, list[str]] = defaultdict(list)
    for version_id, code in db.execute(query):
        found[version_id].append(code)
    return found


def _sections(db: Db, ids: Sequence[int]) -> dict[int, list[SectionContent]]:
    query = (
        sa.select(ArticleSection)
        .where(col(ArticleSection.article_version_id).in_(ids))
        .order_by(col(ArticleSection.article_version_id), col(ArticleSection.position))
    )
    found: dict[int, list[SectionContent]] = defaultdict(list)
    for row in db.scalars(query):
        found[row.article_version_id].append(SectionContent(row.anchor, row.heading, row.body))
    return found


def _entries(db: Db, ids: Sequence[int]) -> dict[int, list[MistakeContent]]:
    query = (
        sa.select(MistakeEntry)
        .where(col(MistakeEntry.article_version_id).in_(ids))
        .order_by(col(MistakeEntry.article_version_id), col(MistakeEntry.position))
    )
    found: dict[int, list[MistakeContent]] = defaultdict(list)
    for row in db.scalars(query):
        entry = MistakeContent(row.anchor, row.name, row.mistake, row.explanation, row.remedy)
        found[row.article_version_id].append(entry)
    return found


def _is_newest() -> sa.ColumnElement[bool]:
    return col(ArticleVersion.number) == col(Article.version)
