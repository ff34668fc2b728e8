"""Exports over HTTP."""

from typing import Any

from marshmallow import fields, validate

from api.schemas.base import Moment, Reply, Strict, format_moment
from itembank.datasets import DATASETS, FORMATS
from itembank.models import Exam, Export


def _choices(named: dict[str, Any]) -> validate.OneOf:
    return validate.OneOf(list(named))


class RequestExportSchema(Strict):
    """Body of `POST /v1/exams/{exam}/exports`."""

    dataset = fields.String(
        required=True,
        validate=_choices(DATASETS),
        metadata={"description": "; ".join(f"`{each.name}`: {each.meaning}" for each in DATASETS.values())},
    )
    format = fields.String(required=True, validate=_choices(FORMATS))
    since = Moment(
        load_default=None,
        allow_none=True,
        metadata={"description": "answers given, or items changed, at this time or later"},
    )
    until = Moment(load_default=None, allow_none=True, metadata={"description": "and before this time"})


class ExportSchema(Reply):
    """What was asked for. Its file has what was there then, whenever you fetch it."""

    id = fields.UUID(required=True)
    exam = fields.String(required=True, metadata={"description": "slug"})
    dataset = fields.String(required=True)
    format = fields.String(required=True)
    since = Moment(required=True, allow_none=True)
    until = Moment(required=True, allow_none=True)
    created_at = Moment(required=True)
    file = fields.String(required=True, metadata={"description": "path of the file"})


def export_json(export: Export, exam: Exam) -> dict[str, Any]:
    return {
        "id": str(export.uuid),
        "exam": exam.slug,
        "dataset": export.dataset,
        "format": export.format,
        "since": None if export.since is None else format_moment(export.since),
        "until": None if export.until is None else format_moment(export.until),
        "created_at": format_moment(export.created_at),
        "file": f"/v1/exports/{export.uuid}/file",
    }
