"""Exams and their blueprints over HTTP."""

from typing import Any

from marshmallow import fields, post_load, validate

from api.schemas.base import Moment, Number, Prose, Reply, Slug, Strict, Text, format_moment
from itembank.content import ExamContent, ObjectiveContent, Scale
from itembank.models import Blueprint, Exam


class ScaleSchema(Strict):
    """How ability is reported: mean + sd × θ, kept between minimum and maximum."""

    mean = Number(load_default=500.0)
    sd = Number(load_default=100.0)
    minimum = Number(load_default=200.0)
    maximum = Number(load_default=800.0)


class PriorSchema(Strict):
    """Ability in the population that takes the exam, in logits."""

    mean = Number(load_default=0.0)
    sd = Number(load_default=1.0)


class ExamBody(Strict):
    """What creating an exam and changing it have in common."""

    title = Text(required=True, shortest=1, length=300)
    description = Prose(load_default="", metadata={"description": "Markdown"})
    scale = fields.Nested(ScaleSchema, load_default=lambda: ScaleSchema().load({}))
    cut_score = Number(load_default=0.0, metadata={"description": "the passing ability, in logits"})
    prior = fields.Nested(PriorSchema, load_default=lambda: PriorSchema().load({}))

    @post_load
    def to_content(self, data: dict[str, Any], **_: Any) -> ExamContent:
        """The slug may be missing in a change; then it is empty here."""
        return ExamContent(
            slug=data.get("slug", ""),
            title=data["title"],
            description=data["description"],
            scale=Scale(**data["scale"]),
            cut_score=data["cut_score"],
            prior_mean=data["prior"]["mean"],
            prior_sd=data["prior"]["sd"],
        )


class CreateExamSchema(ExamBody):
    """Body of `POST /v1/exams`."""

    slug = Slug(required=True, metadata={"description": "the exam's name in addresses; it can't change"})


class PutExamSchema(ExamBody):
    """Body of `PUT /v1/exams/{exam}`: all of it; what is left out becomes the default."""

    slug = Slug(metadata={"description": "must be the one in the path"})


class ExamSchema(Reply):
    id = fields.UUID(required=True)
    slug = fields.String(required=True)
    title = fields.String(required=True)
    description = fields.String(required=True, metadata={"description": "Markdown"})
    scale = fields.Nested(ScaleSchema, required=True)
    cut_score = fields.Float(required=True)
    prior = fields.Nested(PriorSchema, required=True)
    created_at = Moment(required=True)
    updated_at = Moment(required=True)


class ObjectiveSchema(Strict):
    code = Text(required=True, shortest=1, length=40, metadata={"description": "such as 1.3; unique in the exam"})
    title = Text(required=True, shortest=1, length=300)
    weight = Number(
        required=True, validate=validate.Range(min=0, max=1), metadata={"description": "share of the whole exam"}
    )


class DomainSchema(ObjectiveSchema):
    objectives = fields.List(
        fields.Nested(ObjectiveSchema),
        load_default=list,
        metadata={"description": "their weights add up to the domain's"},
    )


class PutBlueprintSchema(Strict):
    """Body of `PUT /v1/exams/{exam}/blueprint`."""

    domains = fields.List(
        fields.Nested(DomainSchema), required=True, metadata={"description": "their weights add up to 1"}
    )

    @post_load
    def to_content(self, data: dict[str, Any], **_: Any) -> tuple[ObjectiveContent, ...]:
        return tuple(
            ObjectiveContent(
                code=domain["code"],
                title=domain["title"],
                weight=domain["weight"],
                objectives=tuple(ObjectiveContent(**objective) for objective in domain["objectives"]),
            )
            for domain in data["domains"]
        )


class BlueprintSchema(Reply):
    id = fields.UUID(
        required=True, allow_none=True, metadata={"description": "null as long as the exam has no blueprint"}
    )
    version = fields.Integer(required=True, metadata={"description": "0 as long as the exam has no blueprint"})
    domains = fields.List(fields.Nested(DomainSchema), required=True)


def exam_json(exam: Exam) -> dict[str, Any]:
    return {
        "id": str(exam.uuid),
        "slug": exam.slug,
        "title": exam.title,
        "description": exam.description,
        "scale": {
            "mean": exam.scale_mean,
            "sd": exam.scale_sd,
            "minimum": exam.scale_minimum,
            "maximum": exam.scale_maximum,
        },
        "cut_score": exam.cut_score,
        "prior": {"mean": exam.prior_mean, "sd": exam.prior_sd},
        "created_at": format_moment(exam.created_at),
        "updated_at": format_moment(exam.updated_at),
    }


def blueprint_json(blueprint: Blueprint | None, domains: tuple[ObjectiveContent, ...]) -> dict[str, Any]:
    return {
        "id": None if blueprint is None else str(blueprint.uuid),
        "version": 0 if blueprint is None else blueprint.number,
        "domains": [
            {**_node_json(domain), "objectives": [_node_json(objective) for objective in domain.objectives]}
            for domain in domains
        ],
    }


def _node_json(node: ObjectiveContent) -> dict[str, Any]:
    return {"code": node.code, "title": node.title, "weight": node.weight}
