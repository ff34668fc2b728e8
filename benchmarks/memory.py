"""Memory of one API process: `nextitem serve` with one worker, after it has served some answers.

- sample exam: examples/ai-infrastructure, as `make demo` loads it
- 10,000 items: made-up items as long as real ones; rendered items are cached up to a limit

Resident is what the process has in memory; own, the part of it that it shares with nobody (`/proc/PID/smaps_rollup`,
so this runs on Linux only). The database is SQLite, which adds a little cache of its own.
Run: python -m benchmarks.memory [--json] [--answers 400]
"""

import argparse
import os
import random
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported, here and in the server

import httpx
import sqlalchemy as sa

from api.migrating import upgrade
from benchmarks._bank import EXAM, import_bank, make_bank
from benchmarks._common import emit, print_table
from benchmarks._servers import ROOT, nextitem
from itembank.formats import bundle
from itembank.store import open_engine

SAMPLE = ROOT / "examples" / "ai-infrastructure"
ITEMS = 10_000
SECRET_KEY = "not a secret, only a benchmark's key"
LENGTH = 40  # answers in a sitting


def sample_exam(engine: sa.Engine) -> tuple[str, str]:
    return "ai-infrastructure", import_bank(engine, bundle.read(SAMPLE))


def large_exam(engine: sa.Engine) -> tuple[str, str]:
    return EXAM, make_bank(engine, ITEMS)


def measure(name: str, make: Callable[[sa.Engine], tuple[str, str]], answers: int) -> dict[str, object]:
    """A row of the table: the one worker's memory when it has started, and after the answers."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/nextitem.db"
        upgrade(url)
        engine = open_engine(url)
        exam, key = make(engine)
        engine.dispose()
        environ = {
            "NEXTITEM_SECRET_KEY": SECRET_KEY,
            "NEXTITEM_RATE_LIMIT": "off",
            "PROMETHEUS_MULTIPROC_DIR": folder,
        }
        with nextitem(url, workers=1, threads=8, environ=environ) as port:
            worker = the_worker(port)
            at_start, _ = memory(worker)
            answer(port, key, exam, answers)
            resident, own = memory(worker)
    return {"bank": name, "started MB": at_start, "resident MB": resident, "own MB": own, "answers": answers}


def answer(port: int, key: str, exam: str, answers: int) -> None:
    """Learners practise one after the other, an option at random."""
    rng = random.Random(answers)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {key}"}) as client:
        for number in range(-(-answers // LENGTH)):
            start = {"exam": exam, "learner": f"{datetime.now(UTC):%H%M%S}-{number}", "mode": "practice"}
            session = client.post("/v1/sessions", json=start, timeout=60).raise_for_status().json()
            served = session["next"]
            for _ in range(min(LENGTH, answers - number * LENGTH)):
                item = served["item"]
                chosen = rng.choice(item["options"])["id"]
                given = {"position": served["position"], "item": item["id"], "selected": [chosen]}
                reply = client.post(f"/v1/sessions/{session['id']}/responses", json=given)
                served = reply.raise_for_status().json()["next"]


def the_worker(port: int) -> int:
    """Process id of gunicorn's one worker: the child of the process that listens, which is a child of ours."""
    [master] = children(os.getpid())
    [worker] = children(master)
    return worker


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def memory(pid: int) -> tuple[float, float]:
    """Resident memory of a process, and the part that it shares with nobody, in MB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    kilobytes = {name: int(value.split()[0]) for name, _, value in (line.partition(":") for line in lines)}
    own = kilobytes["Private_Clean"] + kilobytes["Private_Dirty"]
    return round(kilobytes["Rss"] / 1024, 1), round(own / 1024, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="end with a line of JSON")
    parser.add_argument("--answers", type=int, default=400)
    options = parser.parse_args()
    banks = {"sample exam": sample_exam, f"{ITEMS:,} items": large_exam}
    rows = [measure(name, make, options.answers) for name, make in banks.items()]
    print_table(rows)
    emit("memory", {"banks": rows}, options.json)


if __name__ == "__main__":
    main()
