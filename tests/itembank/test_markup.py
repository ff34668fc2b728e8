"""Prose is safe whatever was sent, and says the same however often it is cleaned."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from itembank import markup

PIECES = st.sampled_from(
    [
        *("<b>", "</b>", "<script>", "</script>", "<img src=x onerror=alert(1)>", "<a href='javascript:x'>", "</a>"),
        *("\n", "\n\n", "\n\n\n", " ", "    ", "\t", "* ", "- ", "1. ", "> ", "```\n", "`", "**", "_", "# ", "## "),
        *("<pre>", "</pre>", "<div>", "</div>", "<table><tr><td>", "<!--", "-->", "<style>", "<svg onload=x>", "&lt;"),
        *(
            "[a](javascript:alert(1))",
            "![i](https://e.example/x.png)",
            "| a | b |\n|--|--|\n",
            "word",
            "<",
            ">",
            "&#13;",
        ),
        *("<math><mtext>", "<iframe src=x>", "{#x}", "\\", "\r\n", "<details>", "&#10;", "<p>", "</p>"),
    ]
)
SOURCES = st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=80))
EVIL = re.compile(r"<\s*(script|iframe|style|svg|math|object|embed|form)\b|<[^>]*\son\w+\s*=|<[^>]*javascript:", re.I)


@given(SOURCES)
@example("<pre>a\n\n\n*b*</pre>\n\n*c*")
@example("&#13;\n<b>x")
@example("<pre>\n\n")
@example("<pre>&#13;\n&#13;x")
def test_cleaning_again_changes_nothing(source: str) -> None:
    once = markup.clean(source)
    assert markup.clean(once) == once


@given(SOURCES)
def test_cleaning_does_not_change_what_is_shown(source: str) -> None:
    before, after = "".join(markup.render(source).split()), "".join(markup.render(markup.clean(source)).split())
    assert after in (before, f"<div>{before}</div>")


@given(SOURCES)
def test_nothing_active_gets_through(source: str) -> None:
    for html in (markup.render(source), markup.render_inline(source), markup.render(markup.clean(source))):
        assert not EVIL.search(html)


@given(SOURCES)
def test_what_is_kept_in_the_bank_holds_nothing_active_either(source: str) -> None:
    cleaned = markup.clean(source)
    if cleaned != source:
        assert not EVIL.search(cleaned)


@pytest.mark.parametrize(
    "source", ["a *b*", "1 < 2", "`<script>`", "```\n<b>\n```", "<https://example.org>", "| a |\n|---|"]
)
def test_markdown_without_html_is_kept_as_written(source: str) -> None:
    assert markup.clean(source) == source


def test_a_script_is_gone_and_the_rest_stays() -> None:
    assert markup.clean("Hello <script>alert(1)</script>**you**") == "<p>Hello <strong>you</strong></p>"


def test_a_picture_from_elsewhere_is_not_fetched_but_one_from_here_is() -> None:
    html = markup.render("![a](https://e.example/x.png) ![b](/v1/media/1)")
    assert html == '<p><img alt="a"> <img src="/v1/media/1" alt="b"></p>'


def test_a_table_keeps_its_alignment() -> None:
    assert '<td style="text-align:right">1</td>' in markup.render("| a |\n|--:|\n| 1 |")


def test_one_paragraph_is_unwrapped_and_two_are_not() -> None:
    assert markup.render_inline("a `b`") == "a <code>b</code>"
    assert markup.render_inline("a\n\nb") == "<p>a</p>\n<p>b</p>"


def test_sections_are_second_level_headings_outside_of_code() -> None:
    introduction, sections = markup.sections(
        "Intro\n\n```\n## not me {#no}\n```\n\n## One {#one}\na\n\n### deeper\n\n## Two\nb"
    )
    assert introduction == "Intro\n\n```\n## not me {#no}\n```"
    assert [(s.heading, s.anchor, s.body, s.line) for s in sections] == [
        ("One", "one", "a\n\n### deeper", 6),
        ("Two", None, "b", 11),
    ]
