"""`nextitem simulate`: a policy on simulated examinees, on an exam's pool or on a plain parameter file."""

import json
import math
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from api.cli.settings import read_config, utc_now, writing
from engine import loading
from engine.errors import InvalidPolicy
from engine.irt import NODES, normal_log_prior
from engine.irt.types import FloatArray
from engine.pool import Pool
from engine.selection import ADAPTIVE_TEST
from engine.simulation import (
    Grid,
    Normal,
    Report,
    Rules,
    Sittings,
    abilities,
    examinee_rows,
    item_names,
    plots,
    read_bank,
    report,
    simulate,
)
from itembank import catalog, clients
from itembank.errors import Conflict, NotFound
from itembank.formats import delimited

NAME = "simulate"  # of the actor in the audit log
REFUSED = 2
MOST_EXAMINEES = 1_000_000  # their results take some 0.5 kB each while the report is made
LEAST_SD = 0.1  # of a prior; a narrower one falls between the nodes of the ability grid


@dataclass(frozen=True, slots=True)
class Test:
    """What is simulated."""

    pool: Pool
    names: list[str] | None  # of items; their version ids without
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
    rules = _rules(policy)
    starts = None if prior is None else _prior(prior)
    drawn = None if theta is None else _distribution(theta, "--theta")
    if cut is not None and not math.isfinite(cut):
        raise click.BadParameter(f"{cut}: a finite number expected", param_hint="--cut")
    test = _from_exam(str(exam), tenant) if bank is None else _from_file(context, bank)
    starts, at = starts or test.prior, test.cut if cut is None else cut
    sittings = _run(test.pool, rules, (drawn or starts).abilities(examinees, seed), seed, starts, at)
    result = report(test.pool, sittings, cut=at, names=test.names)
    if out is not None:
        _write(out, _files(result, sittings, item_names(test.pool, test.names)))
    click.echo(json.dumps(result.to_json()) if as_json else _text(result))


def _run(pool: Pool, rules: Rules, theta: FloatArray, seed: int, starts: Normal, cut: float) -> Sittings:
    log_prior = normal_log_prior(starts.mean, starts.sd)
    quiet = not sys.stderr.isatty()
    with click.progressbar(length=theta.size, label="simulating", file=sys.stderr, hidden=quiet) as bar:
        try:
            return simulate(pool, rules, theta, seed=seed, log_prior=log_prior, cut=cut, progress=bar.update)
        except InvalidPolicy as error:  # the pool is too small for it
            raise click.BadParameter(str(error), param_hint="--policy") from error


def _rules(policy: Path | None) -> Rules:
    if policy is None:
        return Rules.of(ADAPTIVE_TEST)
    try:
        changes = json.loads(policy.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise click.BadParameter(f"{policy}: {error}", param_hint="--policy") from error
    if not isinstance(changes, dict):
        raise click.BadParameter(f"{policy}: a JSON object of policy fields expected", param_hint="--policy")
    try:
        return Rules.of(ADAPTIVE_TEST.with_changes(changes))
    except InvalidPolicy as error:
        raise click.BadParameter(f"{policy}: {error}", param_hint="--policy") from error


def _distribution(text: str, option: str) -> Normal | Grid:
    try:
        return abilities.parsed(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from error


def _prior(text: str) -> Normal:
    """A normal distribution that the ability grid can hold."""
    found = _distribution(text, "--prior")
    if not (isinstance(found, Normal) and NODES[0] <= found.mean <= NODES[-1] and found.sd >= LEAST_SD):
        expected = f"normal(MEAN,SD) with a mean from {NODES[0]:g} to {NODES[-1]:g} and an SD of {LEAST_SD:g} or more"
        raise click.BadParameter(f"{text}: {expected} expected", param_hint="--prior")
    return found


def _from_file(context: click.Context, path: Path) -> Test:
    try:
        bank, issues = read_bank(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"{path}: {error}", param_hint="--bank") from error
    for issue in issues:
        click.echo(f"nextitem: {issue}", err=True)
    if bank is None:
        context.exit(REFUSED)
    return Test(bank.pool, bank.names, Normal(), 0.0)


def _from_exam(slug: str, tenant: str | None) -> Test:
    with writing(read_config()) as db:  # the pool may have to be made
        names = [tenant] if tenant else clients.tenant_names(db)
        if len(names) > 1:
            raise click.UsageError(f"there are several tenants, name one with --tenant: {', '.join(names)}")
        if not names:
            raise NotFound("exam", slug)
        found = catalog.get_exam(db, clients.get_tenant(db, names[0]).id, slug)
        pool = loading.current_pool(db, found, actor=NAME, now=utc_now())
        test = Test(pool, None, Normal(found.prior_mean, found.prior_sd), found.cut_score)
    if not len(pool):
        raise Conflict(f"exam {slug} has no operational items, so nothing can be simulated")
    return test


def _files(result: Report, sittings: Sittings, names: list[str]) -> dict[str, bytes]:
    """Names and contents: all as JSON, each table as CSV, a row per examinee, pictures."""
    files = {"report.json": json.dumps(result.to_json(), indent=1).encode() + b"\n"}
    for name, rows in result.tables().items():
        columns = list(rows[0])
        files[f"{name}.csv"] = b"".join(delimited.write(columns, ([row[key] for key in columns] for row in rows)))
    columns, examinees = examinee_rows(sittings, names)
    files["examinees.csv"] = b"".join(delimited.write(columns, examinees))
    return {**files, **plots(result)}


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
