"""What makes content valid. Every check names all that is wrong, each with a JSON Pointer into the author's document.

`cleaned` comes first (sanitised prose), then `problems` on its result, then `link_problems` against what the bank has.
"""

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from itembank import markup
from itembank.content import (
    ArticleContent,
    ArticleKind,
    ExamContent,
    ItemContent,
    ItemKind,
    MisconceptionContent,
    ObjectiveContent,
    Stage,
)
from itembank.errors import Issue

OPTIONS = (2, 12)
BLOOM = ("remember", "understand", "apply", "analyze", "evaluate", "create")
WEIGHT_TOLERANCE = 1e-6
LIMITS = {  # characters
    "stem": 20_000,
    "text": 5_000,
    "rationale": 5_000,
    "short_explanation": 50_000,
    "full_explanation": 50_000,
    "introduction": 50_000,
    "body": 50_000,
    "mistake": 5_000,
    "explanation": 5_000,
    "remedy": 5_000,
    "statement": 2_000,
    "description": 20_000,
    "alt": 2_000,
    "citation": 2_000,
    "url": 2_000,
    "title": 300,
    "heading": 500,
    "name": 500,
    "external_id": 200,
}
COUNTS = {"tags": 50, "media": 20, "references": 50, "reading": 20, "sections": 100, "entries": 100, "objectives": 200}
PROSE = frozenset(LIMITS) - {"alt", "citation", "url", "title", "heading", "name", "external_id"}  # is Markdown
DRAFTS = frozenset({Stage.DRAFT, Stage.INCOMPLETE, Stage.CHANGES_REQUESTED})  # may lack what review would ask for

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
TAG = re.compile(r"[a-z][a-z0-9_-]*:\w[\w./+-]*")
URL = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")  # PostgreSQL, XML or UTF-8 can't hold them
SLUG_SHAPE = "lower-case letters, digits and hyphens, such as one-box-fits-both"

_Content = TypeVar("_Content", ItemContent, ArticleContent, MisconceptionContent, ExamContent)


@dataclass(frozen=True, slots=True)
class Known:
    """What links may point at: codes of objectives and misconceptions, (article, anchor) pairs, SHA-256 of media."""

    objectives: Container[str]
    misconceptions: Container[str]
    anchors: Container[tuple[str, str]]
    media: Container[str]


def cleaned(content: _Content) -> _Content:
    """The same with raw HTML in prose sanitised. What is too long or can't be stored is left for `problems` to name."""
    changes: dict[str, Any] = {}
    for field in fields(content):
        value = getattr(content, field.name)
        if isinstance(value, str) and field.name in PROSE:
            if len(value) <= LIMITS[field.name] and not FORBIDDEN.search(value):
                changes[field.name] = markup.clean(value)
        elif isinstance(value, tuple) and value and hasattr(value[0], "__dataclass_fields__"):
            changes[field.name] = tuple(cleaned(part) for part in value)
    changes = {name: value for name, value in changes.items() if value != getattr(content, name)}
    return replace(content, **changes) if changes else content


def problems(content: ItemContent, stage: Stage = Stage.DRAFT) -> tuple[Issue, ...]:
    """What keeps an item from being stored, or from entering `stage`."""
    return (
        *_text_problems(content, ""),
        *_option_problems(content),
        *_tag_problems(content.tags),
        *_detail_problems(content),
        *(() if stage in DRAFTS else _missing_rationales(content)),
    )


def link_problems(content: ItemContent, known: Known) -> tuple[Issue, ...]:
    """Links of an item to things that are not there."""
    return tuple(_dangling(content, known))


def article_problems(content: ArticleContent) -> tuple[Issue, ...]:
    issues = [*_text_problems(content, ""), *_slug_problems("/slug", content.slug, 120)]
    if not content.title.strip():
        issues.append(Issue("/title", "an article needs a title"))
    if content.entries and content.kind != ArticleKind.COMMON_MISTAKES:
        issues.append(Issue("/entries", f"only a common_mistakes article has entries, this is a {content.kind}"))
    if content.kind == ArticleKind.COMMON_MISTAKES and not content.entries:
        issues.append(Issue("/entries", "a common_mistakes article needs entries"))
    places = [(f"/sections/{i}", part.anchor, part.heading) for i, part in enumerate(content.sections)]
    places += [(f"/entries/{i}", part.anchor, part.name) for i, part in enumerate(content.entries)]
    counts = Counter(anchor for _, anchor, _ in places)
    for place, anchor, name in places:
        issues += _slug_problems(f"{place}/anchor", anchor, 120)
        if counts[anchor] > 1:
            issues.append(Issue(f"{place}/anchor", f"the anchor {anchor!r} occurs {counts[anchor]} times"))
        if not name.strip():
            issues.append(Issue(place + ("/heading" if "/sections" in place else "/name"), "must not be empty"))
    for i, entry in enumerate(content.entries):
        for part in ("mistake", "explanation", "remedy"):
            if not getattr(entry, part).strip():
                issues.append(Issue(f"/entries/{i}/{part}", "must not be empty"))
    issues += _repeated("/objectives", content.objectives)
    return tuple(issues)


