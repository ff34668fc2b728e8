"""What simulated examinees did: plain arrays, a row per examinee."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from engine.irt.types import BoolArray, FloatArray, IndexArray, IntArray
from engine.selection import StopReason

STOPS = (StopReason.standard_error, StopReason.maximum_length, StopReason.pool_exhausted)


@dataclass(frozen=True, slots=True, eq=False)
class Sittings:
    """N sittings of at most L items.

    theta : (N,), true ability, logits;  estimate, standard_error : (N,), the last EAP and posterior standard deviation
    length : (N,), items administered;  items : (N, L), pool indices in order, -1 beyond the length
    right : (N, L), answers, False beyond the length;  stop : (N,), places in STOPS
    seeds : (N,), with which `selection.decide` repeats each sitting
    """

    theta: FloatArray
    estimate: FloatArray
    standard_error: FloatArray
    length: IndexArray
    items: IndexArray
    right: BoolArray
    stop: npt.NDArray[np.int8]
    seeds: IntArray

    def __len__(self) -> int:
        return int(self.theta.size)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All sittings of some batches with the same L, in order."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))
