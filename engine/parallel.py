"""Parallel forms of an exam: assembled together, to one blueprint, alike where ability matters, sharing few items."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from engine import constraining, loading
from engine.irt import information
from engine.irt.types import FloatArray
from engine.selection import Policy, rng_for
from engine.selection.assembling import pass_mark
from engine.selection.forms import Request, arranged, assemble
from itembank import catalog
from itembank.models import Exam
from itembank.store import Db

ORDER_STREAM = 5  # sets the random numbers for the order of a form apart from all others


@dataclass(frozen=True, slots=True)
class ParallelForm:
    """items : public ids in their order;  information : at each point, per squared logit
    pass_mark : right answers to expect of someone at the cut score, rounded up
    """

    items: tuple[str, ...]
    information: tuple[float, ...]
    pass_mark: int


@dataclass(frozen=True, slots=True)
class Parallel:
    """points : abilities in logits that the information is at;  gap : as in `engine.selection.forms.Forms`
    shared : for each pair of forms, by number from 1, the items that both have
    """

    points: tuple[float, ...]
    forms: tuple[ParallelForm, ...]
    shared: dict[tuple[int, int], int]
    gap: float

    def to_json(self) -> dict[str, Any]:
        pairs = [{"forms": list(pair), "items": count} for pair, count in self.shared.items()]
        forms = [
            {"items": list(form.items), "information": list(form.information), "pass_mark": form.pass_mark}
            for form in self.forms
        ]
        return {"points": list(self.points), "forms": forms, "shared": pairs, "gap": self.gap}


def parallel_forms(
    db: Db,
    exam: Exam,
    policy: Policy,
    *,
    forms: int,
    overlap: int | None,
    uses: int | None,
    points: Sequence[float],
    target: Sequence[float] | None,
    seconds: float,
    seed: int,
    actor: str,
    now: datetime,
) -> Parallel:
    """Forms of the policy's maximum length, to its proportions and constraints, of scored items in service.

    overlap : items that two forms may share at most;  uses : forms that an item may be in at most;  None for any
    points : abilities in logits where information matters, such as the cut score
    target : information wanted there, None for as much as all forms can have;  seconds : for the solver
    Raises Infeasible and Unsolved, and InvalidConstraint.
    """
    pool = loading.current_pool(db, exam, actor=actor, now=now)
    program = constraining.form_program(db, pool, policy, ())
    off = loading.withdrawn(db, exam.id, exam.bank_revision)
    blocked = pool.pretest | np.isin(pool.item_versions, list(off))
    told: FloatArray = np.stack([information(point, pool.a, pool.b, pool.c, pool.d) for point in points], axis=1)
    wanted = None if target is None else np.array(target, dtype=np.float64)
    request = Request(forms=forms, target=wanted, overlap=overlap, uses=uses, blocked=blocked, seconds=seconds)
    found = assemble(program, told, request)
    called = catalog.public_ids(db, exam.id)
    sheets = []
    for number, (items, reached) in enumerate(zip(found.items, found.information, strict=True), start=1):
        rank = rng_for(seed, number, ORDER_STREAM).uniforms(len(pool))
        order = arranged(program, items, rank)
        names = tuple(str(called[item]) for item in pool.items[order].tolist())
        sheets.append(ParallelForm(names, tuple(reached.tolist()), pass_mark(pool, items, exam.cut_score)))
    return Parallel(tuple(points), tuple(sheets), _shared(sheets), found.gap)


def _shared(sheets: Sequence[ParallelForm]) -> dict[tuple[int, int], int]:
    sets = [set(sheet.items) for sheet in sheets]
    pairs = [(one, other) for one in range(len(sets)) for other in range(one + 1, len(sets))]
    return {(one + 1, other + 1): len(sets[one] & sets[other]) for one, other in pairs}
