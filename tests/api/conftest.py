"""The skeleton with a toy resource on it."""

import io
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from api.app import create_app
from api.config import Config
from api.pages import docs
from tests.api import toys
from tests.factories.clock import Clock
from tests.factories.command import run
from tests.factories.http import Caller

SECRET = "a key that is only good for tests, and long"
CONFIG = Config(secret_key=SECRET, rate_limit=None, learner_rate_limit=None)


@pytest.fixture
def make_app(engine: sa.Engine, clock: Clock) -> Callable[..., Flask]:
    """A function that makes the application with toys; it takes settings, `engine` and `log_to`."""

    def make(*, log_to: io.BytesIO | None = None, on: sa.Engine | None = None, **settings: Any) -> Flask:
        app = create_app(
            replace(CONFIG, **settings), clock=clock, engine=engine if on is None else on, log_to=log_to or io.BytesIO()
        )
        app.extensions[docs.API].register_blueprint(toys.blp)
        return app

    return make


@pytest.fixture
def caller(make_app: Callable[..., Flask], api_key: Callable[..., str]) -> Caller:
    """A client with every scope."""
    return Caller(make_app().test_client(), api_key("admin"))


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, new_database: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> str:
    """A migrated database that the settings name."""
    for name in os.environ:
        if name.startswith("NEXTITEM_"):
            monkeypatch.delenv(name)
    made = new_database(request.param)
    monkeypatch.setenv("NEXTITEM_DATABASE_URL", made)
    assert run("db", "upgrade") == 0
    return made
