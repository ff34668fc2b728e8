"""Answered questions per second over HTTP: gunicorn and PostgreSQL, 16 learners practising at once, over loopback.

- nextitem: `POST /v1/sessions/{session}/responses` with a learner's token: scored, learned from, explained, next item
  chosen and stored with its trace, in a bank of 500 items
- bare: a Flask + psycopg view that does one SELECT, one INSERT, one UPDATE and a commit, and nothing else

Both run behind gunicorn with the same settings (`nextitem serve` for ours), on the same database server, driven by the
same client in rounds that alternate, so that what else the machine does hits both. Server, database and client share
the processors. The ratio is the median over pairs of neighbouring rounds. The first rounds, until every process has
rendered the items, don't count. Statements are counted in a process of our own, over one sitting.
Run: python -m benchmarks.serving [--json] [--rounds 15] [--seconds 2] [--warm-up 15]
"""

import argparse
import os
import random
import statistics
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported, here and in the servers

import httpx
import orjson
import psycopg
import sqlalchemy as sa

from api.app import create_app
from api.config import Config
from benchmarks import _bare
from benchmarks._bank import EXAM, make_bank
from benchmarks._common import emit, print_table
from benchmarks._load import drive, post
from benchmarks._servers import gunicorn, new_database, nextitem
from itembank.store import open_engine

LEARNERS = 16
ITEMS = 500
WORKERS, THREADS = 2, 8
SECRET_KEY = "not a secret, only a benchmark's key"
COUNTED = 100  # answers over which statements are counted
UNLIMITED = "100000000/minute"  # the limiter works as ever, but lets all through


class Practising:
    """A learner who practises: an option at random, at once."""

    def __init__(self, port: int, key: str, rng: random.Random):
        self._rng = rng
        base, headers = f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {key}"}
        start = {"exam": EXAM, "learner": str(uuid.uuid4()), "mode": "practice"}
        begun = httpx.post(f"{base}/v1/sessions", json=start, headers=headers).raise_for_status()
        session = begun.headers["Location"]
        token = httpx.post(f"{base}{session}/tokens", headers=headers).raise_for_status()
        self._path, self._token, self._next = f"{session}/responses", token.json()["token"], begun.json()["next"]

    def first(self) -> bytes:
        return self._answer(self._next)

    def following(self, body: bytes) -> bytes:
        return self._answer(orjson.loads(body)["next"])

    def _answer(self, served: dict[str, Any] | None) -> bytes:
        if served is None:
            raise RuntimeError("a learner has answered the whole bank; give less --seconds")
        body = {
            "position": served["position"],
            "item": served["item"]["id"],
            "selected": [self._rng.choice(served["item"]["options"])["id"]],
            "response_time_ms": 21500,
        }
        return post(self._path, orjson.dumps(body), self._token)


class Bare:
    """The same request without what it needs."""

    def __init__(self, connection: psycopg.Connection[Any]):
        session = uuid.uuid4()
        connection.execute("INSERT INTO bare_session VALUES (%s, 0, now())", (session,))
        body = {"position": 1, "item": str(session), "selected": [str(session)], "response_time_ms": 21500}
        self._request = post(f"/sessions/{session}/responses", orjson.dumps(body), "x" * 300)

    def first(self) -> bytes:
        return self._request

    def following(self, body: bytes) -> bytes:
        orjson.loads(body)
        return self._request


