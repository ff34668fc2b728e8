"""`/openapi.json`, and `/docs`: the same document as a page that needs no script and nothing from elsewhere."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, current_app, redirect, render_template, url_for
from markupsafe import Markup
from werkzeug import Response as AnyResponse

from api.errors import HTTP_PROBLEMS, PROBLEMS, Problem
from itembank import markup

blp = Blueprint("pages", __name__, static_folder="static", static_url_path="/static", template_folder="templates")

API, PAGE = "nextitem-api", "nextitem-docs"  # where `app.extensions` keeps them
JSON = "application/json"
SECURITY_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
METHODS = ("get", "post", "put", "patch", "delete")

Spec = dict[str, Any]


@blp.route("/")
def home() -> AnyResponse:
    return redirect(url_for("pages.docs"))


@blp.route("/problems/<slug>")
def problem(slug: str) -> AnyResponse:
    """Where a problem's `type` leads."""
    return redirect(url_for("pages.docs", _anchor=f"problem-{slug}"))


@blp.route("/openapi.json")
def openapi() -> Response:
    reply = Response(json.dumps(spec(), indent=1), content_type=JSON)
    reply.cache_control.no_cache = True
    return reply


@blp.route("/docs")
def docs() -> Response:
    page = current_app.extensions.get(PAGE)
    if page is None:
        page = current_app.extensions[PAGE] = _render(spec())
    reply = Response(page, content_type="text/html; charset=utf-8")
    reply.headers["Content-Security-Policy"] = SECURITY_POLICY
    reply.cache_control.no_cache = True
    return reply


def spec() -> Spec:
    document: Spec = current_app.extensions[API].spec.to_dict()
    return document


@dataclass(frozen=True, slots=True)
class Field:
    """A row of a table of parameters or members."""

    name: str
    type: Markup
    is_required: bool
    meaning: Markup


@dataclass(frozen=True, slots=True)
class Answer:
    status: str
    meaning: Markup
    type: Markup
    example: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One section of the page."""

    id: str
    method: str
    path: str
    summary: str
    meaning: Markup
    needs: str
    parameters: list[Field]
    body: Markup
    body_example: str
    curl: str
    answers: list[Answer]
    problems: list[str]


def _render(document: Spec) -> str:
    groups = [
        (tag, [operation for tags, operation in _operations(document) if tag["name"] in tags])
        for tag in document["tags"]
    ]
    schemas = [
        (name, _prose(schema.get("description", "")), list(_members(schema)))
        for name, schema in sorted(document["components"]["schemas"].items())
    ]
    problems: list[Problem] = sorted(
        {*PROBLEMS.values(), *HTTP_PROBLEMS.values()}, key=lambda problem: (problem.status, problem.slug)
    )
    return render_template(
        "docs.html",
        info=document["info"],
        introduction=_prose(document["info"]["description"]),
        schemes={
            name: _prose(scheme["description"]) for name, scheme in document["components"]["securitySchemes"].items()
        },
        groups=groups,
        schemas=schemas,
        problems=[(problem, _prose(problem.meaning)) for problem in problems],
    )


def _operations(document: Spec) -> Iterator[tuple[list[str], Operation]]:
    for path, methods in document["paths"].items():
        shared = methods.get("parameters", [])
        for method in METHODS:
            if method in methods:
                yield methods[method]["tags"], _operation(document, method, path, methods[method], shared)


def _operation(document: Spec, method: str, path: str, operation: Spec, shared: list[Spec]) -> Operation:
    parameters = [_resolve(document, parameter) for parameter in [*shared, *operation["parameters"]]]
    media_type, body = _content(operation.get("requestBody", {}))
    codes = operation["responses"].items()
    return Operation(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        meaning=_prose(operation.get("description", "")),
        needs=_needs(operation["security"]),
        parameters=[_parameter(parameter) for parameter in parameters],
        body=_type(body.get("schema", {})) if body else Markup(""),
        body_example=_json(body["example"]) if "example" in body else "",
        curl=_curl(method, path, operation, media_type, body),
        answers=[_answer(status, _resolve(document, answer)) for status, answer in codes if int(status) < 400],
        problems=[str(status) for status, _ in codes if int(status) >= 400],
    )


def _needs(security: list[Spec]) -> str:
    if not security:
        return "Public."
    scope = next(scope for scheme in security for scope in scheme.get("apiKey", ()))
    learner = " A learner's token will do too." if any("learnerToken" in scheme for scheme in security) else ""
    return f"Needs the scope {scope}.{learner}"


def _parameter(parameter: Spec) -> Field:
    return Field(
        f"{parameter['name']} ({parameter['in']})",
        _type(parameter["schema"]),
        parameter.get("required", False),
        _prose(parameter.get("description", parameter["schema"].get("description", ""))),
    )


def _answer(status: str, answer: Spec) -> Answer:
    _, content = _content(answer)
    example = content.get("example", "")
    return Answer(
        str(status),
        _prose(answer["description"]),
        _type(content.get("schema", {})) if content else Markup(""),
        example if isinstance(example, str) else _json(example),
    )


def _content(message: Spec) -> tuple[str, Spec]:
    """The one media type of a body, and what is said of it; empty if there is no body."""
    contents: Spec = message.get("content", {})
    return next(iter(contents.items()), ("", {}))


def _members(schema: Spec) -> Iterator[Field]:
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        yield Field(name, _type(member), name in required, _prose(member.get("description", "")))


def _type(schema: Spec) -> Markup:
    """What a value may be, in a few words; other schemas are links."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return Markup('<a href="#schema-{0}">{0}</a>').format(name)
    for combined in ("anyOf", "oneOf", "allOf"):
        if combined in schema:
            return Markup(" or ").join(_type(inner) for inner in schema[combined])
    if "enum" in schema:
        return Markup(" | ").join(Markup("<code>{}</code>").format(json.dumps(value)) for value in schema["enum"])
    kinds = schema.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "array" in kinds:
        rest = "".join(f" or {kind}" for kind in kinds if kind != "array")
        return Markup("list of {}{}").format(_type(schema.get("items", {})), rest)
    return Markup("{}{}").format(" or ".join(kinds), f" ({schema['format']})" if "format" in schema else "")


def _curl(method: str, path: str, operation: Spec, media_type: str, body: Spec) -> str:
    """A line to paste into a shell; what stands in braces is the reader's to replace."""
    parts = ["curl"] if method == "get" else [f"curl -X {method.upper()}"]
    parts.append(f'"$NEXTITEM_URL{path}"')
    if operation["security"]:
        parts.append('-H "Authorization: Bearer $NEXTITEM_KEY"')
    if "IfMatch" in str(operation["parameters"]):
        parts.append("""-H 'If-Match: "7"'""")
    if media_type == JSON:
        parts.append("-H 'Content-Type: application/json'")
        parts.append(f"-d {shlex.quote(json.dumps(body.get('example', {}), ensure_ascii=False))}")
    elif media_type == "multipart/form-data":
        parts.append("-F file=@FILE")
    return " \\\n  ".join(parts)


def _resolve(document: Spec, part: Spec) -> Spec:
    while "$ref" in part:
        found: Any = document
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        part = found
    return part


def _prose(source: str) -> Markup:
    return Markup(markup.render(source))  # noqa: S704  # sanitised there


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
