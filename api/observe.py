"""What an operator sees: one JSON line for each request, and the metrics that Prometheus fetches."""

import json
import sys
from typing import BinaryIO

import structlog
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import FilteringBoundLogger

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
NO_ROUTE = "none"  # requests that match no route share one label, or a scanner could fill the memory
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})  # and so do all other methods
BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


class Metrics:
    """The metrics of one application.

    shared : the folder where the processes of one instance keep theirs, so that any of them can tell the sum;
        prometheus-client finds it in the environment when it is first imported, which must not be before
        `nextitem serve` has put it there. That is why it is imported in here.
    """

    def __init__(self, shared: str | None):
        import prometheus_client

        self._shared = shared
        self._registry = prometheus_client.CollectorRegistry()
        self._seconds = prometheus_client.Histogram(
            "nextitem_request_seconds",
            "Time to answer a request, by route, method and status.",
            ("route", "method", "status"),
            buckets=BUCKETS_S,
            registry=self._registry,
        )
        self._faults = prometheus_client.Counter(
            "nextitem_faults", "Requests that ended in an internal error.", registry=self._registry
        )

    def observe(self, route: str | None, method: str, status: int, seconds: float) -> None:
        self._seconds.labels(route or NO_ROUTE, method if method in METHODS else "OTHER", str(status)).observe(seconds)

    def count_fault(self) -> None:
        self._faults.inc()

    def dump(self) -> bytes:
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.multiprocess import MultiProcessCollector

        if self._shared is None:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry, path=self._shared)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def open_log(level: str, stream: BinaryIO | None = None) -> FilteringBoundLogger:
    """A logger that writes JSON lines to `stream` (standard error); it has no part in any global configuration."""
    lazy = structlog.wrap_logger(
        structlog.BytesLogger(stream or sys.stderr.buffer),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.ExceptionRenderer(_tracebacks),
            structlog.processors.JSONRenderer(serializer=_dump),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    logger: FilteringBoundLogger = lazy.bind()  # made once and not for each line
    return logger


_tracebacks = ExceptionDictTransformer(show_locals=False)  # locals hold keys, answers and whatever else
_encode = json.JSONEncoder(separators=(",", ":"), default=str).encode


def _dump(event: object, **_options: object) -> bytes:
    return _encode(event).encode()
