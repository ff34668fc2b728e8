"""Every query on parameter releases and the pools made from them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col, select

from itembank.content import ItemKind, ParameterModel, ParameterOrigin, Parameters, RelationKind, Stage
from itembank.errors import Invalid, Issue
from itembank.models import (
    BlueprintNode,
    Exam,
    Item,
    ItemParameter,
    ItemRelation,
    ItemTag,
    ItemTiming,
    ItemVersion,
    Objective,
    Option,
    ParameterRelease,
    Pool,
    PoolItem,
    ReleaseActivation,
)
from itembank.store import Db, insert_for

PARAMETERS = ("a", "b", "c", "d", "model", "categories")
NOTE_LENGTH = 500
IDS_AT_ONCE = 10_000  # SQLite takes 32,766 parameters in a statement, PostgreSQL 65,535


class PoolFacts(NamedTuple):
    """A member of a pool as its author knows it. words : in the stem and the options"""

    item_version_id: int
    uuid: UUID
    external_id: str | None
    kind: ItemKind
    tags: Sequence[str]
    words: int


SERVED = (Stage.PRETEST, Stage.OPERATIONAL)


def lock_exam(db: Db, exam_id: int) -> Exam:
    """The exam as it is now, locked: nothing that alters what is served can be committed until the transaction ends."""
    query = select(Exam).where(Exam.id == exam_id).with_for_update().execution_options(populate_existing=True)
    return db.exec(query).one()


def find_pool(db: Db, exam_id: int, bank_revision: int) -> Pool | None:
    query = select(Pool).where(Pool.exam_id == exam_id, Pool.bank_revision == bank_revision)
    return db.exec(query).first()


def find_latest_pool_id(db: Db, exam_id: int) -> int | None:
    """The pool of an exam that was made last, which the bank may have grown beyond."""
    return db.execute(sa.select(sa.func.max(col(Pool.id))).where(col(Pool.exam_id) == exam_id)).scalar()


def get_pool(db: Db, pool_id: int) -> Pool:
    return db.exec(select(Pool).where(Pool.id == pool_id)).one()


def find_active_release(db: Db, exam_id: int) -> ParameterRelease | None:
    """The release in force: the one activated last."""
    query = (
        select(ParameterRelease)
        .join(ReleaseActivation, col(ReleaseActivation.release_id) == col(ParameterRelease.id))
        .where(ReleaseActivation.exam_id == exam_id)
        .order_by(col(ReleaseActivation.id).desc())
    )
    return db.exec(query).first()


def servable(exam_id: int) -> sa.Select[*tuple[Any, ...]]:
    """Id, kind, Angoff rating and number of options of the versions of an exam that are served, scored or not."""
    options = sa.select(sa.func.count()).where(col(Option.item_version_id) == col(ItemVersion.id)).scalar_subquery()
    return (
        sa.select(col(ItemVersion.id), col(ItemVersion.kind), col(ItemVersion.angoff), options.label("options"))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(col(Item.exam_id) == exam_id, col(ItemVersion.stage).in_(SERVED))
        .order_by(col(ItemVersion.id))
    )


def parameters_of(db: Db, release_id: int) -> dict[int, tuple[ParameterOrigin, float]]:
    """Where the parameters of a release come from, and its difficulties, by version id."""
    query = sa.select(col(ItemParameter.item_version_id), col(ItemParameter.origin), col(ItemParameter.b)).where(
        col(ItemParameter.release_id) == release_id
    )
    return {version: (origin, b) for version, origin, b in db.execute(query)}


class Calibrated(NamedTuple):
    """Parameters as they are stored, see `ItemParameter`."""

    a: float
    b: float
    c: float
    d: float
    model: ParameterModel
    categories: list[float] | Mapping[str, list[float]] | None


def add_release(
    db: Db,
    exam_id: int,
    *,
    carried_from: int | None,
    priors: Iterable[tuple[int, float, float, float]] | None = None,
    calibrated: Mapping[int, Calibrated] | None = None,
    note: str,
    actor: str,
    now: datetime,
) -> ParameterRelease:
    """A new release, in force at once: new parameters, and those in `carried_from` that they do not replace.

    priors : (version id, a, b, c), which replace all earlier priors, since they only make sense together
    calibrated : by version id
    """
    last = db.execute(
        sa.select(sa.func.max(col(ParameterRelease.number))).where(col(ParameterRelease.exam_id) == exam_id)
    ).scalar()
    release = ParameterRelease(exam_id=exam_id, number=(last or 0) + 1, note=note, created_at=now)
    db.add(release)
    db.flush()
    rows = [
        {"item_version_id": version, "origin": ParameterOrigin.CALIBRATED, **values._asdict()}
        for version, values in (calibrated or {}).items()
    ]
    if priors is not None:
        usual = {"origin": ParameterOrigin.PRIOR, "d": 1.0, "model": ParameterModel.DICHOTOMOUS, "categories": None}
        rows += [{"item_version_id": version, "a": a, "b": b, "c": c, **usual} for version, a, b, c in priors]
    if rows:
        db.execute(sa.insert(ItemParameter), [{"release_id": release.id, **row} for row in rows])
    if carried_from is not None:
        columns = ("item_version_id", "origin", *PARAMETERS)
        new = sa.orm.aliased(ItemParameter)
        is_replaced = sa.exists().where(
            col(new.release_id) == release.id, col(new.item_version_id) == col(ItemParameter.item_version_id)
        )
        carried = sa.select(sa.literal(release.id), *(getattr(ItemParameter, name) for name in columns)).where(
            col(ItemParameter.release_id) == carried_from, ~is_replaced
        )
        if priors is not None:
            carried = carried.where(col(ItemParameter.origin) == ParameterOrigin.CALIBRATED)
        db.execute(sa.insert(ItemParameter).from_select(["release_id", *columns], carried))
    db.add(ReleaseActivation(exam_id=exam_id, release_id=release.id, actor=actor, at=now))
    db.flush()
    return release


def add_pool(db: Db, exam: Exam, *, release_id: int, blueprint_id: int, now: datetime) -> Pool:
    """Freeze the versions that are served and whose objective is a leaf of the blueprint, and how they are related.

    Of an item whose next version is in pretest both are served, as enemies of each other.
    """
    live = _live(db, exam.id)
    two_versions = [sorted(versions) for versions in live.values() if len(versions) > 1]
    pool = Pool(
        exam_id=exam.id,
        bank_revision=exam.bank_revision,
        release_id=release_id,
        blueprint_id=blueprint_id,
        enemies=sorted([*_related(db, exam.id, live, RelationKind.ENEMY), *two_versions]),
        siblings=_related(db, exam.id, live, RelationKind.SIBLING),
        created_at=now,
    )
    db.add(pool)
    db.flush()
    members = (
        sa.select(sa.literal(pool.id), col(ItemVersion.id), col(ItemVersion.stage) == Stage.PRETEST)
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(
            col(Item.exam_id) == exam.id,
            col(ItemVersion.stage).in_(SERVED),
            col(ItemVersion.objective_id).in_(_leaves(blueprint_id)),
        )
    )
    db.execute(sa.insert(PoolItem).from_select(["pool_id", "item_version_id", "pretest"], members))
    return pool


def _leaves(blueprint_id: int) -> sa.Select[int]:
    parent = sa.orm.aliased(BlueprintNode)
    has_child = sa.exists().where(
        col(parent.blueprint_id) == blueprint_id, col(parent.parent_id) == col(BlueprintNode.objective_id)
    )
    return sa.select(col(BlueprintNode.objective_id)).where(col(BlueprintNode.blueprint_id) == blueprint_id, ~has_child)


def leaf_objectives(db: Db, blueprint_id: int) -> Sequence[sa.Row[int, str, float, str]]:
    """(objective id, code, weight, code of its domain) of a blueprint's leaves in their order."""
    domain = sa.orm.aliased(BlueprintNode)
    above = sa.orm.aliased(Objective)
    query = (
        sa.select(
            col(BlueprintNode.objective_id),
            col(Objective.code),
            col(BlueprintNode.weight),
            sa.func.coalesce(col(above.code), col(Objective.code)).label("domain"),
        )
        .join(Objective, col(Objective.id) == col(BlueprintNode.objective_id))
        .join(
            domain,
            (col(domain.blueprint_id) == blueprint_id) & (col(domain.objective_id) == col(BlueprintNode.parent_id)),
            isouter=True,
        )
        .join(above, col(above.id) == col(domain.objective_id), isouter=True)
        .where(
            col(BlueprintNode.blueprint_id) == blueprint_id, col(BlueprintNode.objective_id).in_(_leaves(blueprint_id))
        )
        .order_by(col(BlueprintNode.position))
    )
    return db.execute(query).all()


