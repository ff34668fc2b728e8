"""`nextitem analyze`: whether an exam's pool can meet a policy, before a learner meets it."""

import json
import sys
from pathlib import Path

import click

from api.cli.simulating import from_exam, policy_of, read_policy
from engine.analyzing import EXAMINEES, Analysis, analyze
from engine.selection import Mode
from engine.selection.attainment import GRID

NAME = "analyze"  # of the actor in the audit log
CLASHES = 1  # the status where the policy can't be met


@click.command("analyze")
@click.argument("exam")
@click.option("--policy", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="JSON file of changes.")
@click.option(
    "--mode",
    type=click.Choice(list(Mode)),
    default=Mode.adaptive_test,
    show_default=True,
    help="Whose policy the changes start from.",
)
@click.option("--tenant", help="Name of the tenant; not needed as long as there is only one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def analyze_command(
    context: click.Context, exam: str, policy: Path | None, mode: str, tenant: str | None, as_json: bool
) -> None:
    """Tell whether the pool of EXAM can meet a policy. The status is 0 if it can, 1 if not."""
    asked = policy_of(policy, read_policy(policy), Mode(mode))
    test = from_exam(exam, tenant, actor=NAME)
    quiet = not sys.stderr.isatty()
    with click.progressbar(length=EXAMINEES, label="simulating", file=sys.stderr, hidden=quiet) as bar:
        found = analyze(test.pool, asked, cut=test.cut, prior=test.prior, names=test.names, progress=bar.update)
    click.echo(json.dumps(found.to_json()) if as_json else _text(found, len(test.pool)))
    context.exit(0 if found.can_be_met else CLASHES)


def _text(found: Analysis, items: int) -> str:
    verdict = "can be met" if found.can_be_met else "cannot be met"
    lines = [f"the policy {verdict} by the pool of {items} items"]
    lines += [f"{finding.severity}: {finding}" for finding in found.findings]
    lines += ["", "smallest standard error that the pool allows, by ability"]
    lines += [f"{theta:>6g} {value:.2f}" for theta, value in zip(GRID.tolist(), found.smallest.tolist(), strict=True)]
    if found.not_simulated is not None:
        lines += ["", f"not simulated: {found.not_simulated}"]
    return "\n".join(lines)
