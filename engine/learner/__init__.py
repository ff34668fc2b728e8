"""What is known of a learner: ability per objective, memory of seen items, mastery, readiness and a plan; all pure.

`fitting` is imported by the job that needs it, since it loads scikit-learn.
"""

from engine.learner.mastery import ENOUGH_ANSWERS, Mastery, domain_shares, mastery
from engine.learner.memory import SCHEDULE, Memory, due, next_due, rating, retrievability, reviewed, schedule
from engine.learner.packing import pack, unpack
from engine.learner.passing import at_least, summary
from engine.learner.planning import LONGEST_HORIZON, Day, Phase, Work, plan
from engine.learner.rapid import average_pace, floors, is_rapid, medians, pace, wants_nudge
from engine.learner.readiness import (
    Form,
    Readiness,
    blueprint_form,
    pass_posterior,
    pass_probability,
    readiness,
    study_gains,
)
from engine.learner.scores import objective_curves
from engine.learner.single import faded, moved, places
from engine.learner.state import (
    Prior,
    State,
    ability_covariance,
    ability_means,
    ability_sds,
    drifted,
    initial,
    overall,
    rearranged,
    updated,
    updated_by,
)
from engine.learner.success import FEATURES, SuccessModel, features

__all__ = [
    "ENOUGH_ANSWERS",
    "FEATURES",
    "LONGEST_HORIZON",
    "SCHEDULE",
    "Day",
    "Form",
    "Mastery",
    "Memory",
    "Phase",
    "Prior",
    "Readiness",
    "State",
    "SuccessModel",
    "Work",
    "ability_covariance",
    "ability_means",
    "ability_sds",
    "at_least",
    "average_pace",
    "blueprint_form",
    "domain_shares",
    "drifted",
    "due",
    "faded",
    "features",
    "floors",
    "initial",
    "is_rapid",
    "mastery",
    "medians",
    "moved",
    "next_due",
    "objective_curves",
    "overall",
    "pace",
    "pack",
    "pass_posterior",
    "pass_probability",
    "places",
    "plan",
    "rating",
    "readiness",
    "rearranged",
    "retrievability",
    "reviewed",
    "schedule",
    "study_gains",
    "summary",
    "unpack",
    "updated",
    "updated_by",
    "wants_nudge",
]
