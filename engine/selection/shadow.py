"""Shadow tests: hard constraints in an adaptive sitting, never broken, whatever the answers.

Before every item a whole form is assembled that has all items given so far, meets every constraint and is the most
informative at the present estimate; the next item is the best one of it that is still free. Since the rest of the form
stays at hand, a sitting that once had a form can always be finished.
Source: van der Linden & Reese (1998), Applied Psychological Measurement 22(3), 259-270; van der Linden (2005), Linear
Models for Optimal Test Design, chapter 9.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

from engine.errors import Infeasible
from engine.irt.types import BoolArray, FloatArray, IntArray
from engine.selection.conflict import clash
from engine.selection.program import ALONE, Program
from engine.selection.solving import best_form

GIVEN = "items already given"
BARRED = "items that can't be served"


@dataclass(frozen=True, slots=True)
class ShadowTest:
    """The best whole form at this moment.

    items : ascending indices of its items, given and free;  next_items : the free ones that may come next, best first;
    empty when the form is complete;  score : sum of the scores of all its items
    """

    items: IntArray
    next_items: IntArray
    score: float


def shadow_test(program: Program, scores: FloatArray, *, given: IntArray, blocked: BoolArray) -> ShadowTest:
    """The shadow test after the items `given`.

    scores : (I,), finite, what each item is worth now, such as information at the estimate
    given : (n,), items of this sitting in the order they came;  blocked : (I,), True for items not to be served; items
    that were given stay in the form even so
    Any of `next_items` keeps the sitting on course, not only the first.  The same arguments give the same form.
    Raises Infeasible, naming constraints that clash, if no form is left: the constraints never had one, or items that
    it needs have been blocked since.
    """
    fixed = np.zeros(program.items, dtype=np.bool_)
    fixed[given] = True
    barred = (blocked | gone(program, given)) & ~fixed
    form = best_form(program, scores, fixed=fixed, barred=barred)
    if form is None:
        raise Infeasible(clashing(program, given=given, barred=barred))
    broken = program.violations(form)
    if broken:
        raise RuntimeError(f"HiGHS gave a form that breaks {', '.join(broken)}")
    free = form[~fixed[form]]
    ranked = free[np.argsort(-scores[free], kind="stable")]
    return ShadowTest(form, coming(program, given, ranked), float(scores[form].sum()))


def gone(program: Program, given: IntArray) -> BoolArray:
    """True (I,) for items that can't come any more: earlier in the order than the last, or of a set that was left."""
    gone = np.zeros(program.items, dtype=np.bool_)
    if not given.size:
        return gone
    if program.order is not None:
        gone |= program.order < program.order[given].max()
    if program.contiguous is not None:
        met = program.contiguous[given]
        left = np.setdiff1d(met, [met[-1], ALONE])
        gone |= np.isin(program.contiguous, left)
    return gone


def coming(program: Program, given: IntArray, ranked: IntArray) -> IntArray:
    """Those of the free items that may come next: of the set that was begun, if some are left, else first in order."""
    if program.contiguous is not None and given.size and program.contiguous[given[-1]] != ALONE:
        same = ranked[program.contiguous[ranked] == program.contiguous[given[-1]]]
        if same.size:
            return np.asarray(same)
    if program.order is not None and ranked.size:
        place = program.order[ranked]
        return np.asarray(ranked[place == place.min()])
    return ranked


def clashing(program: Program, *, given: IntArray, barred: BoolArray) -> tuple[str, ...]:
    """Names of constraints that clash, of a program that has no form with these items given and barred."""
    names = (*program.names, GIVEN, BARRED)
    extra = np.zeros((2, program.columns))
    extra[0, given] = 1.0
    extra[1, np.flatnonzero(barred)] = 1.0
    found = clash(
        csc_array(vstack([program.matrix, csr_array(extra)])),
        np.concatenate([program.lower, [given.size, -np.inf]]),
        np.concatenate([program.upper, [np.inf, 0.0]]),
        np.concatenate([program.owner, [len(names) - 2, len(names) - 1]]),
        np.zeros(program.columns),
        np.ones(program.columns),
    )
    return tuple(names[owner] for owner in found)
