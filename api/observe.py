"""What an operator sees: one JSON line for each request, and the metrics that Prometheus fetches."""

import json
import sys
from typing import BinaryIO

import structlog
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from structlog.typing import FilteringBoundLogger

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
NO_ROUTE = "none"  # requests that match no route share one label, or a scanner could fill the memory

REQUEST_SECONDS = Histogram(
    "nextitem_request_seconds",
    "Time to answer a request, by route, method and status.",
    ("route", "method", "status"),
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
FAULTS = Counter("nextitem_faults_total", "Requests that ended in an internal error.")


def open_log(level: str, stream: BinaryIO | None = None) -> FilteringBoundLogger:
    """A logger that writes JSON lines to `stream` (standard error); it has no part in any global configuration."""
    lazy = structlog.wrap_logger(
        structlog.BytesLogger(stream or sys.stderr.buffer),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.dict_tracebacks,
            structlog.processors.JSONRenderer(serializer=_dump),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    logger: FilteringBoundLogger = lazy.bind()  # made once and not for each line
    return logger


_encode = json.JSONEncoder(separators=(",", ":"), default=str).encode


def _dump(event: object, **_options: object) -> bytes:
    return _encode(event).encode()


def observe(route: str | None, method: str, status: int, seconds: float) -> None:
    REQUEST_SECONDS.labels(route or NO_ROUTE, method, str(status)).observe(seconds)


def metrics(shared: str | None) -> bytes:
    """All metrics as text; `shared` is the folder where several processes keep theirs."""
    if shared is None:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=shared)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
