"""The outermost layer, around Flask: it names each request, completes the reply's headers, writes the log line.

It is plain WSGI and not a pair of Flask's hooks, since every request pays for it: this costs less, and it is still
there when something goes wrong inside.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flask import request
from structlog.typing import FilteringBoundLogger

from api.observe import Metrics
from itembank.store import uuid7

EXCHANGE = "nextitem.exchange"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:+/=-]{1,128}", re.ASCII)
_ALWAYS = [
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
]
_POLICY = ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")

type_of_app = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass(slots=True)
class Exchange:
    """One request and its reply, as the outside sees them; `actor` and `headers` are filled in on the way."""

    request_id: str
    started: float = field(default_factory=time.perf_counter)
    actor: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    route: str | None = None
    status: int = 500


def exchange() -> Exchange:
    """The exchange that the present request belongs to."""
    found: Exchange = request.environ[EXCHANGE]
    return found


class Edge:
    """Wraps the application: `app.wsgi_app = Edge(app.wsgi_app, log, metrics)`."""

    def __init__(self, app: type_of_app, log: FilteringBoundLogger, metrics: Metrics):
        self._app, self._log, self._metrics = app, log, metrics

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        given = environ.get("HTTP_X_REQUEST_ID")
        this = environ[EXCHANGE] = Exchange(given if given and _REQUEST_ID.fullmatch(given) else str(uuid7()))

        def respond(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            this.status = int(status[:3])
            rule = getattr(environ.get("werkzeug.request"), "url_rule", None)  # Flask's request; it is gone afterwards
            this.route = None if rule is None else rule.rule
            _complete(headers, this)
            return start_response(status, headers, exc_info)

        try:
            return self._app(environ, respond)
        finally:
            self._record(environ, this)

    def _record(self, environ: dict[str, Any], this: Exchange) -> None:
        seconds = time.perf_counter() - this.started
        method = environ["REQUEST_METHOD"]
        self._metrics.observe(this.route, method, this.status, seconds)
        self._log.info(
            "request",
            request_id=this.request_id,
            method=method,
            path=environ.get("PATH_INFO"),
            route=this.route,
            status=this.status,
            ms=round(seconds * 1000, 2),
            actor=this.actor,
        )


def _complete(headers: list[tuple[str, str]], this: Exchange) -> None:
    present = {name for name, _ in headers}
    headers += _ALWAYS
    headers += this.headers.items()
    headers.append(("X-Request-Id", this.request_id))
    if "Content-Security-Policy" not in present:
        headers.append(_POLICY)
    if "Cache-Control" not in present:
        headers.append(("Cache-Control", "private, no-cache" if "ETag" in present else "no-store"))
