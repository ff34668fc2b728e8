"""How often a caller may call, and the headers that say so (draft-ietf-httpapi-ratelimit-headers)."""

import math
import time

from limits import RateLimitItem
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from api.auth.lookup import Caller
from api.errors import QuotaExceeded

POLICY = "default"


class Quota:
    """Counts requests in this process. One for each process; safe for threads."""

    def __init__(self, *, client: RateLimitItem | None, learner: RateLimitItem | None):
        self._client, self._learner = client, learner
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def spend(self, caller: Caller) -> dict[str, str]:
        """Count one request; the headers to send. Raises QuotaExceeded, which carries the same headers."""
        limit, who = (
            (self._client, str(caller.client_id))
            if caller.session_uuid is None
            else (self._learner, caller.session_uuid.hex)
        )
        if limit is None:
            return {}
        is_allowed = self._limiter.hit(limit, who)
        reset, remaining = self._limiter.get_window_stats(limit, who)
        wait_s = max(math.ceil(reset - time.time()), 1)
        headers = {
            "RateLimit-Policy": f'"{POLICY}";q={limit.amount};w={limit.get_expiry()}',
            "RateLimit": f'"{POLICY}";r={max(remaining, 0)};t={wait_s}',
        }
        if not is_allowed:
            raise QuotaExceeded(str(limit), POLICY, headers | {"Retry-After": str(wait_s)})
        return headers
