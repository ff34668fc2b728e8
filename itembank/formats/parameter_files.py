"""Item parameters as a file: CSV with a header, or a JSON list of objects with the same names.

    external_id,model,a,b,c,d,steps,options
    q1,dichotomous,1.2,-0.3,0.2,1,,
    q2,gpcm,0.9,0.4,,,-0.5 0.1 1.3,
    q3,nominal,1.0,0.0,,,,"{""x"": [1.1, 0.4], ""y"": [-0.3, 0.2], ""z"": [-0.8, -0.6]}"

All that is wrong in a file is told at once, each with its line.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from itembank.content import ParameterModel, ParameterOrigin, Parameters
from itembank.errors import Issue
from itembank.formats import delimited, yaml_documents
from itembank.formats.base import Fields, Origin, escape, kind_of

COLUMNS = ("external_id", "item", "version", "origin", "model", "a", "b", "c", "d", "steps", "options")
NUMBERS = ("version", "a", "b", "c", "d")
NO_ROWS = "holds no parameters; one object or line per item expected"


@dataclass(frozen=True, slots=True)
class Row:
    """One item's parameters. item : its uuid as text, or None;  version : a number, or None for the one in service

    whole : it was read without a complaint
    """

    origin: Origin
    external_id: str | None
    item: str | None
    version: int | None
    parameters: Parameters
    whole: bool


def read(data: bytes, file: str) -> tuple[list[Row], list[Issue]]:
    """The rows of a file whose name ends in .json, or of CSV; and what is wrong with it.

    Rows of origin `prior` are left out: those come from ratings, not from a file.

    >>> rows, issues = read(b"external_id,a,b\\nq1,1.2,-0.3\\nq2,1.0,high\\n", "new.csv")
    >>> [row.external_id for row in rows], str(issues[0])
    (['q1', 'q2'], 'new.csv:3 /b: must be a number, not text')
    """
    issues: list[Issue] = []
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return [], [Issue("", f"is not UTF-8: {error}", file)]
    documents = _json(text, file, issues) if file.lower().endswith(".json") else _csv(text, file, issues)
    rows = [_row(value, origin, issues) for value, origin in documents if not _is_prior(value)]
    if not rows and not issues:
        issues.append(Issue("", NO_ROWS, file))
    return rows, issues


def write(rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """A CSV file that `read` takes. rows : values in the order of COLUMNS"""
    return delimited.write(COLUMNS, rows)


def _is_prior(value: Any) -> bool:
    return isinstance(value, dict) and value.get("origin") == ParameterOrigin.PRIOR


def _csv(text: str, file: str, issues: list[Issue]) -> list[tuple[Any, Origin]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    lines: list[tuple[int, list[str]]] = []
    try:
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(map(str.strip, cells))]
    except csv.Error as error:
        issues.append(Issue("", f"is not CSV: {error}", f"{file}:{reader.line_num}"))
    if not lines:
        return []
    line, header = lines[0]
    place = Origin(file, {"": line})
    known = ", ".join(COLUMNS)
    issues += [
        place.issue(f"/{escape(name)}", f"is no column; they are {known}") for name in header if name not in COLUMNS
    ]
    issues += [place.issue(f"/{name}", "comes more than once") for name in COLUMNS if header.count(name) > 1]
    if issues:
        return []
    found: list[tuple[Any, Origin]] = []
    for line, cells in lines[1:]:
        place = Origin(file, {"": line})
        if len(cells) != len(header):
            issues.append(place.issue("", f"has {len(cells)} cells, the header {len(header)}"))
            continue
        given = dict(zip(header, cells, strict=True))
        found.append(({name: _value(name, cell) for name, cell in given.items() if cell}, place))
    return found


def _value(name: str, cell: str) -> Any:
    """What a JSON file would have in this place; text where the cell is nothing of the kind, which gets noticed."""
    try:
        if name in NUMBERS:
            return float(cell)
        if name == "steps" and not cell.startswith("["):
            return [float(part) for part in cell.split()]
        return json.loads(cell) if name in ("steps", "options") else cell
    except (ValueError, RecursionError):
        return cell


def _json(text: str, file: str, issues: list[Issue]) -> list[tuple[Any, Origin]]:
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        issues.append(Issue("", f"is not JSON: {error.msg}", f"{file}:{error.lineno}"))
        return []
    except RecursionError:
        issues.append(Issue("", "is nested too deeply", file))
        return []
    _, origin, _ = yaml_documents.load(text, file)  # JSON is YAML, but for its numbers; this one knows the lines
    if not isinstance(values, list):
        issues.append(origin.issue("", f"must be a list, not {kind_of(values)}"))
        return []
    return [(value, origin.below(f"/{i}")) for i, value in enumerate(values)]


def _row(value: Any, origin: Origin, issues: list[Issue]) -> Row:
    before = len(issues)
    fields = Fields(value, origin, COLUMNS, issues)
    item, external_id = fields.optional_text("item"), fields.optional_text("external_id")
    if item is None and external_id is None and fields.is_mapping:
        fields.complain("", "names no item; external_id or item expected")
    fields.choice("origin", ParameterOrigin, ParameterOrigin.CALIBRATED)
    version = _version(fields)
    parameters = Parameters(
        fields.number("a"),
        fields.number("b"),
        fields.number("c", 0.0),
        fields.number("d", 1.0),
        fields.choice("model", ParameterModel, ParameterModel.DICHOTOMOUS),
        _numbers(fields.values.get("steps"), fields, "/steps"),
        _options(fields),
    )
    return Row(origin, external_id, item, version, parameters, whole=len(issues) == before)


def _version(fields: Fields) -> int | None:
    number = fields.optional_number("version")
    if number is None:
        return None
    if not number.is_integer() or number < 1:
        fields.complain("/version", f"is {number:g}, a whole number from 1 expected")
        return None
    return int(number)


def _numbers(value: Any, fields: Fields, pointer: str) -> tuple[float, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        fields.complain(pointer, f"must be a list of numbers, not {kind_of(value)}")
        return ()
    for i, number in enumerate(value):
        if isinstance(number, bool) or not isinstance(number, int | float):
            fields.complain(f"{pointer}/{i}", f"must be a number, not {kind_of(number)}")
            return ()
    try:
        return tuple(float(number) for number in value)
    except OverflowError:
        fields.complain(pointer, "holds too large a number")
        return ()


def _options(fields: Fields) -> dict[str, tuple[float, float]]:
    value = fields.values.get("options")
    if value is None:
        return {}
    if not isinstance(value, dict):
        fields.complain("/options", f"must map keys to [slope, intercept], not {kind_of(value)}")
        return {}
    found: dict[str, tuple[float, float]] = {}
    for key, pair in value.items():
        numbers = _numbers(pair, fields, f"/options/{escape(key)}")
        if len(numbers) == 2:
            found[key] = (numbers[0], numbers[1])
        elif isinstance(pair, list) and len(pair) != 2:
            fields.complain(f"/options/{escape(key)}", f"has {len(pair)} numbers, slope and intercept expected")
    return found
