"""Pools for tests: plausible 3PL items in a few objectives, every number overridable."""

from typing import Any

import numpy as np

from engine.pool import Pool


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
