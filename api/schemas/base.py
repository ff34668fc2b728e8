"""Strict schemas: what the caller sends is what is meant, or it is refused.

`Strict` is for bodies, `Query` for query strings, `Reply` for what we answer. JSON's types are taken at their word: no
"1" for 1, no 1 for true, no NaN. Text has no characters that a database or a page can't hold. Times are RFC 3339, UTC.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import marshmallow as ma
from marshmallow import fields, validate

INT32 = 2**31 - 1
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_SLUG = re.compile("[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_QUERY_INTEGER = re.compile(r"-?\d{1,10}", re.ASCII)


class Strict(ma.Schema):
    """A body: an unknown member is an error."""

    class Meta:
        unknown = ma.RAISE


class Query(Strict):
    """A query string: an unknown parameter is an error, since a filter that isn't applied is worse than none."""


class Reply(ma.Schema):
    """What we answer. Members may be added in a later release, so the document doesn't call it closed."""

    class Meta:
        unknown = ma.EXCLUDE


class Text(fields.String):
    """Text without NUL, other control characters or halves of surrogate pairs. `length` is the longest allowed."""

    default_error_messages = {"characters": "Has a character that is not allowed in text: {character}."}  # noqa: RUF012
    pattern = r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$"  # for the document; surrogates no pattern can name

    def __init__(self, *, length: int = 200, shortest: int = 0, **options: Any):
        validators = [validate.Length(min=shortest or None, max=length), *_listed(options.pop("validate", ()))]
        metadata = {"pattern": self.pattern, **options.pop("metadata", {})}
        super().__init__(validate=validators, metadata=metadata, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Any:
        given = super()._deserialize(value, attr, data, **kwargs)
        found = _FORBIDDEN.search(given)
        if found:
            raise self.make_error("characters", character=f"U+{ord(found[0]):04X}")
        return given


class Prose(fields.String):
    """Text that the bank checks itself and names the place in; here it only has to be a string."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Any:
        given = super()._deserialize(value, attr, data, **kwargs)
        if any("\ud800" <= character <= "\udfff" for character in given):
            raise ma.ValidationError("Has half of a surrogate pair.")
        return given


class ExternalId(Text):
    """An id that the caller chose and that a path can name: anything but control characters and dots alone."""

    def __init__(self, *, length: int = 200, **options: Any):
        shape = validate.Regexp(r"(?!\.{1,2}\Z)[^\x00-\x1f\x7f]+\Z", error="Has a character that no path can name.")
        super().__init__(length=length, shortest=1, validate=shape, **options)


class Slug(Text):
    """A short name for people and addresses: lower-case letters, digits and hyphens."""

    default_error_messages = {"slug": "Must be lower-case letters, digits and single hyphens."}  # noqa: RUF012
    pattern = "^[a-z0-9]+(-[a-z0-9]+)*$"

    def __init__(self, *, length: int = 80, **options: Any):
        super().__init__(length=length, shortest=1, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Any:
        given = super()._deserialize(value, attr, data, **kwargs)
        if not _SLUG.fullmatch(given):
            raise self.make_error("slug")
        return given


class Id(fields.UUID):
    """A public identifier in its usual form, nothing else that might be read as a UUID."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Any:
        return UUID(self._text(value))

    def _text(self, value: Any) -> str:
        if not isinstance(value, str) or not _UUID.fullmatch(value):
            raise self.make_error("invalid_uuid")
        return value.lower()


class IdText(Id):
    """An `Id` that stays text, for those that are only compared."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Any:
        return self._text(value)


class Integer(fields.Integer):
    """A JSON integer that a database can hold."""

    def __init__(self, *, minimum: int = -INT32 - 1, maximum: int = INT32, **options: Any):
        bounds = validate.Range(min=minimum, max=maximum)
        super().__init__(strict=True, validate=[bounds, *_listed(options.pop("validate", ()))], **options)

    def _validated(self, value: Any) -> Any:
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class Number(fields.Float):
    """A JSON number; neither NaN nor infinite."""

    def _validated(self, value: Any) -> Any:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        try:
            number = float(value)
        except OverflowError as error:
            raise self.make_error("too_large", input=value) from error
        if not math.isfinite(number):
            raise self.make_error("special", input=value)
        return number


class Flag(fields.Boolean):
    """JSON's true or false."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class QueryInteger(fields.Integer):
    """An integer in a query string."""

    def __init__(self, *, minimum: int = 0, maximum: int = INT32, **options: Any):
        super().__init__(validate=validate.Range(min=minimum, max=maximum), **options)

    def _validated(self, value: Any) -> Any:
        if not isinstance(value, str) or not _QUERY_INTEGER.fullmatch(value):
            raise self.make_error("invalid", input=value)
        return int(value)


class QueryFlag(fields.Boolean):
    """`true` or `false` in a query string."""

    truthy = {"true"}  # noqa: RUF012
    falsy = {"false"}  # noqa: RUF012


class Moment(fields.DateTime):
    """A time in RFC 3339. Any offset comes in; UTC with milliseconds and `Z` goes out."""

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None else format_moment(value)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Any:
        if not isinstance(value, str) or not _MOMENT.fullmatch(value):
            raise ma.ValidationError("Must be a time as in RFC 3339, such as 2026-01-05T09:00:00Z.")
        try:
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise ma.ValidationError("There is no such time.") from error


class Day(fields.Date):
    """A day as in RFC 3339: four digits, two, two."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Any:
        if not isinstance(value, str) or not _DAY.fullmatch(value):
            raise ma.ValidationError("Must be a day such as 2026-01-05.")
        try:
            return date.fromisoformat(value)
        except ValueError as error:
            raise ma.ValidationError("There is no such day.") from error


def format_moment(value: datetime) -> str:
    return f"{value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def _listed(validators: Any) -> list[Any]:
    return [validators] if callable(validators) else list(validators)
