"""What readers and writers share: a document read field by field, with every complaint noted and none raised."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from itembank.errors import Issue

Choice = TypeVar("Choice", bound=StrEnum)


class Writer(Protocol):
    """Rows to a file, as chunks of bytes, so that a million rows never lie in memory."""

    def __call__(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]: ...


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a piece of content stands: a file, and its lines by JSON Pointer where the format has lines.

    at : pointer of the piece in the document of the file; what is below it is found in `lines` too
    """

    file: str
    lines: Mapping[str, int] = field(default_factory=dict)
    at: str = ""

    def below(self, pointer: str) -> "Origin":
        return replace(self, at=self.at + pointer)

    def issue(self, pointer: str, what: str) -> Issue:
        """`pointer` : from the piece, not from the document"""
        place = self.at + pointer
        line = self.line(place)
        return Issue(place, what, f"{self.file}:{line}" if line else self.file)

    def placed(self, issues: Iterable[Issue]) -> tuple[Issue, ...]:
        """Issues whose pointers begin at the piece, with their file and line."""
        return tuple(self.issue(issue.pointer, issue.what) for issue in issues)

    def line(self, pointer: str) -> int | None:
        """Of the pointer or, if it points at something that is missing, of the nearest thing around it."""
        while pointer and pointer not in self.lines:
            pointer = pointer.rpartition("/")[0]
        return self.lines.get(pointer)


class Fields:
    """One mapping of a document. Each getter returns a usable value; what is wrong goes to `issues`."""

    def __init__(self, value: Any, origin: Origin, allowed: Collection[str], issues: list[Issue]):
        self.origin, self.issues = origin, issues
        self.values: dict[str, Any] = {}
        self.is_mapping = isinstance(value, dict)
        if not isinstance(value, dict):
            self.complain("", f"must be a mapping, not {kind_of(value)}")
            return
        self.values = {str(name): part for name, part in value.items()}
        for name in self.values:
            if name not in allowed:
                self.complain(f"/{escape(name)}", "there is no such field")

    def complain(self, pointer: str, what: str) -> None:
        self.issues.append(self.origin.issue(pointer, what))

    def text(self, name: str, default: str | None = None) -> str:
        """Without white space at its end, which block scalars have. Without a default the field is required."""
        value = self._get(name, default is None)
        if value is None:
            return default or ""
        if not isinstance(value, str):
            self.complain(f"/{name}", f"must be text, not {kind_of(value)}; put it in quotes")
            return ""
        return value.rstrip()

    def optional_text(self, name: str) -> str | None:
        return self.text(name) if self.values.get(name) is not None else None

    def number(self, name: str, default: float | None = None) -> float:
        value = self._get(name, default is None)
        if value is None:
            return default or 0.0
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.complain(f"/{name}", f"must be a number, not {kind_of(value)}")
            return default or 0.0
        try:
            return float(value)
        except OverflowError:
            self.complain(f"/{name}", "is too large a number")
            return default or 0.0

    def optional_number(self, name: str) -> float | None:
        return self.number(name) if self.values.get(name) is not None else None

    def flag(self, name: str, default: bool) -> bool:
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.complain(f"/{name}", f"must be true or false, not {kind_of(value)}")
            return default
        return value

    def choice(self, name: str, members: type[Choice], default: Choice | None = None) -> Choice:
        value = self._get(name, default is None)
        fallback = default or next(iter(members))
        if value is None:
            return fallback
        if value not in tuple(members):
            self.complain(f"/{name}", f"must be one of {', '.join(members)}")
            return fallback
        return members(value)

    def texts(self, name: str) -> tuple[str, ...]:
        found = []
        for i, value in enumerate(self._list(name)):
            if isinstance(value, str):
                found.append(value)
            else:
                self.complain(f"/{name}/{i}", f"must be text, not {kind_of(value)}; put it in quotes")
        return tuple(found)

    def mapping(self, name: str, allowed: Collection[str]) -> "Fields":
        """Of a field that may be missing."""
        value = self.values.get(name)
        return Fields({} if value is None else value, self.origin.below(f"/{name}"), allowed, self.issues)

    def mappings(self, name: str, allowed: Collection[str], *, required: bool = False) -> "list[Fields]":
        return [
            Fields(value, self.origin.below(f"/{name}/{i}"), allowed, self.issues)
            for i, value in enumerate(self._list(name, required))
        ]

    def _get(self, name: str, required: bool) -> Any:
        value = self.values.get(name)
        if value is None and required and self.is_mapping:
            self.complain(f"/{name}", "is missing")
        return value

    def _list(self, name: str, required: bool = False) -> list[Any]:
        value = self._get(name, required)
        if value is None:
            return []
        if not isinstance(value, list):
            self.complain(f"/{name}", f"must be a list, not {kind_of(value)}")
            return []
        return value


def kind_of(value: Any) -> str:
    """What to call a value of a YAML or JSON document."""
    if value is None:
        return "nothing"
    names = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a mapping"}
    return names.get(type(value), f"a {type(value).__name__}")


def utc_text(at: datetime) -> str:
    """RFC 3339 in UTC, to the millisecond.

    >>> utc_text(datetime(2026, 1, 5, 9, 0, tzinfo=UTC))
    '2026-01-05T09:00:00.000Z'
    """
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def escape(name: str) -> str:
    """A name as a part of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")
