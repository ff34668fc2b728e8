"""Policies on simulated examinees: what a test would measure, and whom it would serve what, before it goes live."""

from engine.simulation.abilities import Grid, Normal
from engine.simulation.banks import Bank, read_bank
from engine.simulation.lockstep import simulate, simulate_batches
from engine.simulation.plots import plots
from engine.simulation.report import Report, examinee_rows, item_names, report
from engine.simulation.rules import Rules
from engine.simulation.sittings import STOPS, Sittings

__all__ = [
    "STOPS",
    "Bank",
    "Grid",
    "Normal",
    "Report",
    "Rules",
    "Sittings",
    "examinee_rows",
    "item_names",
    "plots",
    "read_bank",
    "report",
    "simulate",
    "simulate_batches",
]
