"""What makes content valid: every rule named with its place, all of them at once."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itembank import rules
from itembank.content import (
    ArticleContent,
    ArticleKind,
    ExamContent,
    ItemContent,
    ItemKind,
    MediaRole,
    MediaUse,
    MisconceptionContent,
    MistakeContent,
    ObjectiveContent,
    OptionContent,
    Reading,
    Reference,
    Scale,
    SectionContent,
    Stage,
)
from itembank.errors import Issue
from tests.factories.bank import BLUEPRINT, item_content

GOOD = item_content()


def pointers(issues: tuple[Issue, ...]) -> list[str]:
    return [issue.pointer for issue in issues]


def with_option(place: int, **changes: object) -> ItemContent:
    options = list(GOOD.options)
    options[place] = replace(options[place], **changes)
    return replace(GOOD, options=tuple(options))


BROKEN = {
    "/stem": replace(GOOD, stem=" \n "),
    "/options": replace(GOOD, options=tuple(replace(option, correct=False) for option in GOOD.options)),
    "/options/1/key": with_option(1, key="Option B"),
    "/options/2/text": with_option(2, text=""),
    "/options/0/misconception": with_option(0, misconception="x"),
    "/options/3/rationale": with_option(3, rationale="x" * 5_001),
    "/angoff": replace(GOOD, angoff=1.0),
    "/tags/1": replace(GOOD, tags=("bloom:apply", "no namespace")),
    "/tags/0": replace(GOOD, tags=("bloom:guess",)),
    "/media/0/alt": replace(GOOD, media=(MediaUse("0" * 64, MediaRole.STEM, " "),)),
    "/references/0/url": replace(GOOD, references=(Reference("a book", "javascript:alert(1)"),)),
    "/references/0/citation": replace(GOOD, references=(Reference(""),)),
    "/full_explanation": replace(GOOD, full_explanation="a\x00b"),
    "/short_explanation": replace(GOOD, short_explanation="half a pair \ud800"),
}


@pytest.mark.parametrize("pointer", BROKEN)
def test_each_broken_rule_is_named_with_its_place(pointer: str) -> None:
    assert pointers(rules.problems(BROKEN[pointer])) == [pointer]


def test_good_content_has_no_problems() -> None:
    assert rules.problems(GOOD) == ()
    assert rules.problems(GOOD, Stage.OPERATIONAL) == ()


def test_all_problems_are_named_at_once() -> None:
    option = OptionContent("same", "same", False)
    content = ItemContent(ItemKind.SINGLE_CHOICE, "1.1", "", (option, option), tags=("x",), angoff=float("nan"))
    assert set(pointers(rules.problems(content))) == {
        *("/stem", "/options", "/options/0/key", "/options/1/key", "/options/0/text", "/options/1/text"),
        *("/tags/0", "/angoff"),
    }


@pytest.mark.parametrize(("count", "allowed"), [(1, False), (2, True), (12, True), (13, False)])
def test_an_item_has_two_to_twelve_options(count: int, allowed: bool) -> None:
    options = tuple(OptionContent(f"o{i}", f"text {i}", i == 0) for i in range(count))
    assert (rules.problems(replace(GOOD, options=options)) == ()) == allowed


def test_several_keys_are_for_multiple_choice_only() -> None:
    both = with_option(1, correct=True)
    assert pointers(rules.problems(both)) == ["/options"]
    assert rules.problems(replace(both, kind=ItemKind.MULTIPLE_CHOICE)) == ()


def test_a_draft_may_lack_a_rationale_and_an_item_in_review_may_not() -> None:
    content = with_option(2, rationale="")
    assert rules.problems(content) == ()
    assert pointers(rules.problems(content, Stage.IN_REVIEW)) == ["/options/2/rationale"]


def test_two_bloom_tags_are_one_too_many() -> None:
    assert pointers(rules.problems(replace(GOOD, tags=("bloom:apply", "bloom:create")))) == ["/tags"]
    assert pointers(rules.problems(replace(GOOD, tags=("a:b", "a:b")))) == ["/tags/1"]


def test_links_to_nothing_are_named() -> None:
    content = replace(
        with_option(1, misconception="gone"),
        objective="9.9",
        media=(MediaUse("ab", MediaRole.STEM, "alt"),),
        reading=(Reading("page", "here"), Reading("page", "gone")),
    )
    known = rules.Known({"1.1"}, set(), {("page", "here")}, set())
    assert pointers(rules.link_problems(content, known)) == [
        *("/objective", "/options/1/misconception", "/media/0", "/reading/1")
    ]


@given(st.text(alphabet=st.characters(min_codepoint=0, max_codepoint=0x2FF), max_size=30))
def test_whatever_the_text_there_is_an_answer_and_cleaning_is_stable(text: str) -> None:
    content = rules.cleaned(replace(GOOD, stem=text))
    rules.problems(content)
    assert rules.cleaned(content) == content


def test_cleaning_sanitises_prose_everywhere_and_nothing_else() -> None:
    content = replace(with_option(1, text="<b onclick=x>b</b>"), stem="<script>x</script>s", tags=("a:b",))
    cleaned = rules.cleaned(content)
    assert (cleaned.stem, cleaned.options[1].text) == ("<div>s</div>", "<p><b>b</b></p>")
    assert cleaned.options[0] is content.options[0]


def test_a_stem_that_is_only_a_script_is_empty() -> None:
    assert pointers(rules.problems(rules.cleaned(replace(GOOD, stem="<script>alert(1)</script>")))) == ["/stem"]


ENTRY = MistakeContent("wrong", "Wrong", "m", "e", "r")
ARTICLE = ArticleContent("page", ArticleKind.LESSON, "Page", ("1.1",), "", (SectionContent("here", "Here", "text"),))
MISTAKES = replace(ARTICLE, kind=ArticleKind.COMMON_MISTAKES, entries=(ENTRY,))


@pytest.mark.parametrize(
    ("article", "expected"),
    [
        (ARTICLE, []),
        (replace(ARTICLE, slug="A page"), ["/slug"]),
        (replace(ARTICLE, title=""), ["/title"]),
        (replace(ARTICLE, entries=(ENTRY,)), ["/entries"]),
        (replace(ARTICLE, kind=ArticleKind.COMMON_MISTAKES), ["/entries"]),
        (MISTAKES, []),
        (
            replace(MISTAKES, entries=(replace(ENTRY, remedy=""),)),
            ["/entries/0/remedy"],
        ),
        (replace(ARTICLE, sections=ARTICLE.sections * 2), ["/sections/0/anchor", "/sections/1/anchor"]),
        (
            replace(ARTICLE, sections=(SectionContent("no good", "", ""),)),
            ["/sections/0/anchor", "/sections/0/heading"],
        ),
        (replace(ARTICLE, objectives=("1.1", "1.1")), ["/objectives/1"]),
    ],
)
def test_articles(article: ArticleContent, expected: list[str]) -> None:
    assert pointers(rules.article_problems(article)) == expected


def test_an_anchor_is_unique_over_sections_and_entries() -> None:
    article = replace(ARTICLE, kind=ArticleKind.COMMON_MISTAKES, entries=(replace(ENTRY, anchor="here"),))
    assert pointers(rules.article_problems(article)) == ["/sections/0/anchor", "/entries/0/anchor"]


def test_a_misconception_names_article_and_entry_or_neither() -> None:
    content = MisconceptionContent("code", "1.1", "A belief.", article="page")
    assert pointers(rules.misconception_problems(content)) == ["/entry"]
    assert rules.misconception_problems(replace(content, entry="wrong")) == ()


def domain(weight: float, *objectives: float, code: str = "1") -> ObjectiveContent:
    below = tuple(ObjectiveContent(f"{code}.{i}", "Title", share) for i, share in enumerate(objectives))
    return ObjectiveContent(code, "Title", weight, below)


@pytest.mark.parametrize(
    ("domains", "expected"),
    [
        (BLUEPRINT, []),
        ((), ["/domains"]),
        ((domain(1.0),), []),
        ((domain(0.5, 0.5), domain(0.4, 0.4, code="2")), ["/domains"]),
        ((domain(1.0, 0.5, 0.4),), ["/domains/0/weight"]),
        ((domain(0.5), domain(0.5)), ["/domains/0/code", "/domains/1/code"]),
        ((domain(0.5, 0.5), replace(domain(0.5), code="1.0")), ["/domains/1/code", "/domains/0/objectives/0/code"]),
        ((domain(1.0, -0.5, 1.5),), ["/domains/0/objectives/0/weight", "/domains/0/objectives/1/weight"]),
        ((domain(float("nan")),), ["/domains/0/weight"]),
        ((replace(domain(1.0), title=" "),), ["/domains/0/title"]),
        ((domain(1 / 3, 1 / 9, 2 / 9), domain(2 / 3, 2 / 3, code="2")), []),
    ],
)
def test_blueprints(domains: tuple[ObjectiveContent, ...], expected: list[str]) -> None:
    assert pointers(rules.blueprint_problems(domains)) == expected


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=20))
def test_weights_that_were_divided_by_their_sum_add_up(parts: list[int]) -> None:
    weights = [part / sum(parts) for part in parts]
    assert rules.blueprint_problems((domain(1.0, *weights),)) == ()


@pytest.mark.parametrize(
    ("exam", "expected"),
    [
        (ExamContent("exam", "Exam"), []),
        (ExamContent("", ""), ["/slug", "/title"]),
        (ExamContent("exam", "Exam", scale=Scale(sd=0.0)), ["/scale/sd"]),
        (ExamContent("exam", "Exam", scale=Scale(minimum=800.0)), ["/scale/maximum"]),
        (ExamContent("exam", "Exam", prior_sd=float("nan")), ["/prior/sd", "/prior/sd"]),
        (ExamContent("exam", "Exam", cut_score=500.0), ["/cut_score"]),
        (ExamContent("exam", "Exam", blueprint=(domain(0.5),)), ["/blueprint"]),
    ],
)
def test_exams(exam: ExamContent, expected: list[str]) -> None:
    assert pointers(rules.exam_problems(exam)) == expected
