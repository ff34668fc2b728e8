"""`nextitem parameters`: item parameters out of the bank, and into it."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from api.cli.settings import exam_of, read_config, utc_now, writing
from itembank import authoring, calibrations
from itembank.errors import Invalid, NotFound
from itembank.formats import parameter_files
from itembank.models import Exam
from itembank.store import Db

NAME = "parameters"  # of the actor in the audit log
REFUSED = 2


@click.command("parameters")
@click.argument("exam")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--tenant", help="Name of the tenant; not needed as long as there is only one.")
@click.option("--note", default="", help="What the release is, for those who look at it later.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object about the new release.")
@click.pass_context
def parameters(
    context: click.Context, exam: str, file: Path | None, tenant: str | None, note: str, as_json: bool
) -> None:
    """Print the parameters in force as CSV; with FILE, put a new release in force.

    FILE is CSV, or JSON if its name ends in .json. Items that it does not name keep their parameters. If anything in it
    is wrong, all of that is listed and nothing is stored.
    """
    with writing(read_config()) as db:
        found = exam_of(db, exam, tenant)
        if file is None:
            _print(db, found)
            return
        rows, issues = parameter_files.read(file.read_bytes(), str(file))
        try:
            release = authoring.release_parameters(db, found, rows, issues=issues, note=note, actor=NAME, now=utc_now())
        except Invalid as error:
            for issue in error.issues:
                click.echo(str(issue), err=True)
            context.exit(REFUSED)
        facts = {"exam": exam, "release": release.number, "items": len(rows), "note": release.note}
    click.echo(json.dumps(facts) if as_json else f"release {facts['release']} of {exam}: {facts['items']} items")


def _print(db: Db, exam: Exam) -> None:
    release = calibrations.find_active_release(db, exam.id)
    if release is None:
        raise NotFound("parameter release of exam", exam.slug)
    for chunk in parameter_files.write(_rows(db, release.id)):
        sys.stdout.write(chunk.decode())


def _rows(db: Db, release_id: int) -> Iterator[Sequence[Any]]:
    for version, origin, said in calibrations.released(db, release_id):
        numbers = (said.a, said.b, said.c, said.d)
        options = {key: list(pair) for key, pair in said.options.items()} or None
        named = (version.external_id, str(version.item), version.number, origin.value, said.model.value)
        yield (*named, *numbers, list(said.steps) or None, options)
