"""The life cycle of what the bank holds: every change to exams, articles and items, checked, recorded and counted.

Each function checks first and raises Invalid with all issues, changes rows, appends to the audit log, and bumps
`Exam.bank_revision` where what is served may differ. Nothing commits.
"""

from itembank.authoring.articles import add_article, add_media, put_misconception, revise_article
from itembank.authoring.exams import create_exam, put_blueprint, put_exam
from itembank.authoring.items import relate, revise, submit, unrelate
from itembank.authoring.parameters import release_parameters
from itembank.authoring.stages import LIVE, MOVES, transition

__all__ = [
    "LIVE",
    "MOVES",
    "add_article",
    "add_media",
    "create_exam",
    "put_blueprint",
    "put_exam",
    "put_misconception",
    "relate",
    "release_parameters",
    "revise",
    "revise_article",
    "submit",
    "transition",
    "unrelate",
]
