"""Every setting of the product: its name, how it is read, its default and what it means.

Nothing else reads the environment. A setting is a field of `Config`, so the table, the types and the documentation
(`docs/configuration.md`, which a test compares) can't drift apart.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from limits import RateLimitItem, parse
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

SECRET_KEY_LENGTH = 32
OFF = "off"


class ConfigError(Exception):
    """Settings that can't be used; the message has one line for each of them."""


def text(value: str) -> str:
    return value


def whole_number(minimum: int, maximum: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not value.isascii() or not value.isdigit() or not minimum <= int(value) <= maximum:
            raise ValueError(f"must be a whole number from {minimum} to {maximum}")
        return int(value)

    return read


def flag(value: str) -> bool:
    if value not in {"on", OFF}:
        raise ValueError(f"must be on or {OFF}")
    return value == "on"


def one_of(*choices: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return value

    return read


def database_url(value: str) -> str:
    try:
        backend = make_url(value).get_backend_name()
    except ArgumentError:
        backend = ""
    if backend not in {"sqlite", "postgresql"}:
        raise ValueError("must be sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME")
    return value


def secret(value: str) -> str:
    if len(value) < SECRET_KEY_LENGTH:
        raise ValueError(f"must have at least {SECRET_KEY_LENGTH} characters")
    return value


def rate(value: str) -> RateLimitItem | None:
    if value == OFF:
        return None
    try:
        return parse(value)
    except ValueError as error:
        raise ValueError(f"must look like 6000/minute, or be {OFF}") from error


def setting(name: str, read: Callable[[str], Any], default: str, meaning: str, *, secret: bool = False) -> Any:
    """A field of `Config`; `default` is written as it would stand in the environment, empty for "not set"."""
    value = read(default) if default else None
    return field(
        default=value, repr=not secret, metadata={"name": name, "read": read, "default": default, "meaning": meaning}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    database_url: str = setting(
        "NEXTITEM_DATABASE_URL",
        database_url,
        "sqlite:///var/nextitem.db",
        "Where the data is: `sqlite:///PATH` or `postgresql://USER:PASSWORD@HOST/NAME`.",
        secret=True,
    )
    secret_key: str | None = setting(
        "NEXTITEM_SECRET_KEY",
        secret,
        "",
        f"Signs learners' tokens; at least {SECRET_KEY_LENGTH} characters, the same in every process. Needed to serve.",
        secret=True,
    )
    host: str = setting("NEXTITEM_HOST", text, "127.0.0.1", "Address that `nextitem serve` listens on.")
    port: int = setting("PORT", whole_number(1, 65535), "8000", "Port that `nextitem serve` and `demo` listen on.")
    workers: int = setting("NEXTITEM_WORKERS", whole_number(1, 256), "2", "Processes that `nextitem serve` starts.")
    threads: int = setting(
        "NEXTITEM_THREADS",
        whole_number(1, 256),
        "8",
        "Threads in each process; a process opens at most twice as many database connections.",
    )
    rate_limit: RateLimitItem | None = setting(  # noqa: RUF009  # a field
        "NEXTITEM_RATE_LIMIT",
        rate,
        "6000/minute",
        f"Requests that one API client may make, counted in each process; `{OFF}` for no limit.",
    )
    learner_rate_limit: RateLimitItem | None = setting(  # noqa: RUF009  # a field
        "NEXTITEM_LEARNER_RATE_LIMIT",
        rate,
        "240/minute",
        f"Requests that one learner's token may make, counted in each process; `{OFF}` for no limit.",
    )
    max_body_bytes: int = setting(
        "NEXTITEM_MAX_BODY_BYTES",
        whole_number(1024, 2**31 - 1),
        "1048576",
        "Largest request body; larger ones get 413.",
    )
    learner_token_minutes: int = setting(
        "NEXTITEM_LEARNER_TOKEN_MINUTES", whole_number(1, 1440), "120", "How long a learner's token is good for."
    )
    log_level: str = setting(
        "NEXTITEM_LOG_LEVEL",
        one_of("debug", "info", "warning", "error", "critical"),
        "info",
        "Least severe log line that is written; every request is one line of level `info`.",
    )
    public_url: str = setting(
        "NEXTITEM_PUBLIC_URL",
        text,
        "/",
        "Where clients reach the API; it stands in the OpenAPI document.",
    )
    demo: bool = setting("NEXTITEM_DEMO", flag, OFF, "Serve the demo page at `/demo`; `nextitem demo` turns it on.")
    metrics_dir: str | None = setting(
        "PROMETHEUS_MULTIPROC_DIR",
        text,
        "",
        "Folder where the processes of one instance share their metrics; `nextitem serve` makes a temporary one.",
    )

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Config":
        """Settings that are absent or empty take their default. Raises ConfigError naming all that are wrong."""
        values, wrong = {}, []
        for row in settings():
            given = environ.get(row.metadata["name"], "")
            if not given:
                continue
            try:
                values[row.name] = row.metadata["read"](given)
            except ValueError as error:
                wrong.append(f"{row.metadata['name']} {error}")
        if wrong:
            raise ConfigError("; ".join(wrong))
        return cls(**values)


def settings() -> tuple[Field[Any], ...]:
    """The rows of the table; each has `name`, `read`, `default` and `meaning` in its metadata."""
    return tuple(row for row in fields(Config) if row.default is not MISSING)
