"""A plain parameter file as a pool: CSV with a header, columns a and b and, if wanted, c, d, objective and id.

All that is wrong in a file is told at once, with line and column.
"""

import csv
import io
import math
from dataclasses import dataclass

import numpy as np

from engine.pool import Pool
from itembank.errors import Issue

NUMBERS = {"a": math.nan, "b": math.nan, "c": 0.0, "d": 1.0}  # what stands for a column that the file lacks
REQUIRED = ("a", "b")
COLUMNS = (*NUMBERS, "objective", "id")
ONLY_OBJECTIVE = "all"
LARGEST = 1e6  # of a parameter; beyond it is a slip of columns or units


@dataclass(frozen=True, slots=True)
class Bank:
    """A pool made from a file, with what its items are called there.  names : of the pool's items, in its order"""

    pool: Pool
    names: list[str]


def read_bank(text: str, source: str) -> tuple[Bank | None, list[Issue]]:
    """The file's bank, None if anything in it is wrong, and everything that is.

    source : name of the file, for the issues.  Objectives come in the order of the file and weigh what their share of
    the items is: a plain file has no blueprint.  An item without an id is called by its line.

    >>> bank, issues = read_bank("a,b\\n1.2,0.3\\n0.8,-1\\n", "bank.csv")
    >>> bank.pool, bank.names
    (Pool(version=0, 2 items, 1 objectives), ['line 2', 'line 3'])
    >>> print(read_bank("a,b\\n1.2,high\\n", "bank.csv")[1][0])
    bank.csv:2 /b: 'high' is not a number
    """
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    issues: list[Issue] = []
    rows: list[tuple[int, list[str]]] = []
    try:
        rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(map(str.strip, cells))]
    except csv.Error as error:
        issues.append(Issue("", f"is not CSV: {error}", f"{source}:{reader.line_num}"))
    if not issues:
        issues = header_issues(rows, source)
    if issues:
        return None, issues
    header = rows[0][1]
    items = [parsed(line, cells, header, source, issues) for line, cells in rows[1:]]
    issues += repeated([item for item in items if item.line], source)
    return (None, in_order(issues)) if issues else (made(items), [])


@dataclass(slots=True)
class Row:
    """One item as its line says it; line 0 where the line is unusable."""

    line: int
    numbers: list[float]
    objective: str
    name: str


def header_issues(rows: list[tuple[int, list[str]]], source: str) -> list[Issue]:
    if len(rows) < 2:
        return [Issue("", "holds no items; a header and one line per item expected", source)]
    line, header = rows[0]
    place = f"{source}:{line}"
    known = ", ".join(COLUMNS)
    issues = [
        Issue(f"/{name}", f"is no column; the columns are {known}", place) for name in header if name not in COLUMNS
    ]
    twice = [name for name in COLUMNS if header.count(name) > 1]
    issues += [Issue(f"/{name}", "comes more than once", place) for name in twice]
    return issues + [Issue(f"/{name}", "is missing", place) for name in REQUIRED if name not in header]


def parsed(line: int, cells: list[str], header: list[str], source: str, issues: list[Issue]) -> Row:
    """One line; what is wrong with it goes to `issues`."""
    place = f"{source}:{line}"
    if len(cells) != len(header):
        issues.append(Issue("", f"has {len(cells)} cells, the header {len(header)}", place))
        return Row(0, [], "", "")
    given = dict(zip(header, cells, strict=True))
    numbers = dict(NUMBERS)
    before = len(issues)
    for name in NUMBERS:
        if name in given:
            numbers[name] = number(given[name])
            if not abs(numbers[name]) <= LARGEST:
                what = "is not a number" if math.isnan(numbers[name]) else f"is beyond {LARGEST:,.0f}"
                issues.append(Issue(f"/{name}", f"{given[name]!r} {what}", place))
    if len(issues) == before:
        c, d = numbers["c"], numbers["d"]
        if not 0.0 <= c < 1.0:
            issues.append(Issue("/c", f"{c:g} given, 0 or more and below 1 expected", place))
        elif not c < d <= 1.0:
            issues.append(Issue("/d", f"{d:g} given, more than c ({c:g}) and at most 1 expected", place))
    for name in ("objective", "id"):
        if given.get(name, "filled") == "":
            issues.append(Issue(f"/{name}", "is empty", place))
    return Row(line, list(numbers.values()), given.get("objective", ONLY_OBJECTIVE), given.get("id", f"line {line}"))


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def repeated(items: list[Row], source: str) -> list[Issue]:
    first: dict[str, int] = {}
    issues = []
    for item in items:
        earlier = first.setdefault(item.name, item.line)
        if earlier != item.line:
            issues.append(Issue("/id", f"{item.name!r} came before, in line {earlier}", f"{source}:{item.line}"))
    return issues


def in_order(issues: list[Issue]) -> list[Issue]:
    return sorted(issues, key=lambda issue: int(issue.source.rpartition(":")[2]))


def made(items: list[Row]) -> Bank:
    codes = {code: k for k, code in enumerate(dict.fromkeys(item.objective for item in items))}
    items = sorted(items, key=lambda item: codes[item.objective])
    objective = np.array([codes[item.objective] for item in items], dtype=np.int32)
    a, b, c, d = np.array([item.numbers for item in items]).T
    ids = np.arange(len(items)) + 1
    weights = np.bincount(objective) / len(items)
    pool = Pool(0, ids, ids, a, b, c, d, objective, tuple(codes), weights)
    return Bank(pool, [item.name for item in items])
