"""The next item of every examinee: the rules of `selection.choosing`, a row per examinee.

Maximum information without content balancing and chance has a faster way to the same items, `shortlists`.
"""

from collections.abc import Callable

import numpy as np

from engine.irt import information
from engine.irt.types import FloatArray, IntArray, TableArray
from engine.pool import Pool
from engine.selection import Criterion, rng_for
from engine.selection.criteria import table_weights
from engine.simulation.batch import Batch
from engine.simulation.needs import most_urgent
from engine.simulation.rules import Rules
from engine.simulation.shortlists import Shortlists

Choose = Callable[[Batch, int], IntArray]


def chooser(pool: Pool, rules: Rules) -> Choose:
    """A function of a batch and the position, from 1: the item (n,) to serve to each, -1 where none is left."""
    if rules.criterion is Criterion.maximum_information and not rules.content_balancing and rules.randomesque == 1:
        lists = Shortlists.of(pool, rules.maximum_length)
        return lambda batch, _position: lists.best(batch.mean, batch.available)
    return lambda batch, position: by_scores(pool, rules, batch, position)


def by_scores(pool: Pool, rules: Rules, batch: Batch, position: int) -> IntArray:
    """The choice after scoring all available items of the objective whose turn it is."""
    items = np.full(len(batch), -1, dtype=np.int64)
    if not rules.content_balancing:
        groups = [(np.arange(len(batch)), slice(0, len(pool)))]
    else:
        turn = most_urgent(pool.objective_weights, batch.counts, batch.left > 0)
        groups = [(np.flatnonzero(turn == k), pool.span(int(k))) for k in np.unique(turn)]
    for rows, span in groups:
        available = batch.available[rows, span]
        some = available.any(axis=1)
        rows, available = rows[some], available[some]
        if rows.size:
            scores = scored(pool, rules, batch, rows, span)
            np.copyto(scores, -np.inf, where=~available)
            among = np.minimum(rules.randomesque, np.count_nonzero(available, axis=1))
            items[rows] = span.start + nth_best(scores, drawn(batch.seed[rows], position, among))
    return items


def scored(pool: Pool, rules: Rules, batch: Batch, rows: IntArray, span: slice) -> FloatArray | TableArray:
    """The criterion (rows, items of the span)."""
    if rules.criterion is Criterion.maximum_information:
        return information(batch.mean[rows], pool.a[span], pool.b[span], pool.c[span], pool.d[span])
    probabilities = batch.posterior[rows] / batch.total[rows, None]
    return np.asarray(table_weights(probabilities) @ pool.information_table[span].T)


def drawn(seeds: IntArray, position: int, among: IntArray) -> IntArray:
    """Ranks (n,) from 0 to among - 1, drawn as a sitting with this seed draws them at this position."""
    if among.max() == 1:
        return np.zeros(seeds.size, dtype=np.int64)
    pairs = zip(seeds.tolist(), among.tolist(), strict=True)
    return np.array([rng_for(seed, position).integers(count) for seed, count in pairs], dtype=np.int64)


def nth_best(scores: FloatArray | TableArray, ranks: IntArray) -> IntArray:
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
