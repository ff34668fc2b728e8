"""One request: its caller, its transaction, its clock, and the reply it must give again if it is sent again.

A view is wrapped in one of `@reads`, `@writes`, `@writes_at_once` and `@creates`. What it wrote is committed before the
reply leaves, so whoever got a reply can rely on it.
"""

import hashlib
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

import sqlalchemy as sa
from flask import Response, current_app, g, request
from structlog.typing import FilteringBoundLogger

from api.auth.lookup import Caller
from api.config import Config
from api.edge import exchange
from api.errors import InvalidHeader
from api.observe import Metrics
from api.operations import View, note
from api.transactions import AT_ONCE, READING, WRITING, Begin, transact
from itembank import clients
from itembank.store import Db

# where `app.extensions` keeps them
ENGINE, CLOCK, CONFIG = "nextitem-engine", "nextitem-clock", "nextitem-config"
LOG, METRICS = "nextitem-log", "nextitem-metrics"

KEYS_KEPT = timedelta(hours=24)
KEYS_SWEPT = timedelta(hours=1)
KEY_LENGTH = 255
STORED_HEADERS = ("Content-Type", "Location", "ETag")
REPLAYED = "Idempotent-Replayed"


def caller() -> Caller:
    """Who calls; only behind `@requires`."""
    found: Caller = g.caller
    return found


def db() -> Db:
    """The transaction of this request; only inside `@reads`, `@writes` and `@creates`."""
    handle: Db = g.db
    return handle


def now() -> datetime:
    """The time, aware and in UTC."""
    time: datetime = current_app.extensions[CLOCK]()
    return time


def engine() -> sa.Engine:
    """For replies that are streamed: they open their own transaction, since the request's is over by then."""
    found: sa.Engine = current_app.extensions[ENGINE]
    return found


def config() -> Config:
    found: Config = current_app.extensions[CONFIG]
    return found


def log() -> FilteringBoundLogger:
    """For what an operator should know; give facts as keywords, no personal data."""
    found: FilteringBoundLogger = current_app.extensions[LOG]
    return found


def metrics() -> Metrics:
    found: Metrics = current_app.extensions[METRICS]
    return found


def request_id() -> str:
    return exchange().request_id


def concerns_learner(learner_id: int) -> None:
    """Say that the reply holds a learner's data, so that erasing the learner erases the stored reply too."""
    g.learner_id = learner_id


def reads(view: View) -> View:
    """Run the view in a transaction that only reads."""

    @wraps(view)
    def reading(*args: Any, **kwargs: Any) -> Any:
        return _transact(view, args, kwargs, READING)

    return note(reading, transaction="reads")


def writes(view: View) -> View:
    """Run the view in a transaction that is committed when the view returns and rolled back when it raises."""

    @wraps(view)
    def writing(*args: Any, **kwargs: Any) -> Any:
        return _transact(view, args, kwargs, WRITING)

    return note(writing, transaction="writes")


def writes_at_once(view: View) -> View:
    """As `@writes` for a view that writes with one statement and may be tried twice: on PostgreSQL no transaction."""

    @wraps(view)
    def writing(*args: Any, **kwargs: Any) -> Any:
        return _transact(view, args, kwargs, AT_ONCE)

    return note(writing, transaction="writes")


def creates(view: View) -> View:
    """As `@writes`; and a request with an `Idempotency-Key` that was answered before gets the same reply again."""

    @wraps(view)
    def once(*args: Any, **kwargs: Any) -> Any:
        key = idempotency_key()
        return view(*args, **kwargs) if key is None else _once(view, args, kwargs, key)

    return note(writes(once), creates=True)


def idempotency_key() -> str | None:
    """The request's `Idempotency-Key`: a quoted string as the draft asks for, or bare as many clients send it."""
    given = request.headers.get("Idempotency-Key")
    if given is None:
        return None
    key = given.strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    if not 1 <= len(key) <= KEY_LENGTH or not key.isascii() or not key.isprintable():
        raise InvalidHeader("Idempotency-Key", f"must have 1 to {KEY_LENGTH} printable ASCII characters")
    return key


def _transact(view: View, args: tuple[Any, ...], kwargs: dict[str, Any], begin: Begin) -> Any:
    def work(handle: Db) -> Any:
        g.db = handle
        return view(*args, **kwargs)

    return transact(current_app.extensions[ENGINE], work, begin)


def _once(view: View, args: tuple[Any, ...], kwargs: dict[str, Any], key: str) -> Response:
    """The record is written first, so that it decides who of two is first; it is kept only if the view succeeds."""
    who, handle, time = caller(), db(), now()
    _sweep(handle, time)
    claim = clients.claim_key(handle, who.client_id, key, _fingerprint(), now=time, since=time - KEYS_KEPT)
    if claim.reply is not None:
        reply = Response(claim.reply.body, claim.reply.status, dict(claim.reply.headers))
        reply.headers[REPLAYED] = "true"
        return reply
    response: Response = current_app.make_response(view(*args, **kwargs))
    if response.status_code < 300:
        headers = {name: response.headers[name] for name in STORED_HEADERS if name in response.headers}
        stored = clients.Reply(response.status_code, headers, response.get_data(as_text=True))
        clients.complete_claim(handle, claim, stored, learner_id=g.pop("learner_id", None))
    else:
        clients.release_claim(handle, claim)
    return response


def _fingerprint() -> str:
    """What makes two requests the same one, besides the caller."""
    digest = hashlib.sha256(f"{request.method} {request.full_path}\n".encode("utf-8", "surrogateescape"))
    digest.update(request.get_data(cache=True))
    return digest.hexdigest()


def _sweep(handle: Db, time: datetime) -> None:
    """Forget old keys now and then; each process does it once an hour, when a key comes by."""
    extensions = current_app.extensions
    if time - extensions.get("nextitem-swept", time - 2 * KEYS_SWEPT) >= KEYS_SWEPT:
        extensions["nextitem-swept"] = time
        clients.forget_keys(handle, before=time - KEYS_KEPT)


__all__ = [
    "Caller",
    "caller",
    "concerns_learner",
    "config",
    "creates",
    "db",
    "engine",
    "idempotency_key",
    "log",
    "metrics",
    "now",
    "reads",
    "request_id",
    "writes",
    "writes_at_once",
]
