"""Simulations over HTTP."""

from typing import Any

from marshmallow import fields, validate

from api.schemas.base import Integer, Moment, Number, Reply, Strict, Text, format_moment
from api.schemas.sessions import PolicySchema
from engine.delivery import LARGEST_SEED
from engine.selection import Mode
from engine.selection.finding import Severity
from itembank.content import JobStatus
from itembank.models import Exam, Job

MOST_EXAMINEES = 100_000
DISTRIBUTION = "normal(MEAN,SD)"


class RequestSimulationSchema(Strict):
    """Body of `POST /v1/exams/{exam}/simulations`."""

    policy = fields.Nested(PolicySchema, load_default=dict)
    mode = fields.Enum(
        Mode,
        by_value=True,
        load_default=Mode.adaptive_test,
        metadata={"description": "whose policy the changes start from", "default": Mode.adaptive_test.value},
    )
    examinees = Integer(
        minimum=1, maximum=MOST_EXAMINEES, load_default=1000, metadata={"description": "how many sit the test"}
    )
    theta = Text(
        load_default=None,
        allow_none=True,
        length=100,
        metadata={
            "description": f"true abilities: `{DISTRIBUTION}`, `grid` or `grid(LOW,HIGH,STEP)`; "
            "else drawn from the prior"
        },
    )
    prior = Text(
        load_default=None,
        allow_none=True,
        length=100,
        metadata={"description": f"where each sitting starts, `{DISTRIBUTION}`; else the exam's"},
    )
    cut = Number(
        load_default=None,
        allow_none=True,
        metadata={"description": "ability from which one passes, in logits; else the exam's"},
    )
    seed = Integer(minimum=0, maximum=LARGEST_SEED, load_default=0, metadata={"description": "of all that is random"})
    objectives = fields.List(
        Text(shortest=1, length=40),
        load_default=list,
        validate=validate.Length(max=500),
        metadata={"description": "codes of objectives or domains to keep to; empty for all"},
    )


class SettingsSchema(Reply):
    """What is simulated, with all that was not asked for as it was taken."""

    mode = fields.Enum(Mode, by_value=True, required=True)
    policy = fields.Dict(keys=fields.String(), required=True, metadata={"description": "the whole policy"})
    examinees = fields.Integer(required=True)
    theta = fields.String(required=True)
    prior = fields.String(required=True)
    cut = fields.Float(required=True)
    seed = fields.Integer(required=True)
    objectives = fields.List(fields.String(), required=True)


class FindingSchema(Reply):
    """Where a policy and a pool clash."""

    severity = fields.Enum(
        Severity,
        by_value=True,
        required=True,
        metadata={"description": "`error`: the policy can't be met; `warning`: not by every sitting"},
    )
    field = fields.String(required=True, metadata={"description": "of the policy"})
    what = fields.String(required=True, metadata={"description": "clashes with what"})
    remedy = fields.String(required=True, metadata={"description": "what would be right"})
    facts = fields.Dict(keys=fields.String(), required=True, metadata={"description": "the numbers"})


class SimulationReportSchema(Reply):
    """Tables of rows. They are described in the documentation of the engine."""

    summary = fields.Dict(keys=fields.String(), required=True)
    conditional = fields.List(fields.Dict(keys=fields.String()), required=True)
    items = fields.List(fields.Dict(keys=fields.String()), required=True)
    objectives = fields.List(fields.Dict(keys=fields.String()), required=True)


class SimulationSchema(Reply):
    """A simulation: what was asked for, how far it is, and once it has succeeded its report."""

    id = fields.UUID(required=True)
    exam = fields.String(required=True, metadata={"description": "slug"})
    status = fields.Enum(JobStatus, by_value=True, required=True)
    progress = fields.Float(required=True, metadata={"description": "share that is done, 0 to 1"})
    error = fields.String(required=True, allow_none=True, metadata={"description": "why the last attempt failed"})
    settings = fields.Nested(SettingsSchema, required=True)
    findings = fields.List(
        fields.Nested(FindingSchema),
        required=True,
        metadata={
            "description": "where the policy asks for more than the pool has; more of them once it has succeeded"
        },
    )
    created_at = Moment(required=True)
    started_at = Moment(required=True, allow_none=True)
    finished_at = Moment(required=True, allow_none=True)
    report = fields.Nested(SimulationReportSchema, required=True, allow_none=True)
    files = fields.List(
        fields.String(), required=True, metadata={"description": "paths of the report's tables and pictures"}
    )


def simulation_json(job: Job, exam: Exam, *, report: Any = None) -> dict[str, Any]:
    """report : already JSON, as `orjson.Fragment`, or None"""
    result = job.result or {"files": [], "findings": []}
    settings = {name: value for name, value in job.arguments.items() if name not in {"pool", "findings"}}
    return {
        "id": str(job.uuid),
        "exam": exam.slug,
        "status": job.status.value,
        "progress": job.progress,
        "error": job.error,
        "settings": settings,
        "findings": [*job.arguments["findings"], *result["findings"]],
        "created_at": format_moment(job.created_at),
        "started_at": None if job.started_at is None else format_moment(job.started_at),
        "finished_at": None if job.finished_at is None else format_moment(job.finished_at),
        "report": report,
        "files": [f"/v1/simulations/{job.uuid}/files/{name}" for name in result["files"]],
    }
