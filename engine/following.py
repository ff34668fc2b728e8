"""What comes next in a sitting, as the trace that is stored with it, and how an item stands at its position."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from engine import learner, loading
from engine.answers import Served
from engine.irt.types import BoolArray, FloatArray
from engine.learner import Prior
from engine.pool import Pool
from engine.progress import Known
from engine.selection import Criterion, Policy, Profile, Standing, Waiting, decide, option_order
from engine.selection.program import Program
from itembank.store import Db


def next_trace(
    db: Db,
    pool: Pool,
    policy: Policy,
    log_posterior: FloatArray,
    *,
    suspended: Sequence[int],
    administered: Sequence[int],
    objectives: Sequence[str],
    excluded: BoolArray,
    resting: BoolArray,
    seed: int,
    queue: Sequence[int],
    waiting: Sequence[Waiting],
    profile: Profile | None,
    program: Program | None,
    standing: Standing | None,
    now: datetime,
) -> dict[str, Any] | None:
    """The trace of the next choice, with the order of its options, or None when nothing is left to serve."""
    trace = decide(
        pool,
        policy,
        log_posterior,
        administered=administered,
        objectives=objectives,
        excluded=excluded,
        resting=resting,
        suspended=suspended,
        seed=seed,
        queue=queue,
        waiting=waiting,
        profile=profile,
        program=program,
        standing=standing,
    )
    if trace is None:
        return None
    item = loading.item(db, trace["item_version"])
    options = len(item.question.options)
    order = option_order(policy, options=options, may_shuffle=item.shuffle, seed=seed, position=trace["position"])
    return trace | {"option_order": order, "now": now.isoformat()}


def served(db: Db, position: int, trace: Mapping[str, Any]) -> Served:
    """The item that a trace is of, at its position."""
    return Served(position, loading.item(db, trace["item_version"]), tuple(trace["option_order"]))


def profile_for(policy: Policy, pool: Pool, known: Known, prior: Prior, cut_score: float) -> Profile | None:
    """The learner by objective, for the criterion that asks for it."""
    if policy.criterion is not Criterion.readiness_gain:
        return None
    state = known.on(pool.objective_codes, prior)
    return Profile.of(learner.ability_means(state), learner.ability_sds(state), cut_score)


def suspended_versions(db: Db, pool: Pool, exam_id: int, bank_revision: int) -> list[int]:
    """The pool's version ids that may not be served, as of a bank revision; ascending."""
    return sorted(loading.withdrawn(db, exam_id, bank_revision) & pool.index_of_version.keys())
