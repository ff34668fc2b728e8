"""What the bank says, as frozen values: items, articles, blueprints, and the words their states are named by.

Prose is Markdown. Options are known by `key` to their author and by `uuid` to everybody else; letters exist only on
screen.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class Stage(StrEnum):
    """Where a version of an item stands in its life."""

    DRAFT = "draft"
    IN_REVIEW = "in_review"
    CHANGES_REQUESTED = "changes_requested"
    APPROVED = "approved"
    PRETEST = "pretest"
    OPERATIONAL = "operational"
    SUSPENDED = "suspended"
    RETIRED = "retired"
    INCOMPLETE = "incomplete"


class ItemKind(StrEnum):
    SINGLE_CHOICE = "single_choice"
    MULTIPLE_CHOICE = "multiple_choice"


class RelationKind(StrEnum):
    """`enemy`: one gives the other away, so they never meet in a session."""

    ENEMY = "enemy"
    SIBLING = "sibling"
    DERIVED_FROM = "derived_from"
    DUPLICATE_OF = "duplicate_of"


class MediaRole(StrEnum):
    """`explanation` media are shown only with the feedback."""

    STEM = "stem"
    EXPLANATION = "explanation"


class ArticleKind(StrEnum):
    QUICK_REFERENCE = "quick_reference"
    COMMON_MISTAKES = "common_mistakes"
    LESSON = "lesson"


class ParameterOrigin(StrEnum):
    """`prior`: derived from a rating, never from answers."""

    PRIOR = "prior"
    CALIBRATED = "calibrated"


class ParameterModel(StrEnum):
    """What an answer says of ability. `dichotomous`: by right and wrong, all the others by the category it reached."""

    DICHOTOMOUS = "dichotomous"
    GPCM = "gpcm"
    GRM = "grm"
    NOMINAL = "nominal"


class SessionStatus(StrEnum):
    IN_PROGRESS = "in_progress"
    FINISHED = "finished"


class JobStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class ExposureClass(StrEnum):
    """What a learner knew of an item when answering it; only `clean_first` moves ability."""

    CLEAN_FIRST = "clean_first"
    REPEAT = "repeat"
    REPEAT_REVEALED = "repeat_revealed"
    PRETEST = "pretest"
    RAPID_GUESS = "rapid_guess"


@dataclass(frozen=True, slots=True)
class OptionContent:
    """`uuid` is None until the bank has given one."""

    key: str
    text: str
    correct: bool
    rationale: str = ""
    misconception: str | None = None
    uuid: UUID | None = None


@dataclass(frozen=True, slots=True)
class MediaUse:
    """An image in an item; `media` names it by its content's SHA-256 (hex)."""

    media: str
    role: MediaRole
    alt: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    citation: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A place to read about it: an article's slug and an anchor in it."""

    article: str
    anchor: str


@dataclass(frozen=True, slots=True)
class ItemContent:
    """angoff : the share of just-qualified candidates expected to answer right, between 0 and 1, or None"""

    kind: ItemKind
    objective: str
    stem: str
    options: tuple[OptionContent, ...]
    short_explanation: str = ""
    full_explanation: str = ""
    tags: tuple[str, ...] = ()
    angoff: float | None = None
    shuffle: bool = True
    media: tuple[MediaUse, ...] = ()
    references: tuple[Reference, ...] = ()
    reading: tuple[Reading, ...] = ()


@dataclass(frozen=True, slots=True)
class SectionContent:
    anchor: str
    heading: str
    body: str


@dataclass(frozen=True, slots=True)
class MistakeContent:
    anchor: str
    name: str
    mistake: str
    explanation: str
    remedy: str


@dataclass(frozen=True, slots=True)
class ArticleContent:
    slug: str
    kind: ArticleKind
    title: str
    objectives: tuple[str, ...]
    introduction: str = ""
    sections: tuple[SectionContent, ...] = ()
    entries: tuple[MistakeContent, ...] = ()


@dataclass(frozen=True, slots=True)
class MisconceptionContent:
    code: str
    objective: str
    statement: str
    article: str | None = None
    entry: str | None = None


