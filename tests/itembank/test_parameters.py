"""What is a valid set of parameters, and what a file of them may look like."""

import json
from pathlib import Path

import pytest

from itembank.content import ItemKind, ParameterModel
from itembank.formats import parameter_files
from itembank.parameters import parameter_problems
from tests.factories.scored import parameters

ONE, MANY = ItemKind.SINGLE_CHOICE, ItemKind.MULTIPLE_CHOICE
ONE_KEY = {"x": True, "y": False, "z": False}
TWO_KEYS = {"x": True, "y": True, "z": False}
PAIRS = {"x": (1.0, 0.0), "y": (-0.2, 0.1), "z": (-0.8, 0.0)}


@pytest.mark.parametrize(
    ("said", "kind", "options"),
    [
        (parameters(-0.4, 9.0, c=0.2, d=0.9), ONE, ONE_KEY),
        (parameters(model="gpcm", steps=(1.0, -1.0)), MANY, TWO_KEYS),
        (parameters(model="grm", steps=(-1.0, 1.0)), MANY, TWO_KEYS),
        (parameters(-1.0, model="grm", steps=(1.0, -1.0)), MANY, TWO_KEYS),
        (parameters(model="gpcm", steps=(0.5,)), ONE, ONE_KEY),
        (parameters(model="nominal", options=PAIRS), ONE, ONE_KEY),
    ],
)
def test_what_is_valid(said, kind, options):
    assert parameter_problems(said, kind, options) == ()


@pytest.mark.parametrize(
    ("said", "kind", "options", "told"),
    [
        (parameters(float("nan")), ONE, ONE_KEY, "/a: is nan, a finite number expected"),
        (parameters(b=2e6), ONE, ONE_KEY, "/b: is 2e+06, beyond 1,000,000"),
        (parameters(c=1.0), ONE, ONE_KEY, "/c: is 1, 0 or more and below 1 expected"),
        (parameters(c=0.4, d=0.3), ONE, ONE_KEY, "/d: is 0.3, more than c (0.4) and at most 1 expected"),
        (parameters(steps=(1.0,)), ONE, ONE_KEY, "/steps: are for gpcm and grm items, not for dichotomous"),
        (parameters(options=PAIRS), ONE, ONE_KEY, "/options: are for nominal items, not for dichotomous"),
        (parameters(model="gpcm", steps=(1.0,)), MANY, TWO_KEYS, "/steps: are 1, one for each right option"),
        (parameters(0.0, model="gpcm", steps=(1.0, 0.0)), MANY, TWO_KEYS, "/a: is 0, with which no answer"),
        (parameters(model="grm", steps=(1.0, 1.0)), MANY, TWO_KEYS, "/steps/1: is 1, more than the threshold before"),
        (parameters(-1.0, model="grm", steps=(0.0, 1.0)), MANY, TWO_KEYS, "/steps/1: is 1, less than the threshold"),
        (parameters(model="nominal", options=PAIRS), MANY, TWO_KEYS, "/model: nominal is for single_choice items"),
        (parameters(model="nominal", options=PAIRS | {"q": (0.0, 0.0)}), ONE, ONE_KEY, "/options/q: the item has no"),
        (parameters(model="nominal", options={"x": (1.0, 0.0)}), ONE, ONE_KEY, "/options: lack y, z"),
        (parameters(model="gpcm", steps=(float("inf"), 0.0)), MANY, TWO_KEYS, "/steps/0: is inf"),
    ],
)
def test_what_is_not_is_told(said, kind, options, told):
    [issue] = parameter_problems(said, kind, options)
    assert str(issue).startswith(told)


CSV = (
    "external_id,model,a,b,c,steps,options\r\n"
    "q1,,1.2,-0.3,0.2,,\r\n"
    'q2,gpcm,0.9,0.4,,"[-0.5, 1.3]",\r\n'
    "q3,grm,0.9,0.4,,-0.5 1.3,\r\n"
    'q4,nominal,1,0,,,"{""x"": [1.1, 0.4], ""y"": [-0.3, 2e-1]}"\r\n'
)
JSON = [
    {"external_id": "q1", "a": 1.2, "b": -0.3, "c": 0.2},
    {"external_id": "q2", "model": "gpcm", "a": 0.9, "b": 0.4, "steps": [-0.5, 1.3]},
    {"external_id": "q3", "model": "grm", "a": 0.9, "b": 4e-1, "steps": [-0.5, 1.3]},
    {"external_id": "q4", "model": "nominal", "a": 1, "b": 0, "options": {"x": [1.1, 0.4], "y": [-0.3, 0.2]}},
]


