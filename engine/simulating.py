"""A simulation study from its settings to its files, for the command and the job alike; pure."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from engine.irt import NODES, normal_log_prior
from engine.pool import Pool
from engine.selection import POLICIES, Mode, Policy, withheld_items
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
    report,
    simulate,
)
from itembank.errors import Invalid, Issue
from itembank.formats import delimited

LEAST_SD = 0.1  # of a prior; a narrower one falls between the nodes of the ability grid
USUAL_PRIOR, USUAL_CUT = Normal(), 0.0  # where there is no exam to have its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What is simulated on a pool.

    theta, prior : texts such as `normal(0,1)`: true abilities, and where each sitting starts
    cut : ability from which one passes, logits;  objectives : codes of leaves to keep to, empty for all
    """

    mode: Mode
    policy: Policy
    examinees: int
    theta: str
    prior: str
    cut: float
    seed: int
    objectives: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        changes: Mapping[str, object],
        *,
        mode: Mode = Mode.adaptive_test,
        policy: Policy | None = None,
        examinees: int,
        theta: str | None = None,
        prior: str | None = None,
        cut: float | None = None,
        seed: int = 0,
        objectives: Sequence[str] = (),
        usual_prior: Normal = USUAL_PRIOR,
        usual_cut: float = USUAL_CUT,
    ) -> Self:
        """The study that somebody asks for; what is None is as usual, and abilities are drawn from the prior.

        policy : what the changes start from, that of the mode unless given
        Raises InvalidPolicy for a policy that can't be simulated, Invalid for what is wrong with the rest.
        """
        policy = (policy or POLICIES[mode]).with_changes(changes)
        Rules.of(policy)
        prior = written(usual_prior) if prior is None else prior
        theta = prior if theta is None else theta
        issues = [*issues_of("/theta", theta, distribution), *issues_of("/prior", prior, start)]
        if cut is not None and not math.isfinite(cut):
            issues.append(Issue("/cut", f"{cut}: a finite number expected"))
        if issues:
            raise Invalid(tuple(dict.fromkeys(issues)))
        return cls(
            mode=mode,
            policy=policy,
            examinees=examinees,
            theta=theta,
            prior=prior,
            cut=usual_cut if cut is None else cut,
            seed=seed,
            objectives=tuple(objectives),
        )

    def to_json(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in type(self).__slots__}
        return {**fields, "mode": self.mode.value, "policy": self.policy.to_json(), "objectives": list(self.objectives)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The study that `to_json` described."""
        typed = {"mode": Mode(data["mode"]), "policy": Policy.from_json(data["policy"])}
        return cls(**{**data, **typed, "objectives": tuple(data["objectives"])})


@dataclass(frozen=True, slots=True)
class Result:
    """A report, and the sittings it is on. names : of the pool's items"""

    report: Report
    sittings: Sittings
    names: list[str]


def run(
    pool: Pool,
    study: Study,
    *,
    names: Sequence[str] | None = None,
    progress: Callable[[int], object] = lambda _count: None,
) -> Result:
    """Simulate and report.

    names : of the pool's items, their version ids unless given;  progress : called with numbers of examinees
    Raises ValueError for a pool without items.
    """
    called = item_names(pool, None if names is None else list(names))
    served = limited(pool, study.objectives)
    name_of = dict(zip(pool.item_versions.tolist(), called, strict=True))
    called = [name_of[version] for version in served.item_versions.tolist()]
    prior = start(study.prior)
    theta = distribution(study.theta).abilities(study.examinees, study.seed)
    log_prior = normal_log_prior(prior.mean, prior.sd)
    rules = Rules.of(study.policy)
    sittings = simulate(served, rules, theta, seed=study.seed, log_prior=log_prior, cut=study.cut, progress=progress)
    return Result(report(served, sittings, cut=study.cut, names=called), sittings, called)


def check(pool: Pool, study: Study) -> None:
    """Raise InvalidPolicy for a policy that is strict about content and a pool that is too small for it."""
    nothing = np.zeros(len(pool), dtype=np.bool_)
    withheld_items(pool, study.policy, (), blocked=nothing, suspended=(), objectives=(), seed=study.seed)


def tables(found: Report) -> dict[str, bytes]:
    """The tables of a report as CSV files, by name."""
    return {f"{name}.csv": b"".join(csv_of(rows)) for name, rows in found.tables().items() if rows}


def pictures(found: Report) -> Mapping[str, bytes]:
    """The pictures of a report, by name of the file."""
    return plots(found)


def all_files(result: Result) -> dict[str, bytes]:
    """Names and contents: all as JSON, each table as CSV, a row per examinee, pictures."""
    columns, examinees = examinee_rows(result.sittings, result.names)
    return {
        "report.json": json.dumps(result.report.to_json(), indent=1).encode() + b"\n",
        **tables(result.report),
        "examinees.csv": b"".join(delimited.write(columns, examinees)),
        **pictures(result.report),
    }


def csv_of(rows: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    columns = list(rows[0])
    return delimited.write(columns, ([row[name] for name in columns] for row in rows))


def limited(pool: Pool, codes: Sequence[str]) -> Pool:
    """What is simulated of a pool: the scored items of these objectives, or of all for no codes."""
    kept = ~pool.pretest
    if codes:
        kept = kept & np.isin(pool.objective, [pool.objective_codes.index(code) for code in codes])
    return pool if kept.all() and not codes else pool.part(kept, codes)


def distribution(text: str) -> Normal | Grid:
    """Raises ValueError that says what is expected."""
    return abilities.parsed(text)


def start(text: str) -> Normal:
    """A normal distribution that the ability grid can hold.  Raises ValueError that says what is expected."""
    found = distribution(text)
    if not (isinstance(found, Normal) and NODES[0] <= found.mean <= NODES[-1] and found.sd >= LEAST_SD):
        expected = f"normal(MEAN,SD) with a mean from {NODES[0]:g} to {NODES[-1]:g} and an SD of {LEAST_SD:g} or more"
        raise ValueError(f"{text}: {expected} expected")
    return found


def written(normal: Normal) -> str:
    """As a text that `distribution` reads."""
    return f"normal({normal.mean},{normal.sd})"


def issues_of(pointer: str, text: str, read: Callable[[str], object]) -> Iterator[Issue]:
    try:
        read(text)
    except ValueError as error:
        yield Issue(pointer, str(error))