def rounds(url: str, key: str, options: argparse.Namespace) -> Iterator[dict[str, list[float]]]:
    """The times of all calls of each round, ours and bare."""
    environ = {
        "NEXTITEM_SECRET_KEY": SECRET_KEY,
        "NEXTITEM_RATE_LIMIT": UNLIMITED,
        "NEXTITEM_LEARNER_RATE_LIMIT": UNLIMITED,
        "BENCHMARK_DATABASE_URL": url,
    }
    settings: Any = {"workers": WORKERS, "threads": THREADS, "environ": environ}
    rng = random.Random(ITEMS)
    with (
        nextitem(url, **settings) as ours,
        gunicorn("benchmarks._bare:app()", **settings) as bare,
        psycopg.connect(url, autocommit=True) as connection,
    ):
        connection.execute(_bare.TABLES)

        def one_round(seconds: float) -> dict[str, list[float]]:
            practising = [Practising(ours, key, rng) for _ in range(LEARNERS)]
            floor = [Bare(connection) for _ in range(LEARNERS)]
            return {
                "nextitem": drive(ours, practising, seconds=seconds),
                "bare": drive(bare, floor, seconds=seconds),
            }

        end = time.monotonic() + 2 * options.warm_up
        while time.monotonic() < end:
            one_round(options.seconds)
        for _ in range(options.rounds):
            yield one_round(options.seconds)


def statements_per_answer(url: str, key: str) -> float:
    """SQL statements for an answer, the next item included, besides BEGIN and COMMIT, in a warm process."""
    engine = open_engine(url)
    app = create_app(
        Config(secret_key=SECRET_KEY, rate_limit=None, learner_rate_limit=None, log_level="warning"), engine=engine
    )
    client, headers, statements = app.test_client(), {"Authorization": f"Bearer {key}"}, 0

    def count(*_: object) -> None:
        nonlocal statements
        statements += 1

    def sitting(answers: int) -> None:
        start = {"exam": EXAM, "learner": str(uuid.uuid4()), "mode": "practice", "seed": 1}
        begun = client.post("/v1/sessions", json=start, headers=headers)
        served = begun.get_json()["next"]
        if answers == COUNTED and sa.event.contains(engine, "before_cursor_execute", count):
            nonlocal statements
            statements = 0
        for _ in range(answers):
            given = {
                "position": served["position"],
                "item": served["item"]["id"],
                "selected": [served["item"]["options"][0]["id"]],
            }
            reply = client.post(f"{begun.headers['Location']}/responses", json=given, headers=headers)
            served = reply.get_json()["next"]

    sitting(COUNTED)  # the same seed and answers: every item it needs is then in the cache
    sa.event.listen(engine, "before_cursor_execute", count)
    sitting(COUNTED)
    engine.dispose()
    return statements / COUNTED


def summary(name: str, times: list[list[float]], seconds: float) -> dict[str, object]:
    every = sorted(time for per_round in times for time in per_round)
    return {
        "view": name,
        "per second": round(len(every) / (seconds * len(times)), 1),
        "p50 ms": round(1e3 * every[len(every) // 2], 2),
        "p99 ms": round(1e3 * every[len(every) * 99 // 100], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="end with a line of JSON")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a round of one of the two")
    parser.add_argument("--warm-up", type=float, default=15.0, help="seconds for each of the two before it counts")
    options = parser.parse_args()
    with new_database() as url:
        engine = open_engine(url)
        key = make_bank(engine, ITEMS)
        engine.dispose()
        statements = statements_per_answer(url, key)
        measured = list(rounds(url, key, options))
    ratios = [len(times["nextitem"]) / len(times["bare"]) for times in measured]
    rows = [summary(name, [times[name] for times in measured], options.seconds) for name in ("nextitem", "bare")]
    print(f"{LEARNERS} learners, {WORKERS} workers of {THREADS} threads, {datetime.now(UTC):%Y-%m-%d}\n")
    print_table(rows)
    ratio = statistics.median(ratios)
    print(f"\nratio {ratio:.3f} (rounds: {', '.join(f'{each:.3f}' for each in ratios)})")
    print(f"SQL statements per answer: {statements:.2f}")
    result = {"ratio": round(ratio, 4), "rounds": [round(each, 4) for each in ratios], "sql_per_answer": statements}
    emit("serving", result | {"views": rows}, options.json)


if __name__ == "__main__":
    main()
