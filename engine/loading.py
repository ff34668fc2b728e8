"""From tables to what delivery works with: pools as arrays, items as they are shown. Both are cached per process.

Pools and versions never change once written, and suspensions are kept under the revision that comes with the session's
own row, or as they were a moment later, so no process serves an outdated bank. Only what a rendered item borrows (a
misconception's words, links to articles) can be edited; it is rendered anew after a while.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from engine.irt import DEFAULT_DISCRIMINATION, ScoredModel, difficulty_from_rating, guessing
from engine.irt.types import FloatArray
from engine.learner import floors
from engine.pool import Pool
from engine.presenting import Presented, present
from engine.selection.program import Attributes, Program
from itembank import calibrations, catalog
from itembank.content import ItemKind, ParameterModel, ParameterOrigin
from itembank.errors import Conflict
from itembank.models import Exam, ParameterRelease
from itembank.store import Db

POOLS_KEPT = 8  # a pool of 10,000 items takes about 4 MB; a process rarely serves more than a few exams at once
ITEMS_KEPT = 2_000  # rendered items, some 10 kB each
ITEMS_KEPT_FOR_S = 300.0  # how long an edited misconception may be shown as it was
TIMINGS_KEPT_FOR_S = 300.0  # they are measured by a job, once in a while
WITHDRAWALS_KEPT = 64  # sets of ids, one per exam and revision

# How the models of parameters are made of `a` and the numbers of their categories.
SCORED: dict[ParameterModel, Callable[[float, Any], ScoredModel]] = {
    ParameterModel.GPCM: lambda a, steps: ScoredModel.partial_credit(a, tuple(map(float, steps))),
    ParameterModel.GRM: lambda a, thresholds: ScoredModel.graded(a, tuple(map(float, thresholds))),
    ParameterModel.NOMINAL: lambda _, options: ScoredModel.nominal(
        {option: (float(slope), float(intercept)) for option, (slope, intercept) in options.items()}
    ),
}

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The values used last, at most `size` of them, each for at most `seconds`; safe to share between threads."""

    def __init__(self, size: int, *, seconds: float = math.inf):
        self.size, self.seconds = size, seconds
        self._values: OrderedDict[K, tuple[V, float]] = OrderedDict()
        self._lock = Lock()

    def find(self, key: K) -> V | None:
        with self._lock:
            value, until = self._values.get(key, (None, math.inf))
            if value is None or until < time.monotonic():
                return None
            self._values.move_to_end(key)
            return value

    def keep(self, key: K, value: V) -> V:
        with self._lock:
            self._values[key] = (value, time.monotonic() + self.seconds)
            self._values.move_to_end(key)
            while len(self._values) > self.size:
                self._values.popitem(last=False)
        return value

    def get(self, key: K, make: Callable[[], V]) -> V:
        value = self.find(key)
        return self.keep(key, make()) if value is None else value


@dataclass(frozen=True, slots=True, eq=False)
class Timings:
    """Response times of a pool's items in ms, each (I,); NaN where too few are known.

    median_ms : the usual one;  floor_ms : a faster answer is a rapid guess
    """

    median_ms: FloatArray
    floor_ms: FloatArray

    def is_rapid(self, place: int, time_ms: int | None) -> bool:
        """Whether an answer to the item at a pool index came too fast to be one."""
        return time_ms is not None and bool(time_ms < self.floor_ms[place])

    def usual_ms(self, place: int) -> float | None:
        """The usual time for the item at a pool index, None if unknown."""
        usual = float(self.median_ms[place])
        return None if math.isnan(usual) else usual


