"""The REST API's resources, one module each: parse, call, dump. A new module's blueprint is added to the list."""

from api.schemas.blueprint import Blueprint
from api.v1 import articles, exams, exports, health, items, learners, media, sessions, simulations

BLUEPRINTS: tuple[Blueprint, ...] = (
    health.blp,
    exams.blp,
    items.blp,
    articles.blp,
    media.blp,
    sessions.blp,
    learners.blp,
    exports.blp,
    simulations.blp,
)