def misconception_problems(content: MisconceptionContent) -> tuple[Issue, ...]:
    issues = [*_text_problems(content, ""), *_slug_problems("/code", content.code, 120)]
    if not content.statement.strip():
        issues.append(Issue("/statement", "must say what a person who holds it believes"))
    if (content.article is None) != (content.entry is None):
        issues.append(Issue("/entry", "article and entry go together: name both or neither"))
    return tuple(issues)


def exam_problems(content: ExamContent) -> tuple[Issue, ...]:
    """Of the exam and, where it has one, its blueprint."""
    issues = [*_text_problems(content, "", skip={"blueprint"}), *_slug_problems("/slug", content.slug, 80)]
    if not content.title.strip():
        issues.append(Issue("/title", "an exam needs a title"))
    scale = content.scale
    numbers = {
        "/scale/mean": scale.mean,
        "/scale/sd": scale.sd,
        "/scale/minimum": scale.minimum,
        "/scale/maximum": scale.maximum,
        "/cut_score": content.cut_score,
        "/prior/mean": content.prior_mean,
        "/prior/sd": content.prior_sd,
    }
    issues += [Issue(place, "must be a finite number") for place, value in numbers.items() if not math.isfinite(value)]
    issues += [Issue(place, "must be positive") for place in ("/scale/sd", "/prior/sd") if not numbers[place] > 0]
    if not scale.minimum < scale.maximum:
        issues.append(Issue("/scale/maximum", f"must be above the minimum, {scale.minimum}"))
    for place in ("/cut_score", "/prior/mean"):
        if abs(numbers[place]) > 10:
            issues.append(Issue(place, "is in logits, between -10 and 10"))
    if numbers["/prior/sd"] > 10:
        issues.append(Issue("/prior/sd", "is in logits, at most 10"))
    if content.blueprint:
        issues += blueprint_problems(content.blueprint, "/blueprint")
    return tuple(issues)


def blueprint_problems(domains: Sequence[ObjectiveContent], at: str = "/domains") -> tuple[Issue, ...]:
    """`at` : where the list of domains stands in the author's document"""
    if not domains:
        return (Issue(at, "a blueprint needs at least one domain"),)
    issues: list[Issue] = []
    nodes = [(f"{at}/{i}", node) for i, node in enumerate(domains)]
    nodes += [
        (f"{at}/{i}/objectives/{j}", node)
        for i, domain in enumerate(domains)
        for j, node in enumerate(domain.objectives)
    ]
    if len(nodes) > COUNTS["objectives"]:
        return (Issue(at, f"{len(nodes)} domains and objectives are too many, {COUNTS['objectives']} are allowed"),)
    counts = Counter(node.code for _, node in nodes)
    for place, node in nodes:
        issues += _text_problems(node, place, skip={"objectives"})
        if not CODE.fullmatch(node.code) or len(node.code) > 40:
            issues.append(Issue(f"{place}/code", "must be letters, digits, dots and hyphens, such as 1.3"))
        if counts[node.code] > 1:
            issues.append(Issue(f"{place}/code", f"the code {node.code!r} occurs {counts[node.code]} times"))
        if not node.title.strip():
            issues.append(Issue(f"{place}/title", "must not be empty"))
        if not 0 <= node.weight <= 1:
            issues.append(Issue(f"{place}/weight", "must be a share between 0 and 1"))
        if "/objectives/" in place and node.objectives:
            issues.append(Issue(f"{place}/objectives", "an objective has no objectives below it"))
    if issues:
        return tuple(issues)
    if not _adds_up(total := sum(domain.weight for domain in domains), 1.0):
        issues.append(Issue(at, f"the domains' weights add up to {total:.6g}, not 1"))
    for i, domain in enumerate(domains):
        total = sum(node.weight for node in domain.objectives)
        if domain.objectives and not _adds_up(total, domain.weight):
            issues.append(
                Issue(f"{at}/{i}/weight", f"is {domain.weight:.6g}, but its objectives' weights add up to {total:.6g}")
            )
    return tuple(issues)


def external_id_problems(external_id: str | None, at: str = "/external_id") -> tuple[Issue, ...]:
    if external_id is None:
        return ()
    if not external_id.strip():
        return (Issue(at, "must not be empty; leave it out instead"),)
    return tuple(_string_problems(at, external_id, LIMITS["external_id"]))


