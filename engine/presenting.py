"""What a learner sees of an item, as safe HTML: the question before the answer, the explanation after it.

They are two types so that no code path that has only a question can leak what explains it.
"""

from dataclasses import dataclass

from itembank.content import MediaRole, MisconceptionLink, VersionContent, VersionOption, VersionReading
from itembank.markup import render, render_inline


@dataclass(frozen=True, slots=True)
class Picture:
    """id : the media's uuid"""

    id: str
    alt: str
    description: str


@dataclass(frozen=True, slots=True)
class Choosable:
    """An option before the answer. id : the option's uuid"""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """An item before its answer. id : the item's uuid;  options : in the author's order"""

    id: str
    version: int
    kind: str
    objective: str
    stem: str
    options: tuple[Choosable, ...]
    media: tuple[Picture, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A place in an article. article : its uuid;  anchor : of a section or a mistake entry"""

    article: str
    slug: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Misconception:
    """The wrong idea that an option reveals, and where it is explained."""

    code: str
    statement: str
    link: Link | None


@dataclass(frozen=True, slots=True)
class Explained:
    """An option after the answer."""

    id: str
    correct: bool
    rationale: str
    misconception: Misconception | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """An item after its answer. options : in the author's order"""

    short: str
    full: str
    options: tuple[Explained, ...]
    media: tuple[Picture, ...]
    reading: tuple[Link, ...]
    references: tuple[dict[str, str], ...]


@dataclass(frozen=True, slots=True)
class Presented:
    """One version of an item, ready to be served; `keys` are the uuids of the right options."""

    item_version_id: int
    item_id: int
    keys: frozenset[str]
    shuffle: bool
    question: Question
    explanation: Explanation


def present(content: VersionContent) -> Presented:
    """Render a version. Done once per process and version, since neither changes."""
    return Presented(
        item_version_id=content.id,
        item_id=content.item_id,
        keys=frozenset(str(key) for key in content.keys),
        shuffle=content.shuffle,
        question=Question(
            id=str(content.item_uuid),
            version=content.number,
            kind=content.kind.value,
            objective=content.objective,
            stem=render(content.stem),
            options=tuple(Choosable(str(option.uuid), render_inline(option.text)) for option in content.options),
            media=_pictures(content, MediaRole.STEM),
        ),
        explanation=Explanation(
            short=render(content.short_explanation),
            full=render(content.full_explanation),
            options=tuple(_explained(option) for option in content.options),
            media=_pictures(content, MediaRole.EXPLANATION),
            reading=tuple(link for spot in content.reading for link in _links(spot)),
            references=tuple({"citation": source.citation, "url": source.url} for source in content.references),
        ),
    )


def _explained(option: VersionOption) -> Explained:
    idea = option.misconception
    return Explained(str(option.uuid), option.is_key, render(option.rationale), None if idea is None else _idea(idea))


def _idea(idea: MisconceptionLink) -> Misconception:
    links = _links(idea)
    return Misconception(idea.code, render_inline(idea.statement), links[0] if links else None)


def _links(spot: MisconceptionLink | VersionReading) -> tuple[Link, ...]:
    """The link, or nothing where there is no article."""
    if spot.article_uuid is None or spot.article is None or spot.anchor is None:
        return ()
    return (Link(str(spot.article_uuid), spot.article, spot.anchor),)


def _pictures(content: VersionContent, role: MediaRole) -> tuple[Picture, ...]:
    return tuple(Picture(str(use.uuid), use.alt, use.description) for use in content.media if use.role is role)
