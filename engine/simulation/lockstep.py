"""Many sittings at once, in lock-step: all examinees of a batch get their next item together.

The posterior of each examinee is kept on the 121 nodes of the ability grid, as probabilities up to a constant: an
answer multiplies its row by a row of a table (items x right or wrong x nodes), and one matrix product gives the means
and standard deviations of all. Who has finished leaves the batch. Memory grows with the batch and the pool, and by the
results alone with the number of examinees.

A policy that bounds the exposure of items looks at earlier sittings, so its examinees come in cohorts (`exposing`).
"""

from collections.abc import Callable, Iterator

import numpy as np

from engine.irt import NODES, normal_log_prior, posterior, probability
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.pool import Pool
from engine.selection.beginning import withheld_items
from engine.simulation.batch import LEAST_LIKELIHOOD, Batch, Serving
from engine.simulation.chance import sitting_seeds, uniforms
from engine.simulation.choosing import chooser
from engine.simulation.exposing import Exposing, cohorts
from engine.simulation.rules import Rules
from engine.simulation.sittings import Sittings
from engine.simulation.stopping import EXHAUSTED, GOES_ON, LONGEST, Stopping, Stops

LARGEST_BATCH = 1024  # fewer, and calling NumPy takes longer than its work; more, and posteriors leave the cache
LARGEST_TABLE = 2**22  # cells at most of a table of examinees by items; scoring holds several of them


def simulate(
    pool: Pool,
    rules: Rules,
    theta: FloatArray,
    *,
    seed: int,
    log_prior: FloatArray | None = None,
    batch_size: int | None = None,
    cut: float | None = None,
    progress: Callable[[int], object] = lambda _count: None,
) -> Sittings:
    """Sittings of examinees with these true abilities; arguments as `simulate_batches`.

    progress : called with the number of examinees after each batch
    """
    parts = []
    batches = simulate_batches(pool, rules, theta, seed=seed, log_prior=log_prior, batch_size=batch_size, cut=cut)
    for part in batches:
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
    cut: float | None = None,
) -> Iterator[Sittings]:
    """The same, batch by batch, for more examinees than their results should take memory.

    theta : (N,), finite, logits, N at least 1;  log_prior : (121,), where every sitting starts, standard normal unless
    given;  cut : logits, the cut score that a policy with a `classification` decides about, without effect on others
    Results depend on the examinee's place in theta and on the seed, not on the size of batches.
    Raises ValueError for an empty pool and for what is not as described, InvalidPolicy for a pool that is too small for
    a policy that is strict about content.
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
    run = Run(pool, rules, posterior(prior), seed, cut)
    for together in run.cohorts(theta.size):
        for start in range(together.start, together.stop, size):
            number = np.arange(start, min(start + size, together.stop))
            yield run.batch(np.asarray(theta[number], dtype=np.float64), number)
        run.close()


class Run:
    """What all batches share: tables of the pool, the rules, and what they remember of the sittings before."""

    def __init__(self, pool: Pool, rules: Rules, prior: FloatArray, seed: int, cut: float | None):
        self.pool, self.rules, self.prior, self.seed = pool, rules, prior, seed
        policy = rules.policy
        if policy.strict_content:
            nothing = np.zeros(len(pool), dtype=np.bool_)
            withheld_items(
                pool, policy, (), blocked=nothing, suspended=(), objectives=(), seed=seed
            )  # or InvalidPolicy
        self.longest = min(rules.maximum_length, len(pool))
        self.stopping = Stopping(pool, rules, cut)
        self.choose = chooser(pool, rules)
        self.serving = Serving(pool)
        bound = policy.maximum_exposure
        self.exposing = None if bound is None else Exposing(pool, rules, bound)
        right = probability(NODES, pool.a, pool.b, pool.c, pool.d).T  # (I, Q)
        self.likelihood = np.empty((2 * len(pool), NODES.size))  # wrong before right
        np.maximum(1.0 - right, LEAST_LIKELIHOOD, out=self.likelihood[::2])
        np.maximum(right, LEAST_LIKELIHOOD, out=self.likelihood[1::2])

    def cohorts(self, count: int) -> Iterator[range]:
        """Numbers of examinees who may sit together; `close` ends each cohort."""
        return iter([range(count)]) if self.exposing is None else cohorts(count)

    def close(self) -> None:
        if self.exposing is not None:
            self.exposing.close()

    def batch(self, theta: FloatArray, number: IntArray) -> Sittings:
        """Sittings of examinees with these abilities (n,) and numbers (n,) in the run."""
        n, rules = theta.size, self.rules
        seeds = sitting_seeds(self.seed, number)
        done = Sittings.blank(theta, seeds, longest=self.longest, cut=self.stopping.cut)
        everything = np.ones((n, len(self.pool)), dtype=np.bool_)
        available = everything if self.exposing is None else self.exposing.available(seeds)
        batch = Batch.of(self.pool, theta, number, seeds, prior=self.prior, available=available)
        balancing = rules.policy.content_balancing
        likelihood = np.empty((n, NODES.size))
        for position in range(1, rules.maximum_length + 1):
            items = self.choose(batch, position)
            if items.min() < 0:
                self._leave(batch, done, np.where(items < 0, EXHAUSTED, GOES_ON), position - 1)
                items = items[items >= 0]
                if not len(batch):
                    break
            self.serving.serve(batch, items, balancing=balancing)
            right = self._answer(batch, items)
            done.items[batch.place, position - 1] = items
            done.right[batch.place, position - 1] = right
            self.likelihood.take(2 * items + right, axis=0, out=likelihood[: len(batch)], mode="clip")
            batch.learn(likelihood[: len(batch)], position)
            self.stopping.hear(batch, items, right)
            stops = self.stopping.reasons(batch, position)
            if stops is not None:
                self._leave(batch, done, stops, position)
                if not len(batch):
                    break
        self._leave(batch, done, np.full(len(batch), LONGEST), rules.maximum_length)
        if self.exposing is not None:
            self.exposing.remember(done.items, available)
        return done

    def _answer(self, batch: Batch, items: IntArray) -> BoolArray:
        chances = uniforms(self.seed, batch.number, items)
        pool = self.pool
        a, b, c, d = (values[items, None] for values in (pool.a, pool.b, pool.c, pool.d))
        return np.asarray(chances < probability(batch.theta, a, b, c, d)[:, 0])

    def _leave(self, batch: Batch, done: Sittings, stops: Stops, length: int) -> None:
        """Let those leave who stop after so many items.  stops : (n,)"""
        leaving = stops != GOES_ON
        if leaving.any():
            place = batch.place[leaving]
            done.estimate[place] = batch.mean[leaving]
            done.standard_error[place] = batch.deviation[leaving]
            done.length[place] = length
            done.stop[place] = stops[leaving]
            done.decision[place] = self.stopping.decisions(batch, stops, length)[leaving]
            batch.keep(~leaving)
