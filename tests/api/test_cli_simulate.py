"""`nextitem simulate`, as a psychometrician types it."""

import csv
import json
from pathlib import Path

import pytest

from engine import simulating
from tests.factories.bundles import write
from tests.factories.command import run


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of 60 2PL items in two objectives. There is no database, and none is needed."""
    monkeypatch.setenv("NEXTITEM_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nowhere")
    rows = [f"{1.0 + i % 5 / 5},{i / 10 - 3},{'x' if i % 3 else 'y'},item {i}" for i in range(60)]
    path = tmp_path / "bank.csv"
    path.write_text("a,b,objective,id\n" + "\n".join(rows) + "\n")
    return path


def file(tmp_path: Path, content: object, name: str = "policy.json") -> Path:
    (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return tmp_path / name


def test_a_parameter_file_is_simulated_without_a_database(
    bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = file(tmp_path, {"maximum_length": 12, "standard_error": None})
    arguments = ["simulate", "--bank", bank, "--policy", policy, "--examinees", "300", "--seed", "4", "--json"]
    assert run(*arguments) == run(*arguments) == 0
    first, again = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == again
    summary = first["summary"]
    assert (summary["examinees"], summary["mean_length"], summary["content_violations"]) == (300, 12.0, 0.0)
    assert {row["objective"]: row["items"] for row in first["objectives"]} == {"y": 20, "x": 40}
    assert sum(row["served"] for row in first["items"]) == 300 * 12


def test_the_files_are_written(bank: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    assert run("simulate", "--bank", bank, "--examinees", "50", "--theta", "grid(-1,1,1)", "--out", out) == 0
    pictures = {f"{name}.{kind}" for name in ("measurement", "exposure") for kind in ("png", "svg")}
    tables = {f"{name}.csv" for name in ("summary", "conditional", "items", "objectives", "examinees")}
    assert {path.name for path in out.iterdir()} == {"report.json"} | tables | pictures
    with (out / "examinees.csv").open(newline="", encoding="utf-8-sig") as lines:
        rows = list(csv.DictReader(lines))
    assert [float(row["theta"]) for row in rows[:4]] == [-1.0, 0.0, 1.0, -1.0]
    assert all(len(row["answers"]) == int(row["length"]) for row in rows)


@pytest.mark.parametrize(
    "changes",
    [
        {"criterion": "kullback_leibler"},
        {"criterion": "minimum_expected_posterior_variance"},
        {"criterion": "a_stratified", "strata": 3},
        {"criterion": "progressive"},
        {"criterion": "target_success", "target_success": 0.8},
        {"criterion": "random"},
        {"content_rule": "priority_index", "strict_content": True},
        {"maximum_exposure": 0.5},
        {"change_of_estimate": 0.1},
        {"minimum_information": 0.2},
        {"classification": "confidence_interval", "confidence": 0.9, "on_time_out": "fail"},
        {"classification": "sprt", "indifference": 0.5, "alpha": 0.1, "beta": 0.1},
    ],
    ids=lambda changes: " ".join(map(str, changes.values())),
)
def test_every_feature_of_a_policy_is_simulated(
    bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, object]
) -> None:
    policy = file(tmp_path, {"minimum_length": 4, "maximum_length": 12, "standard_error": None} | changes)
    arguments = ["--bank", bank, "--policy", policy, "--examinees", "64", "--cut", "0.25", "--json"]
    assert run("simulate", *arguments) == 0
    report = json.loads(capsys.readouterr().out)
    summary, decided_by = report["summary"], "policy" if "classification" in changes else "estimate"
    assert 4 <= summary["shortest"] <= summary["longest"] <= 12
    assert sum(value for name, value in summary.items() if name.startswith("stopped_by_")) == pytest.approx(1.0)
    assert sum(row["served"] for row in report["items"]) == round(64 * summary["mean_length"])
    assert (summary["cut"], summary["decided_by"]) == (0.25, decided_by)


def test_what_was_decided_about_each_examinee_is_written(bank: Path, tmp_path: Path) -> None:
    policy, out = file(tmp_path, {"classification": "sprt", "maximum_length": 12}), tmp_path / "out"
    assert run("simulate", "--bank", bank, "--policy", policy, "--examinees", "64", "--out", out) == 0
    with (out / "examinees.csv").open(newline="", encoding="utf-8-sig") as lines:
        assert {row["decision"] for row in csv.DictReader(lines)} == {"pass", "fail"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"time_limit_s": 600}, "time_limit_s: 600 given, null (no response times are simulated)"),
        ({"strict_content": True, "maximum_length": 61}, "a length that the bank can fill (y has 20 of 21 items"),
        ({"criterion": "a_stratified", "content_rule": "priority_index"}, "criterion: "),
        ({"maximum_exposure": 0}, "maximum_exposure: 0 given, null or a number above 0"),
        ({"classification": "coin"}, 'classification: "coin" given, one of'),
        ({"alpha": 0.7}, "alpha: 0.7 given"),
        ('{"standard_error": NaN}', "standard_error: NaN given"),
        ({"maximum_length": None}, "maximum_length: null given, a whole number"),
        ({"criterion": "best"}, 'criterion: "best" given, one of'),
        ({"length": 3}, "length: 3 given, no such field"),
        ([1], "a JSON object of policy fields expected"),
        ("{", "line 1 column 2"),
    ],
)
def test_a_policy_that_cannot_be_simulated_is_refused_in_one_line(
    bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: object, told: str
) -> None:
    assert run("simulate", "--bank", bank, "--policy", file(tmp_path, content)) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert told in error
    assert "--policy" in error


def test_a_bad_bank_is_refused_with_every_bad_line(
    bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = file(tmp_path, "a,b\n1,one\nnan,0\n1,0\n", "bad.csv")
    assert run("simulate", "--bank", bad, "--out", tmp_path / "out") == 2
    assert capsys.readouterr().err.splitlines() == [
        f"nextitem: {bad}:2 /b: 'one' is not a number",
        f"nextitem: {bad}:3 /a: 'nan' is not a number",
    ]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--examinees", "0"],
        ["--theta", "normal(0,-1)"],
        ["--prior", "normal(9,1)"],
        ["--prior", "normal(0,0.01)"],
        ["--cut", "nan"],
        ["exam"],
    ],
)
def test_what_makes_no_sense_ends_with_2(bank: Path, arguments: list[str]) -> None:
    given = ["--bank", str(bank)] if arguments else []
    assert run("simulate", *given, *arguments) == 2


def test_an_exam_is_simulated_on_its_pool_with_its_enemies(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("import", write(tmp_path), "--skip-review") == 0
    capsys.readouterr()
    policy = file(tmp_path, {"minimum_length": 1, "maximum_length": 2})
    assert run("simulate", "small", "--policy", policy, "--examinees", "20", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["items"]) == 2  # which are enemies, so a sitting can have only one of them
    assert (found["summary"]["mean_length"], found["summary"]["stopped_by_pool_exhausted"]) == (1.0, 1.0)


def test_an_exam_that_is_not_there_is_told(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("simulate", "another", "--json") == 2
    assert "another" in capsys.readouterr().err


def test_an_interrupted_simulation_leaves_nothing_behind(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(simulating, "plots", interrupted)  # at the end, when most of it is there
    assert run("simulate", "--bank", bank, "--out", tmp_path / "out") == 130
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_told(bank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("simulate", "--bank", bank, "--examinees", "5", "--out", bank / "below") == 2
    assert str(bank) in capsys.readouterr().err
