"""What simulated examinees did: plain arrays, a row per examinee."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from engine.irt.types import BoolArray, FloatArray, IndexArray, IntArray
from engine.selection import StopReason

STOPS = (
    StopReason.classified,
    StopReason.standard_error,
    StopReason.estimate_settled,
    StopReason.no_information,
    StopReason.maximum_length,
    StopReason.pool_exhausted,
)
PASSED, FAILED, UNDECIDED = 1, 0, -1


@dataclass(frozen=True, slots=True, eq=False)
class Sittings:
    """N sittings of at most L items.

    theta : (N,), true ability, logits;  estimate, standard_error : (N,), the last EAP and posterior standard deviation
    length : (N,), items administered;  items : (N, L), pool indices in order, -1 beyond the length
    right : (N, L), answers, False beyond the length;  stop : (N,), places in STOPS
    seeds : (N,), with which `selection.decide` repeats each sitting
    decision : (N,), PASSED, FAILED or UNDECIDED by the policy's own rules
    cut : (N,), logits, the cut score that this is about; NaN, and UNDECIDED, under a policy that doesn't classify
    """

    theta: FloatArray
    estimate: FloatArray
    standard_error: FloatArray
    length: IndexArray
    items: IndexArray
    right: BoolArray
    stop: npt.NDArray[np.int8]
    seeds: IntArray
    decision: npt.NDArray[np.int8]
    cut: FloatArray

    def __len__(self) -> int:
        return int(self.theta.size)

    @classmethod
    def blank(cls, theta: FloatArray, seeds: IntArray, *, longest: int, cut: float) -> Self:
        """Sittings before their first item, to be filled in; estimates, errors and reasons are not yet set."""
        count = theta.size
        return cls(
            theta=theta,
            estimate=np.empty(count),
            standard_error=np.empty(count),
            length=np.zeros(count, dtype=np.int32),
            items=np.full((count, longest), -1, dtype=np.int32),
            right=np.zeros((count, longest), dtype=np.bool_),
            stop=np.empty(count, dtype=np.int8),
            seeds=seeds,
            decision=np.full(count, UNDECIDED, dtype=np.int8),
            cut=np.full(count, cut),
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All sittings of some batches with the same L, in order."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))
