"""The one place where everything is wired: settings, database, credentials, routes, errors, logs."""

import json
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, BinaryIO
from urllib.parse import quote

import sqlalchemy as sa
from flask import Flask, Response, g, request
from flask.json.provider import JSONProvider
from werkzeug.routing import UnicodeConverter
from werkzeug.routing.map import Map

from api import context, observe
from api.auth import guard
from api.auth.lookup import Callers
from api.auth.quota import Quota
from api.config import SECRET_KEY_LENGTH, Config, ConfigError
from api.errors import diagnose
from api.pages import BLUEPRINTS as PAGES
from api.pages import docs
from api.schemas.openapi import PROBLEM_JSON, open_api
from api.v1 import BLUEPRINTS
from itembank.store import open_engine, uuid7

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:+/=-]{1,128}", re.ASCII)
_SECURITY = [
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
]
_POLICY = "default-src 'none'; frame-ancestors 'none'"


def create_app(
    config: Config,
    *,
    clock: Callable[[], datetime] | None = None,
    engine: sa.Engine | None = None,
    log_to: BinaryIO | None = None,
) -> Flask:
    """The application. `clock` and `engine` are given by tests; a pool of connections is opened otherwise."""
    if config.secret_key is None:
        raise ConfigError(f"NEXTITEM_SECRET_KEY is not set; give it at least {SECRET_KEY_LENGTH} random characters")
    app = Flask("nextitem", static_folder=None)
    app.config |= {"MAX_CONTENT_LENGTH": config.max_body_bytes, "PROPAGATE_EXCEPTIONS": False}
    app.json = Json(app)
    app.url_map.merge_slashes = False
    app.url_map.converters |= {"default": Segment, "string": Segment}
    clock = clock or _utc_now
    engine = engine if engine is not None else open_engine(config.database_url, pool_size=config.threads)
    app.extensions |= {
        context.CONFIG: config,
        context.CLOCK: clock,
        context.ENGINE: engine,
        guard.CALLERS: Callers(engine, secret_key=config.secret_key, clock=clock),
        guard.QUOTA: Quota(client=config.rate_limit, learner=config.learner_rate_limit),
        context.LOG: observe.open_log(config.log_level, log_to),
    }
    app.before_request(_begin)
    app.after_request(_end)
    app.register_error_handler(Exception, _answer_error)
    api = open_api(app, config)
    app.extensions[docs.API] = api
    for blueprint in BLUEPRINTS:
        api.register_blueprint(blueprint)
    for page in PAGES:
        app.register_blueprint(page)
    return app


class Segment(UnicodeConverter):
    """Part of a path: no control characters, which a database might choke on, and not endless."""

    regex = r"[^/\x00-\x1f\x7f]{1,200}"

    def __init__(self, map: Map):
        super().__init__(map, maxlength=200)
        self.regex = type(self).regex


class Json(JSONProvider):
    """Compact JSON in UTF-8."""

    _encode = staticmethod(json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode)

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return self._encode(obj)

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        return json.loads(s, **kwargs)

    def response(self, *args: Any, **kwargs: Any) -> Response:
        body = self._prepare_response_obj(args, kwargs)
        return Response(self._encode(body), content_type="application/json")


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _begin() -> None:
    given = request.headers.get("X-Request-Id")
    g.request_id = given if given is not None and _REQUEST_ID.fullmatch(given) else str(uuid7())
    g.started = time.perf_counter()


def _end(response: Response) -> Response:
    headers = response.headers
    headers.extend(_SECURITY)
    headers["X-Request-Id"] = g.request_id
    for name, value in g.get("quota_headers", {}).items():
        headers[name] = value
    if "Content-Security-Policy" not in headers:
        headers["Content-Security-Policy"] = _POLICY
    if "Cache-Control" not in headers:
        headers["Cache-Control"] = "private, no-cache" if "ETag" in headers else "no-store"
    _record(response.status_code)
    return response


def _record(status: int) -> None:
    seconds = time.perf_counter() - g.started
    route = request.url_rule.rule if request.url_rule is not None else None
    observe.observe(route, request.method, status, seconds)
    caller = g.get("caller")
    context.log().info(
        "request",
        request_id=g.request_id,
        method=request.method,
        path=request.path,
        route=route,
        status=status,
        ms=round(seconds * 1000, 2),
        caller=None if caller is None else caller.actor,
    )


def _answer_error(error: Exception) -> Response:
    """Every error ends here, Flask's own too; what isn't foreseen is logged in full and answered with nothing."""
    occurrence = diagnose(error)
    if occurrence.is_ours:
        observe.FAULTS.inc()
        context.log().error("fault", request_id=g.request_id, path=request.path, exc_info=error)
    body = occurrence.body(instance=quote(request.path), request_id=g.request_id)
    reply = Response(json.dumps(body), occurrence.problem.status, content_type=PROBLEM_JSON)
    _set_headers(reply, occurrence.headers)
    return reply


def _set_headers(reply: Response, headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        reply.headers[name] = value
