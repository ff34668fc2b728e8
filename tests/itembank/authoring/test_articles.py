"""Articles, misconceptions, images: versions, anchors that are needed, one image once."""

from dataclasses import replace
from datetime import datetime

import pytest
import sqlalchemy as sa

from itembank import articles, authoring
from itembank.content import ArticleKind, MistakeContent
from itembank.errors import AlreadyExists, Invalid, NotFound, Unreadable
from itembank.models import ArticleVersion, AuditEntry, Exam
from itembank.store import Db
from tests.factories.articles import MISCONCEPTION, PNG, lesson, make_mistakes, mistakes
from tests.factories.bank import make_tenant


@pytest.mark.parametrize("content", [lesson(), mistakes()], ids=lambda content: content.kind.value)
def test_an_article_comes_back_as_it_was_added(db: Db, exam: Exam, now: datetime, content: object) -> None:
    article = authoring.add_article(db, exam, content, actor="ann", now=now)  # type: ignore[arg-type]
    db.expire_all()
    assert articles.get_article_record(db, article).content == content


def test_a_revision_is_a_new_version_and_the_same_again_is_none(db: Db, exam: Exam, now: datetime) -> None:
    article = authoring.add_article(db, exam, lesson(), actor="ann", now=now)
    authoring.revise_article(db, article, lesson(), actor="ann", now=now)
    assert article.version == 1
    authoring.revise_article(db, article, replace(lesson(), title="New"), actor="ann", now=now)
    record = articles.get_article_record(db, article)
    assert (record.number, record.content.title) == (2, "New")
    assert len(db.scalars(sa.select(ArticleVersion)).all()) == 2


def test_slug_and_kind_stay_and_a_slug_is_taken_once(db: Db, exam: Exam, now: datetime) -> None:
    article = authoring.add_article(db, exam, lesson(), actor="ann", now=now)
    with pytest.raises(AlreadyExists):
        authoring.add_article(db, exam, lesson(), actor="ann", now=now)
    content = replace(lesson("other"), kind=ArticleKind.QUICK_REFERENCE)
    with pytest.raises(Invalid) as refused:
        authoring.revise_article(db, article, content, actor="ann", now=now)
    assert [issue.pointer for issue in refused.value.issues] == ["/slug", "/kind"]


def test_objectives_of_an_article_must_be_in_the_blueprint(db: Db, exam: Exam, now: datetime) -> None:
    with pytest.raises(Invalid, match=r"7\.7"):
        authoring.add_article(db, exam, replace(lesson(), objectives=("1", "7.7")), actor="ann", now=now)


def test_an_anchor_that_a_misconception_needs_stays(db: Db, exam: Exam, now: datetime) -> None:
    article = make_mistakes(db, exam)
    other = MistakeContent("another", "Another", "m", "e", "r")
    with pytest.raises(Invalid, match="one-size"):
        authoring.revise_article(db, article, replace(mistakes(), entries=(other,)), actor="ann", now=now)
    assert article.version == 1
    authoring.revise_article(
        db, article, replace(mistakes(), entries=(*mistakes().entries, other)), actor="ann", now=now
    )
    assert ("mistakes", "another") in articles.anchors(db, exam.id)


def test_a_misconception_points_at_something(db: Db, exam: Exam, now: datetime) -> None:
    with pytest.raises(Invalid) as refused:
        authoring.put_misconception(db, exam, replace(MISCONCEPTION, objective="9"), actor="ann", now=now)
    assert [issue.pointer for issue in refused.value.issues] == ["/objective", "/entry"]


def test_a_misconception_is_known_by_its_code(db: Db, exam: Exam, now: datetime) -> None:
    make_mistakes(db, exam)
    before = db.scalar(sa.select(sa.func.count()).select_from(AuditEntry))
    same = authoring.put_misconception(db, exam, MISCONCEPTION, actor="ann", now=now)
    assert db.scalar(sa.select(sa.func.count()).select_from(AuditEntry)) == before
    changed = authoring.put_misconception(db, exam, replace(MISCONCEPTION, statement="No."), actor="ann", now=now)
    assert changed.id == same.id
    assert articles.misconception_contents(db, exam.id)["one-size"].statement == "No."


def test_one_image_is_kept_once_per_tenant(db: Db, exam: Exam, now: datetime) -> None:
    one = authoring.add_media(db, exam.tenant_id, PNG, actor="ann", now=now)
    assert authoring.add_media(db, exam.tenant_id, PNG, actor="ann", now=now).id == one.id
    other = make_tenant(db, "other")
    assert authoring.add_media(db, other.id, PNG, actor="ann", now=now).id != one.id
    with pytest.raises(NotFound):
        articles.get_media(db, other.id, one.uuid)


def test_what_is_no_image_is_not_kept(db: Db, exam: Exam, now: datetime) -> None:
    with pytest.raises(Unreadable):
        authoring.add_media(db, exam.tenant_id, b"%PDF-1.7", actor="ann", now=now)


def test_articles_are_found_by_kind_and_objective(db: Db, exam: Exam, now: datetime) -> None:
    make_mistakes(db, exam)
    authoring.add_article(db, exam, replace(lesson(), objectives=("2.1",)), actor="ann", now=now)

    def slugs(**filters: object) -> list[str]:
        return [article.slug for article in db.exec(articles.articles(exam.id, **filters))]  # type: ignore[arg-type]

    assert slugs() == ["mistakes", "lesson"]
    assert slugs(kind=ArticleKind.LESSON) == ["lesson"]
    assert slugs(objective="1.1") == ["mistakes"]
