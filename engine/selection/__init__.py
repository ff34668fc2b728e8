"""Choosing what a learner gets next: policies, eligibility, content need, criteria, exposure, stopping; all pure."""

from engine.selection.beginning import withheld_items
from engine.selection.choosing import Choice, choose
from engine.selection.classifying import Decision, Outcome, Rule, Standing, standing_after
from engine.selection.deciding import decide, option_order, pack, unpack
from engine.selection.eligibility import eligible_items
from engine.selection.exposure import rng_for
from engine.selection.policy import (
    ADAPTIVE_TEST,
    LONGEST_TIME,
    MOST_STRATA,
    POLICIES,
    PRACTICE,
    TEN_YEARS,
    Classification,
    ContentRule,
    Criterion,
    Feedback,
    Mode,
    Policy,
    Repeats,
    StartsFrom,
    TimeOut,
)
from engine.selection.stopping import Progress, StopReason, decided, decided_after, is_over_time, stop_reason

__all__ = [
    "ADAPTIVE_TEST",
    "LONGEST_TIME",
    "MOST_STRATA",
    "POLICIES",
    "PRACTICE",
    "TEN_YEARS",
    "Choice",
    "Classification",
    "ContentRule",
    "Criterion",
    "Decision",
    "Feedback",
    "Mode",
    "Outcome",
    "Policy",
    "Progress",
    "Repeats",
    "Rule",
    "Standing",
    "StartsFrom",
    "StopReason",
    "TimeOut",
    "choose",
    "decide",
    "decided",
    "decided_after",
    "eligible_items",
    "is_over_time",
    "option_order",
    "pack",
    "rng_for",
    "standing_after",
    "stop_reason",
    "unpack",
    "withheld_items",
]