def test_both_formats_say_the_same():
    by_csv, by_json = (
        parameter_files.read(data, f"new.{name}")
        for data, name in ((CSV.encode(), "csv"), (json.dumps(JSON).encode(), "json"))
    )
    assert by_csv[1] == by_json[1] == []
    assert [row.parameters for row in by_csv[0]] == [row.parameters for row in by_json[0]]
    assert [row.external_id for row in by_json[0]] == ["q1", "q2", "q3", "q4"]
    assert by_csv[0][3].parameters.options == {"x": (1.1, 0.4), "y": (-0.3, 0.2)}
    assert by_csv[0][0].parameters.model is ParameterModel.DICHOTOMOUS


def test_priors_are_left_out():
    rows, issues = parameter_files.read(b"external_id,origin,a,b\nq1,prior,1,0\nq2,calibrated,1,0\n", "x.csv")
    assert ([row.external_id for row in rows], issues) == (["q2"], [])


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("x.csv", "", "x.csv: holds no parameters"),
        ("x.csv", "external_id,a,b\n", "x.csv: holds no parameters"),
        ("x.csv", "external_id,a,b,e\nq,1,0,0\n", "x.csv:1 /e: is no column"),
        ("x.csv", "a,a,b\n1,1,0\n", "x.csv:1 /a: comes more than once"),
        ("x.csv", "external_id,a,b\nq,1\n", "x.csv:2: has 2 cells, the header 3"),
        ("x.csv", 'external_id,a,b\nq,"1"2,0\n', "x.csv:2: is not CSV"),
        ("x.csv", "external_id,a,b\nq,1,\n", "x.csv:2 /b: is missing"),
        ("x.csv", "external_id,a,b\n,1,0\n", "x.csv:2: names no item"),
        ("x.csv", "external_id,model,a,b\nq,3pl,1,0\n", "x.csv:2 /model: must be one of dichotomous, gpcm"),
        ("x.csv", "external_id,a,b,steps\nq,1,0,low high\n", "x.csv:2 /steps: must be a list of numbers, not text"),
        ("x.csv", "external_id,a,b,version\nq,1,0,1.5\n", "x.csv:2 /version: is 1.5, a whole number from 1"),
        ("x.csv", 'external_id,a,b,options\nq,1,0,"{""x"": [1]}"\n', "x.csv:2 /options/x: has 1 numbers, slope and"),
        ("x.json", "[\n  {]", "x.json:2: is not JSON"),
        ("x.json", "{}", "x.json:1: must be a list, not a mapping"),
        ("x.json", "[1]", "x.json:1 /0: must be a mapping"),
        ("x.json", '[\n{"item": "q",\n "a": true,\n "b": 0}]', "x.json:3 /0/a: must be a number"),
        ("x.json", '[{"item": "q", "a": 1, "b": 0, "steps": [0, null]}]', "x.json:1 /0/steps/1: must be a number"),
        ("x.json", "[" * 100_000, "x.json"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(name, text, told):
    _, issues = parameter_files.read(text.encode(), name)
    assert [str(issue)[: len(told)] for issue in issues] == [told]


def test_what_is_no_text_is_told(tmp_path: Path):
    _, [issue] = parameter_files.read(b"\xff\xfe\x00", "x.csv")
    assert "is not UTF-8" in str(issue)


def test_everything_wrong_is_told_at_once():
    _, issues = parameter_files.read(b"external_id,a,b\nq1,x,0\nq2,1,0\n,1,y\n", "x.csv")
    assert [str(issue).partition(":")[2].split(" ")[0].rstrip(":") for issue in issues] == ["2", "4", "4"]
