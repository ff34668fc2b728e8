"""How often a caller may call, and the headers that say so (draft-ietf-httpapi-ratelimit-headers)."""

import math
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from limits import RateLimitItem
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from api.auth.lookup import Caller
from api.errors import QuotaExceeded

POLICY = "default"
CALLERS_COUNTED = 10_000


class Windows(MemoryStorage):
    """Moving windows in memory. limits' own starts a thread every 10 ms to throw out what is old.

    times : when each counted request came, oldest first, in seconds by the clock
    """

    def __init__(self, clock: Callable[[], float]):
        super().__init__()
        self._clock = clock
        self._times: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        now = self._clock()
        with self._lock:
            times = self._times.get(key)
            if times is None:
                times = self._begin(key, now - expiry)
            while times and times[0] <= now - expiry:
                times.popleft()
            if len(times) + amount > limit:
                return False
            times.extend([now] * amount)
            return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        with self._lock:
            times = self._times.get(key)
            return (times[0], len(times)) if times else (self._clock(), 0)

    def _begin(self, key: str, idle_since: float) -> deque[float]:
        if len(self._times) >= CALLERS_COUNTED:
            self._times = {key: times for key, times in self._times.items() if times and times[-1] > idle_since}
        times: deque[float] = deque()
        self._times[key] = times
        return times


@dataclass(frozen=True, slots=True)
class _Limit:
    """A limit with what is said about it, put together once."""

    item: RateLimitItem
    policy: str

    @classmethod
    def of(cls, item: RateLimitItem | None) -> "_Limit | None":
        return None if item is None else cls(item, f'"{POLICY}";q={item.amount};w={item.get_expiry()}')


class Quota:
    """Counts requests in this process. One for each process; safe for threads."""

    def __init__(self, *, client: RateLimitItem | None, learner: RateLimitItem | None, clock: Callable[[], datetime]):
        self._client, self._learner = _Limit.of(client), _Limit.of(learner)

        def seconds() -> float:
            return clock().timestamp()

        self._clock = seconds
        self._limiter = MovingWindowRateLimiter(Windows(self._clock))

    def spend(self, caller: Caller) -> dict[str, str]:
        """Count one request; the headers to send. Raises QuotaExceeded, which carries the same headers."""
        if caller.session_uuid is None:
            limit, who = self._client, f"client {caller.client_id}"
        else:
            limit, who = self._learner, f"session {caller.session_uuid}"
        if limit is None:
            return {}
        is_allowed = self._limiter.hit(limit.item, who)
        reset, remaining = self._limiter.get_window_stats(limit.item, who)
        wait_s = max(math.ceil(reset - self._clock()), 1)
        headers = {"RateLimit-Policy": limit.policy, "RateLimit": f'"{POLICY}";r={remaining};t={wait_s}'}
        if not is_allowed:
            raise QuotaExceeded(str(limit.item), POLICY, headers | {"Retry-After": str(wait_s)})
        return headers
