"""From errors to RFC 9457 problems: one table for ours, one for HTTP's own, and what to do with the rest.

Errors that only make sense over HTTP are defined here:

ApiError
├── MalformedBody          the body is not JSON at all
├── UnsupportedMediaType   the body says that it is something else than JSON
├── InvalidParameters      query parameters or a cursor can't be used
├── InvalidHeader          a request header can't be used
├── Unauthenticated        no credentials, or none that are good
├── ScopeMissing           good credentials that don't allow this
├── PreconditionMissing    an update without `If-Match`
├── PreconditionFailed     somebody else changed it first
├── InvalidBody            the body breaks its schema
├── QuotaExceeded          too many requests
└── Unavailable            the service can't answer just now
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import sqlalchemy.exc
from werkzeug.exceptions import HTTPException

from engine.errors import (
    Infeasible,
    InvalidConstraint,
    InvalidPolicy,
    NothingDue,
    NothingToServe,
    PositionConflict,
    SessionFinished,
    TimeOver,
    Unsolved,
)
from itembank.errors import (
    AlreadyExists,
    Conflict,
    Invalid,
    KeyReused,
    NotFound,
    RevisionConflict,
    StageConflict,
    Unreadable,
)

RETRY_AFTER_S = 2


@dataclass(frozen=True, slots=True)
class Fault:
    """One member of a problem's `errors`: where it is, in the body, a parameter or a header, and what is wrong."""

    detail: str
    pointer: str | None = None
    parameter: str | None = None
    header: str | None = None
    code: str = "invalid"

    def dump(self) -> dict[str, str]:
        places = {"pointer": self.pointer, "parameter": self.parameter, "header": self.header}
        return {name: value for name, value in places.items() if value is not None} | {
            "detail": self.detail,
            "code": self.code,
        }


class ApiError(Exception):
    """Base of the errors that only make sense over HTTP."""

    def __init__(self, detail: str, *, faults: Iterable[Fault] = (), headers: Mapping[str, str] | None = None):
        super().__init__(detail)
        self.faults, self.headers = tuple(faults), dict(headers or {})


class MalformedBody(ApiError):
    """The body can't be parsed as JSON."""


class UnsupportedMediaType(ApiError):
    """The body's `Content-Type` is not one that the operation takes."""

    def __init__(self, given: str, accepted: str = "application/json"):
        super().__init__(f"Content-Type is {given or 'missing'}; this operation takes {accepted}")


class InvalidParameters(ApiError):
    """`faults` name the query parameters that are wrong."""

    def __init__(self, faults: Iterable[Fault]):
        super().__init__("the query can't be used as it is", faults=faults)


class InvalidHeader(ApiError):
    def __init__(self, header: str, detail: str):
        super().__init__(f"{header}: {detail}", faults=[Fault(detail, header=header)])


class Unauthenticated(ApiError):
    """`error` is RFC 6750's word for what is wrong with the token; empty when there is none."""

    def __init__(self, detail: str, error: str = ""):
        challenge = f'Bearer realm="nextitem", error="{error}"' if error else 'Bearer realm="nextitem"'
        super().__init__(detail, headers={"WWW-Authenticate": challenge})


class ScopeMissing(ApiError):
    def __init__(self, scope: str):
        challenge = f'Bearer realm="nextitem", error="insufficient_scope", scope="{scope}"'
        super().__init__(f"this call needs the scope {scope}", headers={"WWW-Authenticate": challenge})
        self.scope = scope


class PreconditionMissing(ApiError):
    def __init__(self, header: str = "If-Match"):
        super().__init__(f"this call needs {header}, with the ETag you got when you read what you want to change")


class PreconditionFailed(ApiError):
    def __init__(self, current: str):
        super().__init__(f"it has changed since you read it; its ETag is now {current}", headers={"ETag": current})


