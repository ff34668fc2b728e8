"""Choosing what a learner gets next: policies, eligibility, content need, criteria, exposure, stopping; all pure."""

from engine.selection.choosing import Choice, choose
from engine.selection.deciding import decide, option_order, pack, unpack
from engine.selection.eligibility import eligible_items
from engine.selection.exposure import rng_for
from engine.selection.policy import (
    ADAPTIVE_TEST,
    POLICIES,
    PRACTICE,
    TEN_YEARS,
    Criterion,
    Feedback,
    Mode,
    Policy,
    Repeats,
    StartsFrom,
)
from engine.selection.stopping import StopReason, stop_reason

__all__ = [
    "ADAPTIVE_TEST",
    "POLICIES",
    "PRACTICE",
    "TEN_YEARS",
    "Choice",
    "Criterion",
    "Feedback",
    "Mode",
    "Policy",
    "Repeats",
    "StartsFrom",
    "StopReason",
    "choose",
    "decide",
    "eligible_items",
    "option_order",
    "pack",
    "rng_for",
    "stop_reason",
    "unpack",
]
