"""The bundle: a whole exam as a folder of YAML, Markdown and images, described in `docs/bundle.md`."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from itembank import markup, rules
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
)
from itembank.errors import Issue, Unreadable
from itembank.formats import images, yaml_documents
from itembank.formats.base import Fields, Origin

FILE_LIMIT = 16 * 1024 * 1024  # bytes of one text file
EXAM_FIELDS = ("slug", "title", "description", "scale", "cut_score", "prior", "blueprint", "reviewed")
ITEM_FIELDS = (
    *("id", "kind", "objective", "tags", "angoff", "shuffle", "stem", "options", "short_explanation"),
    *("full_explanation", "media", "references", "read", "enemies", "siblings"),
)
OPTION_FIELDS = ("id", "text", "correct", "rationale", "misconception")
ARTICLE_FIELDS = ("slug", "kind", "title", "objectives", "entries")
ENTRY_FIELDS = ("anchor", "name", "mistake", "explanation", "remedy")
MISCONCEPTION_FIELDS = ("code", "objective", "statement", "article", "entry")

Content = TypeVar("Content")
AnyPart = TypeVar("AnyPart", bound="Part[Any]")


@dataclass(frozen=True, slots=True)
class Part(Generic[Content]):
    """One thing of a bundle: what it says, where it stands, and what is wrong with it (then it is not to be stored)."""

    key: str
    origin: Origin
    issues: tuple[Issue, ...]
    content: Content


@dataclass(frozen=True, slots=True)
class ItemPart(Part[ItemContent]):
    """`key` is the external id; enemies and siblings are external ids too."""

    enemies: tuple[str, ...] = ()
    siblings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bundle:
    """media : the images that items use, by SHA-256 (hex);  issues : of the bundle as a whole

    reviewed : its author says that the items have been through review elsewhere
    """

    exam: Part[ExamContent] | None
    misconceptions: tuple[Part[MisconceptionContent], ...] = ()
    articles: tuple[Part[ArticleContent], ...] = ()
    items: tuple[ItemPart, ...] = ()
    media: Mapping[str, bytes] = field(default_factory=dict)
    issues: tuple[Issue, ...] = ()
    reviewed: bool = False

    @property
    def parts(self) -> tuple[Part[Any], ...]:
        exam: tuple[Part[Any], ...] = () if self.exam is None else (self.exam,)
        return (*exam, *self.misconceptions, *self.articles, *self.items)

    @property
    def all_issues(self) -> tuple[Issue, ...]:
        return (*self.issues, *(issue for part in self.parts for issue in part.issues))


def read(folder: Path) -> Bundle:
    """Read a bundle. Whatever is wrong inside is noted in it; only a folder that is no bundle raises Unreadable."""
    if not folder.is_dir():
        raise Unreadable(str(folder), "is not a folder")
    if not (folder / "exam.yaml").is_file():
        raise Unreadable(str(folder), "has no exam.yaml, so it is not a bundle")
    return _Reader(folder).read()


class _Reader:
    def __init__(self, folder: Path):
        self.folder = folder.resolve()
        self.issues: list[Issue] = []
        self.media: dict[str, bytes] = {}
        self.digests: dict[str, str] = {}  # by file name

    def read(self) -> Bundle:
        exam, reviewed = self._exam()
        misconceptions = _unique(self._listed("misconceptions", _misconception), "code")
        articles = _unique(self._articles(), "slug")
        items = _unique(self._listed("items", self._item), "id")
        return Bundle(exam, misconceptions, articles, items, self.media, tuple(self.issues), reviewed)

    def _exam(self) -> tuple[Part[ExamContent] | None, bool]:
        text = self._text("exam.yaml")
        if text is None:
            return None, False
        value, origin, issues = yaml_documents.load(text, "exam.yaml")
        return (Part("", origin, issues, ExamContent("", "")), False) if issues else _exam(value, origin)

    def _listed(self, name: str, parse: Callable[[Any, Origin], AnyPart]) -> Iterator[AnyPart]:
        """The entries of all YAML files in a folder, each of which holds a list."""
        for file in self._files(name, (".yaml", ".yml")):
            text = self._text(file)
            if text is None:
                continue
            value, origin, issues = yaml_documents.load(text, file)
            self.issues += issues
            if issues:
                continue
            if not isinstance(value, list):
                self.issues.append(origin.issue("", "must be a list"))
                continue
            for i, entry in enumerate(value):
                yield parse(entry, origin.below(f"/{i}"))

    def _articles(self) -> Iterator[Part[ArticleContent]]:
        for file in self._files("articles", (".md",)):
            text = self._text(file)
            if text is None:
                continue
            front, body, body_line = _split_front_matter(text)
            if front is None:
                self.issues.append(Issue("", "must begin with a block of YAML between two lines of ---", file))
                continue
            value, origin, issues = yaml_documents.load(front, file, first_line=2)
            self.issues += issues
            if not issues:
                yield _article(value, origin, body, body_line)

    def _item(self, value: Any, origin: Origin) -> ItemPart:
        issues: list[Issue] = []
        fields = Fields(value, origin, ITEM_FIELDS, issues)
        key = fields.text("id")
        content = ItemContent(
            kind=fields.choice("kind", ItemKind, ItemKind.SINGLE_CHOICE),
            objective=fields.text("objective"),
            stem=fields.text("stem"),
            options=tuple(map(_option, fields.mappings("options", OPTION_FIELDS, required=True))),
            short_explanation=fields.text("short_explanation", ""),
            full_explanation=fields.text("full_explanation", ""),
            tags=fields.texts("tags"),
            angoff=fields.optional_number("angoff"),
            shuffle=fields.flag("shuffle", True),
            media=tuple(map(self._media_use, fields.mappings("media", ("file", "role", "alt", "description")))),
            references=tuple(
                Reference(reference.text("citation"), reference.text("url", ""))
                for reference in fields.mappings("references", ("citation", "url"))
            ),
            reading=tuple(
                Reading(link.text("article"), link.text("anchor"))
                for link in fields.mappings("read", ("article", "anchor"))
            ),
        )
        enemies, siblings = fields.texts("enemies"), fields.texts("siblings")
        content = rules.cleaned(content)
        if not issues:
            issues += origin.placed(rules.external_id_problems(key, "/id"))
            issues += origin.placed(_renamed(rules.problems(content)))
        return ItemPart(key, origin, tuple(issues), content, enemies, siblings)

    def _media_use(self, fields: Fields) -> MediaUse:
        name = fields.text("file")
        digest = self._image(name, fields) if name else ""
        return MediaUse(
            media=digest,
            role=fields.choice("role", MediaRole),
            alt=fields.text("alt"),
            description=fields.text("description", ""),
        )

    def _image(self, name: str, fields: Fields) -> str:
        """The SHA-256 of an image in the bundle, read once."""
        if name in self.digests:
            return self.digests[name]
        try:
            data = self._bytes(name, images.SIZE_LIMIT)
            images.media_type(data, name)
        except Unreadable as error:
            fields.complain("/file", str(error))
            return ""
        digest = hashlib.sha256(data).hexdigest()
        self.media[digest] = data
        self.digests[name] = digest
        return digest

    def _files(self, name: str, endings: tuple[str, ...]) -> Iterator[str]:
        """Files of one folder of the bundle, as paths from the bundle, in order. Another kind of file is a mistake."""
        folder = self.folder / name
        if not folder.is_dir():
            return
        for path in sorted(folder.iterdir()):
            if path.name.startswith("."):
                continue
            if path.suffix in endings:
                yield f"{name}/{path.name}"
            else:
                self.issues.append(Issue("", f"is not a {' or '.join(endings)} file", f"{name}/{path.name}"))

    def _text(self, name: str) -> str | None:
        try:
            return self._bytes(name, FILE_LIMIT).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self.issues.append(Issue("", f"is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}", name))
        except Unreadable as error:
            self.issues.append(Issue("", str(error), name))
        return None

    def _bytes(self, name: str, limit: int) -> bytes:
        """A file inside the bundle: no way out of it, neither by `..` nor by a symbolic link."""
        try:
            path = (self.folder / name).resolve()
            if not path.is_relative_to(self.folder):
                raise Unreadable(name, "lies outside the bundle")
            if not path.is_file():
                raise Unreadable(name, "there is no such file in the bundle")
            if path.stat().st_size > limit:
                raise Unreadable(name, f"has {path.stat().st_size:,} bytes, {limit:,} are allowed")
            return path.read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            raise Unreadable(name, f"can't be read: {error}") from error


def _exam(value: Any, origin: Origin) -> tuple[Part[ExamContent], bool]:
    """The exam, and whether its items have been reviewed."""
    issues: list[Issue] = []
    fields = Fields(value, origin, EXAM_FIELDS, issues)
    reviewed = fields.flag("reviewed", False)
    scale, prior = (
        fields.mapping("scale", ("mean", "sd", "minimum", "maximum")),
        fields.mapping("prior", ("mean", "sd")),
    )
    content = rules.cleaned(
        ExamContent(
            slug=fields.text("slug"),
            title=fields.text("title"),
            description=fields.text("description", ""),
            scale=Scale(
                mean=scale.number("mean", 500.0),
                sd=scale.number("sd", 100.0),
                minimum=scale.number("minimum", 200.0),
                maximum=scale.number("maximum", 800.0),
            ),
            cut_score=fields.number("cut_score", 0.0),
            prior_mean=prior.number("mean", 0.0),
            prior_sd=prior.number("sd", 1.0),
            blueprint=tuple(
                ObjectiveContent(
                    code=domain.text("code"),
                    title=domain.text("title"),
                    weight=domain.number("weight"),
                    objectives=tuple(
                        ObjectiveContent(node.text("code"), node.text("title"), node.number("weight"))
                        for node in domain.mappings("objectives", ("code", "title", "weight"))
                    ),
                )
                for domain in fields.mappings("blueprint", ("code", "title", "weight", "objectives"), required=True)
            ),
        )
    )
    if not issues:
        issues += origin.placed(rules.exam_problems(content))
    if not issues and not content.blueprint:
        issues.append(origin.issue("/blueprint", "needs at least one domain"))
    return Part(content.slug, origin, tuple(issues), content), reviewed


def _misconception(value: Any, origin: Origin) -> Part[MisconceptionContent]:
    issues: list[Issue] = []
    fields = Fields(value, origin, MISCONCEPTION_FIELDS, issues)
    content = rules.cleaned(
        MisconceptionContent(
            code=fields.text("code"),
            objective=fields.text("objective"),
            statement=fields.text("statement"),
            article=fields.optional_text("article"),
            entry=fields.optional_text("entry"),
        )
    )
    if not issues:
        issues += origin.placed(rules.misconception_problems(content))
    return Part(content.code, origin, tuple(issues), content)


def _article(value: Any, origin: Origin, body: str, body_line: int) -> Part[ArticleContent]:
    issues: list[Issue] = []
    fields = Fields(value, origin, ARTICLE_FIELDS, issues)
    introduction, sections = markup.sections(body)
    lines = dict(origin.lines)
    for i, section in enumerate(sections):
        lines[f"/sections/{i}"] = body_line + section.line
    origin = Origin(origin.file, lines)
    for i, section in enumerate(sections):
        if section.anchor is None:
            what = f"the heading {section.heading[:80]!r} needs an anchor, such as ## Heading {{#its-anchor}}"
            issues.append(origin.issue(f"/sections/{i}", what))
    content = rules.cleaned(
        ArticleContent(
            slug=fields.text("slug"),
            kind=fields.choice("kind", ArticleKind),
            title=fields.text("title"),
            objectives=fields.texts("objectives"),
            introduction=introduction,
            sections=tuple(SectionContent(part.anchor or "", part.heading, part.body) for part in sections),
            entries=tuple(
                MistakeContent(*(entry.text(name) for name in ENTRY_FIELDS))
                for entry in fields.mappings("entries", ENTRY_FIELDS)
            ),
        )
    )
    if not issues:
        issues += origin.placed(rules.article_problems(content))
    return Part(content.slug, origin, tuple(issues), content)


def _option(fields: Fields) -> OptionContent:
    return OptionContent(
        key=fields.text("id"),
        text=fields.text("text"),
        correct=fields.flag("correct", False),
        rationale=fields.text("rationale", ""),
        misconception=fields.optional_text("misconception"),
    )


def _renamed(issues: Iterable[Issue]) -> Iterator[Issue]:
    """The pointers of `rules`, which speak of our content values, as the author of a bundle writes the same fields."""
    for issue in issues:
        pointer = re.sub(r"^(/options/\d+)/key", r"\1/id", issue.pointer)
        yield replace(issue, pointer=re.sub(r"^/reading", "/read", pointer))


def _split_front_matter(text: str) -> tuple[str | None, str, int]:
    """YAML, Markdown and the line at which the Markdown begins; no YAML where the file has no such block."""
    lines = text.split("\n")
    rules_at = [i for i, line in enumerate(lines) if line.rstrip() == "---"]
    if len(rules_at) < 2 or rules_at[0] != 0:
        return None, text, 1
    return "\n".join(lines[1 : rules_at[1]]), "\n".join(lines[rules_at[1] + 1 :]), rules_at[1] + 2


def _unique(parts: Iterable[AnyPart], name: str) -> tuple[AnyPart, ...]:
    """The parts, with a complaint to every one whose key was taken by an earlier one."""
    first: dict[str, AnyPart] = {}
    checked = []
    for part in parts:
        earlier = first.setdefault(part.key, part)
        if earlier is not part and part.key:
            place = f"{earlier.origin.file}:{earlier.origin.line(earlier.origin.at)}"
            issue = part.origin.issue(f"/{name}", f"{part.key!r} is taken by {place}")
            part = replace(part, issues=(*part.issues, issue))
        checked.append(part)
    return tuple(checked)
