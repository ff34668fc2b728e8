"""`nextitem parameters`, as a psychometrician types it."""

import json
from pathlib import Path

import pytest

from itembank.formats import parameter_files
from tests.factories.bundles import documents, write
from tests.factories.command import run

KEYS = [option["id"] for option in documents()["items/first.yaml"][0]["options"]]


@pytest.fixture
def bank(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bundle").mkdir()
    assert run("import", write(tmp_path / "bundle"), "--skip-review") == 0
    capsys.readouterr()


def file(tmp_path: Path, text: str, name: str = "new.csv") -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_what_comes_out_goes_in_and_comes_out_the_same(
    bank: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {key: [1.0 - place / 3, place / 7] for place, key in enumerate(KEYS)}
    rows = [
        {"external_id": "one", "model": "nominal", "a": 0.1 + 0.2, "b": -1e-3, "c": 0.2, "d": 0.95, "options": options},
        {"external_id": "two", "model": "gpcm", "a": 1.5, "b": 0.25, "steps": [1 / 3]},
    ]
    assert run("parameters", "small", file(tmp_path, json.dumps(rows), "new.json"), "--note", "spring", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts == {"exam": "small", "release": 1, "items": 2, "note": "spring"}
    assert run("parameters", "small") == 0
    first = capsys.readouterr().out
    assert run("parameters", "small", file(tmp_path, first), "--tenant", "default") == 0
    assert capsys.readouterr().out == "release 2 of small: 2 items\n"
    assert run("parameters", "small") == 0
    assert capsys.readouterr().out == first
    assert "0.30000000000000004" in first
    assert "[0.3333333333333333]" in first


def test_every_mistake_is_a_line_and_nothing_is_stored(
    bank: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file(tmp_path, "external_id,model,a,b,steps\none,gpcm,1,0,\nthree,,1,0,\ntwo,,high,0,\n")
    assert run("parameters", "small", path) == 2
    told = capsys.readouterr().err.splitlines()
    assert told == [
        f"{path}:4 /a: must be a number, not text",
        f"{path}:2 /steps: are 0, one for each right option expected, 1",
        f"{path}:3: the exam has no item 'three' with a version in service",
    ]
    assert run("parameters", "small") == 2
    assert "there is no parameter release of exam small" in capsys.readouterr().err


def test_an_exam_that_is_not_there(bank: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("parameters", "other") == 2
    assert "there is no exam other" in capsys.readouterr().err


def test_the_examples_in_the_documentation_are_read() -> None:
    text = (Path(__file__).parents[2] / "docs/parameters.md").read_text()
    blocks = [part.partition("\n") for part in text.split("```")[1::2]]
    kinds = {kind: body for kind, _, body in blocks if kind in ("csv", "json")}
    assert kinds.keys() == {"csv", "json"}
    by_kind = {kind: parameter_files.read(body.encode(), f"new.{kind}") for kind, body in kinds.items()}
    assert [issues for _, issues in by_kind.values()] == [[], []]
    said = [[(row.external_id, row.parameters) for row in rows] for rows, _ in by_kind.values()]
    assert said[0] == said[1]
    assert {each.model.value for _, each in said[0]} == {"dichotomous", "gpcm", "grm", "nominal"}
