"""Bringing a bundle into the bank: first a plan that changes nothing, then the plan carried out.

What is there already and says the same stays untouched, so importing twice changes nothing. Things with issues are left
out, and so is what depends on them.
"""

from itembank.importing.applying import apply
from itembank.importing.planning import ItemStep, Outcome, Plan, Step, plan

__all__ = ["ItemStep", "Outcome", "Plan", "Step", "apply", "plan"]
