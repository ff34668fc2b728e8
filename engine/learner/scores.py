"""From abilities to scores: the share right to expect per objective, and what the posterior says of it.

The expected score on an objective at ability x is the mean of P(right) over the objective's items in the pool, so an
item drawn at random from the objective is answered right with that probability.
"""

from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from engine.irt.ability import NODES
from engine.irt.curves import probability
from engine.irt.types import FloatArray
from engine.learner.state import State, ability_covariance, ability_means
from engine.pool import Pool

DRAWS = 1024
TABLE_SEED = 20260105


def objective_curves(pool: Pool) -> FloatArray:
    """Expected score (K, 121) on each objective at NODES; NaN for an objective without items."""
    curves = np.full((len(pool.objective_codes), NODES.size), np.nan)
    for k in pool.occupied.tolist():
        part = pool.span(k)
        curves[k] = probability(NODES, pool.a[part], pool.b[part], pool.c[part], pool.d[part]).mean(axis=1)
    return curves


def expected_scores(curves: FloatArray, x: FloatArray) -> FloatArray:
    """Expected scores (..., K) at abilities x (..., K), linear between NODES and flat beyond them.

    Off by less than h^2 / 8 times the curve's second derivative: 2e-4 for items with a = 1.
    """
    step = NODES[1] - NODES[0]
    place = np.clip((x - NODES[0]) / step, 0.0, NODES.size - 1.0)
    below = np.minimum(place.astype(np.int64), NODES.size - 2)
    objective = np.arange(len(curves))
    low, high = curves[objective, below], curves[objective, below + 1]
    return np.asarray(low + (high - low) * (place - below))


def draws(state: State, direction: FloatArray, extra: FloatArray | None = None) -> FloatArray:
    """DRAWS abilities (..., D, K) that stand for the posterior; the same state gives the same ones.

    direction : (K,), weights of the combination of abilities that should be spread most evenly
    extra : (K, K), covariance to add to the posterior's, for what else is uncertain
    A Latin hypercube of normal scores: its first column moves along `direction`, the rest fill what remains of the
    covariance by its symmetric root, which changes smoothly with the state.
    Source: McKay, Beckman & Conover (1979), Technometrics 21(2), 239-245.
    """
    covariance = ability_covariance(state) + (0.0 if extra is None else extra)
    along = covariance @ direction  # (..., K)
    length = np.sqrt(np.maximum(along @ direction, np.finfo(np.float64).tiny))[..., None]
    along = along / length
    values, vectors = np.linalg.eigh(covariance - along[..., :, None] * along[..., None, :])
    root = (vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    scores = normal_scores(state.objectives + 1)
    return np.asarray(ability_means(state)[..., None, :] + scores[:, :1] * along[..., None, :] + scores[:, 1:] @ root)


@lru_cache(maxsize=16)
def normal_scores(columns: int) -> FloatArray:
    """A fixed table (DRAWS, columns) of standard normal scores: columns evenly spread and uncorrelated."""
    rng = np.random.default_rng(TABLE_SEED)
    ranks = rng.permuted(np.tile(np.arange(DRAWS), (columns, 1)), axis=1).T
    even = ndtri((ranks + 0.5) / DRAWS)
    table = np.linalg.solve(np.linalg.cholesky(even.T @ even / DRAWS), even.T).T
    table.setflags(write=False)
    return np.asarray(table)
