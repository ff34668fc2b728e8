"""The schema: one line of revisions, each reversible, ending exactly where the models stand."""

from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory

from itembank.store import open_engine
from tests.factories.database import alembic_config


@pytest.fixture(params=["sqlite", "postgresql"])
def blank(request: pytest.FixtureRequest, new_database: Callable[[str], str]) -> Iterator[sa.Engine]:
    engine = open_engine(new_database(request.param))
    yield engine
    engine.dispose()


def test_there_is_one_head(blank: sa.Engine) -> None:
    assert len(ScriptDirectory.from_config(alembic_config(blank)).get_heads()) == 1


def test_every_revision_goes_up_down_and_up_again(blank: sa.Engine) -> None:
    config = alembic_config(blank)
    for revision in reversed(list(ScriptDirectory.from_config(config).walk_revisions())):
        command.upgrade(config, revision.revision)
        command.downgrade(config, revision.down_revision or "base")
        command.upgrade(config, revision.revision)
    command.downgrade(config, "base")
    assert sa.inspect(blank).get_table_names() == ["alembic_version"]


def test_the_head_is_what_the_models_say(blank: sa.Engine) -> None:
    config = alembic_config(blank)
    command.upgrade(config, "head")
    command.check(config)


def test_answers_and_scores_can_only_be_appended_on_postgresql(migrated_engine: sa.Engine) -> None:
    if migrated_engine.dialect.name != "postgresql":
        pytest.skip("SQLite has no privileges; there only the code keeps the log")
    guarded = ("UPDATE response SET position = 0", "DELETE FROM score", "TRUNCATE response, score")
    for statement in (*guarded, "UPDATE form_answer SET flagged = true", "DELETE FROM form_answer"):
        with migrated_engine.connect() as connection, pytest.raises(sa.exc.DBAPIError, match="append-only"):
            connection.execute(sa.text(statement))
