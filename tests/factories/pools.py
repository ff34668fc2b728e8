"""Pools for tests, plausible 3PL items in a few objectives, and what a criterion sees; every number overridable."""

from typing import Any

import numpy as np

from engine.irt import ability, normal_log_prior, posterior
from engine.irt.types import FloatArray
from engine.pool import Pool
from engine.selection import Policy, rng_for
from engine.selection.criteria import Context


def make_pool(size: int = 30, *, objectives: int = 3, seed: int = 0, **changes: Any) -> Pool:
    """A pool of `size` items spread evenly over `objectives`; `changes` replace its fields."""
    rng = np.random.default_rng(seed)
    fields: dict[str, Any] = {
        "version": 7,
        "items": np.arange(size) + 100,
        "item_versions": np.arange(size) + 1000,
        "a": rng.uniform(0.6, 1.8, size),
        "b": rng.normal(0.0, 1.0, size),
        "c": np.full(size, 0.2),
        "d": np.ones(size),
        "objective": np.arange(size) * objectives // max(size, 1),
        "objective_codes": tuple(f"1.{k + 1}" for k in range(objectives)),
        "objective_weights": np.ones(objectives),
    }
    return Pool(**(fields | changes))


def make_context(pool: Pool, log_posterior: FloatArray | None = None, **changes: Any) -> Context:
    """What a criterion sees at the first item of a sitting on this pool; `changes` replace its fields."""
    probabilities = posterior(normal_log_prior() if log_posterior is None else log_posterior)
    probabilities = changes.pop("probabilities", probabilities)
    theta, standard_error = ability(probabilities)
    fields: dict[str, Any] = {
        "pool": pool,
        "probabilities": probabilities,
        "theta": theta,
        "standard_error": standard_error,
        "position": 1,
        "policy": Policy(maximum_length=20),
        "eligible": np.ones(len(pool), dtype=bool),
        "rng": rng_for(7, 1),
    }
    return Context(**(fields | changes))
