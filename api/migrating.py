"""The database's schema: bring it to the newest revision, or ask whether it is there."""

from functools import cache
from importlib.util import find_spec

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory


def upgrade(url: str) -> str | None:
    """Migrate to the newest revision and name it."""
    command.upgrade(_config(url), "head")
    return head()


@cache
def head() -> str | None:
    return ScriptDirectory.from_config(_config()).get_current_head()


def is_current(connection: sa.Connection) -> bool:
    return MigrationContext.configure(connection).get_current_revision() == head()


def _config(url: str = "") -> Config:
    spec = find_spec("migrations")  # an installed package, found but never imported
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("the package `migrations` is not installed")
    config = Config()
    config.set_main_option("script_location", spec.submodule_search_locations[0].replace("%", "%%"))
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config
