"""The one place where everything is wired: settings, database, credentials, routes, errors, logs."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, BinaryIO
from urllib.parse import quote

import orjson
import sqlalchemy as sa
from flask import Flask, Response, request
from flask.json.provider import JSONProvider
from werkzeug.routing import UnicodeConverter
from werkzeug.routing.map import Map

from api import context, observe
from api.auth import guard
from api.auth.lookup import Callers
from api.auth.quota import Quota
from api.config import SECRET_KEY_LENGTH, Config, ConfigError
from api.edge import Edge
from api.errors import diagnose
from api.pages import BLUEPRINTS as PAGES
from api.pages import demo, docs
from api.schemas.openapi import PROBLEM_JSON, open_api
from api.v1 import BLUEPRINTS
from itembank.store import open_engine


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
    app.ensure_sync = _as_it_is  # type: ignore[method-assign, assignment]  # no view is a coroutine
    app.url_map.merge_slashes = False
    app.url_map.converters |= {"default": Segment, "string": Segment, "external": External}
    clock = clock or _utc_now
    engine = engine if engine is not None else open_engine(config.database_url, pool_size=config.threads)
    app.extensions |= {
        context.CONFIG: config,
        context.CLOCK: clock,
        context.ENGINE: engine,
        guard.CALLERS: Callers(engine, secret_key=config.secret_key, clock=clock),
        guard.QUOTA: Quota(client=config.rate_limit, learner=config.learner_rate_limit, clock=clock),
        context.METRICS: observe.Metrics(config.metrics_dir),
        context.LOG: observe.open_log(config.log_level, log_to),
    }
    app.register_error_handler(Exception, _answer_error)
    api = open_api(app, config)
    app.extensions[docs.API] = api
    for blueprint in BLUEPRINTS:
        api.register_blueprint(blueprint)
    for page in PAGES:
        app.register_blueprint(page)
    if config.demo:
        app.register_blueprint(demo.blp)
    edge = Edge(app.wsgi_app, app.extensions[context.LOG], app.extensions[context.METRICS])
    app.wsgi_app = edge  # type: ignore[method-assign]  # Flask's own way
    return app


class Segment(UnicodeConverter):
    """Part of a path: no control characters, which a database might choke on, and not endless."""

    regex = r"[^/\x00-\x1f\x7f]{1,200}"
    part_isolating = True  # werkzeug guesses from the slash in the expression that it isn't

    def __init__(self, map: Map):
        super().__init__(map, maxlength=200)
        self.regex = type(self).regex


class External(Segment):
    """An id that the caller chose, slashes and all."""

    regex = r"[^\x00-\x1f\x7f]{1,200}"
    part_isolating = False


class Json(JSONProvider):
    """Compact JSON in UTF-8."""

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return orjson.dumps(obj).decode()

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        return orjson.loads(s)

    def response(self, *args: Any, **kwargs: Any) -> Response:
        body = self._prepare_response_obj(args, kwargs)
        return Response(orjson.dumps(body), content_type="application/json")


def _as_it_is(view: Callable[..., Any]) -> Callable[..., Any]:
    return view


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _answer_error(error: Exception) -> Response:
    """Every error ends here, Flask's own too; what isn't foreseen is logged in full and answered with nothing."""
    occurrence = diagnose(error)
    if occurrence.is_ours:
        context.metrics().count_fault()
        context.log().error("fault", request_id=context.request_id(), path=request.path, exc_info=error)
    body = occurrence.body(instance=quote(request.path), request_id=context.request_id())
    reply = Response(
        json.dumps(body),  # which can hold the half of a surrogate pair that it complains of
        occurrence.problem.status,
        content_type=PROBLEM_JSON,
    )
    _set_headers(reply, occurrence.headers)
    return reply


def _set_headers(reply: Response, headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        reply.headers[name] = value
