"""A clock for tests."""

from datetime import datetime, timedelta
from typing import Any


class Clock:
    """A clock that stands still until it is told to move."""

    def __init__(self, at: datetime):
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def advance(self, **amount: Any) -> datetime:
        self.at += timedelta(**amount)
        return self.at
