"""Every query on jobs: one is added with what causes it, claimed by one worker at a time, finished once.

A claim is a random number that every later statement names. A worker that was too slow, or cut off from the database,
finds that its claim no longer stands and stores nothing, so a job is never finished twice, whatever dies when.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import col, select

from itembank.content import JobStatus
from itembank.errors import NotFound
from itembank.models import Exam, Job, JobFile
from itembank.store import Db, table_of

LEASE = timedelta(seconds=30)  # a worker that was not heard of for so long has lost its job
MOST_ATTEMPTS = 5
BACK_OFF = timedelta(seconds=5)  # before the second attempt; doubled before each further one
LONGEST_ERROR = 2000  # characters

JOB = table_of(Job)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job that is this worker's for now."""

    id: int
    uuid: UUID
    tenant_id: int
    exam_id: int | None
    kind: str
    arguments: dict[str, Any]
    attempts: int
    claim: UUID


def add(
    db: Db, *, tenant_id: int, kind: str, arguments: Mapping[str, Any], exam_id: int | None = None, now: datetime
) -> Job:
    """A new job, for the first worker that is free once the transaction is committed."""
    job = Job(tenant_id=tenant_id, exam_id=exam_id, kind=kind, arguments=dict(arguments), due_at=now, created_at=now)
    db.add(job)
    db.flush()
    return job


def get(db: Db, tenant_id: int, uuid: UUID, *, kind: str) -> tuple[Job, Exam]:
    """A tenant's job on an exam, and the exam."""
    query = select(Job, Exam).join(Exam).where(Job.tenant_id == tenant_id, Job.uuid == uuid, Job.kind == kind)
    row = db.exec(query).one_or_none()
    if row is None:
        raise NotFound(kind, uuid)
    return row


def file_names(db: Db, job_id: int) -> list[str]:
    return list(db.exec(select(JobFile.name).where(JobFile.job_id == job_id).order_by(col(JobFile.name))))


def get_file(db: Db, job: Job, name: str) -> bytes:
    found = db.exec(select(JobFile.content).where(JobFile.job_id == job.id, JobFile.name == name)).one_or_none()
    if found is None:
        raise NotFound("file", name)
    return found


def is_any_claimable(db: Db, kinds: Collection[str], *, now: datetime) -> bool:
    """Whether there is something for `claim`; only reads."""
    return db.execute(sa.select(JOB.c.id).where(_claimable(kinds, now)).limit(1)).first() is not None


def claim(db: Db, kinds: Collection[str], *, now: datetime) -> Claimed | None:
    """Take the job of these kinds that waits longest, or one whose worker was not heard of; None if there is none.

    A job that took its worker with it every time is given up, or it would go on doing so.
    """
    lost = sa.and_(JOB.c.status == JobStatus.RUNNING, JOB.c.lease_until <= now)
    what = f"its worker ended before it did, {MOST_ATTEMPTS} times"
    given_up = {"status": JobStatus.FAILED, "finished_at": now, "error": what, "claim": None, "lease_until": None}
    db.execute(sa.update(JOB).where(lost, JOB.c.attempts >= MOST_ATTEMPTS).values(given_up))
    chosen = (
        sa.select(JOB.c.id)
        .where(_claimable(kinds, now))
        .order_by(JOB.c.due_at, JOB.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)  # on SQLite the transaction that writes is the only one
        .scalar_subquery()
    )
    taken = {
        "status": JobStatus.RUNNING,
        "attempts": JOB.c.attempts + 1,
        "progress": 0.0,
        "claim": uuid4(),
        "lease_until": now + LEASE,
        "started_at": sa.func.coalesce(JOB.c.started_at, sa.literal(now, JOB.c.started_at.type)),
    }
    columns = (JOB.c[name] for name in Claimed.__slots__)
    row = db.execute(sa.update(JOB).where(JOB.c.id == chosen).values(taken).returning(*columns)).first()
    return None if row is None else Claimed(*row)


def beat(db: Db, job: Claimed, *, progress: float, now: datetime) -> bool:
    """Say that the worker is alive and how far it is. False if the job is no longer this worker's."""
    return _change(db, job, progress=progress, lease_until=now + LEASE)


def finish(db: Db, job: Claimed, *, result: Mapping[str, Any], files: Mapping[str, bytes], now: datetime) -> bool:
    """Store what came out. False, and nothing is stored, if the job is no longer this worker's."""
    done = {"status": JobStatus.SUCCEEDED, "progress": 1.0, "error": None, "result": dict(result), "finished_at": now}
    if not _change(db, job, **done, claim=None, lease_until=None):
        return False
    if files:
        rows = [{"job_id": job.id, "name": name, "content": content} for name, content in files.items()]
        db.execute(sa.insert(JobFile), rows)
    return True


def fail(db: Db, job: Claimed, *, error: str, now: datetime) -> bool:
    """Give up on a job that would fail again. False if it is no longer this worker's."""
    done = {"status": JobStatus.FAILED, "error": error[:LONGEST_ERROR], "finished_at": now}
    return _change(db, job, **done, claim=None, lease_until=None)


def retry(db: Db, job: Claimed, *, error: str, now: datetime) -> bool:
    """Let it be tried again after a while, or fail it after MOST_ATTEMPTS. False if it is no longer this worker's."""
    if job.attempts >= MOST_ATTEMPTS:
        return fail(db, job, error=f"{error} ({job.attempts} attempts)", now=now)
    due = now + BACK_OFF * 2 ** (job.attempts - 1)
    waiting = {"status": JobStatus.QUEUED, "error": error[:LONGEST_ERROR], "due_at": due, "progress": 0.0}
    return _change(db, job, **waiting, claim=None, lease_until=None)


def give_back(db: Db, job: Claimed, *, now: datetime) -> bool:
    """Leave it to another worker at once; the attempt doesn't count."""
    waiting = {"status": JobStatus.QUEUED, "attempts": job.attempts - 1, "due_at": now, "progress": 0.0}
    return _change(db, job, **waiting, claim=None, lease_until=None)


def _claimable(kinds: Collection[str], now: datetime) -> sa.ColumnElement[bool]:
    queued = sa.and_(JOB.c.status == JobStatus.QUEUED, JOB.c.due_at <= now)
    lost = sa.and_(JOB.c.status == JobStatus.RUNNING, JOB.c.lease_until <= now)
    return sa.and_(JOB.c.kind.in_(kinds), sa.or_(queued, lost))


def _change(db: Db, job: Claimed, **values: Any) -> bool:
    mine = sa.and_(JOB.c.id == job.id, JOB.c.claim == job.claim)
    return db.execute(sa.update(JOB).where(mine).values(values).returning(JOB.c.id)).first() is not None
