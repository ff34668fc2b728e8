"""`/openapi.json`, and `/docs`: the same document as a page."""

import json
from typing import Any

from flask import Blueprint, Response, current_app, redirect, url_for
from werkzeug import Response as AnyResponse

blp = Blueprint("pages", __name__, static_folder="static", static_url_path="/static", template_folder="templates")

API = "nextitem-api"  # where `app.extensions` keeps it


@blp.route("/")
def home() -> AnyResponse:
    return redirect(url_for("pages.docs"))


@blp.route("/openapi.json")
def openapi() -> Response:
    return Response(json.dumps(spec(), indent=1), content_type="application/json")


@blp.route("/docs")
def docs() -> Response:
    return Response("", content_type="text/html")


def spec() -> dict[str, Any]:
    document: dict[str, Any] = current_app.extensions[API].spec.to_dict()
    return document
