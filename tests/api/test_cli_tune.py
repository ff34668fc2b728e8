"""`nextitem tune`, as a psychometrician types it."""

import json
from pathlib import Path

import pytest

from api.cli import tuning
from engine.tuning import Tuned
from itembank.models import PracticeModel
from tests.factories.bank import START
from tests.factories.bundles import write
from tests.factories.command import run


def test_too_few_answers_are_refused_in_one_line(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert url
    assert run("import", write(tmp_path), "--skip-review", "--json") == 0
    exam = json.loads(capsys.readouterr().out.splitlines()[-1])["exam"]["slug"]
    assert run("tune", exam, "--json") == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"answers": 0, "learners": 0, "timings": 0, "model": None}
    assert "500 of at least 5 learners are needed" in printed.err
    assert run("tune", exam) == 2
    assert "0 answers of 0 learners read" in capsys.readouterr().out


def test_an_exam_that_is_not_there_is_named(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert url
    assert run("tune", "nowhere") == 2
    assert "there is no exam nowhere" in capsys.readouterr().err


def test_a_model_is_told_with_its_quality() -> None:
    quality = {"auc": 0.8765, "brier": 0.12, "answers": 40}
    model = PracticeModel(exam_id=1, number=3, weights={}, quality=quality, actor="test", created_at=START)
    tuned = Tuned(answers=900, learners=12, timings=30, model=model)
    assert tuning.as_text(tuned).splitlines()[1] == "model 3: AUC 0.876, Brier score 0.120 on 40 answers held out"
    assert tuning.as_dictionary(tuned)["model"] == {"number": 3, **quality}
