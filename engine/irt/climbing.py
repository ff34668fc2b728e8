"""The highest point of many functions of one variable at once: look at nodes, climb from every peak, compare."""

from collections.abc import Callable

import numpy as np

from engine.irt.types import FloatArray, IntArray

# Maxima this close count as equal, and the lowest ability wins. Without a margin, rounding would decide.
TIE = 1e-9

# Smaller rises from node to node are rounding. A long flat stretch would otherwise be full of peaks.
NOISE = 1e-12

# A peak is known to 1e-11 logits, or halved this often: 0.2 logits come below 1e-11 after 35 halvings.
PRECISION = 1e-11
STEPS = 100

# (which functions (P,), where (P,)) -> value, slope and negative curvature there, each (P,).
Local = Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]]


def highest(values: FloatArray, at: Local, nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Place and value (L,) of the highest point of L functions between the first and the last node.

    values : (L, Q), the functions at the nodes;  nodes : (Q,), ascending, so close that no peak hides between two
    """
    beyond = np.full((values.shape[0], 1), -np.inf)
    rises = values - np.hstack([beyond, values[:, :-1]]) > NOISE
    falls = np.hstack([values[:, 1:], beyond]) - values <= NOISE
    who, peak = np.nonzero(rises & falls)
    last = nodes.size - 1
    theta = climb(at, who, nodes[np.maximum(peak - 1, 0)], nodes[peak], nodes[np.minimum(peak + 1, last)])
    value = at(who, theta)[0]
    first = np.flatnonzero(np.diff(who, prepend=-1))
    best = np.maximum.reduceat(value, first) if first.size else value
    winners = np.flatnonzero(value >= best[who] - TIE)
    winners = winners[np.diff(who[winners], prepend=-1) > 0]  # the lowest of each learner's
    return theta[winners], value[winners]


def climb(at: Local, who: IntArray, left: FloatArray, start: FloatArray, right: FloatArray) -> FloatArray:
    """A maximum (P,) between left and right, neither of which is higher than start: Newton's steps, else halving."""
    theta, left, right = start.copy(), left.copy(), right.copy()
    before = right - left
    active = np.arange(theta.size)
    for _ in range(STEPS):
        here, previous = theta[active], before[active]
        _, slope, curvature = at(who[active], here)
        low, high = np.where(slope >= 0.0, here, left[active]), np.where(slope <= 0.0, here, right[active])
        newton = here + slope / np.where(curvature > 0.0, curvature, np.inf)
        trusted = (curvature > 0.0) & (newton >= low) & (newton <= high) & (2.0 * np.abs(newton - here) <= previous)
        there = np.where(trusted, newton, 0.5 * (low + high))
        theta[active], left[active], right[active], before[active] = there, low, high, np.abs(there - here)
        active = active[(np.abs(there - here) > PRECISION) & (high - low > PRECISION)]
        if not active.size:
            break
    return theta
