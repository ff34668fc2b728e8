"""`nextitem openapi`: the API's description, without a server."""

import io
import json
from dataclasses import replace

import click

from api.cli.settings import read_config


@click.command()
def openapi() -> None:
    """Print the OpenAPI document."""
    from api.app import create_app  # takes a second, which other commands needn't wait
    from api.pages import docs

    config = replace(read_config(), secret_key="not used, nothing is served", database_url="sqlite://")  # noqa: S106
    with create_app(config, log_to=io.BytesIO()).app_context():
        click.echo(json.dumps(docs.spec(), indent=1))
