"""The REST API's resources, one module each: parse, call, dump. A new module's blueprint is added to the list."""

from api.schemas.blueprint import Blueprint
from api.v1 import health, learners, sessions

BLUEPRINTS: tuple[Blueprint, ...] = (health.blp, learners.blp, sessions.blp)
