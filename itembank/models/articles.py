"""Study pages. An article's versions are immutable; links name the article and an anchor, so they outlive edits."""

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from itembank.content import ArticleKind
from itembank.models._columns import UUID, datetime, moment, primary_key, prose, public_id, reference
from itembank.store import EnumText


class Article(SQLModel, table=True):
    __table_args__ = (sa.UniqueConstraint("exam_id", "slug"),)

    id: int = primary_key()
    uuid: UUID = public_id()
    tenant_id: int = reference("tenant.id")
    exam_id: int = reference("exam.id", index=False)
    slug: str = Field(max_length=120)
    kind: ArticleKind = Field(sa_type=EnumText(ArticleKind))
    version: int = 1
    created_at: datetime = moment()
    updated_at: datetime = moment()


class ArticleVersion(SQLModel, table=True):
    __tablename__ = "article_version"
    __table_args__ = (sa.UniqueConstraint("article_id", "number"),)

    id: int = primary_key()
    article_id: int = reference("article.id", index=False)
    number: int
    title: str = Field(max_length=500)
    introduction: str = prose(default="")
    content_hash: str = Field(max_length=64)
    created_at: datetime = moment()


class ArticleObjective(SQLModel, table=True):
    __tablename__ = "article_objective"

    article_version_id: int = reference("article_version.id", index=False, primary_key=True)
    objective_id: int = reference("objective.id", primary_key=True)


class ArticleSection(SQLModel, table=True):
    __tablename__ = "article_section"
    __table_args__ = (sa.UniqueConstraint("article_version_id", "anchor"),)

    id: int = primary_key()
    article_version_id: int = reference("article_version.id", index=False)
    position: int
    anchor: str = Field(max_length=120)
    heading: str = Field(max_length=500)
    body: str = prose()


class MistakeEntry(SQLModel, table=True):
    __tablename__ = "mistake_entry"
    __table_args__ = (sa.UniqueConstraint("article_version_id", "anchor"),)

    id: int = primary_key()
    article_version_id: int = reference("article_version.id", index=False)
    position: int
    anchor: str = Field(max_length=120)
    name: str = Field(max_length=500)
    mistake: str = prose()
    explanation: str = prose()
    remedy: str = prose()
