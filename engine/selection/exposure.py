"""Exposure control: keeping the few best items from being served to everybody."""

import hashlib

import numpy as np

from engine.irt.types import BoolArray, FloatArray, IntArray, TableArray


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

    __slots__ = ("_bits", "_key")

    def __init__(self, *key: int):
        self._key = repr(key).encode()
        self._bits = int.from_bytes(hashlib.sha256(self._key).digest(), "big")  # plenty for a few draws

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

    def uniforms(self, count: int) -> FloatArray:
        """`count` numbers from 0 to below 1, of 53 bits each: always the same ones, and fewer are the first of more.

        They are drawn apart from the other draws, which they neither change nor depend on.
        """
        stream = hashlib.shake_256(self._key).digest(8 * count)
        return np.asarray((np.frombuffer(stream, dtype="<u8") >> 11) * 2.0**-53)


def randomesque(ranked: IntArray, among: int, rng: Chance) -> int:
    """One of the first `among` of `ranked`, each with the same chance.

    Source: Kingsbury & Zara (1989), Applied Measurement in Education 2(4), 359-375.
    """
    return int(ranked[rng.integers(min(among, ranked.size))])


def eligibility(administered: IntArray, eligible: IntArray, *, maximum: float) -> FloatArray:
    """Probability (...) with which each item should be eligible for the next sitting, so that few exceed the maximum.

    administered, eligible : (...), sittings so far that served each item, that it was eligible for; one row for all
    learners, or a row per ability group to keep the rate in every group;  maximum : exposure rate wanted, above 0
    It is maximum * eligible / administered, at most 1, and 1 for an item that was never served: an item that was served
    in more than its share of the sittings it could have come in becomes rarer, and comes back as its rate falls.
    Source: van der Linden & Veldkamp (2004), Journal of Educational and Behavioral Statistics 29(3), 273-291.

    >>> eligibility(np.array([0, 20, 40]), np.array([100, 100, 100]), maximum=0.2)
    array([1. , 1. , 0.5])
    """
    if administered.shape != eligible.shape or (administered > eligible).any() or (administered < 0).any():
        raise ValueError(
            "administered and eligible: counts of one shape, none served more often than eligible, expected"
        )
    if not maximum > 0.0:
        raise ValueError(f"maximum exposure {maximum}: a number above 0 expected")
    chances = np.minimum(1.0, maximum * eligible / np.maximum(administered, 1))
    return np.where(administered == 0, 1.0, chances)


def drawn(probabilities: FloatArray, rng: Chance) -> BoolArray:
    """True (I,) for each item with its probability (I,), independently."""
    return np.asarray(rng.uniforms(probabilities.size) < probabilities)


def sympson_hetter(ranked: IntArray, control: FloatArray, uniforms: FloatArray) -> int:
    """The item to serve: the best one that passes its own lottery.

    ranked : (n,), pool indices, best first;  control : (I,), probability of serving an item that is the best one left
    uniforms : (I,), from 0 to below 1, a sitting's draws for this position
    If none passes, the one that missed by least is served: a sitting is not ended by a lottery.
    Source: Sympson & Hetter (1985), Proceedings of the 27th meeting of the Military Testing Association, 973-977.

    >>> sympson_hetter(np.array([2, 0, 1]), np.array([1.0, 1.0, 0.3]), np.array([0.5, 0.5, 0.5]))
    0
    """
    margin = control[ranked] - uniforms[ranked]
    passes = margin > 0.0
    return int(ranked[passes.argmax() if passes.any() else margin.argmax()])


def adjusted_control(selected: FloatArray, *, maximum: float, longest: int) -> FloatArray:
    """Control parameters (I,) for the next round of simulated sittings, from how often each was the best in the last.

    selected : (I,), share of simulated sittings in which the item was selected, served or not;  maximum : rate wanted
    longest : items of the longest sitting; so many items are always served, so that no sitting runs out
    An item selected more often than wanted is served with probability maximum / selected. Simulate with the result and
    adjust again until the largest exposure rate settles; start with ones.  Source: as `sympson_hetter`.
    """
    if not 0.0 < maximum <= 1.0:
        raise ValueError(f"maximum exposure {maximum}: a number above 0, at most 1, expected")
    control = np.minimum(1.0, maximum / np.maximum(selected, maximum))
    free = np.argsort(-control, kind="stable")[:longest]
    control[free] = 1.0
    return np.asarray(control)


def rng_for(seed: int, position: int, stream: int = 0) -> Chance:
    """The random numbers of one position of a sitting: they depend on nothing before it, so any step can be replayed.

    seed : the sitting's seed;  stream : keeps draws for different things apart
    """
    return Chance(seed, position, stream)