class InvalidBody(ApiError):
    def __init__(self, faults: Iterable[Fault]):
        super().__init__("the body is well-formed, but breaks its schema", faults=faults)


class QuotaExceeded(ApiError):
    def __init__(self, limit: str, policy: str, headers: Mapping[str, str]):
        super().__init__(f"more requests than the limit, {limit}", headers=headers)
        self.violated_policies = [policy]


class Unavailable(ApiError):
    """The database is gone, full or busy; the same request may work in a moment."""

    def __init__(self, detail: str = "the database can't be reached"):
        super().__init__(detail, headers={"Retry-After": str(RETRY_AFTER_S)})


@dataclass(frozen=True, slots=True)
class Problem:
    """A kind of problem. `facts` names attributes of the error that become members of the reply."""

    status: int
    slug: str
    title: str
    meaning: str
    facts: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        return f"/problems/{self.slug}" if self.slug else "about:blank"

    @property
    def code(self) -> str:
        return self.slug.replace("-", "_")


NOT_FOUND = Problem(
    404,
    "not-found",
    "Not found",
    "No such path, or no such thing for this tenant. Another tenant's thing is no such thing.",
)
REVISION_CONFLICT = Problem(
    412,
    "precondition-failed",
    "It has changed",
    "Somebody else changed it since you read it. Read it again (`ETag` is the current one) and decide anew.",
)
INTERNAL_ERROR = Problem(
    500,
    "internal-error",
    "Internal error",
    "A fault of ours. Tell the operator the `request_id`; the log has the details.",
)
INVALID = Problem(
    422, "invalid", "The content breaks a rule", "Well-formed, but breaks rules; `errors` has a JSON Pointer for each."
)
ALREADY_EXISTS = Problem(409, "already-exists", "Exists already", "A name that must be unique is taken.")

