"""Moving windows in memory."""

from datetime import UTC, datetime

import pytest

from api.auth import quota
from api.auth.quota import Windows
from tests.factories.clock import Clock


def test_callers_that_fell_silent_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "CALLERS_COUNTED", 2)
    at = Clock(datetime(2026, 1, 1, tzinfo=UTC))
    windows = Windows(lambda: at().timestamp())
    windows.acquire_entry("old", 1, 60)
    at.advance(seconds=50)
    windows.acquire_entry("new", 1, 60)
    at.advance(seconds=20)
    windows.acquire_entry("newer", 1, 60)
    assert windows.get_moving_window("old", 1, 60)[1] == 0
    assert windows.get_moving_window("new", 1, 60)[1] == 1
