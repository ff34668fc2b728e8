"""The criteria of `selection.criteria` for many examinees at once: scores with a row per examinee.

Where a criterion averages over the nodes of the ability grid, a matrix product takes the place of one pass per node.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from engine.irt import NODES, information, log_probabilities, probability
from engine.irt.types import BoolArray, FloatArray, IntArray, TableArray
from engine.pool import Pool
from engine.selection import Criterion, Policy, rng_for
from engine.selection.criteria import LIKELY, parameters, table_weights
from engine.selection.strata import strata_of, stratum_at
from engine.simulation.batch import Batch

Table: TypeAlias = FloatArray | TableArray

# The scores (n, m) of the items of a span for the examinees in these rows (n,) of a batch, at a position from 1.
# The mask (n, m) tells which of them may be served; a score of one that may not be means nothing. A new array.
Score: TypeAlias = Callable[[Batch, IntArray, slice, BoolArray, int], Table]

CENTRE = NODES.size // 2


class Sums:
    """Sums over nodes for all items of a span: weights (n, Q) times a table (I, Q).

    A matrix product may round a column differently from an equal one beside it, which would order equal items by
    chance. So items with the same parameters share a column.
    """

    def __init__(self, pool: Pool, *tables: Table):
        self._items = np.stack([pool.a, pool.b, pool.c, pool.d], axis=1)
        self._tables = tables
        self._parts: dict[tuple[int, int], tuple[list[Table], IntArray | None]] = {}

    def over(self, span: slice, *weights: Table) -> list[Table]:
        """The sums (n, m) for each of the tables, with weights (n, Q) of its own."""
        tables, place = self._part(span)
        sums = [weight @ table.T for weight, table in zip(weights, tables, strict=True)]
        return sums if place is None else [each[:, place] for each in sums]

    def _part(self, span: slice) -> tuple[list[Table], IntArray | None]:
        key = (span.start, span.stop)
        if key not in self._parts:
            _, first, place = np.unique(self._items[span], axis=0, return_index=True, return_inverse=True)
            tables = [table[span] for table in self._tables]
            if first.size == place.size:
                self._parts[key] = tables, None
            else:
                self._parts[key] = [table[first] for table in tables], place.reshape(-1)
        return self._parts[key]


def posterior_information(pool: Pool, _policy: Policy) -> Score:
    sums = Sums(pool, pool.information_table)

    def score(batch: Batch, rows: IntArray, span: slice, _available: BoolArray, _position: int) -> Table:
        return sums.over(span, table_weights(probabilities(batch, rows)))[0]

    return score


def maximum_information(pool: Pool, _policy: Policy) -> Score:
    def score(batch: Batch, rows: IntArray, span: slice, _available: BoolArray, _position: int) -> FloatArray:
        return information(batch.mean[rows], *parameters(pool, span))

    return score


def kullback_leibler(pool: Pool, _policy: Policy) -> Score:
    """With the log-probabilities in the middle of the grid taken off on both sides, nothing cancels."""
    right, wrong = (each.T for each in log_probabilities(NODES, pool.a, pool.b, pool.c, pool.d))  # (I, Q)
    middle_right, middle_wrong = right[:, CENTRE].copy(), wrong[:, CENTRE].copy()
    sums = Sums(pool, right - middle_right[:, None], wrong - middle_wrong[:, None])

    def score(batch: Batch, rows: IntArray, span: slice, _available: BoolArray, _position: int) -> FloatArray:
        weights = likely(batch, rows)
        there_right, there_wrong = sums.over(span, weights, weights)
        here_right, here_wrong = log_probabilities(batch.mean[rows], *parameters(pool, span))
        against_right = here_right - middle_right[span] - there_right
        against_wrong = here_wrong - middle_wrong[span] - there_wrong
        return np.asarray(np.exp(here_right) * against_right + np.exp(here_wrong) * against_wrong)

    return score


def minimum_expected_posterior_variance(pool: Pool, _policy: Policy) -> Score:
    """The covariance of ability and answer is that with the curve less its middle: of a flat curve it is exactly 0."""
    right = probability(NODES, pool.a, pool.b, pool.c, pool.d).T  # (I, Q)
    sums = Sums(pool, right, 1.0 - right, right - right[:, [CENTRE]])

    def score(batch: Batch, rows: IntArray, span: slice, _available: BoolArray, _position: int) -> FloatArray:
        weights = likely(batch, rows)
        away = NODES - (weights @ NODES)[:, None]
        passing, failing, shift = sums.over(span, weights, weights, weights * away)
        spread = passing * failing
        return np.divide(np.square(shift), spread, out=np.zeros(shift.shape), where=spread > 0.0)

    return score


def a_stratified(pool: Pool, policy: Policy) -> Score:
    def score(batch: Batch, rows: IntArray, span: slice, _available: BoolArray, position: int) -> FloatArray:
        turn = stratum_at(position, length=policy.maximum_length or 1, strata=policy.strata)
        apart = np.abs(strata_of(pool, span, strata=policy.strata) - turn)
        away = np.abs(pool.b[span] - batch.mean[rows, None])
        return np.asarray(-apart - away / (1.0 + away))

    return score


def progressive(pool: Pool, policy: Policy) -> Score:
    def score(batch: Batch, rows: IntArray, span: slice, available: BoolArray, position: int) -> FloatArray:
        informs = information(batch.mean[rows], *parameters(pool, span))
        done = min(1.0, (position - 1) / max(1, (policy.maximum_length or 1) - 1))
        if done == 1.0:
            return informs
        highest = np.max(informs, axis=1, initial=0.0, where=available)[:, None]
        return np.asarray(done * informs + (1.0 - done) * (highest * drawn(batch, rows, span, position)))

    return score


def target_success(pool: Pool, policy: Policy) -> Score:
    def score(batch: Batch, rows: IntArray, span: slice, _available: BoolArray, _position: int) -> FloatArray:
        chances = probability(batch.mean[rows], *parameters(pool, span))
        return np.asarray(-np.abs(chances - policy.target_success))

    return score


def random(_pool: Pool, _policy: Policy) -> Score:
    def score(batch: Batch, rows: IntArray, span: slice, _available: BoolArray, position: int) -> FloatArray:
        return drawn(batch, rows, span, position)

    return score


def probabilities(batch: Batch, rows: IntArray) -> FloatArray:
    """Node probabilities (n, Q), sum 1."""
    return np.asarray(batch.posterior[rows] / batch.total[rows, None])


def likely(batch: Batch, rows: IntArray) -> FloatArray:
    """Node probabilities (n, Q), sum 1, with 0 for those that `selection.criteria` leaves out."""
    weights = probabilities(batch, rows)
    weights[weights <= LIKELY] = 0.0
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def drawn(batch: Batch, rows: IntArray, span: slice, position: int) -> FloatArray:
    """A number (n, m) from 0 to below 1 for each examinee and item: those that the sittings themselves draw.

    They come from a cryptographic hash, one call per examinee, which is most of the time such a criterion takes.
    """
    return np.stack([rng_for(seed, position).uniforms(span.stop)[span] for seed in batch.seed[rows].tolist()])


SCORERS: Mapping[Criterion, Callable[[Pool, Policy], Score]] = {
    Criterion.posterior_information: posterior_information,
    Criterion.maximum_information: maximum_information,
    Criterion.kullback_leibler: kullback_leibler,
    Criterion.minimum_expected_posterior_variance: minimum_expected_posterior_variance,
    Criterion.a_stratified: a_stratified,
    Criterion.progressive: progressive,
    Criterion.target_success: target_success,
    Criterion.random: random,
}
