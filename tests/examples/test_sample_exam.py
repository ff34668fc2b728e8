"""The sample exam is what it should be: enough of it, fair keys, no letters, links that lead somewhere."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from itembank import importing
from itembank.content import ArticleKind, ItemContent, Stage
from itembank.formats import bundle
from itembank.formats.bundle import Bundle
from itembank.importing import Outcome
from itembank.store import Db
from tests.factories.bank import make_tenant

FOLDER = Path(__file__).parents[2] / "examples" / "ai-infrastructure"
COMPARED = "Compare and contrast training and inference architecture requirements"
LETTERS = re.compile(
    r"\b(?:option|answer|choice|alternative)s?\s+(?:[A-E]|[1-5]|one|two|three|four)\b"
    r"|\b(?:first|second|third|fourth|last|previous|next)\s+(?:option|answer|choice|alternative)\b"
    r"|\b(?:above|below)\s+(?:option|answer|choice)\b|\ball of the above\b|\bnone of the above\b",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def sample() -> Bundle:
    return bundle.read(FOLDER)


@pytest.fixture(scope="module")
def items(sample: Bundle) -> list[ItemContent]:
    return [part.content for part in sample.items]


@pytest.fixture(scope="module")
def compared(sample: Bundle) -> str:
    """The code of the objective that the sample goes into most."""
    assert sample.exam is not None
    nodes = [node for domain in sample.exam.content.blueprint for node in domain.objectives]
    return next(node.code for node in nodes if node.title == COMPARED)


def explanations(item: ItemContent) -> Iterator[str]:
    yield item.short_explanation
    yield item.full_explanation
    for option in item.options:
        yield option.rationale
    for use in item.media:
        yield f"{use.alt} {use.description}"


def test_nothing_is_wrong_with_it(sample: Bundle) -> None:
    assert [str(issue) for issue in sample.all_issues] == []


def test_all_of_it_can_be_imported_and_served(sample: Bundle, db: Db, now: datetime) -> None:
    tenant = make_tenant(db)
    plan = importing.plan(db, tenant.id, sample, stage=Stage.OPERATIONAL)
    assert [str(issue) for issue in plan.issues] == []
    importing.apply(db, plan, actor="test", now=now)
    again = importing.plan(db, tenant.id, sample, stage=Stage.OPERATIONAL)
    assert again.count(Outcome.UNCHANGED) == len(sample.items)


def test_it_is_large_enough(sample: Bundle, items: list[ItemContent], compared: str) -> None:
    assert sample.exam is not None
    domains = sample.exam.content.blueprint
    assert len(domains) >= 4
    assert sum(len(domain.objectives) for domain in domains) >= 12
    assert len(items) >= 80
    about = Counter(item.objective for item in items)
    assert about[compared] >= 12
    assert all(about[node.code] >= 4 for domain in domains for node in domain.objectives)


def test_every_item_is_complete(items: list[ItemContent]) -> None:
    for item in items:
        assert len(item.options) == 4, item.stem
        assert all(option.rationale for option in item.options), item.stem
        assert item.short_explanation, item.stem
        assert item.full_explanation, item.stem
        assert item.angoff is not None, item.stem
        assert item.reading, item.stem
        assert sum(tag.startswith("bloom:") for tag in item.tags) == 1, item.stem


def test_ratings_and_levels_differ(items: list[ItemContent]) -> None:
    ratings = [item.angoff or 0 for item in items]
    assert max(ratings) - min(ratings) >= 0.3
    assert len({tag for item in items for tag in item.tags if tag.startswith("bloom:")}) >= 3


def test_keys_are_spread_evenly_over_positions(items: list[ItemContent]) -> None:
    places = Counter(next(i for i, o in enumerate(item.options) if o.correct) for item in items)
    expected = len(items) / 4
    chi_square = sum((places[i] - expected) ** 2 / expected for i in range(4))
    assert chi_square < 7.81, places  # 5 % point with 3 degrees of freedom


def test_the_key_is_not_the_longest_option_by_habit(items: list[ItemContent]) -> None:
    def stands_out(item: ItemContent, pick: object) -> bool:
        lengths = [len(option.text) for option in item.options]
        key = next(len(option.text) for option in item.options if option.correct)
        return key == pick(lengths) and lengths.count(key) == 1  # type: ignore[operator]

    assert sum(stands_out(item, max) for item in items) / len(items) <= 0.30
    assert sum(stands_out(item, min) for item in items) / len(items) <= 0.40


def test_no_explanation_names_a_letter_or_a_position(items: list[ItemContent]) -> None:
    found = [text for item in items for text in explanations(item) if LETTERS.search(text)]
    assert found == []


def test_no_stem_is_asked_twice(items: list[ItemContent]) -> None:
    assert len({item.stem.casefold() for item in items}) == len(items)


def test_most_distractors_show_a_misconception_and_each_of_those_an_entry(
    sample: Bundle, items: list[ItemContent]
) -> None:
    distractors = [option for item in items for option in item.options if not option.correct]
    linked = [option for option in distractors if option.misconception]
    assert len(linked) / len(distractors) > 0.5
    assert all(part.content.article and part.content.entry for part in sample.misconceptions)
    assert {option.misconception for option in linked} == {part.key for part in sample.misconceptions}


def test_the_objective_that_is_compared_has_its_articles(sample: Bundle, compared: str) -> None:
    about = [part.content for part in sample.articles if compared in part.content.objectives]
    reference = next(article for article in about if article.kind == ArticleKind.QUICK_REFERENCE)
    assert "|---|" in "".join([reference.introduction, *(section.body for section in reference.sections)])
    mistakes = next(article for article in about if article.kind == ArticleKind.COMMON_MISTAKES)
    assert len(mistakes.entries) == 6


def test_every_objective_has_something_to_read(sample: Bundle) -> None:
    assert sample.exam is not None
    covered = {code for part in sample.articles for code in part.content.objectives}
    wanted = {node.code for domain in sample.exam.content.blueprint for node in domain.objectives}
    assert wanted <= covered


def test_one_item_explains_the_primary_difference_with_a_drawing(sample: Bundle, items: list[ItemContent]) -> None:
    drawn = [item for item in items if item.media]
    assert any("hardware" in item.stem and "training" in item.stem.lower() for item in drawn)
    assert all(use.alt and use.description for item in drawn for use in item.media)
