"""Study pages."""

from typing import Any
from uuid import UUID

from api import context
from api.auth import requires
from api.context import creates, reads, writes
from api.errors import ScopeMissing
from api.schemas.articles import (
    ArticleQuery,
    ArticleSchema,
    ArticlesQuery,
    ArticleSummarySchema,
    Format,
    PutArticleSchema,
    article_json,
    article_summary_json,
)
from api.schemas.blueprint import Blueprint
from api.schemas.conditional import etag, not_modified, require_match
from api.schemas.paging import page, page_of, place
from api.v1._replies import created, listed, reply
from itembank import articles, authoring, catalog, sessions
from itembank.content import ArticleContent
from itembank.errors import NotFound

blp = Blueprint("articles", __name__, url_prefix="/v1", description="Study pages, with anchors that links lead to.")

BODY_EXAMPLE = {
    "slug": "training-mistakes",
    "kind": "common_mistakes",
    "title": "Training and inference: common mistakes",
    "objectives": ["1.1"],
    "introduction": "What people get wrong, and how to get it right.",
    "sections": [{"anchor": "in-short", "heading": "In short", "body": "Size each phase by itself."}],
    "entries": [
        {
            "anchor": "one-box-fits-both",
            "name": "One box fits both",
            "mistake": "Buying one machine type for both phases.",
            "explanation": "Training keeps gradients and optimizer state, serving does not.",
            "remedy": "Write down what each phase holds in memory before choosing.",
        }
    ],
}
SUMMARY_EXAMPLE = {
    "id": "0197a3ef-3c4d-7e5f-8a6b-7c8d9e0f1a2b",
    "slug": "training-mistakes",
    "kind": "common_mistakes",
    "title": "Training and inference: common mistakes",
    "version": 1,
    "objectives": ["1.1"],
    "updated_at": "2026-01-05T09:00:00.000Z",
}
ARTICLE_EXAMPLE = {**SUMMARY_EXAMPLE, **BODY_EXAMPLE, "format": "markdown"}


@blp.route("/exams/<exam>/articles")
@requires("items:read")
@reads
@blp.arguments(ArticlesQuery, location="query")
@blp.response(200, page_of(ArticleSummarySchema), example={"data": [SUMMARY_EXAMPLE], "next_cursor": None})
def list_articles(query: dict[str, Any], exam: str) -> Any:
    """List an exam's articles

    Without what they say.
    """
    db, at = context.db(), place(query)
    found = catalog.get_exam(db, context.caller().tenant_id, exam)
    rows = db.exec(articles.articles(found.id, after=at.after or 0, **at.filters).limit(at.fetch)).all()
    body = page(rows, at, key=lambda article: article.id)
    records = articles.article_records(db, body["data"])
    return listed(body | {"data": [article_summary_json(record) for record in records]})


@blp.route("/exams/<exam>/articles", methods=["POST"])
@requires("items:write")
@creates
@blp.arguments(PutArticleSchema, example=BODY_EXAMPLE)
@blp.response(201, ArticleSchema, example=ARTICLE_EXAMPLE)
def create_article(content: ArticleContent, exam: str) -> Any:
    """Create an article

    All prose is Markdown.
    """
    db, who = context.db(), context.caller()
    found = catalog.get_exam(db, who.tenant_id, exam)
    article = authoring.add_article(db, found, content, actor=who.actor, now=context.now())
    body = article_json(articles.get_article_record(db, article), Format.MARKDOWN)
    return created(body, location=f"/v1/articles/{article.uuid}", etag=etag(article.version))


@blp.route("/articles/<uuid:article>")
@requires("items:read", learner=True)
@reads
@blp.if_none_match
@blp.arguments(ArticleQuery, location="query")
@blp.response(200, ArticleSchema, example=ARTICLE_EXAMPLE)
def get_article(query: dict[str, Any], article: UUID) -> Any:
    """Read an article

    In Markdown for authors, in HTML for learners. A learner's token opens the articles of its session's exam.
    """
    db, who = context.db(), context.caller()
    found = articles.get_article(db, who.tenant_id, article)
    form = query.get("format", Format.MARKDOWN)
    if who.session_uuid is not None:
        if found.exam_id != sessions.get(db, who.tenant_id, who.session_uuid).exam_id:
            raise NotFound("article", article)
        form = query.get("format", Format.HTML)
        if form is not Format.HTML:
            raise ScopeMissing("items:read")
    tag = etag(found.version if form is Format.MARKDOWN else f"{found.version}-html")
    return not_modified(tag) or reply(article_json(articles.get_article_record(db, found), form), etag=tag)


@blp.route("/articles/<uuid:article>", methods=["PUT"])
@requires("items:write")
@writes
@blp.if_match
@blp.arguments(PutArticleSchema, example=BODY_EXAMPLE)
@blp.response(200, ArticleSchema, example=ARTICLE_EXAMPLE | {"version": 2})
def put_article(content: ArticleContent, article: UUID) -> Any:
    """Change an article

    All of it. Links name anchors, so keep them; one that a misconception points at can't go. The same again changes
    nothing.
    """
    db, who = context.db(), context.caller()
    found = articles.get_article(db, who.tenant_id, article, lock=True)
    require_match(etag(found.version))
    found = authoring.revise_article(db, found, content, actor=who.actor, now=context.now())
    record = articles.get_article_record(db, found)
    return reply(article_json(record, Format.MARKDOWN), etag=etag(found.version))