@dataclass(frozen=True, slots=True)
class ObjectiveContent:
    """weight : share of the whole exam; in a domain, that of its objectives together"""

    code: str
    title: str
    weight: float
    objectives: tuple["ObjectiveContent", ...] = ()


@dataclass(frozen=True, slots=True)
class Scale:
    """Reported score = mean + sd × θ, clipped to [minimum, maximum]."""

    mean: float = 500.0
    sd: float = 100.0
    minimum: float = 200.0
    maximum: float = 800.0

    def score(self, theta: float) -> float:
        return min(max(self.mean + self.sd * theta, self.minimum), self.maximum)


@dataclass(frozen=True, slots=True)
class ExamContent:
    """cut_score, prior_mean, prior_sd : logits"""

    slug: str
    title: str
    description: str = ""
    scale: Scale = field(default_factory=Scale)
    cut_score: float = 0.0
    prior_mean: float = 0.0
    prior_sd: float = 1.0
    blueprint: tuple[ObjectiveContent, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameters:
    """An item's parameters as a file has them, logistic metric (D = 1).

    a, b, c, d : of right and wrong
    steps : steps (gpcm) or thresholds (grm), logits, one for each point
    options : slope and intercept by option key (nominal)
    """

    a: float
    b: float
    c: float = 0.0
    d: float = 1.0
    model: ParameterModel = ParameterModel.DICHOTOMOUS
    steps: tuple[float, ...] = ()
    options: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MisconceptionLink:
    """The misconception that an option shows, and the mistake entry that explains it."""

    code: str
    statement: str
    article: str | None
    article_uuid: UUID | None
    anchor: str | None


@dataclass(frozen=True, slots=True)
class VersionOption:
    uuid: UUID
    position: int
    key: str
    text: str
    is_key: bool
    rationale: str
    misconception: MisconceptionLink | None


@dataclass(frozen=True, slots=True)
class VersionMedia:
    uuid: UUID
    sha256: str
    role: MediaRole
    alt: str
    description: str


@dataclass(frozen=True, slots=True)
class VersionReading:
    """`article_uuid` is None where the article is gone."""

    article: str
    article_uuid: UUID | None
    anchor: str


@dataclass(frozen=True, slots=True)
class VersionContent:
    """A stored version of an item with everything delivery and authors read of it. `id`s join tables only."""

    id: int
    uuid: UUID
    item_id: int
    item_uuid: UUID
    exam_id: int
    external_id: str | None
    number: int
    stage: Stage
    kind: ItemKind
    objective: str
    stem: str
    options: tuple[VersionOption, ...]
    short_explanation: str
    full_explanation: str
    tags: tuple[str, ...]
    angoff: float | None
    shuffle: bool
    media: tuple[VersionMedia, ...]
    references: tuple[Reference, ...]
    reading: tuple[VersionReading, ...]
    author: str
    created_at: datetime

    @property
    def keys(self) -> frozenset[UUID]:
        return frozenset(option.uuid for option in self.options if option.is_key)

    def as_content(self) -> ItemContent:
        """What an author would submit to say the same."""
        return ItemContent(
            kind=self.kind,
            objective=self.objective,
            stem=self.stem,
            options=tuple(
                OptionContent(
                    key=option.key,
                    text=option.text,
                    correct=option.is_key,
                    rationale=option.rationale,
                    misconception=option.misconception.code if option.misconception else None,
                    uuid=option.uuid,
                )
                for option in self.options
            ),
            short_explanation=self.short_explanation,
            full_explanation=self.full_explanation,
            tags=self.tags,
            angoff=self.angoff,
            shuffle=self.shuffle,
            media=tuple(MediaUse(use.sha256, use.role, use.alt, use.description) for use in self.media),
            references=self.references,
            reading=tuple(Reading(link.article, link.anchor) for link in self.reading),
        )


def digest(content: ItemContent | ArticleContent) -> str:
    """SHA-256 (hex) of what is said: the same whatever ids the bank gave and in whichever order tags stand."""
    said = asdict(content)
    for option in said.get("options", ()):
        del option["uuid"]
    for unordered in ("tags", "objectives"):
        if unordered in said:
            said[unordered] = sorted(said[unordered])
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
