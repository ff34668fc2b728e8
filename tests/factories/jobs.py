"""Jobs for tests: an exam to have them on, and handlers that do little."""

from datetime import datetime
from threading import Event
from typing import Any

import sqlalchemy as sa

from engine.jobs import Handler, Run, run_next
from itembank import jobs
from itembank.models import Exam, Job
from itembank.store import Db, transaction
from tests.factories.bank import START, make_exam, make_tenant
from tests.factories.clock import Clock


def add_job(engine: sa.Engine, *, kind: str = "toy", now: datetime = START, **arguments: Any) -> int:
    """A job on an exam, which is made where there is none; its id."""
    with transaction(engine, writes=True) as db:
        exam = db.scalars(sa.select(Exam)).first() or make_exam(db, make_tenant(db))
        job = jobs.add(db, tenant_id=exam.tenant_id, exam_id=exam.id, kind=kind, arguments=arguments, now=now)
        return job.id


def read_job(engine: sa.Engine, job_id: int) -> Job:
    with transaction(engine, writes=False) as db:
        return db.scalars(sa.select(Job).where(Job.id == job_id)).one()


def files_of(db: Db, job_id: int) -> dict[str, bytes]:
    job = db.scalars(sa.select(Job).where(Job.id == job_id)).one()
    return {name: jobs.get_file(db, job, name) for name in jobs.file_names(db, job_id)}


def run_toy(
    engine: sa.Engine, handler: Handler, clock: Clock, stopping: Event | None = None, **more: Any
) -> Run | None:
    """Run the next job of kind `toy`."""
    return run_next(engine, {"toy": handler}, clock=clock, stopping=stopping or Event(), **more)
