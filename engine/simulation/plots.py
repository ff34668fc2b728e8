"""Pictures of a report, as files' bytes. Matplotlib is loaded when the first one is drawn, and needs no screen."""

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from engine.simulation.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    Draw: TypeAlias = Callable[[Axes, Axes, Report], None]

FORMATS = ("png", "svg")
INK, SECOND, QUIET = "#1f4e79", "#c0504d", "#7f7f7f"


def plots(report: Report) -> Mapping[str, bytes]:
    """Names of files and their contents: measurement and exposure, each in every format of FORMATS."""
    return {
        f"{name}.{kind}": picture(draw, report, kind)
        for name, draw in (("measurement", measurement), ("exposure", exposure))
        for kind in FORMATS
    }


def picture(draw: "Draw", report: Report, kind: str) -> bytes:
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.6), layout="constrained")  # by itself, so no window system is asked for
    left, right = figure.subplots(1, 2)
    draw(left, right, report)
    file = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "nextitem"}):  # the same report gives the same file
        figure.savefig(file, format=kind, dpi=144, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()


def measurement(left: "Axes", right: "Axes", report: Report) -> None:
    """Error by true ability, against what the test claims; and length."""
    rows = report.conditional
    theta = [row["theta"] for row in rows]
    left.plot(theta, [row["rmse"] for row in rows], "o-", color=INK, label="root mean squared error")
    left.plot(theta, [row["standard_error"] for row in rows], "s--", color=SECOND, label="standard error")
    left.plot(theta, [row["bias"] for row in rows], "^:", color=QUIET, label="bias")
    left.axhline(0.0, color="black", linewidth=0.5)
    left.set(xlabel="true ability (logits)", ylabel="logits", title="Precision")
    left.legend(frameon=False, fontsize="small")
    right.plot(theta, [row["mean_length"] for row in rows], "o-", color=INK)
    right.set(xlabel="true ability (logits)", ylabel="items", title="Mean length", ylim=(0, None))


def exposure(left: "Axes", right: "Axes", report: Report) -> None:
    """Exposure rates from the most to the least used item; and the objectives' shares against the blueprint."""
    rates = np.sort([row["exposure"] for row in report.items])[::-1]
    left.step(np.arange(1, rates.size + 1), rates, where="mid", color=INK)
    left.fill_between(np.arange(1, rates.size + 1), rates, step="mid", color=INK, alpha=0.2)
    left.set(xlabel="items, most used first", ylabel="exposure rate", title="Exposure", ylim=(0, None))
    places = np.arange(len(report.objectives))
    right.barh(places - 0.2, [row["weight"] for row in report.objectives], 0.4, color=QUIET, label="blueprint")
    right.barh(places + 0.2, [row["share"] for row in report.objectives], 0.4, color=INK, label="administered")
    right.set_yticks(places, [str(row["objective"]) for row in report.objectives])
    right.invert_yaxis()
    right.set(xlabel="share of items", title="Content")
    right.legend(frameon=False, fontsize="small")
