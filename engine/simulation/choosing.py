"""The next item of every examinee: the rules of `selection.choosing`, a row per examinee.

Maximum information without content balancing and chance has a faster way to the same items, `shortlists`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from engine.irt.types import FloatArray, IntArray
from engine.pool import Pool
from engine.selection import ContentRule, Criterion, rng_for
from engine.simulation.batch import Batch
from engine.simulation.needs import most_urgent, priorities
from engine.simulation.rules import Rules
from engine.simulation.scores import SCORERS, Score, Table
from engine.simulation.shortlists import Shortlists

Choose = Callable[[Batch, int], IntArray]

BLOCK_CELLS = 2**18  # examinees times items that are scored together: what a criterion works with stays in the cache


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Examinees (n,) of a batch who get an item of the same span.  weights : (n, K), of their objectives, or None"""

    rows: IntArray
    span: slice
    weights: FloatArray | None = None

    def blocks(self) -> Iterator["Group"]:
        """The same examinees, few at a time."""
        size = max(1, BLOCK_CELLS // max(1, self.span.stop - self.span.start))
        for start in range(0, self.rows.size, size):
            part = slice(start, start + size)
            yield Group(self.rows[part], self.span, None if self.weights is None else self.weights[part])


def chooser(pool: Pool, rules: Rules) -> Choose:
    """A function of a batch and the position, from 1: the item (n,) to serve to each, -1 where none is left."""
    policy = rules.policy
    plain = not policy.content_balancing and policy.randomesque == 1
    if plain and policy.criterion is Criterion.maximum_information:
        lists = Shortlists.of(pool, rules.maximum_length)
        return lambda batch, _position: lists.best(batch.mean, batch.available)
    score = SCORERS[policy.criterion](pool, policy)

    def choose(batch: Batch, position: int) -> IntArray:
        items = np.full(len(batch), -1, dtype=np.int64)
        for group in groups(pool, rules, batch, position):
            for block in group.blocks():
                items[block.rows] = by_scores(pool, score, batch, block, position, among=policy.randomesque)
        return items

    return choose


def groups(pool: Pool, rules: Rules, batch: Batch, position: int) -> Iterator[Group]:
    """Everybody, by what content balancing asks for."""
    everybody, policy = np.arange(len(batch)), rules.policy
    if not policy.content_balancing:
        yield Group(everybody, pool.span(None))
        return
    in_play, balanced = batch.left > 0, np.zeros(len(batch), dtype=np.bool_)
    if policy.content_rule is ContentRule.priority_index:
        remaining = rules.maximum_length - position + 1
        weights = priorities(pool.objective_weights, batch.counts, in_play, remaining=remaining)
        balanced = np.asarray(weights.any(axis=1))
        if balanced.any():
            yield Group(np.flatnonzero(balanced), pool.span(None), weights[balanced])
    if not balanced.all():
        turn = most_urgent(pool.objective_weights, batch.counts, in_play)
        for objective in np.unique(turn[~balanced]).tolist():
            yield Group(np.flatnonzero((turn == objective) & ~balanced), pool.span(objective))


def by_scores(pool: Pool, score: Score, batch: Batch, group: Group, position: int, *, among: int) -> IntArray:
    """The items (n,) of one of the `among` highest scores, each with the same chance, -1 where no item is available."""
    span, available = group.span, batch.available[group.rows, group.span]
    chosen = np.full(group.rows.size, -1, dtype=np.int64)
    some = np.flatnonzero(available.any(axis=1))
    if some.size < chosen.size:
        available = available[some]
    if some.size:
        rows = group.rows[some]
        scores = score(batch, rows, span, available, position)
        if group.weights is not None:
            weights = group.weights[some][:, pool.objective[span]]
            scores, available = scores * weights, available & (weights > 0.0)
        np.copyto(scores, -np.inf, where=~available)
        ranks = drawn(batch.seed[rows], position, np.minimum(among, np.count_nonzero(available, axis=1)))
        chosen[some] = span.start + nth_best(scores, ranks)
    return chosen


def drawn(seeds: IntArray, position: int, among: IntArray) -> IntArray:
    """Ranks (n,) from 0 to among - 1, drawn as a sitting with this seed draws them at this position."""
    if among.max() == 1:
        return np.zeros(seeds.size, dtype=np.int64)
    pairs = zip(seeds.tolist(), among.tolist(), strict=True)
    return np.array([rng_for(seed, position).integers(count) for seed, count in pairs], dtype=np.int64)


def nth_best(scores: Table, ranks: IntArray) -> IntArray:
    """The place (n,) of each row's score of that rank, 0 for the highest; of equals the lower place. Spoils `scores`.

    >>> nth_best(np.array([[0.1, 0.7, 0.7], [0.3, 0.2, 0.1]]), np.array([1, 2]))
    array([2, 2])
    """
    rows = np.arange(len(scores))
    places = scores.argmax(axis=1)
    for rank in range(1, int(ranks.max()) + 1):
        scores[rows, places] = -np.inf
        places = np.where(ranks >= rank, scores.argmax(axis=1), places)
    return np.asarray(places)
