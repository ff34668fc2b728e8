"""The job `simulation`: a policy on simulated examinees, on the pool as it stood when somebody asked."""

import orjson

from engine import analyzing, loading, simulating
from engine.jobs.running import Done, Work
from engine.simulating import Study
from itembank import catalog

KIND = "simulation"
REPORT = "report.json"


def simulate(work: Work) -> Done:
    """Its arguments are a study, as JSON, and the id of a pool."""
    arguments = dict(work.job.arguments)
    pool_id = arguments.pop("pool")
    arguments.pop("findings")
    study = Study.from_json(arguments)
    with work.transaction() as db:
        pool = loading.get_pool(db, pool_id)
        called = catalog.public_ids(db, work.job.exam_id or 0)
    names = [str(called[item]) for item in pool.items.tolist()]
    done = 0

    def count(examinees: int) -> None:
        nonlocal done
        done += examinees
        work.progress(done / study.examinees)

    found = simulating.run(pool, study, names=names, progress=count).report
    files = {REPORT: orjson.dumps(found.to_json()), **simulating.tables(found), **simulating.pictures(found)}
    used = [finding.to_json() for finding in analyzing.used(study.policy, found)]
    return Done({"files": sorted(files), "findings": used}, files)
