"""Every query on the log of answers and their scores. There is no function that changes a row, and there will be none."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from itembank.content import ExposureClass
from itembank.errors import KeyReused
from itembank.models import Item, ItemVersion, Objective, Response, Score, Session
from itembank.scoring import Scored
from itembank.store import Db, table_of, uuid7

RESPONSE = table_of(Response)
SCORE = table_of(Score)
INSERT_RESPONSE = sa.insert(RESPONSE).returning(RESPONSE.c.id)
INSERT_SCORE = sa.insert(SCORE)


def append(
    db: Db,
    *,
    session_id: int,
    position: int,
    item_version_id: int,
    selected: Sequence[str],
    response_time_ms: int | None,
    exposure_class: ExposureClass,
    moves_ability: bool,
    before: tuple[float, float],
    after: tuple[float, float],
    stop_reason: str | None,
    trace: dict[str, Any],
    idempotency_key: str | None,
    served_at: datetime,
    scored: Scored,
    now: datetime,
) -> None:
    """Append one answer and its score under the first version of the key.

    before, after : ability and standard error in logits
    """
    values = {
        "uuid": uuid7(),
        "session_id": session_id,
        "position": position,
        "item_version_id": item_version_id,
        "selected": list(selected),
        "response_time_ms": response_time_ms,
        "exposure_class": exposure_class,
        "moves_ability": moves_ability,
        "theta_before": before[0],
        "standard_error_before": before[1],
        "theta_after": after[0],
        "standard_error_after": after[1],
        "stop_reason": stop_reason,
        "trace": trace,
        "idempotency_key": idempotency_key,
        "served_at": served_at,
        "answered_at": now,
    }
    try:
        response_id = db.connection().execute(INSERT_RESPONSE, values).scalar_one()
    except IntegrityError as error:  # the session row is locked and the position is new, so it can only be the key
        raise KeyReused(idempotency_key or "") from error
    score = {
        "response_id": response_id,
        "key_version": 1,
        "score": scored.score,
        "correct": scored.correct,
        "created_at": now,
    }
    db.connection().execute(INSERT_SCORE, score)


def latest_score() -> sa.ColumnElement[bool]:
    """The condition that a joined Score is the one under the response's newest key version."""
    newer = sa.select(sa.func.max(col(Score.key_version))).where(col(Score.response_id) == col(Response.id))
    return col(Score.key_version) == newer.correlate(RESPONSE).scalar_subquery()


def first_score() -> sa.ColumnElement[bool]:
    """The condition that a joined Score is the one given when the answer came."""
    return col(Score.key_version) == 1


def find_settled(db: Db, session_id: int, position: int) -> sa.Row[Response, Score] | None:
    """An answer as it was given, with the score it got then: what a retry is answered from."""
    query = (
        sa.select(Response, Score)
        .join(Score, col(Score.response_id) == col(Response.id))
        .where(col(Response.session_id) == session_id, col(Response.position) == position, first_score())
    )
    return db.execute(query).first()


def answers(session_id: int, *, after: int = 0, limit: int | None = None) -> sa.Select[Response, Score, UUID, int, str]:
    """A session's answers after a position, in order: response, latest score, item uuid, version number, objective code."""
    query = (
        sa.select(Response, Score, col(Item.uuid), col(ItemVersion.number), col(Objective.code))
        .join(Score, col(Score.response_id) == col(Response.id))
        .join(ItemVersion, col(ItemVersion.id) == col(Response.item_version_id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .join(Objective, col(Objective.id) == col(ItemVersion.objective_id))
        .where(col(Response.session_id) == session_id, col(Response.position) > after, latest_score())
        .order_by(col(Response.position))
    )
    return query if limit is None else query.limit(limit)


def count_by_objective(db: Db, learner_id: int, exam_id: int) -> Sequence[sa.Row[str, int, int]]:
    """(objective code, answers, right answers) over a learner's answers that moved ability."""
    query = (
        sa.select(
            col(Objective.code),
            sa.func.count(),
            sa.func.sum(sa.case((col(Score.correct), 1), else_=0)),
        )
        .select_from(Response)
        .join(Session, col(Session.id) == col(Response.session_id))
        .join(Score, col(Score.response_id) == col(Response.id))
        .join(ItemVersion, col(ItemVersion.id) == col(Response.item_version_id))
        .join(Objective, col(Objective.id) == col(ItemVersion.objective_id))
        .where(
            col(Session.learner_id) == learner_id,
            col(Session.exam_id) == exam_id,
            col(Response.moves_ability),
            latest_score(),
        )
        .group_by(col(Objective.code))
        .order_by(col(Objective.code))
    )
    return db.execute(query).all()


def replayable(session_id: int) -> sa.Select[Response, Score]:
    """A session's answers with the scores that its course was decided by, in order."""
    return (
        sa.select(Response, Score)
        .join(Score, col(Score.response_id) == col(Response.id))
        .where(col(Response.session_id) == session_id, first_score())
        .order_by(col(Response.position))
    )
