"""Content balancing by priority: the best item that the proportions allow, weighted by what its objective lacks.

The index of Cheng & Chang (2009), British Journal of Mathematical and Statistical Psychology 62(2), 369-383, multiplies
an item's information by the share of its objective's quota that is still unfilled. By itself it keeps no promise: a
sitting that ends early, or one objective with much better items, is served out of proportion. So it chooses only among
objectives that can come next without moving any of them a whole item from its share, now or later.
"""

import numpy as np

from engine.irt.types import BoolArray, FloatArray, IntArray

ROUNDING = 1e-9  # items; a share of 3 / 10 of 10 items is 3


def allowed(share: FloatArray, counts: IntArray, *, remaining: int) -> BoolArray:
    """True (K,) for objectives that can be served next with all of them less than one item from their shares, for good.

    share : (K,), sum 1;  counts : (K,), items served so far of objectives with a share;  remaining : items to the end
    At n items an objective has to have at least floor(n * share) and at most ceil(n * share) items. The one served next
    must not be ahead of that, and for every later n the items that are then due must still fit in.
    None is allowed if the counts broke the bound before.
    Source of the condition: Still (1979), SIAM Journal on Applied Mathematics 37(2), 401-418.
    """
    served = int(np.add.reduce(counts))
    later = served + np.arange(1, remaining + 1)  # (n,)
    due = np.floor(share[:, None] * later + ROUNDING) - counts[:, None]  # (K, n)
    slack = later - served - 1 - np.add.reduce(np.maximum(due, 0.0), axis=0)
    behind: BoolArray = share * (served + 1) - counts > ROUNDING
    fits = (due[:, slack < 0.0] > 0.0).all(axis=1) & (slack >= -1.0).all()  # serving one that is due lowers what is due
    return np.asarray(behind & fits)


def unfilled(share: FloatArray, counts: IntArray, *, remaining: int) -> FloatArray:
    """The share (K,) of each objective's quota for the whole sitting that is still to be served, 0 without a quota."""
    quota = share * (np.add.reduce(counts) + remaining)
    left = np.maximum(quota - counts, 0.0)
    return np.asarray(np.divide(left, quota, out=np.zeros_like(quota), where=quota > 0.0))
