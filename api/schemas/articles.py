"""Articles over HTTP: Markdown for authors, HTML for learners, in the same fields."""

from enum import StrEnum
from typing import Any

from marshmallow import fields, post_load

from api.schemas.base import Moment, Prose, Query, Reply, Slug, Strict, Text, format_moment
from api.schemas.paging import PageQuery
from itembank.articles import ArticleRecord
from itembank.content import ArticleContent, ArticleKind, MistakeContent, SectionContent
from itembank.markup import render, render_inline


class Format(StrEnum):
    MARKDOWN = "markdown"
    HTML = "html"


class SectionSchema(Strict):
    anchor = Text(required=True, length=120, metadata={"description": "what links name; keep it through changes"})
    heading = Prose(required=True)
    body = Prose(required=True)


class EntrySchema(Strict):
    """A mistake: what people do, why it is wrong, what to do instead."""

    anchor = Text(required=True, length=120)
    name = Prose(required=True)
    mistake = Prose(required=True)
    explanation = Prose(required=True)
    remedy = Prose(required=True)


class PutArticleSchema(Strict):
    """Body of `POST /v1/exams/{exam}/articles` and of `PUT /v1/articles/{article}`."""

    slug = Slug(required=True, length=120, metadata={"description": "unique in the exam; it can't change"})
    kind = fields.Enum(ArticleKind, by_value=True, required=True, metadata={"description": "it can't change"})
    title = Text(required=True, shortest=1, length=300)
    objectives = fields.List(
        Text(length=40), load_default=list, metadata={"description": "codes of objectives or domains it is about"}
    )
    introduction = Prose(load_default="")
    sections = fields.List(fields.Nested(SectionSchema), load_default=list)
    entries = fields.List(
        fields.Nested(EntrySchema), load_default=list, metadata={"description": "of a common_mistakes article"}
    )

    @post_load
    def to_content(self, data: dict[str, Any], **_: Any) -> ArticleContent:
        return ArticleContent(
            slug=data["slug"],
            kind=data["kind"],
            title=data["title"],
            objectives=tuple(data["objectives"]),
            introduction=data["introduction"],
            sections=tuple(SectionContent(**section) for section in data["sections"]),
            entries=tuple(MistakeContent(**entry) for entry in data["entries"]),
        )


class ArticleQuery(Query):
    format = fields.Enum(
        Format,
        by_value=True,
        metadata={"description": "`markdown` unless you say otherwise; a learner's token gets `html` only"},
    )


class ArticlesQuery(PageQuery):
    """Which articles to list."""

    kind = fields.Enum(ArticleKind, by_value=True, metadata={"description": "articles of this kind"})
    objective = Text(length=40, metadata={"description": "code of an objective or domain"})


class ArticleSummarySchema(Reply):
    """An article without what it says."""

    id = fields.UUID(required=True)
    slug = fields.String(required=True)
    kind = fields.Enum(ArticleKind, by_value=True, required=True)
    title = fields.String(required=True)
    version = fields.Integer(required=True)
    objectives = fields.List(fields.String(), required=True)
    updated_at = Moment(required=True)


class ArticleSchema(ArticleSummarySchema):
    format = fields.Enum(Format, by_value=True, required=True, metadata={"description": "of all prose in it"})
    introduction = fields.String(required=True)
    sections = fields.List(fields.Nested(SectionSchema), required=True)
    entries = fields.List(fields.Nested(EntrySchema), required=True)


def article_summary_json(record: ArticleRecord) -> dict[str, Any]:
    return {
        "id": str(record.article.uuid),
        "slug": record.content.slug,
        "kind": record.content.kind.value,
        "title": record.content.title,
        "version": record.number,
        "objectives": list(record.content.objectives),
        "updated_at": format_moment(record.article.updated_at),
    }


def article_json(record: ArticleRecord, form: Format) -> dict[str, Any]:
    block, line = (render, render_inline) if form is Format.HTML else (str, str)
    content = record.content
    return {
        **article_summary_json(record),
        "format": form.value,
        "introduction": block(content.introduction),
        "sections": [
            {"anchor": section.anchor, "heading": line(section.heading), "body": block(section.body)}
            for section in content.sections
        ],
        "entries": [
            {
                "anchor": entry.anchor,
                "name": line(entry.name),
                "mistake": block(entry.mistake),
                "explanation": block(entry.explanation),
                "remedy": block(entry.remedy),
            }
            for entry in content.entries
        ],
    }
