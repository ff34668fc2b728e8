"""Routes that document themselves: flask-smorest's blueprint, with our parser and everything a note tells.

A view's decorators, outermost first: `@blp.route`, `@requires`, `@reads` / `@writes` / `@creates`, then those that say
what it answers with (`@blp.problems`, `@blp.if_match`, `@blp.if_none_match`), `@blp.arguments`, `@blp.response`.
"""

import re
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import flask
import flask_smorest

from api.operations import NOTE, View, note
from api.schemas.parsing import Parser, read_body

PARAMETERS: dict[str, str] = {
    "exam": "slug of the exam",
    "item": "id of the item",
    "article": "id of the article",
    "media": "id of the media file",
    "session": "id of the session",
    "learner": "the learner's id, as the caller chose it",
    "export": "id of the export",
    "simulation": "id of the simulation",
    "name": "name of the file",
    "position": "position in the session, from 1",
}
"""What a parameter in a path means, wherever it stands."""

_PARAMETER = re.compile(r"<(?:[^:<>]+:)?([^<>]+)>")


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]  # flask-smorest has no types
    """See the module's docstring."""

    ARGUMENTS_PARSER = Parser()

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._prepare_doc_cbks.append(_document)

    def route(self, rule: str, **options: Any) -> Callable[[View], View]:
        register: Callable[[View], View] = super().route(rule, **options)
        return register

    def response(self, status_code: int, schema: Any = None, **options: Any) -> Callable[[View], View]:
        decorate: Callable[[View], View] = super().response(status_code, schema, **options)
        return decorate

    def arguments(self, schema: Any, **options: Any) -> Callable[[View], View]:
        """As flask-smorest's, with the schema made once and not for each request, and a body read without detours."""
        schema = schema() if isinstance(schema, type) else schema
        decorate = super().arguments(schema, **options)
        location = options.get("location", "json")

        def decorator(view: View) -> View:
            decorated = decorate(view)
            decorated._apidoc["arguments"].pop("responses", None)  # ours are in the note
            if location == "json":

                @wraps(decorated)
                def reading(*args: Any, **kwargs: Any) -> Any:
                    return view(read_body(flask.request, schema), *args, **kwargs)

                decorated = reading
            return note(decorated, **{f"reads_{location}": True})

        return decorator

    @staticmethod
    def problems(*statuses: int) -> Callable[[View], View]:
        """Say which problems a view answers with, besides those that its other decorators imply."""
        return lambda view: note(view, problems=statuses)

    @staticmethod
    def if_match(view: View) -> View:
        """Say that the view calls `conditional.require_match`."""
        return note(view, if_match=True)

    @staticmethod
    def if_none_match(view: View) -> View:
        """Say that the view calls `conditional.not_modified`."""
        return note(view, if_none_match=True)

    def add_url_rule(self, rule: str, endpoint: str | None = None, view_func: Any = None, **options: Any) -> None:
        """As flask-smorest's; the meaning of the path's parameters comes from `PARAMETERS`."""
        names = _PARAMETER.findall(rule)
        known = [{"in": "path", "name": name, "description": PARAMETERS[name]} for name in names]
        options["parameters"] = [*known, *(options.get("parameters") or ())]
        super().add_url_rule(rule, endpoint, view_func, **options)
        endpoint = self._endpoints[-1]  # flask-smorest may have made it unique
        for method, info in self._docs[endpoint].items():
            if method != "parameters":
                name = f"{method}_{endpoint}" if isinstance(view_func, type) else endpoint
                info[NOTE] = {**info.get(NOTE, {}), "operation": name, "has_parameters": bool(names)}


def _document(doc: dict[str, Any], doc_info: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add to an operation what its note tells; the names stand for the components in `openapi`."""
    facts = doc_info[NOTE]
    doc["operationId"] = facts["operation"]
    parameters = doc.setdefault("parameters", [])
    parameters.extend(_headers(facts))
    doc["security"] = _security(facts)
    responses = doc.setdefault("responses", {})
    for status, response in responses.items():
        if isinstance(response, dict) and int(status) < 400:
            response.setdefault("headers", {}).update(_reply_headers(facts, int(status)))
    if facts.get("if_none_match"):
        responses[304] = {"description": "You have it already.", "headers": _reply_headers(facts, 304)}
    for status in sorted(_statuses(facts)):
        responses.setdefault(status, f"Problem{status}")
    return doc


def _headers(facts: dict[str, Any]) -> Iterable[str]:
    if facts.get("creates"):
        yield "IdempotencyKey"
    if facts.get("if_match"):
        yield "IfMatch"
    if facts.get("if_none_match"):
        yield "IfNoneMatch"


def _reply_headers(facts: dict[str, Any], status: int) -> dict[str, Any]:
    names = ["X-Request-Id"]
    if "scope" in facts:
        names += ["RateLimit-Policy", "RateLimit"]
    if facts.get("if_match") or facts.get("if_none_match"):
        names += ["ETag"]
    if facts.get("creates") and status in {201, 202}:
        names += ["Location"]
    return {name: name for name in names}


def _security(facts: dict[str, Any]) -> list[dict[str, list[str]]]:
    if "scope" not in facts:
        return []
    return [{"apiKey": [facts["scope"]]}, *([{"learnerToken": []}] if facts["learner"] else [])]


def _statuses(facts: dict[str, Any]) -> set[int]:
    """The problems that follow from how a view is decorated."""
    statuses = {500, *facts.get("problems", ())}
    if "scope" in facts:
        statuses |= {401, 403, 429, 503}
    if facts["has_parameters"]:
        statuses |= {404}
    if facts.get("reads_json"):
        statuses |= {400, 413, 415, 422}
    if facts.get("reads_files") or facts.get("reads_form"):
        statuses |= {400, 413, 422}
    if facts.get("reads_query"):
        statuses |= {400}
    if facts.get("creates"):
        statuses |= {400, 409, 422}
    if facts.get("if_match"):
        statuses |= {400, 412, 428}
    if facts.get("if_none_match"):
        statuses |= {400}
    return statuses
