"""Exposure control: keeping the few best items from being served to everybody."""

import numpy as np

from engine.irt.types import IntArray, TableArray


def best(scores: TableArray, count: int) -> IntArray:
    """Places of the `count` highest scores, best first; of equal scores the lower place first.

    >>> best(np.array([0.1, 0.7, 0.7, 0.3], dtype=np.float32), 3)
    array([1, 2, 3])
    """
    left, places = scores.copy(), np.empty(min(count, scores.size), dtype=np.int64)
    for rank in range(places.size):  # a few passes of argmax, which takes the first of equals, beat one partition
        places[rank] = place = left.argmax()
        left[place] = -np.inf
    return places


def randomesque(ranked: IntArray, among: int, rng: np.random.Generator) -> int:
    """One of the first `among` of `ranked`, each with the same chance.

    Source: Kingsbury & Zara (1989), Applied Measurement in Education 2(4), 359-375.
    """
    return int(ranked[rng.integers(min(among, ranked.size))])


def rng_for(seed: int, position: int) -> np.random.Generator:
    """The random numbers of one position of a sitting: they depend on nothing before it, so any step can be replayed.

    seed : the sitting's seed, 0 or more;  position : 0 or more
    """
    return np.random.default_rng([seed, position])