def _live(db: Db, exam_id: int) -> dict[int, list[int]]:
    """The ids of the versions that are served, by item id."""
    query = (
        sa.select(col(ItemVersion.item_id), col(ItemVersion.id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(col(Item.exam_id) == exam_id, col(ItemVersion.stage).in_(SERVED))
        .order_by(col(ItemVersion.id))
    )
    found: dict[int, list[int]] = {}
    for item, version in db.execute(query):
        found.setdefault(item, []).append(version)
    return found


def _related(db: Db, exam_id: int, live: Mapping[int, Sequence[int]], kind: RelationKind) -> list[list[int]]:
    """Pairs of version ids of items that are related in this way, all of them served.

    Joined in one statement, SQLite would go through all pairs of versions, a minute for 10,000 items.
    """
    in_exam = sa.select(col(Item.id)).where(col(Item.exam_id) == exam_id)
    query = sa.select(col(ItemRelation.item_id), col(ItemRelation.other_item_id)).where(
        col(ItemRelation.item_id).in_(in_exam), col(ItemRelation.kind) == kind
    )
    pairs = db.execute(query).all()
    return sorted([a, b] for one, other in pairs for a in live.get(one, ()) for b in live.get(other, ()))


@dataclass(frozen=True, slots=True)
class ExamVersion:
    """A version that parameters can be about. item : uuid;  options : uuid and whether it is right, by key"""

    id: int
    item: UUID
    external_id: str | None
    number: int
    stage: Stage
    kind: ItemKind
    options: Mapping[str, tuple[UUID, bool]] = field(default_factory=dict)


def exam_versions(db: Db, exam_id: int) -> list[ExamVersion]:
    """Every version of every item of an exam, without options."""
    query = (
        sa.select(
            col(ItemVersion.id),
            col(Item.uuid),
            col(Item.external_id),
            col(ItemVersion.number),
            col(ItemVersion.stage),
            col(ItemVersion.kind),
        )
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(col(Item.exam_id) == exam_id)
    )
    return [ExamVersion(*row) for row in db.execute(query)]


def with_options(db: Db, versions: Sequence[ExamVersion | None]) -> list[ExamVersion | None]:
    """The same, with their options in the author's order."""
    ids = [version.id for version in versions if version is not None]
    found: dict[int, dict[str, tuple[UUID, bool]]] = {}
    for start in range(0, len(ids), IDS_AT_ONCE):
        query = (
            sa.select(col(Option.item_version_id), col(Option.key), col(Option.uuid), col(Option.is_key))
            .where(col(Option.item_version_id).in_(ids[start : start + IDS_AT_ONCE]))
            .order_by(col(Option.item_version_id), col(Option.position))
        )
        for version, key, uuid, is_key in db.execute(query):
            found.setdefault(version, {})[key] = (uuid, is_key)
    return [None if version is None else replace(version, options=found.get(version.id, {})) for version in versions]


def released(db: Db, release_id: int) -> Iterator[tuple[ExamVersion, ParameterOrigin, Parameters]]:
    """What a release says of each version, in the words of a file; by item, oldest first."""
    query = (
        sa.select(ItemParameter, Item, ItemVersion)
        .join(ItemVersion, col(ItemVersion.id) == col(ItemParameter.item_version_id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(col(ItemParameter.release_id) == release_id)
        .order_by(col(Item.id), col(ItemVersion.number))
    )
    rows = db.execute(query).all()
    bare = [ExamVersion(v.id, item.uuid, item.external_id, v.number, v.stage, v.kind) for _, item, v in rows]
    for (stored, *_), version in zip(rows, with_options(db, bare), strict=True):
        if version is not None:
            yield version, stored.origin, _parameters(stored, version)


def _parameters(stored: ItemParameter, version: ExamVersion) -> Parameters:
    steps: tuple[float, ...] = ()
    options: dict[str, tuple[float, float]] = {}
    if isinstance(stored.categories, dict):
        for key, (uuid, _) in version.options.items():
            slope, intercept = stored.categories[str(uuid)]
            options[key] = slope, intercept
    else:
        steps = tuple(stored.categories or ())
    return Parameters(stored.a, stored.b, stored.c, stored.d, stored.model, steps, options)


def pool_items(db: Db, pool: Pool) -> Sequence[sa.Row[*tuple[Any, ...]]]:
    """item_id, item_version_id, objective_id, pretest and PARAMETERS of a pool's members, by version id."""
    query = (
        sa.select(
            col(ItemVersion.item_id),
            col(ItemVersion.id).label("item_version_id"),
            col(ItemVersion.objective_id),
            col(PoolItem.pretest),
            *(col(getattr(ItemParameter, name)) for name in PARAMETERS),
        )
        .select_from(PoolItem)
        .join(ItemVersion, col(ItemVersion.id) == col(PoolItem.item_version_id))
        .join(
            ItemParameter,
            (col(ItemParameter.item_version_id) == col(PoolItem.item_version_id))
            & (col(ItemParameter.release_id) == pool.release_id),
        )
        .where(col(PoolItem.pool_id) == pool.id)
        .order_by(col(ItemVersion.id))
    )
    return db.execute(query).all()


def pool_facts(db: Db, pool_id: int) -> Iterable[PoolFacts]:
    """What constraints may ask of a pool's members, in no order."""
    versions = sa.select(col(PoolItem.item_version_id)).where(col(PoolItem.pool_id) == pool_id)
    tags, words = _texts(db, col(ItemTag.item_version_id), col(ItemTag.tag), versions), Counter[int]()
    for version, texts in _texts(db, col(Option.item_version_id), col(Option.text), versions).items():
        words[version] = sum(len(text.split()) for text in texts)
    query = (
        sa.select(
            col(ItemVersion.id), col(Item.uuid), col(Item.external_id), col(ItemVersion.kind), col(ItemVersion.stem)
        )
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(col(ItemVersion.id).in_(versions))
    )
    for version, uuid, external_id, kind, stem in db.execute(query):
        yield PoolFacts(
            version, uuid, external_id, kind, sorted(tags.get(version, ())), words[version] + len(stem.split())
        )


def _texts(db: Db, version: Any, text: Any, versions: sa.Select[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for key, value in db.execute(sa.select(version, text).where(version.in_(versions))):
        found.setdefault(key, []).append(value)
    return found


def origins(db: Db, pool: Pool) -> Sequence[sa.Row[int, ParameterOrigin, bool]]:
    """(item_version_id, origin of its parameters, whether it has a rating) of a pool's members."""
    query = (
        sa.select(
            col(PoolItem.item_version_id),
            col(ItemParameter.origin),
            col(ItemVersion.angoff).is_not(None).label("rated"),
        )
        .join(ItemVersion, col(ItemVersion.id) == col(PoolItem.item_version_id))
        .join(
            ItemParameter,
            (col(ItemParameter.item_version_id) == col(PoolItem.item_version_id))
            & (col(ItemParameter.release_id) == pool.release_id),
        )
        .where(col(PoolItem.pool_id) == pool.id)
    )
    return db.execute(query).all()


def timings(db: Db, pool_id: int) -> Sequence[sa.Row[int, int, float]]:
    """(item_version_id, times, median_ms) of those of a pool's members whose response times are known."""
    query = (
        sa.select(col(ItemTiming.item_version_id), col(ItemTiming.times), col(ItemTiming.median_ms))
        .join(PoolItem, col(PoolItem.item_version_id) == col(ItemTiming.item_version_id))
        .where(col(PoolItem.pool_id) == pool_id)
    )
    return db.execute(query).all()


def keep_timings(db: Db, measured: Sequence[tuple[int, int, float]], now: datetime) -> None:
    """Keep (item_version_id, times, median_ms) in place of what was measured before."""
    if not measured:
        return
    names = ("item_version_id", "times", "median_ms")
    statement = insert_for(db, ItemTiming)
    changed = {name: statement.excluded[name] for name in ("times", "median_ms", "measured_at")}
    rows = [dict(zip(names, row, strict=True)) | {"measured_at": now} for row in measured]
    db.execute(statement.on_conflict_do_update(index_elements=["item_version_id"], set_=changed), rows)


def withdrawn(db: Db, exam_id: int) -> frozenset[int]:
    """Version ids of an exam that were suspended and never resumed: not to be served, nor to count, in any session."""
    query = (
        sa.select(col(ItemVersion.id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(col(Item.exam_id) == exam_id, col(ItemVersion.withdrawn_at).is_not(None))
    )
    return frozenset(db.execute(query).scalars())


def expand_objectives(db: Db, pool_id: int, codes: Sequence[str]) -> tuple[str, ...]:
    """The leaf objectives that codes of leaves and domains mean, in blueprint order. Raises Invalid."""
    if not codes:
        return ()
    parent = sa.orm.aliased(Objective)
    query: sa.Select[str, str] = (
        sa.select(col(Objective.code), col(parent.code).label("domain"))
        .select_from(Pool)
        .join(BlueprintNode, col(BlueprintNode.blueprint_id) == col(Pool.blueprint_id))
        .join(Objective, col(Objective.id) == col(BlueprintNode.objective_id))
        .join(parent, col(parent.id) == col(BlueprintNode.parent_id), isouter=True)
        .where(col(Pool.id) == pool_id)
        .order_by(col(BlueprintNode.position))
    )
    rows = db.execute(query).all()
    known = {row[0] for row in rows}
    issues = [
        Issue(f"/objectives/{i}", f"{code} is not in the blueprint")
        for i, code in enumerate(codes)
        if code not in known
    ]
    if issues:
        raise Invalid(tuple(issues))
    domains = {row[1] for row in rows}
    return tuple(row[0] for row in rows if row[0] not in domains and (row[0] in codes or row[1] in codes))
