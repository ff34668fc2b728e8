"""`nextitem simulate`: a policy on simulated examinees, on an exam's pool or on a plain parameter file."""

import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from api.cli.settings import exam_of, read_config, utc_now, writing
from engine import loading, simulating
from engine.errors import InvalidPolicy
from engine.pool import Pool
from engine.selection import POLICIES, Mode, Policy
from engine.simulating import Result, Study
from engine.simulation import Normal, Report, read_bank
from itembank import catalog
from itembank.errors import Conflict, Invalid

NAME = "simulate"  # of the actor in the audit log
REFUSED = 2
MOST_EXAMINEES = 1_000_000  # their results take some 0.5 kB each while the report is made


@dataclass(frozen=True, slots=True)
class Test:
    """What is simulated. names : of the pool's items"""

    pool: Pool
    names: list[str]
    prior: Normal
    cut: float


@click.command("simulate")
@click.argument("exam", required=False)
@click.option("--tenant", help="Name of the tenant; not needed as long as there is only one.")
@click.option("--bank", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="CSV file of parameters.")
@click.option("--policy", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="JSON file of changes.")
@click.option("--examinees", type=click.IntRange(1, MOST_EXAMINEES), default=1000, show_default=True, help="How many.")
@click.option("--theta", default=None, help="normal(MEAN,SD), grid or grid(LOW,HIGH,STEP); else the prior.")
@click.option(
    "--prior", default=None, help="normal(MEAN,SD) where each sitting starts; else the exam's, or normal(0,1)."
)
@click.option("--cut", type=float, default=None, help="Ability from which one passes; else the exam's, or 0.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Of all that is random.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for JSON, CSV and pictures.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def simulate_command(
    context: click.Context,
    exam: str | None,
    tenant: str | None,
    bank: Path | None,
    policy: Path | None,
    examinees: int,
    theta: str | None,
    prior: str | None,
    cut: float | None,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Try a policy on simulated examinees, before learners meet it.

    Either on the pool of EXAM as it stands, or on the parameters in a CSV file, for which no database is needed.
    """
    if (exam is None) == (bank is None):
        raise click.UsageError("name either an exam or, with --bank, a file of item parameters")
    changes = read_policy(policy)
    given = {"examinees": examinees, "theta": theta, "prior": prior, "cut": cut, "seed": seed}
    study_of(policy, changes, given)  # before the database is asked
    test = from_exam(str(exam), tenant) if bank is None else _from_file(context, bank)
    if not len(test.pool):
        raise Conflict(f"exam {exam} has no operational items, so nothing can be simulated")
    study = study_of(policy, changes, given | {"usual_prior": test.prior, "usual_cut": test.cut})
    result = _run(test, study)
    if out is not None:
        _write(out, simulating.all_files(result))
    found = result.report
    click.echo(json.dumps(found.to_json()) if as_json else _text(found))


def _run(test: Test, study: Study) -> Result:
    quiet = not sys.stderr.isatty()
    with click.progressbar(length=study.examinees, label="simulating", file=sys.stderr, hidden=quiet) as bar:
        try:
            return simulating.run(test.pool, study, names=test.names, progress=bar.update)
        except InvalidPolicy as error:  # the pool is too small for it
            raise _refused(None, error) from error


def read_policy(path: Path | None) -> dict[str, Any]:
    """The changes that a JSON file asks for; none without a file."""
    if path is None:
        return {}
    try:
        changes = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise click.BadParameter(f"{path}: {error}", param_hint="--policy") from error
    if not isinstance(changes, dict):
        raise click.BadParameter(f"{path}: a JSON object of policy fields expected", param_hint="--policy")
    return changes


def study_of(policy: Path | None, changes: Mapping[str, Any], given: Mapping[str, Any]) -> Study:
    """The study; what is wrong is told as an option's fault. policy : the file, for the message"""
    try:
        return Study.of(changes, **given)
    except InvalidPolicy as error:
        raise _refused(policy, error) from error
    except Invalid as error:
        issue = error.issues[0]
        raise click.BadParameter(issue.what, param_hint="--" + issue.pointer.strip("/")) from error


def policy_of(path: Path | None, changes: Mapping[str, Any], mode: Mode) -> Policy:
    """The mode's policy with changes. path : the file they are from, for the message"""
    try:
        return POLICIES[mode].with_changes(changes)
    except InvalidPolicy as error:
        raise _refused(path, error) from error


def _refused(path: Path | None, error: InvalidPolicy) -> click.BadParameter:
    return click.BadParameter(f"{error}" if path is None else f"{path}: {error}", param_hint="--policy")


def _from_file(context: click.Context, path: Path) -> Test:
    try:
        bank, issues = read_bank(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"{path}: {error}", param_hint="--bank") from error
    for issue in issues:
        click.echo(f"nextitem: {issue}", err=True)
    if bank is None:
        context.exit(REFUSED)
    return Test(bank.pool, bank.names, simulating.USUAL_PRIOR, simulating.USUAL_CUT)


def from_exam(slug: str, tenant: str | None, *, actor: str = NAME) -> Test:
    """The exam's pool as it stands; it may have to be made."""
    with writing(read_config()) as db:
        found = exam_of(db, slug, tenant)
        pool = loading.current_pool(db, found, actor=actor, now=utc_now())
        called = catalog.public_ids(db, found.id)
        test = Test(
            pool,
            [str(called[item]) for item in pool.items.tolist()],
            Normal(found.prior_mean, found.prior_sd),
            found.cut_score,
        )
    return test


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Each file is there whole or not at all."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".simulate-") as drafts:
            for name, content in files.items():
                (Path(drafts) / name).write_bytes(content)
            for name in files:
                (Path(drafts) / name).replace(folder / name)
    except OSError as error:
        raise click.FileError(str(error.filename or folder), error.strerror) from error


def _text(result: Report) -> str:
    summary = result.summary
    lines = [f"{name.replace('_', ' '):<26}{_shown(value)}" for name, value in summary.items()]
    columns = ("theta", "examinees", "bias", "rmse", "standard_error", "mean_length")
    lines += ["", "".join(f"{name.replace('_', ' '):>16}" for name in columns)]
    lines += ["".join(f"{_shown(row[name]):>16}" for name in columns) for row in result.conditional]
    return "\n".join(lines)


def _shown(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "-" if value is None else str(value)
