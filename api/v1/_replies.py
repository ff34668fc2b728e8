"""Replies that the resources of the bank have in common."""

from collections.abc import Mapping
from typing import Any, cast

from flask import Response, current_app

from api.schemas.paging import next_link

SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; sandbox"  # should a browser open an SVG by itself


def reply(body: Mapping[str, Any], *, etag: str | None = None) -> Response:
    """One thing, with the tag of its state."""
    response = current_app.json.response(body)
    if etag is not None:
        response.headers["ETag"] = etag
    return cast(Response, response)


def created(body: Mapping[str, Any], *, location: str, etag: str | None = None) -> Response:
    response = reply(body, etag=etag)
    response.status_code = 201
    response.headers["Location"] = location
    return response


def accepted(body: Mapping[str, Any], *, location: str) -> Response:
    """What will be done; `location` tells how far it is."""
    response = created(body, location=location)
    response.status_code = 202
    return response


def listed(body: Mapping[str, Any]) -> Response:
    """A page, with a `Link` to the next one."""
    response = reply(body)
    response.headers.extend(next_link(body))
    return response