@dataclass(frozen=True, slots=True)
class Cache:
    """What one process remembers of one database."""

    pools: Recent[int, Pool] = field(default_factory=lambda: Recent(POOLS_KEPT))
    items: Recent[int, Presented] = field(default_factory=lambda: Recent(ITEMS_KEPT, seconds=ITEMS_KEPT_FOR_S))
    timings: Recent[int, "Timings"] = field(default_factory=lambda: Recent(POOLS_KEPT, seconds=TIMINGS_KEPT_FOR_S))
    attributes: Recent[int, Attributes] = field(default_factory=lambda: Recent(POOLS_KEPT))
    programs: Recent[Hashable, Program] = field(default_factory=lambda: Recent(POOLS_KEPT))
    withdrawn: Recent[tuple[int, int], frozenset[int]] = field(default_factory=lambda: Recent(WITHDRAWALS_KEPT))


_caches: WeakKeyDictionary[object, Cache] = WeakKeyDictionary()


def cache(db: Db) -> Cache:
    """The cache of this process for the database behind `db`, told apart by its connection pool."""
    connections = db.core.engine.pool
    found = _caches.get(connections)
    return _caches.setdefault(connections, Cache()) if found is None else found


def forget(database: sa.Engine) -> None:
    """Drop all that is cached of a database; for tests, whose databases forget too."""
    _caches.pop(database.pool, None)


def current_pool(db: Db, exam: Exam, *, actor: str, now: datetime) -> Pool:
    """The pool of the exam as it stands, made now if nobody has needed it since the bank changed.

    Making it here, and not with each change, lets a thousand transitions cost one pool.
    """
    record = calibrations.find_pool(db, exam.id, exam.bank_revision)
    if record is None:
        exam = calibrations.lock_exam(db, exam.id)
        record = calibrations.find_pool(db, exam.id, exam.bank_revision)
        if record is None:
            # Not kept yet: if this transaction is rolled back, SQLite gives the pool's id to the next one that is made.
            return _load_pool(db, _make_pool(db, exam, actor, now).id)
    return get_pool(db, record.id)


def latest_pool(db: Db, exam: Exam) -> Pool | None:
    """The pool of an exam that sittings began with last, for readers, who can't make one; None if there never was."""
    found = calibrations.find_latest_pool_id(db, exam.id)
    return None if found is None else get_pool(db, found)


def get_pool(db: Db, pool_id: int) -> Pool:
    """A pool as arrays."""
    return cache(db).pools.get(pool_id, lambda: _load_pool(db, pool_id))


def item(db: Db, item_version_id: int) -> Presented:
    """A version of an item as it is shown."""
    return cache(db).items.get(
        item_version_id, lambda: present(catalog.item_contents(db, [item_version_id])[item_version_id])
    )


def items(db: Db, item_version_ids: Iterable[int]) -> dict[int, Presented]:
    """Many versions at once, by id, in a bounded number of statements."""
    wanted = set(item_version_ids)
    kept = cache(db).items
    found = {version: item for version in wanted if (item := kept.find(version)) is not None}
    for version, content in catalog.item_contents(db, wanted - found.keys()).items():
        found[version] = kept.keep(version, present(content))
    return found


def timings(db: Db, pool: Pool) -> "Timings":
    """How long the items of a pool usually take, as of the last measurement or of some minutes ago."""

    def load() -> Timings:
        median, count = np.full(len(pool), np.nan), np.zeros(len(pool), dtype=np.int64)
        for version, times, median_ms in calibrations.timings(db, pool.version):
            place = pool.index_of_version[version]
            median[place], count[place] = median_ms, times
        return Timings(median, floors(median, count))

    return cache(db).timings.get(pool.version, load)


def withdrawn(db: Db, exam_id: int, bank_revision: int) -> frozenset[int]:
    """Version ids that may not be served, as of a bank revision that was just read, or of a later one."""
    return cache(db).withdrawn.get((exam_id, bank_revision), lambda: calibrations.withdrawn(db, exam_id))


