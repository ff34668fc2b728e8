"""`nextitem assemble`: parallel forms of an exam, assembled together by mixed-integer programming."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import click

from api.cli.settings import exam_of, read_config, utc_now, writing
from api.cli.simulating import policy_of, read_policy
from engine.parallel import Parallel, parallel_forms
from engine.selection import Mode

NAME = "assemble"  # of the actor in the audit log
MOST_FORMS = 20


@click.command("assemble")
@click.argument("exam")
@click.option("--forms", type=click.IntRange(1, MOST_FORMS), default=1, show_default=True, help="How many.")
@click.option("--policy", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="JSON file of changes.")
@click.option("--overlap", type=click.IntRange(0), help="Items that two forms may share; any number unless given.")
@click.option("--uses", type=click.IntRange(1), help="Forms that an item may be in; any number unless given.")
@click.option("--at", "points", type=float, multiple=True, help="Ability that matters, repeatable; else the cut score.")
@click.option("--target", type=float, multiple=True, help="Information wanted at each --at; as much as can be, unless.")
@click.option("--seconds", type=click.FloatRange(0.1, 3600), default=20.0, show_default=True, help="For the solver.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), default=0, show_default=True, help="Of the items' order.")
@click.option("--tenant", help="Name of the tenant; not needed as long as there is only one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def assemble_command(
    exam: str,
    forms: int,
    policy: Path | None,
    overlap: int | None,
    uses: int | None,
    points: tuple[float, ...],
    target: tuple[float, ...],
    seconds: float,
    seed: int,
    tenant: str | None,
    as_json: bool,
) -> None:
    """Assemble parallel forms of EXAM to its blueprint and to the constraints of a policy (mode mock with changes)."""
    asked = policy_of(policy, read_policy(policy), Mode.mock)
    _check(points, target)
    with writing(read_config()) as db:
        found = exam_of(db, exam, tenant)
        made = parallel_forms(
            db,
            found,
            asked,
            forms=forms,
            overlap=overlap,
            uses=uses,
            points=points or (found.cut_score,),
            target=target or None,
            seconds=seconds,
            seed=seed,
            actor=NAME,
            now=utc_now(),
        )
    click.echo(json.dumps(made.to_json()) if as_json else _text(made))


def _check(points: Sequence[float], target: Sequence[float]) -> None:
    if not all(math.isfinite(point) for point in points):
        raise click.BadParameter(f"{list(points)}: finite numbers expected", param_hint="--at")
    if not all(math.isfinite(value) and value > 0.0 for value in target):
        raise click.BadParameter(f"{list(target)}: numbers above 0 expected", param_hint="--target")
    if target and len(target) != max(1, len(points)):
        raise click.BadParameter(f"{len(target)} given, one for each --at expected", param_hint="--target")


def _text(made: Parallel) -> str:
    lines = []
    for number, form in enumerate(made.forms, start=1):
        told = ", ".join(
            f"{value:.2f} at {point:g}" for value, point in zip(form.information, made.points, strict=True)
        )
        lines += [f"form {number}: {len(form.items)} items, pass mark {form.pass_mark}, information {told}"]
        lines += [f"  {item}" for item in form.items]
    lines += [f"forms {one} and {other} share {count} items" for (one, other), count in made.shared.items()]
    return "\n".join(lines)
