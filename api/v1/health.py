"""For load balancers and Prometheus: is it alive, is it ready, how does it do."""

from typing import Any

from flask import Response
from marshmallow import fields

from api import context, migrating
from api.errors import Unavailable
from api.observe import METRICS_TYPE
from api.schemas.base import Reply
from api.schemas.blueprint import Blueprint
from api.transactions import READING, transact

blp = Blueprint("health", __name__, description="Is it alive, is it ready, how does it do.")


class HealthSchema(Reply):
    status = fields.String(required=True, metadata={"description": "always `ok`; otherwise the reply is a problem"})


@blp.route("/health/live")
@blp.response(200, HealthSchema, example={"status": "ok"})
def is_live() -> Any:
    """Whether the process answers at all"""
    return {"status": "ok"}


@blp.route("/health/ready")
@blp.problems(503)
@blp.response(200, HealthSchema, example={"status": "ok"})
def is_ready() -> Any:
    """Whether requests can be served

    The database is reachable and its schema is the one that this release needs.
    """
    if not transact(context.engine(), lambda db: migrating.is_current(db.connection()), READING):
        raise Unavailable("the database's schema is not the one of this release; run `nextitem db upgrade`")
    return {"status": "ok"}


@blp.route("/metrics")
@blp.response(200, {"type": "string"}, content_type="text/plain", example="nextitem_faults_total 0.0\n")
def metrics() -> Response:
    """Metrics for Prometheus"""
    return Response(context.metrics().dump(), content_type=METRICS_TYPE)