PROBLEMS: dict[type[Exception], Problem] = {
    MalformedBody: Problem(400, "malformed-body", "The body is not JSON", "The body can't be parsed as JSON in UTF-8."),
    InvalidParameters: Problem(
        400,
        "invalid-parameter",
        "A query parameter can't be used",
        "A query parameter is unknown or out of range, or a cursor belongs to another query; `errors` names each.",
    ),
    InvalidHeader: Problem(
        400, "invalid-header", "A header can't be used", "A request header has a value that can't be used."
    ),
    Unauthenticated: Problem(
        401,
        "unauthenticated",
        "Credentials are missing or no good",
        "Send `Authorization: Bearer` with a valid API key or token.",
    ),
    ScopeMissing: Problem(
        403,
        "scope-missing",
        "The credentials don't allow this",
        "The key is good but lacks the scope named in `scope`.",
        ("scope",),
    ),
    NotFound: NOT_FOUND,
    Conflict: Problem(409, "conflict", "Not in this state", "The request makes sense, but not in the present state."),
    AlreadyExists: ALREADY_EXISTS,
    StageConflict: Problem(
        409,
        "stage-conflict",
        "The life cycle has no such move",
        "The item can't go from its `stage` to the one asked for; `allowed` lists where it can go.",
        ("stage", "allowed"),
    ),
    NothingDue: Problem(
        409,
        "nothing-due",
        "Nothing is due for review",
        "The learner remembers what was answered; `next_due_at` says when the next item is due, if there is one.",
        ("next_due_at",),
    ),
    NothingToServe: Problem(
        409,
        "nothing-to-serve",
        "No item can be served",
        "None of the exam's items is operational and new to this learner, so the session can't begin.",
    ),
    PositionConflict: Problem(
        409,
        "position-conflict",
        "Not an answer to the open position",
        "The position was answered otherwise before, or is not open yet; `open_position` is the latest.",
        ("open_position",),
    ),
    SessionFinished: Problem(
        409,
        "session-finished",
        "The session is over",
        "It takes no more answers; `stop_reason` says why.",
        ("stop_reason",),
    ),
    TimeOver: Problem(
        409,
        "time-over",
        "The time is over",
        "The session's time is over; it is being ended with what was answered. Read it again.",
    ),
    RevisionConflict: REVISION_CONFLICT,
    PreconditionFailed: REVISION_CONFLICT,
    UnsupportedMediaType: Problem(
        415,
        "unsupported-media-type",
        "Not a media type for this call",
        "The body's `Content-Type` must be `application/json`.",
    ),
    InvalidBody: INVALID,
    Invalid: INVALID,
    Infeasible: Problem(
        422,
        "infeasible",
        "The constraints clash",
        "No form of the pool meets all constraints; `constraints` names a few of which one has to give.",
        ("constraints",),
    ),
    InvalidConstraint: Problem(
        422,
        "invalid-constraint",
        "A constraint can't be used",
        "A constraint has a value that it must not have, or asks for an attribute that the items don't have.",
    ),
    InvalidPolicy: Problem(
        422,
        "invalid-policy",
        "The policy can't be used",
        "A field of the session's policy has a value that it must not have.",
    ),
    KeyReused: Problem(
        422,
        "key-reused",
        "The idempotency key was used before",
        "The same `Idempotency-Key` came with another request. Use a new key for a new request.",
    ),
    Unreadable: Problem(
        422, "unreadable-file", "The file can't be read", "A file is not what it claims to be, or is damaged."
    ),
    PreconditionMissing: Problem(
        428, "precondition-required", "If-Match is missing", "Updates need `If-Match` with the `ETag` of what you read."
    ),
    QuotaExceeded: Problem(
        429,
        "quota-exceeded",
        "Too many requests",
        "Wait as long as `Retry-After` says.",
        ("violated_policies",),
    ),
    Unsolved: Problem(
        503,
        "unsolved",
        "No form was found in time",
        "The constraints may have a form, but it was not found within the solver's limit. Ask for less, or allow more.",
    ),
    Unavailable: Problem(
        503,
        "unavailable",
        "Not available just now",
        "The database is gone or busy. Send the same request again after `Retry-After`.",
    ),
    Exception: INTERNAL_ERROR,
}
"""Errors by their class; the nearest class in an error's family counts."""

