"""What a simulation says about a test: how well it measures, whom it serves what, whether it decides rightly.

Pure, from the arrays of `Sittings`. Every table is a list of rows with the same keys; JSON and CSV come from these.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.irt.types import FloatArray, IndexArray, IntArray
from engine.pool import Pool
from engine.simulation.sittings import FAILED, PASSED, STOPS, UNDECIDED, Sittings

FEW_POINTS = 50  # at most so many different abilities are points, each with a row of its own; more are put into bins
EDGES = np.arange(-3.0, 3.25, 0.5)  # of the bins, logits; the outer bins have no end
OFTEN = 0.2  # an exposure rate above this is reported: the usual bound in operational programs

DECISIONS = {PASSED: "pass", FAILED: "fail", UNDECIDED: ""}

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """summary : one row;  conditional : one per ability or bin;  items, objectives : one each, in pool order"""

    summary: Row
    conditional: list[Row]
    items: list[Row]
    objectives: list[Row]

    def tables(self) -> dict[str, list[Row]]:
        """All tables by name, for one CSV file each."""
        return {
            "summary": [self.summary],
            "conditional": self.conditional,
            "items": self.items,
            "objectives": self.objectives,
        }

    def to_json(self) -> dict[str, Any]:
        return {**self.tables(), "summary": self.summary}


def report(pool: Pool, sittings: Sittings, *, cut: float, names: list[str] | None = None) -> Report:
    """The report on sittings with items of this pool.

    cut : ability from which an examinee passes, logits;  names : of the pool's items, their version ids unless given
    Raises ValueError for sittings that decided about another cut score.
    """
    served = np.bincount(sittings.items[sittings.items >= 0], minlength=len(pool))
    contents = content(pool, sittings)
    return Report(
        summary={
            "examinees": len(sittings),
            **precision(sittings.theta, sittings.estimate, sittings.standard_error, sittings.length),
            **lengths(sittings),
            **exposure(served, len(sittings)),
            **violations(contents),
            **classification(sittings, cut),
        },
        conditional=conditional(sittings),
        items=item_rows(pool, served, len(sittings), names),
        objectives=objective_rows(pool, contents),
    )


def precision(theta: FloatArray, estimate: FloatArray, standard_error: FloatArray, length: IndexArray) -> Row:
    """Bias and root mean squared error in logits, each with its Monte-Carlo standard error, and what the test claims.

    `standard_error` is the mean of the posterior standard deviations; an honest test has it near `rmse`.
    """
    error = estimate - theta
    squared = np.square(error)
    rmse = float(np.sqrt(squared.mean()))
    root = np.sqrt(max(error.size - 1, 1))
    return {
        "bias": float(error.mean()),
        "bias_se": float(error.std() / root),
        "rmse": rmse,
        "rmse_se": float(squared.std() / root / (2.0 * rmse)) if rmse > 0.0 else 0.0,
        "standard_error": float(standard_error.mean()),
        "mean_length": float(length.mean()),
    }


def lengths(sittings: Sittings) -> Row:
    """How long sittings are and why they end."""
    reasons = np.bincount(sittings.stop, minlength=len(STOPS)) / len(sittings)
    return {
        "shortest": int(sittings.length.min()),
        "longest": int(sittings.length.max()),
        **{f"stopped_by_{stop}": float(share) for stop, share in zip(STOPS, reasons, strict=True)},
    }


def exposure(served: IntArray, examinees: int) -> Row:
    """How evenly the pool is used.  served : (I,), sittings in which each item was served

    overlap_rate : of two sittings chosen at random, the expected number of common items over the mean length; for
    sittings of equal length this is the rate of Chen, Ankenmann & Spray (2003), J. Educ. Measurement 40(2), 129-145
    exposure_chi_square : sum over items of (rate - mean rate)^2 / mean rate, 0 for an evenly used pool
    Source: Chang & Ying (1999), Applied Psychological Measurement 23(3), 211-222.
    """
    rates = served / examinees
    mean = rates.mean()
    pairs, total = examinees * (examinees - 1), served.sum()
    overlap = float((served * (served - 1.0)).sum() / pairs / (total / examinees)) if pairs and total else None
    return {
        "largest_exposure": float(rates.max()),
        "items_never_served": int(np.count_nonzero(served == 0)),
        "items_often_served": int(np.count_nonzero(rates > OFTEN)),
        "exposure_chi_square": float((np.square(rates - mean) / mean).sum()) if mean > 0.0 else None,
        "overlap_rate": overlap,
    }


def content(pool: Pool, sittings: Sittings) -> tuple[FloatArray, FloatArray]:
    """Items of each objective in each sitting (N, K), and how many more than its share that is (N, K)."""
    objectives = len(pool.objective_codes)
    place = np.where(sittings.items >= 0, pool.objective[sittings.items], objectives)
    flat = place + np.arange(len(sittings))[:, None] * (objectives + 1)
    counts = np.bincount(flat.reshape(-1), minlength=len(sittings) * (objectives + 1))
    administered = counts.reshape(-1, objectives + 1)[:, :objectives].astype(np.float64)
    return administered, administered - blueprint(pool) * sittings.length[:, None]


def blueprint(pool: Pool) -> FloatArray:
    """The blueprint's weights (K,), sum 1; equal ones where all are 0."""
    total = pool.objective_weights.sum()
    count = len(pool.objective_codes)
    return np.asarray(pool.objective_weights / total if total > 0.0 else np.full(count, 1.0 / count))


