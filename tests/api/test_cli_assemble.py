"""`nextitem assemble`, as somebody types it who makes forms before an exam."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from itembank.store import open_engine, transaction
from tests.factories.bank import make_exam, make_items, make_tenant
from tests.factories.command import run

Assemble = Callable[..., int]


@pytest.fixture
def assemble(url: str, tmp_path: Path) -> Assemble:
    """A function that assembles forms of 8 of an exam's 30 items and gives the status."""
    engine = open_engine(url)
    with transaction(engine, writes=True) as db:
        make_items(db, make_exam(db, make_tenant(db)), 30)
    engine.dispose()

    def call(*arguments: object, **changes: object) -> int:
        path = tmp_path / "policy.json"
        path.write_text(json.dumps({"maximum_length": 8} | changes))
        return run("assemble", "exam", "--policy", path, *arguments)

    return call


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_parallel_forms_share_no_more_than_they_may_and_are_alike(
    assemble: Assemble, capsys: pytest.CaptureFixture[str]
) -> None:
    assert assemble("--forms", 3, "--overlap", 1, "--seconds", 5, "--json") == 0
    made = printed(capsys)
    assert [len(set(form["items"])) for form in made["forms"]] == [8, 8, 8]
    told = [form["information"][0] for form in made["forms"]]
    assert max(told) / min(told) < 1.1
    sets = [set(form["items"]) for form in made["forms"]]
    assert {tuple(pair["forms"]): pair["items"] for pair in made["shared"]} == {
        (one + 1, other + 1): len(sets[one] & sets[other]) for one, other in ((0, 1), (0, 2), (1, 2))
    }
    assert all(pair["items"] <= 1 for pair in made["shared"])


def test_a_form_comes_near_its_target_and_is_the_same_each_time(
    assemble: Assemble, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--at", -0.5, "--at", 0.5, "--target", 1.0, "--target", 1.0, "--seed", 3, "--json")
    assert assemble(*arguments) == 0
    first = printed(capsys)
    assert all(abs(value - 1.0) < 0.2 for value in first["forms"][0]["information"])
    assert assemble(*arguments) == 0
    assert printed(capsys) == first


def test_what_clashes_is_named_in_one_line(assemble: Assemble, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"item-{place}" for place in range(4)]
    rule = {"kind": "include", "name": "these", "where": [{"attribute": "external_id", "among": names}]}
    never = {"kind": "exclude", "name": "not this", "where": [{"attribute": "external_id", "among": names[:1]}]}
    assert assemble(constraints=[rule, never]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "these" in line
    assert "not this" in line


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--at", "nan"), "--at"),
        (("--target", "1", "--at", "0", "--at", "1"), "--target"),
        (("--target", "-1"), "--target"),
        (("--forms", "0"), "--forms"),
    ],
)
def test_what_is_wrong_is_told_with_its_option(
    assemble: Assemble, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], what: str
) -> None:
    assert assemble(*arguments) == 2
    assert what in capsys.readouterr().err


def test_people_read_the_forms(assemble: Assemble, capsys: pytest.CaptureFixture[str]) -> None:
    assert assemble("--forms", 2, "--overlap", 0) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("form 1: 8 items, pass mark ")
    assert lines[-1] == "forms 1 and 2 share 0 items"
