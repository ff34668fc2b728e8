"""`nextitem db …`: the database's schema."""

import click

from api.cli.settings import migrate, read_config


@click.group()
def db() -> None:
    """The database's schema."""


@db.command()
def upgrade() -> None:
    """Bring the database to the newest revision. Safe to repeat; run it before a new release serves."""
    click.echo(f"database is at revision {migrate(read_config())}")
