"""Prose: Markdown in, safe HTML out.

Authors write CommonMark with tables. Raw HTML in it is cleaned once, on the way in (`clean`); what a learner gets is
HTML that is cleaned again (`render`), so that text which came in by another door is harmless too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

TAGS = frozenset(nh3.ALLOWED_TAGS) - {"area", "map", "center", "strike", "tt", "acronym", "rtc"}
ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title", "width", "height"},
    "ol": {"start"},
    "td": {"style", "colspan", "rowspan"},
    "th": {"style", "colspan", "rowspan", "scope"},
}
STYLES = {"text-align"}  # how a Markdown table says left, centre, right
SCHEMES = {"http", "https", "mailto"}

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
_MAY_BE_HTML = re.compile(r"<[A-Za-z/!?]")
_ONE_BLOCK = re.compile(r"<(?:p|div|h[1-6]|ul|ol|table|blockquote|hr|details|dl|figure)\b")  # CommonMark's type 6
_NEWLINE = re.compile(r"\r\n?|\n")
_BLANK_LINE = re.compile(r"\n([ \t]*)(?=\n)")
_FIRST_LINES = re.compile(r"<pre>\n+")
_ONE_PARAGRAPH = re.compile(r"<p>((?:(?!<p>).)*)</p>", re.DOTALL)
_ANCHORED = re.compile(r"(.*?)\s*\{#([^{}\s]*)\}\s*")
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\]{2}")
_UNSEEN = re.compile(r"[\x00-\x20\x7f]+")  # browsers drop these from addresses, some of them even inside


def clean(source: str) -> str:
    """`source` itself, unless it holds raw HTML: then its rendered and sanitised HTML, which is Markdown too.

    >>> clean("a *b*"), clean("a <b onclick=x>b</b><script>alert(1)</script>")
    ('a *b*', '<p>a <b>b</b></p>')
    """
    if not (_MAY_BE_HTML.search(source) and any(map(_is_html, _tokens(source)))):
        return source
    html = _sanitise(_MARKDOWN.render(source)).strip()
    # An HTML block of Markdown ends at a blank line, so there must be none, and it must begin as a block.
    html = _BLANK_LINE.sub(r"&#10;\1", html)
    return html if not html or _ONE_BLOCK.match(html) else f"<div>{html}</div>"


def render(source: str) -> str:
    """Sanitised HTML.

    >>> render("a **b**")
    '<p>a <strong>b</strong></p>'
    """
    return _sanitise(_MARKDOWN.render(source)).strip()


def render_inline(source: str) -> str:
    """The same without the paragraph around it, where there is just one: for options and headings.

    >>> render_inline("a **b**")
    'a <strong>b</strong>'
    """
    html = render(source)
    whole = _ONE_PARAGRAPH.fullmatch(html)
    return whole[1] if whole else html


@dataclass(frozen=True, slots=True)
class Section:
    """A second-level heading and what follows it; `anchor` is None where the heading has no `{#anchor}`.

    line : of the heading, counted from 0
    """

    heading: str
    anchor: str | None
    body: str
    line: int


def sections(source: str) -> tuple[str, tuple[Section, ...]]:
    """What stands before the first second-level heading, and the sections after it.

    >>> sections("Hello\\n\\n## One thing {#one}\\ntext")
    ('Hello', (Section(heading='One thing', anchor='one', body='text', line=2),))
    """
    lines = _NEWLINE.split(source)
    headings = list(_second_level(source))
    ends = [*(first for first, _, _ in headings), len(lines)]
    found = []
    for (first, after, text), end in zip(headings, ends[1:], strict=True):
        anchored = _ANCHORED.fullmatch(text)
        heading, anchor = (anchored[1], anchored[2]) if anchored else (text, None)
        found.append(Section(heading, anchor, "\n".join(lines[after:end]).strip(), first))
    return "\n".join(lines[: ends[0]]).strip(), tuple(found)


def _second_level(source: str) -> Iterator[tuple[int, int, str]]:
    """First line, line after, text of each second-level heading that stands at the top level."""
    tokens = _MARKDOWN.parse(source)
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.tag == "h2" and token.level == 0 and token.map:
            yield token.map[0], token.map[1], inline.content


def _tokens(source: str) -> Iterator[Token]:
    for token in _MARKDOWN.parse(source):
        yield token
        yield from token.children or ()


def _is_html(token: Token) -> bool:
    return token.type in ("html_block", "html_inline")


def _sanitise(html: str) -> str:
    safe = nh3.clean(
        html,
        tags=set(TAGS),
        attributes=ATTRIBUTES,
        attribute_filter=_keep_attribute,
        filter_style_properties=STYLES,
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer",
    )
    # The first newline in a `pre` is not shown, and each parsing would take one more away; `&#13;` has become one too.
    return _FIRST_LINES.sub("<pre>", _NEWLINE.sub("\n", safe))


def _keep_attribute(tag: str, name: str, value: str) -> str | None:
    """No image from elsewhere: fetching it would tell a third party who is learning what."""
    if name not in {"src", "href"}:
        return value
    address = _UNSEEN.sub("", value)
    return None if tag == "img" and _REMOTE.match(address) else address
