"""`nextitem import`: a bundle into the bank."""

import json
from pathlib import Path
from typing import Any

import click

from api.cli.settings import read_config, utc_now, writing
from itembank import clients, importing
from itembank.content import Stage
from itembank.errors import Issue
from itembank.formats import bundle
from itembank.importing import Outcome, Plan, Step
from itembank.models import Tenant
from itembank.store import Db

NAME = "import"  # of the actor in the audit log
DEFAULT_TENANT = "default"
REFUSED = 2


@click.command("import")
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--exam", help="Slug that the bundle's exam must have.")
@click.option("--tenant", help="Name of the tenant; not needed as long as there is only one.")
@click.option(
    "--skip-review/--as-drafts",
    default=None,
    help="Make items operational at once, or drafts. Without either, the bundle's `reviewed` decides.",
)
@click.option("--dry-run", is_flag=True, help="Say what would happen and what is wrong; store nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def import_bundle(
    context: click.Context,
    path: Path,
    exam: str | None,
    tenant: str | None,
    skip_review: bool | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Bring a bundle, a folder as docs/bundle.md describes it, into the bank.

    Importing it again changes nothing. If anything in it is wrong, all of that is listed and nothing is stored.
    """
    read = bundle.read(path)
    operational = read.reviewed if skip_review is None else skip_review
    stage = Stage.OPERATIONAL if operational else Stage.DRAFT
    with writing(read_config()) as db:
        plan = importing.plan(db, _tenant(db, tenant).id, read, stage=stage)
        issues = (*plan.issues, *_other_exam(plan, exam))
        if not issues and not dry_run:
            importing.apply(db, plan, actor=NAME, now=utc_now())
        else:
            db.rollback()  # a tenant may have been made
    facts = _facts(plan, issues, stored=not issues and not dry_run)
    click.echo(json.dumps(facts) if as_json else _text(facts))
    for issue in () if as_json else issues:
        click.echo(str(issue), err=True)
    if issues:
        context.exit(REFUSED)


def _tenant(db: Db, name: str | None) -> Tenant:
    """The one named, or the only one there is; on a new database one is made."""
    names = [name] if name else clients.tenant_names(db) or [DEFAULT_TENANT]
    if len(names) > 1:
        raise click.UsageError(f"there are several tenants, name one with --tenant: {', '.join(names)}")
    return clients.find_tenant(db, names[0]) or clients.create_tenant(db, names[0], now=utc_now())


def _other_exam(plan: Plan, exam: str | None) -> tuple[Issue, ...]:
    if exam is None or plan.exam.key in ("", exam):
        return ()
    return (Issue("/slug", f"is {plan.exam.key!r}, not {exam!r}", "exam.yaml"),)


def _facts(plan: Plan, issues: tuple[Issue, ...], *, stored: bool) -> dict[str, Any]:
    return {
        "exam": {"slug": plan.exam.key, "outcome": plan.exam.outcome.value},
        "articles": _counts(plan.articles),
        "misconceptions": _counts(plan.misconceptions),
        "items": _counts(plan.items),
        "stage": plan.stage.value,
        "stored": stored,
        "issues": [{"source": issue.source, "pointer": issue.pointer, "what": issue.what} for issue in issues],
    }


def _counts(steps: tuple[Step, ...]) -> dict[str, int]:
    return {outcome.value: sum(step.outcome == outcome for step in steps) for outcome in Outcome}


def _text(facts: dict[str, Any]) -> str:
    lines = [f"{'exam':<16}{facts['exam']['slug']} {facts['exam']['outcome']}"]
    for name in ("articles", "misconceptions", "items"):
        said = ", ".join(f"{count} {outcome}" for outcome, count in facts[name].items() if count)
        lines.append(f"{name:<16}{said or 'none'}")
    lines.append(f"{'new items are':<16}{facts['stage']}")
    return "\n".join(lines if facts["stored"] else [*lines, "Nothing was stored."])