def _make_pool(db: Db, exam: Exam, actor: str, now: datetime) -> Any:
    blueprint = catalog.find_blueprint(db, exam.id)
    if blueprint is None:
        raise Conflict(f"exam {exam.slug} has no blueprint yet, so nothing can be served from it")
    release = _release_for_all(db, exam, actor, now)
    return calibrations.add_pool(db, exam, release_id=release.id, blueprint_id=blueprint.id, now=now)


def _release_for_all(db: Db, exam: Exam, actor: str, now: datetime) -> ParameterRelease:
    """The release in force if it says of every item that is served what it should, else a new one.

    Calibrated parameters are carried over. Priors depend on the ratings of all and on the cut score, so they are made
    anew together; otherwise two halves of a release would be on different scales.
    """
    active = calibrations.find_active_release(db, exam.id)
    known = {} if active is None else calibrations.parameters_of(db, active.id)
    rows = db.execute(calibrations.servable(exam.id)).all()
    calibrated = {version for version, (origin, _) in known.items() if origin is ParameterOrigin.CALIBRATED}
    priors = [prior for prior in _priors(rows, exam) if prior[0] not in calibrated]
    if active is not None and all(known.get(version, (None, None))[1] == b for version, _, b, _ in priors):
        return active
    return calibrations.add_release(
        db,
        exam.id,
        carried_from=None if active is None else active.id,
        priors=priors,
        note=f"priors from ratings for {len(priors)} items",
        actor=actor,
        now=now,
    )


def _priors(rows: Sequence[Any], exam: Exam) -> list[tuple[int, float, float, float]]:
    """(version id, a, b, c): b from the rating; without one the mean of all rated items, or of the exam's learners."""
    a = DEFAULT_DISCRIMINATION
    rated: dict[int, float] = {}
    chance = {row.id: guessing(row.options) if row.kind is ItemKind.SINGLE_CHOICE else 0.0 for row in rows}
    for row in rows:
        if row.angoff is not None:
            b = difficulty_from_rating(row.angoff, theta_cut=exam.cut_score, a=a, c=chance[row.id])
            rated[row.id] = float(b)
    usual = float(np.mean(list(rated.values()))) if rated else exam.prior_mean
    return [(row.id, a, rated.get(row.id, usual), chance[row.id]) for row in rows]


def _load_pool(db: Db, pool_id: int) -> Pool:
    record = calibrations.get_pool(db, pool_id)
    leaves = calibrations.leaf_objectives(db, record.blueprint_id)
    place = {leaf[0]: k for k, leaf in enumerate(leaves)}
    rows = sorted(calibrations.pool_items(db, record), key=lambda row: (place[row.objective_id], row.item_version_id))
    index = {row.item_version_id: i for i, row in enumerate(rows)}
    domains = list(dict.fromkeys(leaf[3] for leaf in leaves))

    scored = {i: SCORED[row.model](row.a, row.categories) for i, row in enumerate(rows) if row.model in SCORED}

    def pairs(versions: list[list[int]]) -> npt.NDArray[np.int32]:
        known = [(index[one], index[other]) for one, other in versions if one in index and other in index]
        return np.array(known, dtype=np.int32).reshape(-1, 2)

    return Pool(
        version=pool_id,
        items=np.array([row.item_id for row in rows], dtype=np.int64),
        item_versions=np.array([row.item_version_id for row in rows], dtype=np.int64),
        **{name: np.array([getattr(row, name) for row in rows], dtype=np.float64) for name in "abcd"},
        objective=np.array([place[row.objective_id] for row in rows], dtype=np.int32),
        objective_codes=tuple(leaf[1] for leaf in leaves),
        objective_weights=np.array([leaf[2] for leaf in leaves], dtype=np.float64),
        domain=np.array([domains.index(leaf[3]) for leaf in leaves], dtype=np.int32),
        domain_codes=tuple(domains),
        enemies=pairs(record.enemies),
        siblings=pairs(record.siblings),
        pretest=np.array([row.pretest for row in rows], dtype=np.bool_),
        scored=scored,
    )
