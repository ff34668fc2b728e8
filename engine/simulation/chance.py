"""Random numbers by name instead of by turn: each is a hash of the run's seed, the examinee and the thing it is for.

So the draw that decides an examinee's answer to an item is the same whatever was asked before, under every policy and
estimator (common random numbers), and for every batch size and order. The hash is the finaliser of SplitMix64, applied
once per part of the name.
Source: Steele, Lea & Flood (2014), OOPSLA '14, 453-472; for naming draws: Salmon et al. (2011), SC '11, 16.
"""

import numpy as np
import numpy.typing as npt

from engine.irt.types import FloatArray, IntArray

Words = npt.NDArray[np.uint64]

ABILITY, SEED = -1, -2  # things that are not items: an examinee's true ability, and the seed of the sitting
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def uniforms(seed: int, examinees: IntArray, thing: IntArray | int) -> FloatArray:
    """Numbers (n,) from the open interval between 0 and 1.

    examinees : (n,), numbers of the examinees in the run;  thing : (n,) pool indices, or one of the constants above

    >>> both = uniforms(7, np.arange(5), 3)
    >>> bool((uniforms(7, np.array([4, 2]), 3) == both[[4, 2]]).all())
    True
    """
    return np.asarray(((words(seed, examinees, thing) >> np.uint64(12)) + 0.5) * 2.0**-52)


def sitting_seeds(seed: int, examinees: IntArray) -> IntArray:
    """The seeds (n,), 0 to 2^63 - 1, with which `selection.decide` repeats the sittings of these examinees."""
    return (words(seed, examinees, SEED) >> np.uint64(1)).astype(np.int64)


def words(seed: int, examinees: IntArray, thing: IntArray | int) -> Words:
    """64 random bits (n,) for each name."""
    key = mixed(np.asarray([seed & 0xFFFF_FFFF_FFFF_FFFF], dtype=np.uint64))
    people = mixed(key + np.asarray(examinees, dtype=np.int64).astype(np.uint64) * GOLDEN)
    return mixed(people + np.asarray([thing], dtype=np.int64).reshape(-1).astype(np.uint64) * GOLDEN)


def mixed(x: Words) -> Words:
    """SplitMix64's finaliser: a bijection in which every bit of the input moves half of the output's."""
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))
