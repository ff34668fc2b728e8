"""Exposure control: keeping the few best items from being served to everybody."""

import hashlib

import numpy as np

from engine.irt.types import FloatArray, IntArray, TableArray


def best(scores: TableArray | FloatArray, count: int) -> IntArray:
    """Places of the `count` highest scores, best first; of equal scores the lower place first.

    >>> best(np.array([0.1, 0.7, 0.7, 0.3], dtype=np.float32), 3)
    array([1, 2, 3])
    """
    left, places = scores.copy(), np.empty(min(count, scores.size), dtype=np.int64)
    for rank in range(places.size):  # a few passes of argmax, which takes the first of equals, beat one partition
        places[rank] = place = left.argmax()
        left[place] = -np.inf
    return places


class Chance:
    """Random numbers that anyone can draw again, anywhere: NumPy's generators may give others in a later release.

    >>> Chance(7, 1).integers(5) == Chance(7, 1).integers(5)
    True
    """

    __slots__ = ("_bits",)

    def __init__(self, *key: int):
        self._bits = int.from_bytes(hashlib.sha256(repr(key).encode()).digest(), "big")  # plenty for a few draws

    def integers(self, count: int) -> int:
        """One of 0 to count - 1, each with the same chance."""
        self._bits, drawn = divmod(self._bits, count)
        return drawn

    def permutation(self, count: int) -> list[int]:
        """0 to count - 1 in one of all orders, each with the same chance; for the options of an item, not for more."""
        places = list(range(count))
        for last in range(count - 1, 0, -1):
            drawn = self.integers(last + 1)
            places[last], places[drawn] = places[drawn], places[last]
        return places


def randomesque(ranked: IntArray, among: int, rng: Chance) -> int:
    """One of the first `among` of `ranked`, each with the same chance.

    Source: Kingsbury & Zara (1989), Applied Measurement in Education 2(4), 359-375.
    """
    return int(ranked[rng.integers(min(among, ranked.size))])


def rng_for(seed: int, position: int, stream: int = 0) -> Chance:
    """The random numbers of one position of a sitting: they depend on nothing before it, so any step can be replayed.

    seed : the sitting's seed;  stream : keeps draws for different things apart
    """
    return Chance(seed, position, stream)
