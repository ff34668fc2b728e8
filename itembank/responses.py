"""Every query on the log of answers and their scores, which `settling` appends to and nothing ever changes."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from itembank.content import ExposureClass
from itembank.models import Item, ItemVersion, Objective, Response, Score, Session
from itembank.store import Db

BATCH = 2_000  # rows fetched at a time


def latest_score() -> sa.ColumnElement[bool]:
    """The condition that a joined Score is the one under the response's newest key version."""
    newer = sa.select(sa.func.max(col(Score.key_version))).where(col(Score.response_id) == col(Response.id))
    return col(Score.key_version) == newer.correlate(Response).scalar_subquery()


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
    """A session's answers after a position, in order, with latest score, item uuid, version number, objective code."""
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


def by_session(db: Db, learner_id: int) -> dict[int, list[tuple[Response, Score, UUID]]]:
    """A learner's answers with their latest scores and their items' uuids, by session id, in order."""
    query = (
        sa.select(Response, Score, col(Item.uuid))
        .join(Session, col(Session.id) == col(Response.session_id))
        .join(Score, col(Score.response_id) == col(Response.id))
        .join(ItemVersion, col(ItemVersion.id) == col(Response.item_version_id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(col(Session.learner_id) == learner_id, latest_score())
        .order_by(col(Response.session_id), col(Response.position))
    )
    found: dict[int, list[tuple[Response, Score, UUID]]] = {}
    for response, score, item in db.execute(query):
        found.setdefault(response.session_id, []).append((response, score, item))
    return found


def version_names(db: Db, version_ids: Collection[int]) -> dict[int, tuple[UUID, int]]:
    """What the outside calls versions that traces speak of, by their id: item uuid and version number."""
    query = (
        sa.select(col(ItemVersion.id), col(Item.uuid), col(ItemVersion.number))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(col(ItemVersion.id).in_(version_ids))
    )
    return {key: (uuid, number) for key, uuid, number in db.execute(query)}


def moving(learner_id: int, exam_id: int) -> sa.Select[int, int, list[str], float, bool, datetime]:
    """(pool_id, item_version_id, selected, score, correct, answered_at) of what moved a learner's ability, in order."""
    return (
        sa.select(
            col(Session.pool_id),
            col(Response.item_version_id),
            col(Response.selected),
            col(Score.score),
            col(Score.correct),
            col(Response.answered_at),
        )
        .select_from(Response)
        .join(Session, col(Session.id) == col(Response.session_id))
        .join(Score, col(Score.response_id) == col(Response.id))
        .where(
            col(Session.learner_id) == learner_id,
            col(Session.exam_id) == exam_id,
            col(Response.moves_ability),
            latest_score(),
        )
        .order_by(col(Response.answered_at), col(Response.id))
    )


def times(db: Db, learner_id: int, exam_id: int, *, limit: int) -> Sequence[sa.Row[int, int]]:
    """(item_version_id, response_time_ms) of a learner's latest answers to an exam, without rapid guesses."""
    query = (
        sa.select(col(Response.item_version_id), col(Response.response_time_ms))
        .join(Session, col(Session.id) == col(Response.session_id))
        .where(
            col(Session.learner_id) == learner_id,
            col(Session.exam_id) == exam_id,
            col(Response.response_time_ms).is_not(None),
            col(Response.exposure_class) != ExposureClass.RAPID_GUESS,
        )
        .order_by(col(Response.id).desc())
        .limit(limit)
    )
    return db.execute(query).all()


def of_exam(db: Db, exam_id: int) -> Iterator[sa.Row[*tuple[Any, ...]]]:
    """Every answer of an exam with its latest score: learner_id, pool_id, item_version_id, correct, moves_ability,
    exposure_class, response_time_ms, answered_at; learner by learner, the newest learner first, each as they came.

    Rows are fetched in batches.
    """
    query = (
        sa.select(
            col(Session.learner_id),
            col(Session.pool_id),
            col(Response.item_version_id),
            col(Score.correct),
            col(Response.moves_ability),
            col(Response.exposure_class),
            col(Response.response_time_ms),
            col(Response.answered_at),
        )
        .select_from(Response)
        .join(Session, col(Session.id) == col(Response.session_id))
        .join(Score, col(Score.response_id) == col(Response.id))
        .where(col(Session.exam_id) == exam_id, latest_score())
        .order_by(col(Session.learner_id).desc(), col(Response.answered_at), col(Response.id))
    )
    for batch in db.execute(query, execution_options={"yield_per": BATCH}).partitions():
        yield from batch


def count(db: Db, exam_id: int) -> int:
    """How many answers an exam has."""
    query = sa.select(sa.func.count()).select_from(Response).join(Session, col(Session.id) == col(Response.session_id))
    return db.scalar(query.where(col(Session.exam_id) == exam_id)) or 0


def replayable(session_id: int) -> sa.Select[Response, Score]:
    """A session's answers with the scores that its course was decided by, in order."""
    return (
        sa.select(Response, Score)
        .join(Score, col(Score.response_id) == col(Response.id))
        .where(col(Response.session_id) == session_id, first_score())
        .order_by(col(Response.position))
    )
