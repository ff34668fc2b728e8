"""Content balancing for many examinees at once: the rules of `selection.content` and `selection.priority`, by rows."""

import numpy as np

from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.selection.priority import ROUNDING


def most_urgent(weights: FloatArray, counts: IntArray, in_play: BoolArray) -> IntArray:
    """The objective (n,) to serve next to each examinee.

    weights : (K,), blueprint weights;  counts : (n, K), items administered;  in_play : (n, K), an item is available
    Source and reasons: `selection.content`.

    >>> most_urgent(np.array([0.7, 0.3]), np.array([[0, 0], [2, 0]]), np.ones((2, 2), dtype=bool))
    array([0, 1])
    """
    share = shares(weights, in_play)
    counted = counts * in_play
    deficit = share * (1 + counted.sum(axis=1, keepdims=True)) - counted
    margin = 0.5 / np.maximum(1, np.count_nonzero(share, axis=1, keepdims=True) - 1)
    due = (deficit >= margin * (1.0 - 1e-9)) & (share > 0.0)
    wait = np.divide(1.0 - margin - deficit, share, out=np.full(share.shape, np.inf), where=due)
    return np.asarray(wait.argmin(axis=1))


def priorities(weights: FloatArray, counts: IntArray, in_play: BoolArray, *, remaining: int) -> FloatArray:
    """By what (n, K) the scores of each objective's items are multiplied, 0 where none of them may come next.

    remaining : items to the end of the sitting;  the others as above.  A row of zeros says that the proportions were
    lost before, and that the most urgent objective comes next.  Source and reasons: `selection.priority`.

    >>> priorities(np.array([0.5, 0.5]), np.array([[0, 0], [1, 0]]), np.ones((2, 2), dtype=bool), remaining=2)
    array([[1., 1.],
           [0., 1.]])
    """
    share = shares(weights, in_play)
    counted = counts * in_play
    served = counted.sum(axis=1, keepdims=True)
    fits = share * (served + 1) - counted > ROUNDING
    for later in range(1, remaining + 1):
        due = np.floor(share * (served + later) + ROUNDING) - counted
        slack = later - 1 - np.maximum(due, 0.0).sum(axis=1, keepdims=True)
        fits &= (slack >= 0.0) | ((slack >= -1.0) & (due > 0.0))
    quota = share * (served + remaining)
    left = np.maximum(quota - counted, 0.0)
    return np.asarray(np.divide(left, quota, out=np.zeros(share.shape), where=quota > 0.0) * fits)


def shares(weights: FloatArray, in_play: BoolArray) -> FloatArray:
    """Weights (n, K) of the objectives in play, sum 1; equal ones where none in play has a weight."""
    kept = weights * in_play
    total = kept.sum(axis=1, keepdims=True)
    equal = in_play / np.maximum(in_play.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(total > 0.0, kept / np.where(total > 0.0, total, 1.0), equal))
