"""Items with scored options: more than one right option, and parameters of models with more than two categories."""

from datetime import datetime
from typing import Any

from sqlmodel import select

from itembank import authoring
from itembank.content import ItemContent, ItemKind, OptionContent, ParameterModel, Parameters, Stage
from itembank.formats.base import Origin
from itembank.formats.parameter_files import Row
from itembank.models import Exam, Item, ItemVersion, ParameterRelease
from itembank.store import Db
from tests.factories.bank import START, move


def make_multiple(
    db: Db, exam: Exam, name: str = "multiple", *, keys: int = 3, options: int = 5, objective: str = "1.1"
) -> Item:
    """An operational multiple-choice item whose first `keys` options are right."""
    content = ItemContent(
        kind=ItemKind.MULTIPLE_CHOICE,
        objective=objective,
        stem=f"Which are {name}?",
        options=tuple(
            OptionContent(f"{name}-{place}", f"Answer {place} to {name}", place < keys, f"Why {place} is so.")
            for place in range(options)
        ),
        short_explanation=f"In short: {name}.",
        full_explanation=f"At length: {name}.",
        angoff=0.6,
    )
    item = authoring.submit(db, exam, content, external_id=name, actor="test", now=START)
    return move(db, item, Stage.IN_REVIEW, Stage.APPROVED, Stage.OPERATIONAL)


def parameters(a: float = 1.0, b: float = 0.0, **more: Any) -> Parameters:
    model = ParameterModel(more.pop("model", "dichotomous"))
    return Parameters(a, b, model=model, **more)


def row(external_id: str | None, said: Parameters, *, line: int = 2, **more: Any) -> Row:
    fields: dict[str, Any] = {"item": None, "version": None, "whole": True, **more}
    return Row(Origin("new.csv", {"": line}), external_id, parameters=said, **fields)


def release(db: Db, exam: Exam, said: dict[str, Parameters], *, now: datetime = START) -> ParameterRelease:
    """Parameters by external id, put in force."""
    rows = [row(name, each, line=place + 2) for place, (name, each) in enumerate(said.items())]
    found = authoring.release_parameters(db, exam, rows, actor="test", now=now)
    db.refresh(exam)
    return found


def version_id(db: Db, item: Item) -> int:
    return db.exec(select(ItemVersion.id).where(ItemVersion.item_id == item.id)).one()
