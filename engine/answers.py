"""An answer as it comes in, whether it fits the item it is to, and what comes back."""

from dataclasses import dataclass

from engine.presenting import Presented
from engine.selection import Decision
from itembank import scoring
from itembank.content import ExposureClass, ItemKind
from itembank.errors import Invalid, Issue


@dataclass(frozen=True, slots=True)
class Served:
    """An item in its place: `order` is the order of its options on screen, as indices into the author's."""

    position: int
    item: Presented
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """An answer as it came in. item, selected : uuids as text"""

    position: int
    item: str
    selected: tuple[str, ...]
    response_time_ms: int | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """The reply to an answer. `served` is what was answered, `next` what comes, None when the sitting is over.

    decision : pass or fail, of a sitting that is over and was to decide that
    """

    served: Served
    selected: tuple[str, ...]
    scored: scoring.Scored
    theta: float
    standard_error: float
    stop_reason: str | None
    decision: Decision | None
    reveals: bool
    next: Served | None


@dataclass(frozen=True, slots=True)
class Change:
    """What a learner does at a position of a form.

    item : uuid as text, to be sure that it is the item meant, None without;  selected : None takes an answer back
    selects : whether `selected` is meant at all;  flagged : None leaves the flag as it is
    is_first : it may not change an answer that is there
    """

    position: int
    item: str | None = None
    selected: tuple[str, ...] | None = None
    selects: bool = False
    flagged: bool | None = None
    response_time_ms: int | None = None
    idempotency_key: str | None = None
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class Filled:
    """A position of a form as its learner left it. selected : None where nothing is;  revision : 0 if never touched"""

    served: Served
    selected: tuple[str, ...] | None = None
    flagged: bool = False
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Filed:
    """The reply to an answer on a form, which tells nothing of it. next : the first position without an answer"""

    position: int
    stop_reason: str | None
    next: Served | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """How far a form is filled: its length, and the positions answered and flagged, ascending."""

    length: int
    answered: tuple[int, ...]
    flagged: tuple[int, ...]


def check_shape(served: Served, given: Given) -> None:
    """Raise Invalid unless the answer is to this item, with its options, as many as its kind takes."""
    question = served.item.question
    if given.item != question.id:
        raise Invalid((Issue("/item", f"position {served.position} holds item {question.id}, not {given.item}"),))
    known = {option.id for option in question.options}
    issues = [
        Issue(f"/selected/{place}", f"{option} is not an option of item {question.id}")
        for place, option in enumerate(given.selected)
        if option not in known
    ]
    if len(set(given.selected)) != len(given.selected):
        issues.append(Issue("/selected", "an option is selected twice"))
    if not given.selected or (question.kind == ItemKind.SINGLE_CHOICE and len(given.selected) != 1):
        expected = "exactly 1" if question.kind == ItemKind.SINGLE_CHOICE else "at least 1"
        issues.append(Issue("/selected", f"{len(given.selected)} options selected, {expected} expected"))
    if issues:
        raise Invalid(tuple(issues))


def exposure_class(answers: int, reveals: int, *, is_pretest: bool, is_rapid: bool) -> ExposureClass:
    """What the learner knew of an item before this answer: how often it was answered, and its answer shown.

    A rapid guess says nothing of anything, whatever else the answer is.
    """
    if is_rapid:
        return ExposureClass.RAPID_GUESS
    if answers or reveals:  # shown with its answer, in the review of a form that left it out
        return ExposureClass.REPEAT_REVEALED if reveals else ExposureClass.REPEAT
    return ExposureClass.PRETEST if is_pretest else ExposureClass.CLEAN_FIRST
