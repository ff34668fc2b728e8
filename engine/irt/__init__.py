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
from engine.irt.priors import DEFAULT_DISCRIMINATION, RATING_MARGIN, difficulty_from_rating, guessing

__all__ = [
    "BOUNDS",
    "DEFAULT_DISCRIMINATION",
    "LOGIT_LIMIT",
    "NODES",
    "RATING_MARGIN",
    "Ability",
    "PointEstimates",
    "ability",
    "difficulty_from_rating",
    "eap",
    "estimate",
    "grid",
    "guessing",
    "information",
    "log_likelihood",
    "log_posteriors",
    "log_probabilities",
    "maximum_likelihood",
    "maximum_posterior",
    "moments",
    "normal_log_prior",
    "posterior",
    "probability",
    "update",
    "weighted_likelihood",
]
