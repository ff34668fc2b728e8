"""Lists, page by page. A cursor says after which row the next page begins, so rows that come and go disturb nothing."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode

import marshmallow as ma
from flask import request
from marshmallow import fields

from api.errors import Fault, InvalidParameters
from api.schemas.base import Query, QueryInteger, Reply, Text

DEFAULT_LIMIT, MAX_LIMIT = 50, 200
_PAGING = ("cursor", "limit")


class PageQuery(Query):
    """The two parameters that every list has; subclass it to add filters."""

    cursor = Text(length=1000, metadata={"description": "`next_cursor` of the page before"})
    limit = QueryInteger(
        minimum=1, maximum=MAX_LIMIT, load_default=DEFAULT_LIMIT, metadata={"description": "rows on a page at most"}
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page begins: `after` is the sort key of the last row before it, None at the very beginning."""

    after: Any
    limit: int
    filters: Mapping[str, Any]

    @property
    def fetch(self) -> int:
        """Rows to ask the database for: one more than the page shows, to know whether there is a next one."""
        return self.limit + 1


def place(query: Mapping[str, Any], kind: type = int) -> Place:
    """Read a loaded `PageQuery`. `kind` is the sort key's type; a cursor with another one is refused."""
    filters = {name: value for name, value in query.items() if name not in _PAGING}
    cursor = query.get("cursor")
    return Place(None if cursor is None else _decode(cursor, filters, kind), query["limit"], filters)


def page(rows: Sequence[Any], at: Place, key: Callable[[Any], Any]) -> dict[str, Any]:
    """The body of a page from up to `at.fetch` rows; `key` gives a row's sort key (JSON can hold it)."""
    shown = rows[: at.limit]
    cursor = _encode(key(shown[-1]), at.filters) if len(rows) > at.limit else None
    return {"data": shown, "next_cursor": cursor}


def next_link(body: Mapping[str, Any]) -> dict[str, str]:
    """The `Link` header to the next page; empty on the last one."""
    if body["next_cursor"] is None:
        return {}
    query = {**request.args.to_dict(), "cursor": body["next_cursor"]}
    return {"Link": f'<{request.path}?{urlencode(query)}>; rel="next"'}


@cache
def page_of(schema: type[ma.Schema]) -> type[ma.Schema]:
    """The schema of a page of `schema`."""
    name = schema.__name__.removesuffix("Schema")
    members: dict[str, Any] = {
        "data": fields.List(fields.Nested(schema), required=True),
        "next_cursor": fields.String(
            required=True, allow_none=True, metadata={"description": "send it as `cursor`; null on the last page"}
        ),
    }
    return type(f"{name}PageSchema", (Reply,), members)


def _hash(filters: Mapping[str, Any]) -> str:
    """Of the list and its filters, so that a cursor is good for no other."""
    return hashlib.sha256(repr((request.path, sorted(filters.items()))).encode()).hexdigest()[:12]


def _encode(after: Any, filters: Mapping[str, Any]) -> str:
    text = json.dumps([after, _hash(filters)], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode(cursor: str, filters: Mapping[str, Any], kind: type) -> Any:
    try:
        after, made_for = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
    except (ValueError, TypeError, RecursionError) as error:
        raise _refused("is not one of ours", "invalid") from error
    if made_for != _hash(filters):
        raise _refused("belongs to a list with other filters", "cursor_mismatch")
    if type(after) is not kind or (isinstance(after, int) and abs(after) >= 2**63):
        raise _refused("is not one of ours", "invalid")
    return after


def _refused(detail: str, code: str) -> InvalidParameters:
    return InvalidParameters([Fault(detail, parameter="cursor", code=code)])