def _option_problems(content: ItemContent) -> Iterator[Issue]:
    options = content.options
    low, high = OPTIONS
    if not low <= len(options) <= high:
        yield Issue("/options", f"an item has {low} to {high} options, not {len(options)}")
    right = sum(option.correct for option in options)
    if content.kind == ItemKind.SINGLE_CHOICE and right != 1:
        yield Issue("/options", f"a single_choice item has exactly one correct option, not {right}")
    if content.kind == ItemKind.MULTIPLE_CHOICE and right == 0:
        yield Issue("/options", "a multiple_choice item has at least one correct option")
    keys = Counter(option.key for option in options)
    texts = Counter(_folded(option.text) for option in options)
    for i, option in enumerate(options):
        yield from _slug_problems(f"/options/{i}/key", option.key, 120)
        if keys[option.key] > 1:
            yield Issue(f"/options/{i}/key", f"the key {option.key!r} occurs {keys[option.key]} times")
        if not option.text.strip():
            yield Issue(f"/options/{i}/text", "must not be empty")
        elif texts[_folded(option.text)] > 1:
            yield Issue(f"/options/{i}/text", "another option says the same")
        if option.correct and option.misconception is not None:
            yield Issue(f"/options/{i}/misconception", "a correct option shows no misconception")


def _tag_problems(tags: Sequence[str]) -> Iterator[Issue]:
    for i, tag in enumerate(tags):
        if len(tag) > 120 or not TAG.fullmatch(tag):
            yield Issue(f"/tags/{i}", "must look like namespace:value, such as bloom:apply, in at most 120 characters")
        elif tag.startswith("bloom:") and tag.removeprefix("bloom:") not in BLOOM:
            yield Issue(f"/tags/{i}", f"bloom: is one of {', '.join(BLOOM)}")
    yield from _repeated("/tags", tags)
    if sum(tag.startswith("bloom:") for tag in tags) > 1:
        yield Issue("/tags", "an item has at most one bloom: tag")


def _detail_problems(content: ItemContent) -> Iterator[Issue]:
    if not content.stem.strip():
        yield Issue("/stem", "must not be empty")
    if content.angoff is not None and not 0 < content.angoff < 1:
        yield Issue("/angoff", "must lie between 0 and 1, both excluded")
    for i, use in enumerate(content.media):
        if not use.alt.strip():
            yield Issue(f"/media/{i}/alt", "an image needs a text alternative")
    for i, reference in enumerate(content.references):
        if not reference.citation.strip():
            yield Issue(f"/references/{i}/citation", "must not be empty")
        if reference.url and not URL.fullmatch(reference.url):
            yield Issue(f"/references/{i}/url", "must be an http or https address")


def _missing_rationales(content: ItemContent) -> Iterator[Issue]:
    for i, option in enumerate(content.options):
        if not option.rationale.strip():
            yield Issue(f"/options/{i}/rationale", "every option of an item beyond draft says why it is right or wrong")


def _dangling(content: ItemContent, known: Known) -> Iterator[Issue]:
    if content.objective not in known.objectives:
        yield Issue("/objective", f"the current blueprint has no objective {content.objective!r}")
    for i, option in enumerate(content.options):
        if option.misconception is not None and option.misconception not in known.misconceptions:
            yield Issue(f"/options/{i}/misconception", f"there is no misconception {option.misconception!r}")
    for i, use in enumerate(content.media):
        if use.media not in known.media:
            yield Issue(f"/media/{i}", f"there is no image {use.media}")
    for i, link in enumerate(content.reading):
        if (link.article, link.anchor) not in known.anchors:
            yield Issue(f"/reading/{i}", f"there is no article {link.article!r} with an anchor {link.anchor!r}")


def _text_problems(content: Any, at: str, skip: Container[str] = ()) -> Iterator[Issue]:
    """Characters that can't be stored, texts and lists that are too long, everywhere in a content value."""
    for field in fields(content):
        value, place = getattr(content, field.name), f"{at}/{field.name}"
        if field.name in skip:
            continue
        if isinstance(value, str):
            yield from _string_problems(place, value, LIMITS.get(field.name, 200))
        elif isinstance(value, tuple):
            allowed = COUNTS.get(field.name, 200)
            if len(value) > allowed:
                yield Issue(place, f"{len(value)} are too many, {allowed} are allowed")
            for i, part in enumerate(value):
                if isinstance(part, str):
                    yield from _string_problems(f"{place}/{i}", part, 200)
                else:
                    yield from _text_problems(part, f"{place}/{i}")


def _string_problems(place: str, value: str, limit: int) -> Iterator[Issue]:
    if len(value) > limit:
        yield Issue(place, f"has {len(value):,} characters, {limit:,} are allowed")
    if found := FORBIDDEN.search(value):
        yield Issue(place, f"has a control character, U+{ord(found[0]):04X}, at position {found.start()}")


def _slug_problems(place: str, slug: str, limit: int) -> Iterator[Issue]:
    if len(slug) > limit or not SLUG.fullmatch(slug):
        yield Issue(place, f"must be {SLUG_SHAPE}, in at most {limit} characters")


def _repeated(place: str, values: Sequence[str]) -> Iterable[Issue]:
    seen: set[str] = set()
    for i, value in enumerate(values):
        if value in seen:
            yield Issue(f"{place}/{i}", f"{value!r} occurs more than once")
        seen.add(value)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _adds_up(total: float, to: float) -> bool:
    return math.isclose(total, to, rel_tol=0.0, abs_tol=WEIGHT_TOLERANCE)
