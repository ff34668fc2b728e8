"""`nextitem analyze`, as somebody types it before learners meet a policy."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from itembank.store import open_engine, transaction
from tests.factories.bank import make_exam, make_items, make_tenant
from tests.factories.command import run

Analyze = Callable[..., int]


@pytest.fixture
def analyze(url: str, tmp_path: Path) -> Analyze:
    """A function that analyses a policy on an exam of 30 items and gives the status."""
    engine = open_engine(url)
    with transaction(engine, writes=True) as db:
        make_items(db, make_exam(db, make_tenant(db)), 30)
    engine.dispose()

    def call(*arguments: str, **changes: object) -> int:
        path = tmp_path / "policy.json"
        path.write_text(json.dumps(changes))
        return run("analyze", "exam", "--policy", path, *arguments)

    return call


def test_a_policy_that_can_be_met_ends_with_0(analyze: Analyze, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyze(minimum_length=5, maximum_length=20, standard_error=0.6) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "the policy can be met by the pool of 30 items"
    assert not any(line.startswith("error:") for line in said)


def test_a_policy_that_cannot_be_met_ends_with_1_and_a_line_for_each_clash(
    analyze: Analyze, capsys: pytest.CaptureFixture[str]
) -> None:
    assert analyze(maximum_length=40, standard_error=None, maximum_exposure=0.5) == 1
    lines = capsys.readouterr().out.splitlines()
    clashes = [line for line in lines if line.startswith("error: ")]
    assert [line.split()[1] for line in clashes] == ["maximum_length:", "maximum_length:", "maximum_exposure:"]
    assert "2.1 has 10 of 16" in clashes[1]


def test_all_of_it_is_json_and_the_same_each_time(analyze: Analyze, capsys: pytest.CaptureFixture[str]) -> None:
    changes = {"minimum_length": 5, "maximum_length": 12, "standard_error": 0.05, "randomesque": 1}
    assert (analyze("--json", **changes), analyze("--json", **changes)) == (1, 1)
    first, again = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first == again
    assert (first["can_be_met"], first["simulated"]["examinees"], first["not_simulated"]) == (False, 500, None)
    by_field = {finding["field"]: finding for finding in first["findings"]}
    assert by_field["standard_error"]["severity"] in {"error", "warning"}
    assert by_field["criterion"]["facts"]["count"] == len(by_field["criterion"]["facts"]["items"])
    assert len(first["reachable"]) == 9


def test_the_policy_of_another_mode_is_analysed_too(analyze: Analyze, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyze("--mode", "practice", "--json") == 0
    assert "readiness_gain" in json.loads(capsys.readouterr().out)["not_simulated"]


def test_an_exam_without_items_meets_no_policy(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    engine = open_engine(url)
    with transaction(engine, writes=True) as db:
        make_exam(db, make_tenant(db))
    engine.dispose()
    assert run("analyze", "exam") == 1
    assert "the pool has no items" in capsys.readouterr().out


def test_bad_input_ends_with_2(analyze: Analyze, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyze(length=3) == 2
    assert "no such field" in capsys.readouterr().err
    assert analyze("--mode", "oral") == 2
    assert analyze("--tenant", "nobody") == 2
    assert run("analyze", "another") == 2
