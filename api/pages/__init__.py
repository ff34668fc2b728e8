"""Pages for people. Rendered here, without any script or file from elsewhere."""

from flask import Blueprint

from api.pages import docs

BLUEPRINTS: tuple[Blueprint, ...] = (docs.blp,)
