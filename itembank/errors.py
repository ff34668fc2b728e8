"""Every error the item bank raises; none of them knows HTTP.

ItemBankError
├── NotFound            the thing asked for does not exist for this tenant
├── Conflict            the thing exists, but not in a state that allows the call
│   ├── AlreadyExists       a name that must be unique is taken
│   ├── StageConflict       the life cycle has no such move
│   ├── RevisionConflict    somebody else changed it first
│   └── KeyReused           an idempotency key came back with another request
├── Invalid             well-formed content that breaks a rule; carries a list of `Issue`s
└── Unreadable          a file or folder that can't be read as what it claims to be
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong with submitted content.

    pointer : JSON Pointer into the submitted document, such as `/options/2/rationale`
    source : the file it stands in, and the line where known (`items/a.yaml:12`); empty where it came from no file
    """

    pointer: str
    what: str
    source: str = ""

    def __str__(self) -> str:
        place = " ".join(part for part in (self.source, self.pointer) if part)
        return f"{place}: {self.what}" if place else self.what


class ItemBankError(Exception):
    """Base of all errors of this package."""


class NotFound(ItemBankError):
    """No such thing for this tenant; another tenant's thing is no such thing."""

    def __init__(self, kind: str, key: object):
        super().__init__(f"there is no {kind} {key}")
        self.kind, self.key = kind, str(key)


class Conflict(ItemBankError):
    """The request makes sense, but not in the present state."""


class AlreadyExists(Conflict):
    """A name that must be unique is taken."""

    def __init__(self, kind: str, key: object):
        super().__init__(f"{kind} {key} exists already")
        self.kind, self.key = kind, str(key)


class StageConflict(Conflict):
    """The life cycle has no move from the item's stage to the one asked for."""

    def __init__(self, item: object, stage: str, to: str, allowed: tuple[str, ...]):
        options = ", ".join(allowed) or "nothing"
        super().__init__(f"item {item} is {stage}; it can't become {to}, only {options}")
        self.stage, self.to, self.allowed = stage, to, allowed


class RevisionConflict(Conflict):
    """The caller's copy is older than what is stored."""

    def __init__(self, kind: str, key: object, given: str, current: str):
        super().__init__(f"{kind} {key} has changed: you hold {given}, the current one is {current}")
        self.given, self.current = given, current


class KeyReused(Conflict):
    """An idempotency key was sent before with a different request."""

    def __init__(self, key: str):
        super().__init__(f"idempotency key {key!r} was used before with another request")
        self.key = key


class Invalid(ItemBankError):
    """Content that breaks one or more rules; all of them are named at once."""

    def __init__(self, issues: tuple[Issue, ...]):
        super().__init__("; ".join(str(issue) for issue in issues))
        self.issues = issues


class Unreadable(ItemBankError):
    """A file that is not what it claims to be."""

    def __init__(self, source: str, what: str):
        super().__init__(f"{source}: {what}")
        self.source, self.what = source, what
