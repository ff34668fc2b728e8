"""How arguments are read: JSON that is JSON, and errors that say where."""

import json
from typing import Any, NoReturn

import flask
import marshmallow as ma
from webargs.flaskparser import FlaskParser
from werkzeug.exceptions import RequestEntityTooLarge

from api.errors import Fault, InvalidBody, InvalidParameters, MalformedBody, UnsupportedMediaType, pointers

JSON = "application/json"


class Parser(FlaskParser):
    """webargs with our errors; which unknown members are errors is the schema's business."""

    DEFAULT_UNKNOWN_BY_LOCATION = {}  # noqa: RUF012

    def load_json(self, req: flask.Request, schema: ma.Schema) -> Any:
        return _json(req)

    def handle_error(self, error: ma.ValidationError, req: flask.Request, schema: ma.Schema, **_: Any) -> NoReturn:
        [(location, messages)] = dict(error.messages).items()  # type: ignore[arg-type]  # webargs puts the location first
        if location not in {"query", "querystring"}:
            raise InvalidBody(pointers(messages)) from error
        faults = ((fault.pointer or "/").lstrip("/").split("/")[0] for fault in pointers(messages))
        raise InvalidParameters(
            Fault(fault.detail, parameter=name, code=fault.code)
            for name, fault in zip(faults, pointers(messages), strict=True)
        ) from error


def read_body(request: flask.Request, schema: ma.Schema) -> Any:
    """What the schema makes of a JSON body."""
    try:
        return schema.load(_json(request))
    except ma.ValidationError as error:
        raise InvalidBody(pointers(error.messages)) from error


def _json(request: flask.Request) -> Any:
    """The body's JSON; no body at all counts as an empty object."""
    body = request.get_data(cache=True)
    if not body:
        return {}
    if request.content_length is None and len(body) >= (request.max_content_length or len(body) + 1):
        raise RequestEntityTooLarge  # sent in chunks, it was cut at the limit
    if request.mimetype != JSON:
        raise UnsupportedMediaType(request.mimetype)
    return parse_json(body)


def parse_json(body: bytes) -> Any:
    """Raises MalformedBody for whatever isn't JSON in UTF-8, NaN and endless nesting among it."""
    try:
        return _decode(body.decode())
    except UnicodeDecodeError as error:
        raise MalformedBody("the body is not UTF-8") from error
    except json.JSONDecodeError as error:
        detail = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise MalformedBody(detail, faults=[Fault(detail, pointer="")]) from error
    except RecursionError as error:
        raise MalformedBody("the body is nested too deeply") from error
    except ValueError as error:  # a number with thousands of digits, or NaN
        raise MalformedBody("a number in the body is not one that JSON allows or that can be held") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a member that comes twice nobody knows which one is meant."""
    found = dict(members)
    if len(found) != len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise MalformedBody(f"the member {twice[:100]!r} comes twice in one object")
    return found


_decode = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_unique).decode
