"""Criteria: one score per item, the higher the better; all of a slice of the pool at once."""

from collections.abc import Callable, Mapping

import numpy as np

from engine.irt.types import FloatArray, TableArray
from engine.pool import BLOCK, Pool
from engine.selection.policy import Criterion

NEGLIGIBLE = 1e-12


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


CRITERIA: Mapping[Criterion, Callable[[Pool, FloatArray, slice], TableArray]] = {
    Criterion.posterior_information: posterior_information,
}
