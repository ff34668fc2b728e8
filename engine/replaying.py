"""Deciding a session again from its start, its seed and its answers, to show that it was decided as it says.

On the build that served it every number comes out the same to the last bit;
elsewhere the items are the same, and θ within 1e-9.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine import loading
from engine.irt import estimate, log_likelihood
from engine.irt.types import FloatArray
from engine.pool import Pool
from engine.selection import Policy, decide, option_order, unpack
from itembank import responses
from itembank.models import Session
from itembank.store import Db

THETA_TOLERANCE = 1e-9  # logits, between builds whose exponentials round differently


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored value that replaying does not give again."""

    position: int
    what: str
    stored: Any
    replayed: Any


def replay(db: Db, session: Session, *, tolerance: float = THETA_TOLERANCE) -> list[Difference]:
    """Where the stored course of a session differs from deciding it again; nothing if it is faithful.

    tolerance : largest difference of abilities and standard errors in logits; 0 asks for the same bits
    """
    pool, policy = loading.get_pool(db, session.pool_id), Policy.from_json(session.policy)
    log_posterior = np.frombuffer(session.start_log_posterior)
    differences: list[Difference] = []
    answered: list[int] = []
    for response, score in db.execute(responses.replayable(session.id)):
        differences += _compare(db, session, pool, policy, log_posterior, answered, response.trace, tolerance)
        answered.append(response.item_version_id)
        if response.moves_ability:
            parameters = pool.parameters(pool.index_of_version[response.item_version_id])
            log_posterior = log_posterior + log_likelihood(score.correct, *parameters)
        after = estimate(log_posterior)
        stored = (response.theta_after, response.standard_error_after)
        differences += _apart(response.position, "ability after", stored, after, tolerance)
    if session.current is not None:
        differences += _compare(db, session, pool, policy, log_posterior, answered, session.current, tolerance)
    return differences


def _compare(
    db: Db,
    session: Session,
    pool: Pool,
    policy: Policy,
    log_posterior: FloatArray,
    administered: list[int],
    stored: dict[str, Any],
    tolerance: float,
) -> list[Difference]:
    """One stored choice against the same choice made now."""
    trace = decide(
        pool,
        policy,
        log_posterior,
        administered=administered,
        objectives=session.objectives,
        excluded=unpack(session.excluded, pool),
        resting=unpack(session.resting, pool),
        suspended=stored["suspended"],
        seed=session.seed,
    )
    position = len(administered) + 1
    if trace is None:
        return [Difference(position, "item", stored["item_version"], None)]
    item = loading.item(db, trace["item_version"])
    options = len(item.question.options)
    trace["option_order"] = option_order(
        policy, options=options, may_shuffle=item.shuffle, seed=session.seed, position=position
    )
    exact = ("item_version", "option_order", "objective", "eligible_count", "repeated")
    found = [Difference(position, name, stored[name], trace[name]) for name in exact if stored[name] != trace[name]]
    ability = (trace["theta"], trace["standard_error"])
    return found + _apart(position, "ability before", (stored["theta"], stored["standard_error"]), ability, tolerance)


def _apart(
    position: int, what: str, stored: tuple[float, float], replayed: tuple[float, float], tolerance: float
) -> list[Difference]:
    far = max(abs(one - other) for one, other in zip(stored, replayed, strict=True)) > tolerance
    return [Difference(position, what, stored, tuple(replayed))] if far else []
