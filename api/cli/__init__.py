"""The command line, `nextitem`. A command parses, calls one function that the API also calls, prints.

What goes wrong because of what was given ends with status 2 and one line that says what and where.
"""

import sys

import click
import sqlalchemy.exc

from api.cli import (
    analyzing,
    assembling,
    clients,
    database,
    demo,
    importing,
    openapi,
    parameters,
    serving,
    simulating,
    tuning,
    working,
)
from api.config import ConfigError
from engine.errors import EngineError
from itembank.errors import ItemBankError

USAGE_ERROR = 2
INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="nextitem", prog_name="nextitem")
def cli() -> None:
    """Adaptive exam prep: an item bank, an engine that picks the next question, a REST API.

    Settings come from the environment; docs/configuration.md lists them.
    """


cli.add_command(database.db)
cli.add_command(clients.client)
cli.add_command(importing.import_bundle)
cli.add_command(parameters.parameters)
cli.add_command(simulating.simulate_command)
cli.add_command(analyzing.analyze_command)
cli.add_command(assembling.assemble_command)
cli.add_command(tuning.tune_command)
cli.add_command(serving.serve)
cli.add_command(working.worker)
cli.add_command(demo.demo)
cli.add_command(openapi.openapi)


def main(arguments: list[str] | None = None) -> None:
    """What the script `nextitem` runs."""
    try:
        sys.exit(cli.main(arguments, standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(USAGE_ERROR)
    except click.ClickException as error:
        _give_up(error.format_message())
    except click.Abort:
        sys.exit(INTERRUPTED)
    except (ConfigError, EngineError, ItemBankError) as error:
        _give_up(str(error))
    except sqlalchemy.exc.DBAPIError as error:
        _give_up(f"the database: {str(error.orig).splitlines()[0]}")


def _give_up(what: str) -> None:
    click.echo(f"nextitem: {' '.join(what.split())}", err=True)
    sys.exit(USAGE_ERROR)
