"""Articles and misconceptions for tests."""

from datetime import datetime

from itembank import authoring
from itembank.content import (
    ArticleContent,
    ArticleKind,
    MisconceptionContent,
    MistakeContent,
    SectionContent,
)
from itembank.models import Article, Exam
from itembank.store import Db
from tests.factories.bank import START

MISCONCEPTION = MisconceptionContent(
    "one-size", "1.1", "One size fits all.", article="mistakes", entry="one-size-fits-all"
)
PNG = b"\x89PNG\r\n\x1a\n not really, but it begins like one"


def mistakes() -> ArticleContent:
    entry = MistakeContent("one-size-fits-all", "One size", "Buying one.", "They *differ*.", "Measure.")
    section = SectionContent("in-short", "In short", "Measure first.")
    return ArticleContent(
        "mistakes", ArticleKind.COMMON_MISTAKES, "Mistakes", ("1.1",), "Beware.", (section,), (entry,)
    )


def lesson(slug: str = "lesson") -> ArticleContent:
    sections = (
        SectionContent("first", "First *things*", "Some text."),
        SectionContent("second", "Second", "| a |\n|---|"),
    )
    return ArticleContent(slug, ArticleKind.LESSON, "A lesson", ("1.1", "2"), "Hello.", sections)


def make_mistakes(db: Db, exam: Exam, *, now: datetime = START) -> Article:
    """A common-mistakes article with a misconception that points at its entry."""
    article = authoring.add_article(db, exam, mistakes(), actor="test", now=now)
    authoring.put_misconception(db, exam, MISCONCEPTION, actor="test", now=now)
    return article
