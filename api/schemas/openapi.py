"""The OpenAPI 3.1 document: what all operations share. What is special to one stands at its view."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import flask
import flask_smorest
from marshmallow import fields

from api.auth.scopes import SCOPES
from api.config import Config
from api.context import KEY_LENGTH, KEYS_KEPT
from api.errors import HTTP_PROBLEMS, PROBLEMS, Problem
from api.schemas.base import Reply

OPENAPI = "3.1.1"
PROBLEM_JSON = "application/problem+json"
DESCRIPTION = """\
An item bank with explanations and an engine that picks each learner's next question.

Every call but the health checks needs `Authorization: Bearer` with an API key (`nextitem client create` makes one) or,
where an operation says so, a learner's token for one session. Errors are problems as in RFC 9457. Lists are paged by
cursor. Times are RFC 3339 in UTC. Members that an operation doesn't know are refused in requests, and may be added to
replies in later releases.
"""


class FaultSchema(Reply):
    """One thing that is wrong with a request."""

    pointer = fields.String(metadata={"description": "JSON Pointer into the body"})
    parameter = fields.String(metadata={"description": "name of the query parameter"})
    header = fields.String(metadata={"description": "name of the request header"})
    detail = fields.String(required=True)
    code = fields.String(required=True)


class ProblemSchema(Reply):
    """A problem as in RFC 9457. Some kinds have further members."""

    type = fields.String(required=True, metadata={"description": "URI reference of this kind of problem"})
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(required=True)
    instance = fields.String(required=True, metadata={"description": "path that was called"})
    code = fields.String(required=True, metadata={"description": "the kind again, for programs"})
    request_id = fields.String(required=True, metadata={"description": "finds the request in the operator's log"})
    errors = fields.List(fields.Nested(FaultSchema))


HEADERS: dict[str, tuple[str, str]] = {
    "X-Request-Id": ("Your `X-Request-Id`, or one of ours.", "0197a3f0-5a3c-7c1e-9d4b-2f6f0c8e1a52"),
    "RateLimit-Policy": ("Requests (`q`) that you may make in so many seconds (`w`).", '"default";q=6000;w=60'),
    "RateLimit": ("Requests you have left (`r`); in `t` seconds there will be more.", '"default";r=5999;t=60'),
    "Retry-After": ("Seconds to wait before trying again.", "2"),
    "ETag": ("Stands for this state of the thing.", '"7"'),
    "Location": ("Where the new thing is.", "/v1/items/0197a3f0-5a3c-7c1e-9d4b-2f6f0c8e1a52"),
    "WWW-Authenticate": ("What is wrong with the credentials.", 'Bearer realm="nextitem", error="invalid_token"'),
    "Allow": ("Methods that the path has.", "GET, HEAD, OPTIONS"),
}
REQUEST_HEADERS: dict[str, tuple[str, str, str, bool]] = {
    "IdempotencyKey": (
        "Idempotency-Key",
        f"Send a new one with each new request, and the same one when you send a request again: what was created is "
        f"created once, and you get the same reply. Kept for {KEYS_KEPT.total_seconds() / 3600:.0f} hours.",
        '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
        False,
    ),
    "IfMatch": ("If-Match", "The `ETag` of what you read and now want to change.", '"7"', True),
    "IfNoneMatch": (
        "If-None-Match",
        "The `ETag` of what you have; if that is current, the reply is 304.",
        '"7"',
        False,
    ),
}


class Api(flask_smorest.Api):  # type: ignore[misc]  # flask-smorest has no types
    """flask-smorest's, with our problems in place of its errors."""

    DEFAULT_ERROR_RESPONSE_NAME = None

    def _register_error_handlers(self) -> None:
        """Ours handle everything; see `api.app`."""

    def _register_responses(self) -> None:
        self._register_headers()  # first, since problems have some
        problems = sorted({*PROBLEMS.values(), *HTTP_PROBLEMS.values()}, key=lambda problem: problem.slug)
        for status in {problem.status for problem in problems}:
            same = [problem for problem in problems if problem.status == status]
            self.spec.components.response(f"Problem{status}", _response(same), lazy=True)

    def _register_headers(self) -> None:
        for name, (header, description, example, required) in REQUEST_HEADERS.items():
            schema = {"type": "string", "maxLength": KEY_LENGTH} if name == "IdempotencyKey" else {"type": "string"}
            parameter = {"name": header, "description": description, "schema": schema, "example": example}
            self.spec.components.parameter(name, "header", {**parameter, "required": required}, lazy=True)
        for name, (description, example) in HEADERS.items():
            header_doc = {"description": description, "schema": {"type": "string"}, "example": example}
            self.spec.components.header(name, header_doc, lazy=True)

    def _register_etag_headers(self) -> None:
        """Done with the other headers."""

    def _register_pagination_header(self) -> None:
        """Our pages say it in the body."""


def _response(problems: list[Problem]) -> dict[str, Any]:
    names = {401: ["WWW-Authenticate"], 405: ["Allow"], 412: ["ETag"], 429: ["Retry-After"], 503: ["Retry-After"]}
    status = problems[0].status
    return {
        "description": " ".join(dict.fromkeys(f"`{problem.slug}`: {problem.meaning}" for problem in problems)),
        "headers": {name: name for name in ("X-Request-Id", *names.get(status, ()))},
        "content": {
            PROBLEM_JSON: {
                "schema": ProblemSchema,
                "examples": {problem.slug: {"value": example(problem)} for problem in problems},
            }
        },
    }


def example(problem: Problem) -> dict[str, Any]:
    return {
        "type": problem.type,
        "title": problem.title,
        "status": problem.status,
        "detail": problem.meaning,
        "instance": "/v1/exams",
        "code": problem.code,
        "request_id": HEADERS["X-Request-Id"][1],
    }


def open_api(app: flask.Flask, config: Config) -> Api:
    """Attach the API to the application; its blueprints are registered on what comes back."""
    app.config |= {"API_TITLE": "Nextitem", "API_VERSION": _version(), "OPENAPI_VERSION": OPENAPI}
    api = Api()
    api.init_app(app, spec_kwargs={"info": {"description": DESCRIPTION}, "servers": [{"url": config.public_url}]})
    scopes = "\n".join(f"- `{scope}`: {meaning}" for scope, meaning in SCOPES.items())
    api.spec.components.security_scheme(
        "apiKey", {"type": "http", "scheme": "bearer", "description": f"An API key. It has scopes:\n\n{scopes}"}
    )
    api.spec.components.security_scheme(
        "learnerToken",
        {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "A learner's token for one session, made for the learner's browser.",
        },
    )
    return api


def _version() -> str:
    try:
        return version("nextitem")
    except PackageNotFoundError:  # run from a folder that is not installed
        return "0"
