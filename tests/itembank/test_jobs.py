"""Jobs are claimed by one worker at a time, and taken up again when it is not heard of."""

from datetime import timedelta
from uuid import uuid4

import pytest
import sqlalchemy as sa

from itembank import jobs
from itembank.content import JobStatus
from itembank.errors import NotFound
from itembank.jobs import BACK_OFF, LEASE, MOST_ATTEMPTS, Claimed
from itembank.store import transaction
from tests.factories.bank import START
from tests.factories.jobs import add_job, files_of, read_job

SECOND = timedelta(seconds=1)


def claim(engine: sa.Engine, after: timedelta = timedelta(), kind: str = "toy") -> Claimed | None:
    with transaction(engine, writes=True) as db:
        return jobs.claim(db, [kind], now=START + after)


def claimed(engine: sa.Engine, after: timedelta = timedelta()) -> Claimed:
    found = claim(engine, after)
    assert found is not None
    return found


def test_the_one_that_waits_longest_comes_first_and_only_once(engine: sa.Engine) -> None:
    second, first = add_job(engine, now=START), add_job(engine, now=START - SECOND)
    assert (claimed(engine).id, claimed(engine).id, claim(engine)) == (first, second, None)


def test_a_claim_tells_what_to_do(engine: sa.Engine) -> None:
    number = add_job(engine, size=3)
    found, stored = claimed(engine), read_job(engine, number)
    assert (found.arguments, found.attempts, found.uuid) == ({"size": 3}, 1, stored.uuid)
    assert (stored.status, stored.started_at, stored.lease_until) == (JobStatus.RUNNING, START, START + LEASE)


def test_a_kind_that_the_worker_does_not_know_is_left_to_others(engine: sa.Engine) -> None:
    add_job(engine, kind="from a later release")
    assert claim(engine) is None
    with transaction(engine, writes=False) as db:
        assert not jobs.is_any_claimable(db, ["toy"], now=START)


def test_a_job_whose_worker_is_not_heard_of_is_claimed_anew(engine: sa.Engine) -> None:
    number = add_job(engine)
    first = claimed(engine)
    assert claim(engine, LEASE - SECOND) is None
    second = claimed(engine, LEASE)
    assert (second.id, second.attempts, read_job(engine, number).started_at) == (number, 2, START)
    with transaction(engine, writes=True) as db:
        assert not jobs.beat(db, first, progress=0.5, now=START + LEASE)
        assert not jobs.finish(db, first, result={}, files={"a": b"first"}, now=START + LEASE)
        assert jobs.finish(db, second, result={"n": 2}, files={"a": b"second"}, now=START + LEASE)
    stored = read_job(engine, number)
    assert (stored.status, stored.result, stored.progress, stored.claim) == (JobStatus.SUCCEEDED, {"n": 2}, 1.0, None)
    with transaction(engine, writes=False) as db:
        assert files_of(db, number) == {"a": b"second"}


def test_a_beat_prolongs_the_lease_and_tells_how_far_it_is(engine: sa.Engine) -> None:
    number = add_job(engine)
    job = claimed(engine)
    with transaction(engine, writes=True) as db:
        assert jobs.beat(db, job, progress=0.25, now=START + LEASE - SECOND)
    assert read_job(engine, number).progress == 0.25
    assert claim(engine, LEASE) is None


def test_what_is_finished_stays_finished(engine: sa.Engine) -> None:
    number = add_job(engine)
    job = claimed(engine)
    with transaction(engine, writes=True) as db:
        assert jobs.finish(db, job, result={}, files={}, now=START)
        assert not jobs.fail(db, job, error="too late", now=START)
        assert not jobs.retry(db, job, error="too late", now=START)
        assert not jobs.give_back(db, job, now=START)
    assert (read_job(engine, number).status, claim(engine, 10 * LEASE)) == (JobStatus.SUCCEEDED, None)


def test_a_retry_waits_longer_each_time_and_not_for_ever(engine: sa.Engine) -> None:
    number, after = add_job(engine), timedelta()
    for attempt in range(1, MOST_ATTEMPTS + 1):
        job = claimed(engine, after)
        assert job.attempts == attempt
        with transaction(engine, writes=True) as db:
            assert jobs.retry(db, job, error="the network is away", now=START + after)
        if attempt < MOST_ATTEMPTS:
            wait = BACK_OFF * 2 ** (attempt - 1)
            assert claim(engine, after + wait - SECOND) is None
            after += wait
    stored = read_job(engine, number)
    assert (stored.status, stored.error) == (JobStatus.FAILED, "the network is away (5 attempts)")


def test_a_job_that_kills_its_workers_is_given_up(engine: sa.Engine) -> None:
    number = add_job(engine)
    for attempt in range(MOST_ATTEMPTS):
        claimed(engine, attempt * LEASE)
    assert claim(engine, MOST_ATTEMPTS * LEASE) is None
    stored = read_job(engine, number)
    assert (stored.status, stored.attempts) == (JobStatus.FAILED, MOST_ATTEMPTS)
    assert "its worker ended" in (stored.error or "")


def test_what_is_given_back_is_free_at_once_and_costs_no_attempt(engine: sa.Engine) -> None:
    add_job(engine)
    with transaction(engine, writes=True) as db:
        first = jobs.claim(db, ["toy"], now=START)
        assert first is not None
        assert jobs.give_back(db, first, now=START)
    assert claimed(engine).attempts == 1


def test_a_job_is_there_for_its_tenant_and_by_its_kind_only(engine: sa.Engine) -> None:
    stored = read_job(engine, add_job(engine))
    with transaction(engine, writes=False) as db:
        job, exam = jobs.get(db, stored.tenant_id, stored.uuid, kind="toy")
        assert (job.id, exam.slug) == (stored.id, "exam")
        for tenant, uuid, kind in (
            (stored.tenant_id + 1, stored.uuid, "toy"),
            (stored.tenant_id, uuid4(), "toy"),
            (stored.tenant_id, stored.uuid, "simulation"),
        ):
            with pytest.raises(NotFound):
                jobs.get(db, tenant, uuid, kind=kind)
        with pytest.raises(NotFound, match="file a"):
            jobs.get_file(db, job, "a")
