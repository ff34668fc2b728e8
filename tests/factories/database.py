"""What tests do to databases: migrate them and empty them."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

ROOT = Path(__file__).parent.parent.parent


def alembic_config(engine: sa.Engine) -> Config:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "migrations"))
    config.set_main_option("sqlalchemy.url", engine.url.render_as_string(hide_password=False).replace("%", "%%"))
    return config


def upgrade(engine: sa.Engine, revision: str = "head") -> None:
    command.upgrade(alembic_config(engine), revision)


def empty(engine: sa.Engine) -> None:
    """Empty every table but Alembic's. The log refuses to be emptied, so on PostgreSQL its guard is set aside."""
    names = [name for name in sa.inspect(engine).get_table_names() if name != "alembic_version"]
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.text("SET LOCAL session_replication_role = replica"))
            filled = [n for n in names if connection.execute(sa.text(f'SELECT 1 FROM "{n}" LIMIT 1')).first()]
            if filled:
                connection.execute(sa.text(f"TRUNCATE {', '.join(chr(34) + n + chr(34) for n in filled)} CASCADE"))
        else:
            connection.execute(sa.text("PRAGMA defer_foreign_keys = ON"))
            for name in names:
                connection.execute(sa.text(f'DELETE FROM "{name}"'))
