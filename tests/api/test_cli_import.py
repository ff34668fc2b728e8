"""`nextitem import`, as an operator types it."""

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from itembank import clients
from itembank.models import Item, Tenant
from itembank.store import open_engine, transaction
from tests.factories.bank import START
from tests.factories.bundles import broken, write
from tests.factories.command import run


def count(url: str, model: type[Any]) -> int:
    engine = open_engine(url)
    with transaction(engine, writes=False) as db:
        found = db.scalar(sa.select(sa.func.count()).select_from(model)) or 0
    engine.dispose()
    return found


def test_a_bundle_is_imported_and_again_without_effect(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path)
    assert run("import", folder, "--skip-review", "--json") == 0
    assert run("import", folder, "--skip-review", "--json") == 0
    first, second = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    assert (first["items"]["created"], second["items"]["unchanged"]) == (2, 2)
    assert first["stored"]
    assert count(url, Item) == 2


def test_a_dry_run_stores_nothing(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("import", write(tmp_path), "--dry-run") == 0
    assert "2 created" in capsys.readouterr().out
    assert count(url, Item) == count(url, Tenant) == 0


def test_every_mistake_is_a_line_and_nothing_is_stored(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def change(files: dict[str, Any]) -> None:
        files["items/first.yaml"][0]["stem"] = ""
        files["items/first.yaml"][1]["objective"] = "9.9"

    assert run("import", broken(tmp_path, change)) == 2
    errors = capsys.readouterr().err.splitlines()
    assert [line.partition(" ")[2].partition(":")[0] for line in errors] == ["/0/stem", "/1/objective"]
    assert all(line.startswith("items/first.yaml:") for line in errors)
    assert count(url, Item) == count(url, Tenant) == 0


def test_an_exam_that_is_not_the_one_meant(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("import", write(tmp_path), "--exam", "other") == 2
    assert "other" in capsys.readouterr().err
    assert run("import", tmp_path, "--exam", "small") == 0


def test_with_several_tenants_one_has_to_be_named(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = open_engine(url)
    with transaction(engine, writes=True) as db:
        for name in ("acme", "other"):
            clients.create_tenant(db, name, now=START)
    engine.dispose()
    folder = write(tmp_path)
    assert run("import", folder) == 2
    assert "--tenant" in capsys.readouterr().err
    assert run("import", folder, "--tenant", "other") == 0


def test_what_is_no_bundle(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("import", tmp_path) == 2
    assert "exam.yaml" in capsys.readouterr().err
