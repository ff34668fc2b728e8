"""Many sittings at once, in lock-step: all examinees of a batch get their next item together.

The posterior of each examinee is kept on the 121 nodes of the ability grid, as probabilities up to a constant: an
answer multiplies its row by a row of a table (items x right or wrong x nodes), and one matrix product gives the means
and standard deviations of all. Who has finished leaves the batch. Memory grows with the batch and the pool, and by the
results alone with the number of examinees.
"""

from collections.abc import Callable, Iterator

import numpy as np

from engine.irt import NODES, normal_log_prior, posterior, probability
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.pool import Pool
from engine.selection import StopReason
from engine.simulation.batch import LEAST_LIKELIHOOD, Batch, Serving
from engine.simulation.chance import sitting_seeds, uniforms
from engine.simulation.choosing import chooser
from engine.simulation.rules import Rules
from engine.simulation.sittings import STOPS, Sittings

LARGEST_BATCH = 1024  # fewer, and calling NumPy takes longer than its work; more, and posteriors leave the cache
LARGEST_TABLE = 2**22  # cells at most of a table of examinees by items; scoring holds several of them
PRECISE, LONGEST, EXHAUSTED = (
    STOPS.index(stop) for stop in (StopReason.standard_error, StopReason.maximum_length, StopReason.pool_exhausted)
)


def simulate(
    pool: Pool,
    rules: Rules,
    theta: FloatArray,
    *,
    seed: int,
    log_prior: FloatArray | None = None,
    batch_size: int | None = None,
    progress: Callable[[int], object] = lambda _count: None,
) -> Sittings:
    """Sittings of examinees with these true abilities; arguments as `simulate_batches`.

    progress : called with the number of examinees after each batch
    """
    parts = []
    for part in simulate_batches(pool, rules, theta, seed=seed, log_prior=log_prior, batch_size=batch_size):
        parts.append(part)
        progress(len(part))
    return Sittings.joined(parts)


def simulate_batches(
    pool: Pool,
    rules: Rules,
    theta: FloatArray,
    *,
    seed: int,
    log_prior: FloatArray | None = None,
    batch_size: int | None = None,
) -> Iterator[Sittings]:
    """The same, batch by batch, for more examinees than their results should take memory.

    theta : (N,), finite, logits, N at least 1;  log_prior : (121,), where every sitting starts, standard normal unless
    given.  Results depend on the examinee's place in theta and on the seed, not on the size of batches.
    Raises ValueError for an empty pool and for what is not as described.
    """
    if len(pool) == 0:
        raise ValueError("the pool has no items: nothing to simulate")
    if theta.ndim != 1 or theta.size == 0 or not np.isfinite(theta).all():
        raise ValueError("theta: one finite ability per examinee expected, for at least one")
    prior = normal_log_prior() if log_prior is None else log_prior
    if prior.shape != NODES.shape or not np.isfinite(prior).all():
        raise ValueError(f"log_prior has shape {prior.shape}, {NODES.shape} and finite numbers expected")
    size = max(1, min(LARGEST_BATCH, LARGEST_TABLE // len(pool))) if batch_size is None else batch_size
    if size < 1:
        raise ValueError(f"batch_size is {size}, at least 1 expected")
    run = Run(pool, rules, posterior(prior), seed)
    for start in range(0, theta.size, size):
        part = np.asarray(theta[start : start + size], dtype=np.float64)
        yield run.batch(part, np.arange(start, start + part.size))


class Run:
    """What all batches share: tables of the pool, and the rules."""

    def __init__(self, pool: Pool, rules: Rules, prior: FloatArray, seed: int):
        self.pool, self.rules, self.prior, self.seed = pool, rules, prior, seed
        self.longest = min(rules.maximum_length, len(pool))
        self.choose = chooser(pool, rules)
        self.serving = Serving(pool)
        right = probability(NODES, pool.a, pool.b, pool.c, pool.d).T  # (I, Q)
        self.likelihood = np.empty((2 * len(pool), NODES.size))  # wrong before right
        np.maximum(1.0 - right, LEAST_LIKELIHOOD, out=self.likelihood[::2])
        np.maximum(right, LEAST_LIKELIHOOD, out=self.likelihood[1::2])

    def batch(self, theta: FloatArray, number: IntArray) -> Sittings:
        """Sittings of examinees with these abilities (n,) and numbers (n,) in the run."""
        n, rules = theta.size, self.rules
        seeds = sitting_seeds(self.seed, number)
        done = Sittings(
            theta=theta,
            estimate=np.empty(n),
            standard_error=np.empty(n),
            length=np.zeros(n, dtype=np.int32),
            items=np.full((n, self.longest), -1, dtype=np.int32),
            right=np.zeros((n, self.longest), dtype=np.bool_),
            stop=np.empty(n, dtype=np.int8),
            seeds=seeds,
        )
        batch = Batch.of(self.pool, theta, number, seeds, self.prior)
        likelihood = np.empty((n, NODES.size))
        for position in range(1, rules.maximum_length + 1):
            items = self.choose(batch, position)
            if items.min() < 0:
                self._leave(batch, done, items < 0, position - 1, EXHAUSTED)
                items = items[items >= 0]
                if not len(batch):
                    break
            self.serving.serve(batch, items, balancing=rules.content_balancing)
            right = self._answer(batch, items)
            done.items[batch.place, position - 1] = items
            done.right[batch.place, position - 1] = right
            self.likelihood.take(2 * items + right, axis=0, out=likelihood[: len(batch)], mode="clip")
            batch.learn(likelihood[: len(batch)], position)
            if rules.standard_error is not None and position >= rules.minimum_length:
                self._leave(batch, done, batch.deviation <= rules.standard_error, position, PRECISE)
                if not len(batch):
                    break
        self._leave(batch, done, np.ones(len(batch), dtype=np.bool_), rules.maximum_length, LONGEST)
        return done

    def _answer(self, batch: Batch, items: IntArray) -> BoolArray:
        chances = uniforms(self.seed, batch.number, items)
        pool = self.pool
        a, b, c, d = (values[items, None] for values in (pool.a, pool.b, pool.c, pool.d))
        return np.asarray(chances < probability(batch.theta, a, b, c, d)[:, 0])

    def _leave(self, batch: Batch, done: Sittings, leaving: BoolArray, length: int, stop: int) -> None:
        if leaving.any():
            place = batch.place[leaving]
            done.estimate[place] = batch.mean[leaving]
            done.standard_error[place] = batch.deviation[leaving]
            done.length[place] = length
            done.stop[place] = stop
            batch.keep(~leaving)
