"""A small resource to try the skeleton with: toys, kept as tenants, since those are the simplest rows there are."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from marshmallow import fields

from api import context
from api.auth import requires
from api.context import creates, reads, writes
from api.errors import PreconditionFailed
from api.schemas.base import Integer, Reply, Strict, Text
from api.schemas.blueprint import Blueprint
from api.schemas.conditional import etag, not_modified, require_match
from api.schemas.paging import PageQuery, next_link, page, page_of, place
from itembank import clients
from itembank.models import Tenant
from itembank.store import table_of

blp = Blueprint("toys", __name__, url_prefix="/v1", description="Toys.")
TOY = {"name": "bear"}


class ToyBodySchema(Strict):
    name = Text(required=True, shortest=1, length=20)
    size = Integer(minimum=0)
    parts = fields.List(fields.Nested(lambda: PartSchema()))


class PartSchema(Strict):
    label = Text(required=True)


class ToySchema(Reply):
    name = fields.String(required=True)


class ToysQuery(PageQuery):
    prefix = Text(length=20)


@blp.route("/toys", methods=["POST"])
@requires("items:write")
@creates
@blp.problems(409)
@blp.arguments(ToyBodySchema, example=TOY)
@blp.response(201, ToySchema, example=TOY)
def create_toy(body: dict[str, Any]) -> Any:
    """Make a toy"""
    made = clients.create_tenant(context.db(), body["name"], now=context.now())
    if made.name == "broken":
        raise ZeroDivisionError("the secret is 42")
    return made, 201, {"Location": f"/v1/toys/{made.name}", "ETag": etag(1)}


@blp.route("/toys")
@requires("items:read")
@reads
@blp.arguments(ToysQuery, location="query")
@blp.response(200, page_of(ToySchema), example={"data": [TOY], "next_cursor": None})
def list_toys(query: dict[str, Any]) -> Any:
    """List toys"""
    at, toys = place(query), table_of(Tenant)
    rows = sa.select(toys).where(toys.c.id > (at.after or 0)).order_by(toys.c.id).limit(at.fetch)
    rows = rows.where(toys.c.name.startswith(query.get("prefix", "")))
    body = page(context.db().execute(rows).all(), at, key=lambda row: row.id)
    return body, 200, next_link(body)


@blp.route("/toys/<exam>")
@requires("items:read")
@reads
@blp.if_none_match
@blp.response(200, ToySchema, example=TOY)
def read_toy(exam: str) -> Any:
    """Read a toy"""
    found = clients.get_tenant(context.db(), exam)
    return not_modified(etag(7)) or (found, 200, {"ETag": etag(7)})


@blp.route("/toys/<exam>", methods=["PUT"])
@requires("items:write")
@writes
@blp.if_match
@blp.arguments(ToyBodySchema, example=TOY)
@blp.response(200, ToySchema, example=TOY)
def replace_toy(body: dict[str, Any], exam: str) -> Any:
    """Replace a toy"""
    found = clients.get_tenant(context.db(), exam)
    require_match(etag(7))
    if body["name"] == "late":  # somebody else was faster, after we had looked
        raise PreconditionFailed(etag(8))
    found.name = body["name"]
    return found, 200, {"ETag": etag(8)}


@blp.route("/sittings/<uuid:session>/moves", methods=["POST"])
@requires("sessions:write", session=True)
@writes
@blp.response(200, ToySchema, example=TOY)
def move(session: UUID) -> Any:
    """Move in a sitting"""
    return {"name": str(session)}


@blp.route("/shelf")
@requires("items:read", learner=True)
@reads
@blp.response(200, ToySchema, example=TOY)
def read_shelf() -> Any:
    """Read the shelf"""
    return {"name": str(context.caller().session_uuid)}


@blp.route("/duplicates", methods=["POST"])
@requires("items:write")
@writes
@blp.response(200, ToySchema, example=TOY)
def race() -> Any:
    """Lose a race for a name"""
    row = {"name": "same", "created_at": context.now() + timedelta(0)}
    for _ in range(2):
        context.db().add(Tenant(**row))
        context.db().flush()
    return TOY