HTTP_PROBLEMS: dict[int, Problem] = {
    404: NOT_FOUND,
    405: Problem(
        405, "method-not-allowed", "Not a method of this path", "`Allow` lists the methods that the path has."
    ),
    413: Problem(
        413, "body-too-large", "The body is too large", "The body is larger than the limit, 1 MiB unless set otherwise."
    ),
    500: INTERNAL_ERROR,
}
"""Flask's and Werkzeug's own errors by status; any other status is `about:blank`."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A problem as it happened: everything the reply says but where and in which request."""

    problem: Problem
    detail: str
    faults: tuple[Fault, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ours(self) -> bool:
        """Whether the operator has to look at it, since the caller can do nothing about it."""
        return self.problem is INTERNAL_ERROR

    def body(self, *, instance: str, request_id: str) -> dict[str, Any]:
        body = {
            "type": self.problem.type,
            "title": self.problem.title,
            "status": self.problem.status,
            "detail": self.detail,
            "instance": instance,
            "code": self.problem.code,
            "request_id": request_id,
        }
        if self.faults:
            body["errors"] = [fault.dump() for fault in self.faults]
        return body | dict(self.facts)


def diagnose(error: Exception) -> Occurrence:
    """What to answer to an error; whatever isn't foreseen is an internal error that tells nothing."""
    if isinstance(error, HTTPException):
        return _diagnose_http(error)
    if isinstance(error, sqlalchemy.exc.DBAPIError | sqlalchemy.exc.TimeoutError):
        return _diagnose_database(error)
    problem = next(PROBLEMS[family] for family in type(error).__mro__ if family in PROBLEMS)
    if problem is INTERNAL_ERROR:
        return Occurrence(problem, "the request could not be answered")
    return Occurrence(
        problem,
        str(error),
        faults=tuple(_faults(error)),
        facts={name: getattr(error, name) for name in problem.facts},
        headers=_headers(error),
    )


def _faults(error: Exception) -> Iterator[Fault]:
    if isinstance(error, ApiError):
        yield from error.faults
    elif isinstance(error, Invalid):
        yield from (Fault(issue.what, pointer=issue.pointer) for issue in error.issues)
    elif isinstance(error, InvalidConstraint):
        yield Fault(f"{error.name}, {error.field}: {error.expected} expected", pointer="/policy/constraints")
    elif isinstance(error, InvalidPolicy):
        yield Fault(f"{error.expected} expected", pointer=f"/policy/{error.field}")


def _headers(error: Exception) -> Mapping[str, str]:
    if isinstance(error, ApiError):
        return error.headers
    return {"ETag": error.current} if isinstance(error, RevisionConflict) else {}


def _diagnose_http(error: HTTPException) -> Occurrence:
    status = error.code or 500
    problem = HTTP_PROBLEMS.get(status) or Problem(status, "", HTTPStatus(status).phrase, "")
    headers = {name: value for name, value in error.get_headers() if name in {"Allow", "Retry-After"}}
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        headers["Connection"] = "close"  # the rest of the body is still coming
    return Occurrence(problem, error.description or problem.title, headers=headers)


def _diagnose_database(error: sqlalchemy.exc.DBAPIError | sqlalchemy.exc.TimeoutError) -> Occurrence:
    if is_outage(error):
        return diagnose(Unavailable())
    if _is_duplicate(error):  # two requests took the same name at the same moment
        return Occurrence(ALREADY_EXISTS, "a name that must be unique was taken at this very moment")
    return Occurrence(INTERNAL_ERROR, "the request could not be answered")


OUTAGE_CLASSES = ("08", "40", "53", "57")  # PostgreSQL: connection, serialization, resources, operator intervention
LOCK_NOT_AVAILABLE = "55P03"
SQLITE_FAULTS_OF_OURS = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE}


def is_outage(error: Exception) -> bool:
    """Whether the database is gone, full or busy, so that the same request may work in a moment."""
    if isinstance(error, sqlalchemy.exc.TimeoutError):  # no connection in the pool became free
        return True
    if not isinstance(error, sqlalchemy.exc.DBAPIError):
        return False
    if error.connection_invalidated:
        return True
    if not isinstance(error, sqlalchemy.exc.OperationalError | sqlalchemy.exc.InterfaceError):
        return False
    if isinstance(error.orig, sqlite3.Error):
        code = getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the primary code
        return code not in SQLITE_FAULTS_OF_OURS
    state = getattr(error.orig, "sqlstate", None)
    return state is None or state.startswith(OUTAGE_CLASSES) or state == LOCK_NOT_AVAILABLE


def _is_duplicate(error: Exception) -> bool:
    if not isinstance(error, sqlalchemy.exc.IntegrityError):
        return False
    if isinstance(error.orig, sqlite3.Error):
        return error.orig.sqlite_errorcode in {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}
    return getattr(error.orig, "sqlstate", None) == "23505"


def pointers(messages: Any, at: str = "") -> Iterator[Fault]:
    """Marshmallow's nested messages as faults, each with a JSON Pointer (RFC 6901)."""
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            yield from pointers(inner, at if key == "_schema" else f"{at}/{escape(key)}")
    elif isinstance(messages, list):
        for message in messages:
            yield from pointers(message, at)
    else:
        yield Fault(str(messages), pointer=at, code=CODES.get(str(messages), "invalid"))


def escape(token: object) -> str:
    """One reference token of a JSON Pointer."""
    return str(token).replace("~", "~0").replace("/", "~1")


CODES = {"Missing data for required field.": "required", "Unknown field.": "unknown_field"}
