"""What every benchmark prints: a table, the machine it ran on, and with `--json` one line to read by program."""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Row = Mapping[str, object]


def median_ms(run: Callable[[], object], *, seconds: float, warm_up: int = 10, least: int = 20) -> float:
    """Median time of one call in milliseconds, after warming up, over at least `least` calls and about `seconds`."""
    for _ in range(warm_up):
        run()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def print_table(rows: Sequence[Row]) -> None:
    """Print rows with the same keys as a Markdown table; numbers to the right."""
    if not rows:
        return
    columns = list(rows[0])
    cells = [[text(row[column]) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    right = [isinstance(rows[0][column], int | float) for column in columns]
    rules = ["-" * (width - 1) + ":" if number else "-" * width for width, number in zip(widths, right, strict=True)]
    for line in [columns, rules, *cells]:
        padded = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, right, strict=True)
        ]
        print("| " + " | ".join(padded) + " |")


def text(value: object) -> str:
    """Three significant digits for fractions, thousands separated."""
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def emit(name: str, result: Mapping[str, object], as_json: bool) -> None:
    """Print the machine and, if asked for, the result as one line of JSON, which is then the last."""
    print(f"\n{name} on {machine()}")
    if as_json:
        print(json.dumps({"benchmark": name, "machine": machine(), **result}))


def machine() -> str:
    """Processor, cores, system and Python of this machine, in one line."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{processor()}, {cpus} CPUs, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def processor() -> str:
    """The processor's name where Linux tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"
