"""Simulations: a policy on simulated examinees, asked for here and run by a worker."""

from typing import Any
from uuid import UUID

import orjson
from flask import Response

from api import context
from api.auth import requires
from api.context import creates, reads
from api.schemas.blueprint import Blueprint
from api.schemas.simulations import RequestSimulationSchema, SimulationSchema, simulation_json
from api.v1._replies import SANDBOX, accepted, reply
from engine import loading, simulating
from engine.errors import NothingToServe
from engine.jobs.simulations import KIND, REPORT
from engine.selection.feasibility import findings
from engine.simulating import Study
from engine.simulation import Normal
from itembank import calibrations, catalog, jobs
from itembank.content import JobStatus

blp = Blueprint("simulations", __name__, url_prefix="/v1", description="Policies on simulated examinees.")

REQUEST_EXAMPLE = {
    "policy": {"maximum_length": 30, "standard_error": 0.3},
    "examinees": 2000,
    "theta": "normal(0,1)",
    "seed": 7,
}
SIMULATION_EXAMPLE: dict[str, Any] = {
    "id": "0197a3f3-2b1c-7d4e-8f5a-6b7c8d9e0f1a",
    "exam": "ai-infrastructure",
    "status": "queued",
    "progress": 0.0,
    "error": None,
    "settings": {
        "mode": "adaptive_test",
        "policy": {"criterion": "posterior_information", "maximum_length": 30, "standard_error": 0.3},
        "examinees": 2000,
        "theta": "normal(0,1)",
        "prior": "normal(0.0,1.0)",
        "cut": 0.0,
        "seed": 7,
        "objectives": [],
    },
    "findings": [
        {
            "severity": "warning",
            "field": "maximum_length",
            "what": "30 items in the blueprint's proportions ask for more than there are: 4.2 has 2 of 3",
            "remedy": "at most 24, or 1 item more",
            "facts": {"longest_in_proportion": 24, "objectives": [{"objective": "4.2", "have": 2, "need": 3}]},
        }
    ],
    "created_at": "2026-01-05T09:00:00.000Z",
    "started_at": None,
    "finished_at": None,
    "report": None,
    "files": [],
}
DONE_EXAMPLE = SIMULATION_EXAMPLE | {
    "status": "succeeded",
    "progress": 1.0,
    "started_at": "2026-01-05T09:00:00.400Z",
    "finished_at": "2026-01-05T09:00:02.900Z",
    "report": {
        "summary": {"examinees": 2000, "bias": 0.002, "rmse": 0.304, "mean_length": 27.1, "largest_exposure": 0.41},
        "conditional": [{"theta": 0.02, "examinees": 391, "bias": 0.001, "rmse": 0.301, "mean_length": 26.4}],
        "items": [
            {"item": "0197a3f0-5a3c-7c1e-9d4b-2f6f0c8e1a52", "objective": "1.3", "served": 820, "exposure": 0.41}
        ],
        "objectives": [{"objective": "1.3", "items": 24, "weight": 0.12, "share": 0.118}],
    },
    "files": ["/v1/simulations/0197a3f3-2b1c-7d4e-8f5a-6b7c8d9e0f1a/files/items.csv"],
}
TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json", "png": "image/png", "svg": "image/svg+xml"}
CONTENT = {
    "text/csv": {"schema": {"type": "string"}, "example": "item,objective,a,b,c,d,served,exposure\r\n"},
    "application/json": {"schema": {"type": "object"}, "example": DONE_EXAMPLE["report"]},
    "image/png": {"schema": {"type": "string", "format": "binary"}, "example": "…"},
    "image/svg+xml": {"schema": {"type": "string", "format": "binary"}, "example": "<svg …/>"},
}


@blp.route("/exams/<exam>/simulations", methods=["POST"])
@requires("calibrations:write")
@creates
@blp.arguments(RequestSimulationSchema, example=REQUEST_EXAMPLE)
@blp.response(202, SimulationSchema, example=SIMULATION_EXAMPLE)
def create_simulation(body: dict[str, Any], exam: str) -> Any:
    """Ask for a simulation

    It is run on the exam's pool as it stands now, by the next worker that is free; read it to see how far it is.
    `findings` says at once where the policy asks for more than the pool has. `409` if there are no operational items.
    """
    db, who, now = context.db(), context.caller(), context.now()
    found = catalog.get_exam(db, who.tenant_id, exam)
    changes = body.pop("policy")
    usual = {"usual_prior": Normal(found.prior_mean, found.prior_sd), "usual_cut": found.cut_score}
    study = Study.of(changes, **body | usual)
    pool = loading.current_pool(db, found, actor=who.actor, now=now)
    codes = calibrations.expand_objectives(db, pool.version, study.objectives)
    served = simulating.limited(pool, codes)
    if not len(served):
        raise NothingToServe(found.slug, len(pool))
    simulating.check(served, study)
    prior = simulating.start(study.prior)
    clashes = findings(served, study.policy, cut=study.cut, prior_mean=prior.mean, prior_sd=prior.sd)
    arguments = study.to_json() | {
        "objectives": list(codes),
        "pool": pool.version,
        "findings": [finding.to_json() for finding in clashes],
    }
    job = jobs.add(db, tenant_id=who.tenant_id, exam_id=found.id, kind=KIND, arguments=arguments, now=now)
    return accepted(simulation_json(job, found), location=f"/v1/simulations/{job.uuid}")


@blp.route("/simulations/<uuid:simulation>")
@requires("calibrations:write")
@reads
@blp.response(200, SimulationSchema, example=DONE_EXAMPLE)
def get_simulation(simulation: UUID) -> Any:
    """Read a simulation

    `status` is `queued`, `running`, `succeeded` or `failed`. Its report and files are there once it has succeeded.
    """
    db = context.db()
    job, exam = jobs.get(db, context.caller().tenant_id, simulation, kind=KIND)
    report = orjson.Fragment(jobs.get_file(db, job, REPORT)) if job.status is JobStatus.SUCCEEDED else None
    return reply(simulation_json(job, exam, report=report))


@blp.route("/simulations/<uuid:simulation>/files/<name>")
@requires("calibrations:write")
@reads
@blp.response(200, {"type": "string"}, content_type="text/csv", example=CONTENT["text/csv"]["example"])
@blp.doc(responses={200: {"content": CONTENT}})  # type: ignore[untyped-decorator]  # flask-smorest has no types
def get_simulation_file(simulation: UUID, name: str) -> Any:
    """Fetch a table or a picture of a simulation

    A table is CSV; a picture is there as PNG and as SVG.
    """
    db = context.db()
    job, _exam = jobs.get(db, context.caller().tenant_id, simulation, kind=KIND)
    content = jobs.get_file(db, job, name)
    response = Response(content, content_type=TYPES[name.rpartition(".")[2]])
    response.headers["Content-Security-Policy"] = SANDBOX
    return response
