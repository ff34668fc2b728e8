"""What a choice may know of the learner beyond one ability: the abilities by objective, as practice needs them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from engine.irt.types import FloatArray

DIGITS = 4  # a trace keeps them so, and the choice rests on what the trace keeps


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """abilities, standard_errors : (K,), by objective, logits, to DIGITS;  cut_score : the exam's, logits"""

    abilities: FloatArray
    standard_errors: FloatArray
    cut_score: float

    @classmethod
    def of(cls, abilities: FloatArray, standard_errors: FloatArray, cut_score: float) -> Self:
        return cls(np.round(abilities, DIGITS), np.round(standard_errors, DIGITS), round(cut_score, DIGITS))

    def to_json(self) -> dict[str, Any]:
        return {
            "abilities": self.abilities.tolist(),
            "standard_errors": self.standard_errors.tolist(),
            "cut_score": self.cut_score,
        }

    @classmethod
    def of_trace(cls, trace: Mapping[str, Any]) -> Self | None:
        """As a choice saw it, None where it didn't look."""
        stored = trace.get("profile")
        if stored is None:
            return None
        return cls(np.array(stored["abilities"]), np.array(stored["standard_errors"]), stored["cut_score"])