def violations(contents: tuple[FloatArray, FloatArray]) -> Row:
    """A sitting violates the blueprint if an objective is a whole item or more away from its share of the length."""
    worst = np.abs(contents[1]).max(axis=1)
    return {
        "content_violations": float((worst >= 1.0 - 1e-9).mean()),
        "mean_content_deviation": float(worst.mean()),
        "largest_content_deviation": float(worst.max()),
    }


def classification(sittings: Sittings, cut: float) -> Row:
    """Shares of the outcomes of passing or failing against the truth; they and the undecided sum to 1.

    decided_by : `policy` if the policy decided, at any point of the sitting; else `estimate`, the last one against the
    cut;  accuracy : passed or failed rightly
    """
    by_policy = not np.isnan(sittings.cut).all()
    if by_policy and (sittings.cut != cut).any():
        raise ValueError(f"cut is {cut}, but the sittings decided about {sittings.cut[0]}")
    able, estimated = sittings.theta >= cut, sittings.estimate >= cut
    passes = sittings.decision == PASSED if by_policy else estimated
    fails = sittings.decision == FAILED if by_policy else ~estimated
    return {
        "cut": cut,
        "decided_by": "policy" if by_policy else "estimate",
        "accuracy": float(((able & passes) | (~able & fails)).mean()),
        "right_pass": float((able & passes).mean()),
        "right_fail": float((~able & fails).mean()),
        "wrong_pass": float((~able & passes).mean()),
        "wrong_fail": float((able & fails).mean()),
        "undecided": float((~passes & ~fails).mean()),
    }


def conditional(sittings: Sittings) -> list[Row]:
    """Precision by true ability: at each point of a grid, else in bins of half a logit that hold anybody."""
    points, place = np.unique(sittings.theta, return_inverse=True)
    if points.size > FEW_POINTS:
        place = np.digitize(sittings.theta, EDGES)
    rows: list[Row] = []
    for here in np.unique(place):
        group = np.flatnonzero(place == here)
        theta, estimate = sittings.theta[group], sittings.estimate[group]
        rows.append(
            {
                "theta": float(theta.mean()),
                "lowest": float(theta.min()),
                "highest": float(theta.max()),
                "examinees": int(group.size),
                **precision(theta, estimate, sittings.standard_error[group], sittings.length[group]),
                "error_sd": float((estimate - theta).std()),
            }
        )
    return rows


def item_rows(pool: Pool, served: IntArray, examinees: int, names: list[str] | None) -> list[Row]:
    called = item_names(pool, names)
    codes = [pool.objective_codes[k] for k in pool.objective.tolist()]
    columns = [called, codes, *(getattr(pool, name).tolist() for name in "abcd"), served.tolist()]
    keys = ("item", "objective", *"abcd", "served")
    return [
        {**dict(zip(keys, row, strict=True)), "exposure": row[-1] / examinees} for row in zip(*columns, strict=True)
    ]


def objective_rows(pool: Pool, contents: tuple[FloatArray, FloatArray]) -> list[Row]:
    administered, deviation = contents
    total = max(administered.sum(), 1.0)
    items = np.diff(pool.objective_start)
    return [
        {
            "objective": code,
            "items": int(items[k]),
            "weight": float(blueprint(pool)[k]),
            "share": float(administered[:, k].sum() / total),
            "largest_shortage": float(max(0.0, -deviation[:, k].min())),
            "largest_excess": float(max(0.0, deviation[:, k].max())),
        }
        for k, code in enumerate(pool.objective_codes)
    ]


def item_names(pool: Pool, names: list[str] | None) -> list[str]:
    """What the pool's items are called: their version ids unless they have names."""
    return [str(version) for version in pool.item_versions.tolist()] if names is None else names


def examinee_rows(sittings: Sittings, names: list[str]) -> tuple[list[str], Iterator[list[Any]]]:
    """Columns and rows, one per examinee, of a file with every answer; items by name, answers as 1 and 0, in order."""
    columns = ["theta", "estimate", "standard_error", "length", "stop_reason", "decision", "seed"]
    columns += ["items", "answers"]

    def rows() -> Iterator[list[Any]]:
        for n in range(len(sittings)):
            length = int(sittings.length[n])
            yield [
                float(sittings.theta[n]),
                float(sittings.estimate[n]),
                float(sittings.standard_error[n]),
                length,
                str(STOPS[sittings.stop[n]]),
                DECISIONS[int(sittings.decision[n])],
                int(sittings.seeds[n]),
                " ".join(names[item] for item in sittings.items[n, :length].tolist()),
                "".join(map(str, sittings.right[n, :length].astype(int).tolist())),
            ]

    return columns, rows()
