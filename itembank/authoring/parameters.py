"""Parameters that were estimated elsewhere, as a release of their own."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from itembank import calibrations, catalog, clients
from itembank.authoring._changes import lock, refuse
from itembank.calibrations import Calibrated, ExamVersion
from itembank.content import ParameterModel, Parameters
from itembank.errors import Issue
from itembank.formats.parameter_files import Row
from itembank.models import Exam, ParameterRelease
from itembank.parameters import parameter_problems
from itembank.store import Db


def release_parameters(
    db: Db, exam: Exam, rows: Sequence[Row], *, issues: Sequence[Issue] = (), note: str = "", actor: str, now: datetime
) -> ParameterRelease:
    """A new release, in force at once: `rows` as calibrated parameters, everything else as in the one before it.

    issues : what reading the rows found; all of it is told together with what is wrong with the rows themselves
    Sessions that begin from now on are served by it; open ones keep theirs.  Raises Invalid.
    """
    lock(db, exam)
    versions = _versions(db, exam, rows)
    found = [*issues, *_problems(rows, versions)]
    if len(note) > calibrations.NOTE_LENGTH:
        found.append(Issue("/note", f"has {len(note)} characters, {calibrations.NOTE_LENGTH} at most expected"))
    refuse(found)
    chosen = {
        version.id: _calibrated(row.parameters, version) for row, version in zip(rows, versions, strict=True) if version
    }
    active = calibrations.find_active_release(db, exam.id)
    release = calibrations.add_release(
        db,
        exam.id,
        carried_from=None if active is None else active.id,
        calibrated=chosen,
        note=note or f"parameters of {len(chosen)} items from a file",
        actor=actor,
        now=now,
    )
    catalog.grow_bank_revision(db, exam.id)
    clients.audit(
        db,
        exam.tenant_id,
        actor=actor,
        action="exam.parameters",
        entity="exam",
        entity_uuid=exam.uuid,
        now=now,
        detail={"release": release.number, "items": len(chosen)},
    )
    return release


def _versions(db: Db, exam: Exam, rows: Sequence[Row]) -> list[ExamVersion | None]:
    """The version that each row is about, None where there is no such."""
    every = calibrations.exam_versions(db, exam.id)
    by_item: dict[str, list[ExamVersion]] = {}
    by_name: dict[str, list[ExamVersion]] = {}
    for version in every:
        by_item.setdefault(str(version.item), []).append(version)
        if version.external_id is not None:
            by_name.setdefault(version.external_id, []).append(version)
    found = []
    for row in rows:
        mine = by_item.get(row.item.lower(), []) if row.item is not None else by_name.get(row.external_id or "", [])
        if row.item is not None and row.external_id is not None:
            mine = [version for version in mine if version.external_id == row.external_id]
        found.append(_chosen(mine, row.version))
    return calibrations.with_options(db, found)


def _chosen(versions: Sequence[ExamVersion], number: int | None) -> ExamVersion | None:
    """The one of this number; without, the one that is served and scored, else the one in pretest."""
    if number is not None:
        return next((version for version in versions if version.number == number), None)
    served = [version for version in versions if version.stage in calibrations.SERVED]
    return max(served, key=lambda version: calibrations.SERVED.index(version.stage), default=None)


def _problems(rows: Sequence[Row], versions: Sequence[ExamVersion | None]) -> Iterator[Issue]:
    first: dict[int, Row] = {}
    for row, version in zip(rows, versions, strict=True):
        if not row.whole:
            continue  # enough was said of it
        if version is None:
            name = row.item if row.item is not None else row.external_id
            what = "in service" if row.version is None else f"number {row.version}"
            yield row.origin.issue("", f"the exam has no item {name!r} with a version {what}")
            continue
        earlier = first.setdefault(version.id, row)
        if earlier is not row:
            yield row.origin.issue("", f"is about the same version as {earlier.origin.issue('', '').source}")
        options = {key: is_key for key, (_, is_key) in version.options.items()}
        yield from row.origin.placed(parameter_problems(row.parameters, version.kind, options))


def _calibrated(parameters: Parameters, version: ExamVersion) -> Calibrated:
    categories: list[float] | Mapping[str, list[float]] | None = None
    if parameters.model is ParameterModel.NOMINAL:
        categories = {str(version.options[key][0]): list(pair) for key, pair in parameters.options.items()}
    elif parameters.model is not ParameterModel.DICHOTOMOUS:
        categories = list(parameters.steps)
    return Calibrated(parameters.a, parameters.b, parameters.c, parameters.d, parameters.model, categories)
