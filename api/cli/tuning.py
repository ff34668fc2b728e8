"""`nextitem tune`: response times and the success model of an exam, from its log of answers."""

import json
import sys

import click

from api.cli.settings import read_config, utc_now, writing
from engine.tuning import Tuned, tune
from itembank import catalog, clients, responses
from itembank.errors import NotFound

NAME = "tune"  # of the actor that a model names
REFUSED = 2


@click.command("tune")
@click.argument("exam")
@click.option("--tenant", help="Name of the tenant; not needed as long as there is only one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def tune_command(context: click.Context, exam: str, tenant: str | None, as_json: bool) -> None:
    """Learn from the answers to EXAM how long items take and how likely a learner answers right."""
    with writing(read_config()) as db:
        names = [tenant] if tenant else clients.tenant_names(db)
        if len(names) > 1:
            raise click.UsageError(f"there are several tenants, name one with --tenant: {', '.join(names)}")
        if not names:
            raise NotFound("exam", exam)
        found = catalog.get_exam(db, clients.get_tenant(db, names[0]).id, exam)
        total, quiet = responses.count(db, found.id), not sys.stderr.isatty()
        with click.progressbar(length=total, label="reading answers", file=sys.stderr, hidden=quiet) as bar:
            tuned = tune(db, found, actor=NAME, now=utc_now(), progress=bar.update)
        click.echo(json.dumps(as_dictionary(tuned)) if as_json else as_text(tuned))
    if tuned.refusal is not None:  # the times are kept
        click.echo(f"nextitem: {tuned.refusal}", err=True)
        context.exit(REFUSED)


def as_dictionary(tuned: Tuned) -> dict[str, object]:
    model = None if tuned.model is None else {"number": tuned.model.number, **tuned.model.quality}
    return {"answers": tuned.answers, "learners": tuned.learners, "timings": tuned.timings, "model": model}


def as_text(tuned: Tuned) -> str:
    read = f"{tuned.answers} answers of {tuned.learners} learners read, {tuned.timings} items timed"
    if tuned.model is None:
        return read
    quality = tuned.model.quality
    judged = f"AUC {quality['auc']:.3f}, Brier score {quality['brier']:.3f} on {quality['answers']} answers held out"
    return f"{read}\nmodel {tuned.model.number}: {judged}"
