"""Item response theory as pure functions on arrays: people are rows, items columns, abilities in logits (D = 1)."""

from engine.irt.ability import (
    NODES,
    Ability,
    ability,
    eap,
    estimate,
    grid,
    log_likelihood,
    log_posteriors,
    moments,
    normal_log_prior,
    posterior,
    update,
)
from engine.irt.curves import LOGIT_LIMIT, log_probabilities, probability
from engine.irt.information import information
from engine.irt.points import (
    BOUNDS,
    PointEstimates,
    maximum_likelihood,
    maximum_posterior,
    weighted_likelihood,
)
from engine.irt.polytomous import (
    Categories,
    category_information,
    category_log_likelihood,
    category_probability,
    expected_points,
    graded_response,
    nominal,
    partial_credit,
)
from engine.irt.priors import DEFAULT_DISCRIMINATION, RATING_MARGIN, difficulty_from_rating, guessing

__all__ = [
    "BOUNDS",
    "DEFAULT_DISCRIMINATION",
    "LOGIT_LIMIT",
    "NODES",
    "RATING_MARGIN",
    "Ability",
    "Categories",
    "PointEstimates",
    "ability",
    "category_information",
    "category_log_likelihood",
    "category_probability",
    "difficulty_from_rating",
    "eap",
    "estimate",
    "expected_points",
    "graded_response",
    "grid",
    "guessing",
    "information",
    "log_likelihood",
    "log_posteriors",
    "log_probabilities",
    "maximum_likelihood",
    "maximum_posterior",
    "moments",
    "nominal",
    "normal_log_prior",
    "partial_credit",
    "posterior",
    "probability",
    "update",
    "weighted_likelihood",
]
