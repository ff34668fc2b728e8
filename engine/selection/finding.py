"""What `feasibility` finds, and how it says so."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    error = "error"  # the policy can't be met
    warning = "warning"  # it can, but not by every sitting


@dataclass(frozen=True, slots=True)
class Finding:
    """A clash. field : of the policy;  what : clashes with what;  remedy : what would be right;  facts : the numbers"""

    severity: Severity
    field: str
    what: str
    remedy: str
    facts: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.field}: {self.what}; {self.remedy}"

    def to_json(self) -> dict[str, Any]:
        return {
            "severity": self.severity.value,
            "field": self.field,
            "what": self.what,
            "remedy": self.remedy,
            "facts": self.facts,
        }


def upwards(value: float) -> float:
    """Rounded up to two digits after the point, as something to set a field to."""
    return math.ceil(value * 100.0 - 1e-9) / 100.0


def counted(number: int, noun: str) -> str:
    """
    >>> counted(1, "item"), counted(2, "item")
    ('1 item', '2 items')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
