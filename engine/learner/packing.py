"""A learner's state as bytes: what a database row holds.

One format byte, K as 2 bytes, K answer counts of 4, then K + 1 means and the lower triangle of the covariance as 8-byte
floats, all little-endian: 47 bytes for one objective, 4.3 kB for thirty.
"""

from functools import lru_cache

import numpy as np

from engine.irt.types import IntArray
from engine.learner.state import State

FORMAT = 1
HEADER = 3


@lru_cache(maxsize=64)
def lower_triangle(size: int) -> tuple[IntArray, IntArray]:
    """Rows and columns of the lower triangle of a square matrix, row by row."""
    rows, columns = np.tril_indices(size)
    return rows, columns


def pack(state: State) -> bytes:
    """One learner's state as bytes; `unpack` gives back the same numbers to the last digit."""
    if state.mean.ndim != 1:
        raise ValueError(f"{state.mean.ndim - 1} learner axes: one learner's state expected")
    count = state.objectives
    triangle = state.covariance[lower_triangle(count + 1)]
    head = bytes([FORMAT]) + count.to_bytes(2, "little")
    return head + b"".join(
        (state.answers.astype("<u4").tobytes(), state.mean.astype("<f8").tobytes(), triangle.astype("<f8").tobytes())
    )


def unpack(data: bytes) -> State:
    """The state that `pack` wrote.  Raises ValueError for another format, and for bytes that are cut short."""
    if len(data) < HEADER or data[0] != FORMAT:
        raise ValueError(
            f"{len(data)} bytes that begin with {data[:1].hex() or 'nothing'}: no state of format {FORMAT}"
        )
    count = int.from_bytes(data[1:HEADER], "little")
    means, corner = HEADER + 4 * count, HEADER + 4 * count + 8 * (count + 1)
    expected = corner + 4 * (count + 1) * (count + 2)
    if len(data) != expected:
        raise ValueError(f"{len(data)} bytes for {count} objectives: {expected} expected")
    rows, columns = lower_triangle(count + 1)
    covariance = np.empty((count + 1, count + 1))
    covariance[rows, columns] = covariance[columns, rows] = np.frombuffer(data, "<f8", offset=corner)
    answers = np.frombuffer(data, "<u4", count=count, offset=HEADER).astype(np.int64)
    return State(np.frombuffer(data, "<f8", count=count + 1, offset=means).astype(np.float64), covariance, answers)
