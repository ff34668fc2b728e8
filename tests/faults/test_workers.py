"""Workers are killed and stopped in the middle of jobs: every job is finished, once, with the same result."""

import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from engine import loading
from engine.jobs.simulations import KIND, REPORT
from engine.simulating import Study, run
from itembank import catalog, jobs
from itembank.content import JobStatus
from itembank.models import Exam, Job, JobFile
from itembank.store import transaction
from tests.factories.jobs import files_of, read_job
from tests.factories.workers import WorkerProcess, until
from tests.faults.conftest import Bank

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults-workers")]
LONG, SHORT = 4_000, 50  # examinees: a second or more, and hardly any time
CHANGES = {"minimum_length": 1, "maximum_length": 40, "standard_error": None}


@pytest.fixture
def workers(bank: Bank) -> Iterator[Callable[[], WorkerProcess]]:
    """A function that starts a worker; all are killed in the end."""
    made: list[WorkerProcess] = []

    def start() -> WorkerProcess:
        made.append(WorkerProcess(bank.url).start())
        return made[-1]

    yield start
    for worker in made:
        worker.stop()


def add(bank: Bank, examinees: int, seed: int = 0) -> int:
    now = datetime.now(UTC)
    study = Study.of(CHANGES, examinees=examinees, seed=seed)
    with transaction(bank.engine, writes=True) as db:
        exam = db.scalars(sa.select(Exam)).one()
        pool = loading.current_pool(db, exam, actor="test", now=now)
        arguments = study.to_json() | {"pool": pool.version, "findings": []}
        added = jobs.add(db, tenant_id=exam.tenant_id, exam_id=exam.id, kind=KIND, arguments=arguments, now=now)
        return added.id


def expected(bank: Bank, number: int) -> Any:
    """The report as this process makes it."""
    arguments = dict(read_job(bank.engine, number).arguments)
    with transaction(bank.engine, writes=False) as db:
        pool = loading.get_pool(db, arguments.pop("pool"))
        called = catalog.public_ids(db, db.scalars(sa.select(Exam.id)).one())
    arguments.pop("findings")
    names = [str(called[item]) for item in pool.items.tolist()]
    return orjson.loads(orjson.dumps(run(pool, Study.from_json(arguments), names=names).report.to_json()))


def is_under_way(bank: Bank, number: int) -> Callable[[], bool]:
    return is_status(bank, [number], JobStatus.RUNNING)


def is_status(bank: Bank, numbers: list[int], status: JobStatus) -> Callable[[], bool]:
    return lambda: all(read_job(bank.engine, number).status is status for number in numbers)


def let_lease_end(bank: Bank) -> None:
    """As if half a minute had passed since anything was heard of the workers."""
    with transaction(bank.engine, writes=True) as db:
        running = sa.update(Job).where(Job.status == JobStatus.RUNNING)
        db.execute(running.values(lease_until=datetime.now(UTC)))


def check_done(bank: Bank, number: int) -> None:
    with transaction(bank.engine, writes=False) as db:
        files = files_of(db, number)
    assert orjson.loads(files[REPORT]) == expected(bank, number)
    assert read_job(bank.engine, number).result["files"] == sorted(files)


def test_a_job_whose_worker_is_killed_is_finished_by_another_once(
    bank: Bank, workers: Callable[[], WorkerProcess]
) -> None:
    number = add(bank, LONG)
    killed = workers()
    until(is_under_way(bank, number))
    assert killed.signal(signal.SIGKILL) == -signal.SIGKILL
    left = read_job(bank.engine, number)
    assert (left.status, left.attempts, left.result) == (JobStatus.RUNNING, 1, None)
    let_lease_end(bank)
    for _ in range(2):
        workers()
    until(is_status(bank, [number], JobStatus.SUCCEEDED))
    assert read_job(bank.engine, number).attempts == 2
    check_done(bank, number)


def test_a_worker_that_is_told_to_stop_gives_its_job_back(bank: Bank, workers: Callable[[], WorkerProcess]) -> None:
    number = add(bank, LONG)
    stopped = workers()
    until(is_under_way(bank, number))
    assert stopped.signal(signal.SIGTERM) == 0
    left = read_job(bank.engine, number)
    assert (left.status, left.attempts, left.claim) == (JobStatus.QUEUED, 0, None)
    workers()
    until(is_status(bank, [number], JobStatus.SUCCEEDED))
    assert read_job(bank.engine, number).attempts == 1


def test_a_worker_ends_with_whoever_started_it(bank: Bank, workers: Callable[[], WorkerProcess]) -> None:
    assert workers().abandon() == 0


def test_many_workers_that_die_again_and_again_finish_every_job_once(
    bank: Bank, workers: Callable[[], WorkerProcess]
) -> None:
    numbers = [add(bank, SHORT, seed=seed) for seed in range(6)]
    crew = [workers() for _ in range(2)]
    for place, least in enumerate((1, 3)):
        until(partial(are_done, bank, numbers, least))
        crew[place].signal(signal.SIGKILL)
        let_lease_end(bank)
        workers()
    until(is_status(bank, numbers, JobStatus.SUCCEEDED))
    for number in numbers:
        check_done(bank, number)
    with transaction(bank.engine, writes=False) as db:
        per_job = dict(db.execute(sa.select(JobFile.job_id, sa.func.count()).group_by(JobFile.job_id)).all())
    assert len({per_job[number] for number in numbers}) == 1


def are_done(bank: Bank, numbers: list[int], least: int) -> bool:
    return sum(read_job(bank.engine, number).status is JobStatus.SUCCEEDED for number in numbers) >= least
