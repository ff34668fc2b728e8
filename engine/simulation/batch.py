"""The examinees of a batch who are still sitting: what is known of each, as arrays with a row per examinee."""

from dataclasses import dataclass, fields

import numpy as np

from engine.irt import NODES, ability
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.pool import Pool

MOMENTS = np.stack([np.ones_like(NODES), NODES, np.square(NODES)], axis=1)  # (Q, 3)

# Posteriors are lifted by this much and scaled to a sum of 1 every so many answers. With likelihoods of at least
# LEAST_LIKELIHOOD no number is ever subnormal, which would make the arithmetic a hundred times slower, and what is
# lifted cannot be seen in a mean or a standard deviation.
LEAST_POSTERIOR, LEAST_LIKELIHOOD, RESCALE_EVERY = 1e-200, 1e-12, 8


@dataclass(slots=True, eq=False)
class Batch:
    """n examinees of one batch.

    place : (n,), rows of the batch's results;  theta : (n,), true ability;  number, seed : (n,), in the run
    posterior : (n, Q), node probabilities up to a constant;  total, mean, deviation : (n,), its moments
    moved : (n,), by how much the last answer moved the mean;  log_ratio : (n,), of the likelihoods around the cut score
    available : (n, I), items that may be served;  left, counts : (n, K), available and administered items by objective
    """

    place: IntArray
    theta: FloatArray
    number: IntArray
    seed: IntArray
    posterior: FloatArray
    total: FloatArray
    mean: FloatArray
    deviation: FloatArray
    moved: FloatArray
    log_ratio: FloatArray
    available: BoolArray
    left: IntArray
    counts: IntArray

    @classmethod
    def of(
        cls,
        pool: Pool,
        theta: FloatArray,
        number: IntArray,
        seed: IntArray,
        *,
        prior: FloatArray,
        available: BoolArray,
    ) -> "Batch":
        """Examinees before their first item.  prior : (Q,), probabilities, sum 1;  available : (n, I), copied"""
        n, left = theta.size, by_objective(pool, available)
        mean, deviation = ability(prior)  # to the last digit, as two items may be equally far from it
        return cls(
            place=np.arange(n),
            theta=theta,
            number=number,
            seed=seed,
            posterior=np.tile(prior + LEAST_POSTERIOR, (n, 1)),
            total=np.ones(n),
            mean=np.full(n, mean),
            deviation=np.full(n, deviation),
            moved=np.zeros(n),
            log_ratio=np.zeros(n),
            available=available.copy(),
            left=left,
            counts=np.zeros_like(left),
        )

    def __len__(self) -> int:
        return int(self.theta.size)

    def keep(self, staying: BoolArray) -> None:
        """Let the others leave.  staying : (n,)"""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name)[staying])

    def learn(self, likelihood: FloatArray, position: int) -> None:
        """Take in one answer of each.  likelihood : (n, Q), of at least LEAST_LIKELIHOOD"""
        before = self.mean
        self.posterior *= likelihood
        self.estimate()
        self.moved = self.mean - before
        if position % RESCALE_EVERY == 0:
            self.posterior *= (1.0 / self.total)[:, None]
            self.posterior += LEAST_POSTERIOR
            self.total = np.ones(len(self))

    def estimate(self) -> None:
        moments = self.posterior @ MOMENTS
        self.total = moments[:, 0]
        self.mean = moments[:, 1] / self.total
        self.deviation = np.sqrt(np.maximum(moments[:, 2] / self.total - np.square(self.mean), 0.0))


def by_objective(pool: Pool, items: BoolArray) -> IntArray:
    """How many items of each objective (n, K) are in masks (n, I)."""
    counts = np.zeros((len(items), len(pool.objective_codes)), dtype=np.int64)
    starts = pool.objective_start[pool.occupied]
    counts[:, pool.occupied] = np.add.reduceat(items, starts, axis=1, dtype=np.int64)
    return counts


class Serving:
    """What serving an item uses up: the item and its enemies."""

    def __init__(self, pool: Pool):
        degree = np.array([pool.enemies_of[i].size if i in pool.enemies_of else 0 for i in range(len(pool))])
        enemies = [pool.enemies_of[i] for i in sorted(pool.enemies_of)]
        self._objective = pool.objective
        self._degree = degree.astype(np.int64)
        self._start = np.cumsum(self._degree) - self._degree
        self._enemies = np.concatenate(enemies).astype(np.int64) if enemies else np.empty(0, dtype=np.int64)

    def serve(self, batch: Batch, items: IntArray, *, balancing: bool) -> None:
        """Serve one available item to each examinee.  items : (n,);  without `balancing` objectives are not counted"""
        rows = np.arange(len(batch))
        self._take(batch, rows, items, balancing)
        if balancing:
            batch.counts[rows, self._objective[items]] += 1
        if self._enemies.size:
            degree = self._degree[items]
            place = np.arange(degree.sum()) - np.repeat(np.cumsum(degree) - degree, degree)
            enemies = self._enemies[np.repeat(self._start[items], degree) + place]
            rows = np.repeat(rows, degree)
            still = batch.available[rows, enemies]
            self._take(batch, rows[still], enemies[still], balancing)

    def _take(self, batch: Batch, rows: IntArray, items: IntArray, balancing: bool) -> None:
        batch.available[rows, items] = False
        if balancing:
            np.subtract.at(batch.left, (rows, self._objective[items]), 1)
