"""Choosing what a learner gets next: policies, eligibility, content need, criteria, exposure, stopping; all pure."""

from engine.selection.beginning import withheld_items
from engine.selection.choosing import Choice, choose
from engine.selection.classifying import Decision, Outcome, Rule, Standing, standing_after
from engine.selection.deciding import decide, option_order, pack, unpack
from engine.selection.eligibility import eligible_items
from engine.selection.exposure import rng_for
from engine.selection.policy import (
    ADAPTIVE_TEST,
    DIAGNOSTIC,
    LINED_UP,
    LONGEST_TIME,
    MOCK,
    MOST_SLOTS,
    MOST_STRATA,
    POLICIES,
    PRACTICE,
    REVIEW,
    TEN_YEARS,
    Classification,
    ContentLevel,
    ContentRule,
    Criterion,
    Feedback,
    Mode,
    Policy,
    Repeats,
    StartsFrom,
    TimeOut,
)
from engine.selection.profile import Profile
from engine.selection.stopping import Progress, StopReason, decided, decided_after, is_over_time, stop_reason
from engine.selection.turns import Turn, Waiting, waiting_after, waiting_of

__all__ = [
    "ADAPTIVE_TEST",
    "DIAGNOSTIC",
    "LINED_UP",
    "LONGEST_TIME",
    "MOCK",
    "MOST_SLOTS",
    "MOST_STRATA",
    "POLICIES",
    "PRACTICE",
    "REVIEW",
    "TEN_YEARS",
    "Choice",
    "Classification",
    "ContentLevel",
    "ContentRule",
    "Criterion",
    "Decision",
    "Feedback",
    "Mode",
    "Outcome",
    "Policy",
    "Profile",
    "Progress",
    "Repeats",
    "Rule",
    "Standing",
    "StartsFrom",
    "StopReason",
    "TimeOut",
    "Turn",
    "Waiting",
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
    "waiting_after",
    "waiting_of",
    "withheld_items",
]
