"""Content balancing for many examinees at once: the rule of `selection.content`, a row per examinee."""

import numpy as np

from engine.irt.types import BoolArray, FloatArray, IntArray


def most_urgent(weights: FloatArray, counts: IntArray, in_play: BoolArray) -> IntArray:
    """The objective (n,) to serve next to each examinee.

    weights : (K,), blueprint weights;  counts : (n, K), items administered;  in_play : (n, K), an item is available
    Source and reasons: `selection.content`.

    >>> most_urgent(np.array([0.7, 0.3]), np.array([[0, 0], [2, 0]]), np.ones((2, 2), dtype=bool))
    array([0, 1])
    """
    kept = weights * in_play
    total = kept.sum(axis=1, keepdims=True)
    equal = in_play / np.maximum(in_play.sum(axis=1, keepdims=True), 1)
    share = np.where(total > 0.0, kept / np.where(total > 0.0, total, 1.0), equal)
    counted = counts * in_play
    deficit = share * (1 + counted.sum(axis=1, keepdims=True)) - counted
    margin = 0.5 / np.maximum(1, np.count_nonzero(share, axis=1, keepdims=True) - 1)
    due = (deficit >= margin * (1.0 - 1e-9)) & (share > 0.0)
    wait = np.divide(1.0 - margin - deficit, share, out=np.full(share.shape, np.inf), where=due)
    return np.asarray(wait.argmin(axis=1))
