"""Criteria: what makes one item better than another for what is known of the ability."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np

from engine.irt.types import BoolArray, FloatArray, IntArray, TableArray
from engine.pool import BLOCK, Pool
from engine.selection.candidates import most_informative
from engine.selection.exposure import best
from engine.selection.policy import Criterion

NEGLIGIBLE = 1e-12


class Known(NamedTuple):
    """What is known of the ability.  probabilities : (121,), of the nodes, sum 1;  theta : their mean, logits"""

    probabilities: FloatArray
    theta: float


class Ranking(Protocol):
    """Pool indices and scores of the `count` best eligible items of a span, best first.

    eligible : (I,), at least `count` of them in the span.  Of equal items the lower index comes first.
    """

    def __call__(
        self, pool: Pool, known: Known, eligible: BoolArray, count: int, span: slice
    ) -> tuple[IntArray, FloatArray | TableArray]: ...


def posterior_information(pool: Pool, probabilities: FloatArray, span: slice) -> TableArray:
    """Fisher information of the items in `span`, averaged over what is known of the ability.

    probabilities : (121,), node probabilities, sum 1;  returns (len of span,), a new array
    Early on, where the estimate may be far off, this prefers items that are useful over the whole likely range.
    Source: van der Linden (1998), Psychometrika 63(2), 201-216, who calls it maximum posterior-weighted information.
    """
    weights = table_weights(probabilities)
    first, last = span.start // BLOCK, -(-span.stop // BLOCK)
    scores = pool.information_blocks[first:last] @ weights  # whole blocks: an item's score is the same in every span
    offset = first * BLOCK
    return np.asarray(scores.reshape(-1)[span.start - offset : span.stop - offset])


def table_weights(probabilities: FloatArray) -> TableArray:
    """Node probabilities (61,) for the information table: a skipped node gives half of its own to each neighbour.

    That costs the best items under 0.5 % of their score, and no posterior is so narrow that it falls between two nodes.
    The tails are cut off where they would be subnormal in float32: such numbers make the product ten times slower.
    """
    weights = probabilities[::2].copy()
    halves = 0.5 * probabilities[1::2]
    weights[:-1] += halves
    weights[1:] += halves
    weights[weights < NEGLIGIBLE] = 0.0
    return weights.astype(np.float32)


def by_posterior_information(
    pool: Pool, known: Known, eligible: BoolArray, count: int, span: slice
) -> tuple[IntArray, TableArray]:
    scores = posterior_information(pool, known.probabilities, span)
    np.copyto(scores, -np.inf, where=~eligible[span])
    ranked = best(scores, count)
    return ranked + span.start, scores[ranked]


def by_maximum_information(
    pool: Pool, known: Known, eligible: BoolArray, count: int, span: slice
) -> tuple[IntArray, FloatArray]:
    return most_informative(pool, known.theta, eligible, count, span=span)


CRITERIA: Mapping[Criterion, Ranking] = {
    Criterion.posterior_information: by_posterior_information,
    Criterion.maximum_information: by_maximum_information,
}
