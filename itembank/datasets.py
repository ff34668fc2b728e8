"""What can be taken out: named data sets, each with described columns and a stream of rows.

Rows are read in batches and written as they come, so a million take no more memory than a thousand. An export is a
request with a mark: rows that come after it was asked for are not in its file, whenever that is fetched.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col, select

from itembank import catalog
from itembank.errors import Invalid, Issue, NotFound
from itembank.formats import author_json, delimited, jsonl
from itembank.formats.base import Writer, utc_text
from itembank.models import (
    Exam,
    Export,
    Item,
    ItemVersion,
    Learner,
    Objective,
    Option,
    ParameterRelease,
    Pool,
    Response,
    Score,
    Session,
)
from itembank.responses import latest_score
from itembank.store import Db, table_of

BATCH = 2_000  # rows fetched at a time
ITEM_BATCH = 200  # items, each with its options and prose


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """rows : a stream for an export of it, values in the order of `columns`;  last_row : id of an exam's newest row"""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    rows: Callable[[Db, Export], Iterator[Sequence[Any]]]
    last_row: Callable[[int], sa.Select[Any]]


def request(
    db: Db,
    exam: Exam,
    *,
    dataset: str,
    file_format: str,
    since: datetime | None = None,
    until: datetime | None = None,
    now: datetime,
) -> Export:
    """Ask for an export of what is there now.

    since, until : of `answered_at` for responses, of `updated_at` for items; since is in, until is not
    """
    issues = []
    if dataset not in DATASETS:
        issues.append(Issue("/dataset", f"must be one of {', '.join(DATASETS)}"))
    if file_format not in FORMATS:
        issues.append(Issue("/format", f"must be one of {', '.join(FORMATS)}"))
    if since and until and until <= since:
        issues.append(Issue("/until", "must be later than since"))
    if issues:
        raise Invalid(tuple(issues))
    export = Export(
        tenant_id=exam.tenant_id,
        exam_id=exam.id,
        dataset=dataset,
        format=file_format,
        since=since,
        until=until,
        last_row=db.scalar(DATASETS[dataset].last_row(exam.id)) or 0,
        created_at=now,
    )
    db.add(export)
    db.flush()
    return export


def get_export(db: Db, tenant_id: int, uuid: UUID) -> tuple[Export, Exam]:
    query = select(Export, Exam).join(Exam).where(Export.tenant_id == tenant_id, Export.uuid == uuid)
    row = db.exec(query).one_or_none()
    if row is None:
        raise NotFound("export", uuid)
    return row


def stream(db: Db, export: Export) -> Iterator[bytes]:
    """The file of an export, in chunks. `db` must stay open until the last one."""
    dataset = DATASETS[export.dataset]
    yield from FORMATS[export.format].write([column.name for column in dataset.columns], dataset.rows(db, export))


# Responses


def _response_rows(db: Db, export: Export) -> Iterator[Sequence[Any]]:
    options: dict[int, list[str]] = {}  # version id → option uuids in the author's order
    rows = db.execute(_responses(export), execution_options={"yield_per": BATCH})
    for batch in rows.partitions():
        _learn_options(db, {row.item_version_id for row in batch} - options.keys(), options)
        for row in batch:
            places = options[row.item_version_id]
            yield (
                str(row.response),
                str(row.learner),
                str(row.session),
                row.mode,
                row.position,
                str(row.item),
                row.external_id,
                row.number,
                row.objective,
                "|".join(row.selected),
                "|".join(places[i] for i in row.option_order or range(len(places))),
                row.correct,
                row.score,
                row.response_time_ms,
                row.exposure_class.value,
                row.theta_before,
                row.standard_error_before,
                row.theta_after,
                row.standard_error_after,
                row.criterion,
                row.release,
                str(row.pool),
                utc_text(row.served_at),
                utc_text(row.answered_at),
            )


RESPONSE_COLUMNS = (
    Column("response", "id of the answer"),
    Column("learner", "pseudonym of the learner; the id the tenant gave is not in here"),
    Column("session", "id of the session"),
    Column("mode", "what the session was for, such as practice or adaptive_test"),
    Column("position", "place in the session, from 1"),
    Column("item", "id of the item"),
    Column("item_external_id", "the author's id of the item, may be empty"),
    Column("item_version", "number of the version that was shown"),
    Column("objective", "code of the objective that version is about"),
    Column("selected", "ids of the options chosen, joined by |"),
    Column("option_order", "ids of all options in the order they were shown, joined by |"),
    Column("correct", "whether exactly the keys were chosen, under the newest key version"),
    Column("score", "between 0 and 1, under the newest key version"),
    Column("response_time_ms", "milliseconds, as the caller measured them; empty where it did not"),
    Column("exposure_class", "clean_first, repeat, repeat_revealed, pretest or rapid_guess"),
    Column("theta_before", "ability before the answer, logits"),
    Column("se_before", "its standard error, logits"),
    Column("theta_after", "ability after the answer, logits"),
    Column("se_after", "its standard error, logits"),
    Column("criterion", "by which the item was picked"),
    Column("parameter_release", "number of the release whose parameters were used"),
    Column("pool", "id of the pool the item was picked from"),
    Column("served_at", "when the item was shown, RFC 3339, UTC"),
    Column("answered_at", "when the answer came in, on a form when it was counted, RFC 3339, UTC"),
)


def _responses(export: Export) -> sa.Select[*tuple[Any, ...]]:
    names = "item_version_id position selected response_time_ms exposure_class served_at answered_at theta_before"
    names += " standard_error_before theta_after standard_error_after"
    query: sa.Select[*tuple[Any, ...]] = (
        sa.select(
            *(table_of(Response).c[name] for name in names.split()),
            col(Response.trace)["option_order"].label("option_order"),
            col(Response.trace)["criterion"].as_string().label("criterion"),
            col(Score.correct),
            col(Score.score),
            col(Response.uuid).label("response"),
            col(Learner.uuid).label("learner"),
            col(Session.uuid).label("session"),
            col(Session.mode),
            col(Item.uuid).label("item"),
            col(Item.external_id),
            col(ItemVersion.number),
            col(Objective.code).label("objective"),
            col(ParameterRelease.number).label("release"),
            col(Pool.uuid).label("pool"),
        )
        .join(Score, col(Score.response_id) == col(Response.id))
        .join(Session, col(Session.id) == col(Response.session_id))
        .join(Learner, col(Learner.id) == col(Session.learner_id))
        .join(Pool, col(Pool.id) == col(Session.pool_id))
        .join(ParameterRelease, col(ParameterRelease.id) == col(Pool.release_id))
        .join(ItemVersion, col(ItemVersion.id) == col(Response.item_version_id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .join(Objective, col(Objective.id) == col(ItemVersion.objective_id))
        .where(col(Session.exam_id) == export.exam_id, col(Response.id) <= export.last_row, latest_score())
        .order_by(col(Response.id))
    )
    if export.since is not None:
        query = query.where(col(Response.answered_at) >= export.since)
    if export.until is not None:
        query = query.where(col(Response.answered_at) < export.until)
    return query


def _learn_options(db: Db, version_ids: set[int], known: dict[int, list[str]]) -> None:
    if not version_ids:
        return
    query = (
        sa.select(col(Option.item_version_id), col(Option.uuid))
        .where(col(Option.item_version_id).in_(version_ids))
        .order_by(col(Option.item_version_id), col(Option.position))
    )
    for version_id, uuid in db.execute(query):
        known.setdefault(version_id, []).append(str(uuid))


def _last_response(exam_id: int) -> sa.Select[Any]:
    newest = sa.select(sa.func.max(col(Response.id))).join(Session, col(Session.id) == col(Response.session_id))
    return newest.where(col(Session.exam_id) == exam_id)


# Items


def _item_rows(db: Db, export: Export) -> Iterator[Sequence[Any]]:
    exam = db.exec(select(Exam).where(Exam.id == export.exam_id)).one()
    after = 0
    while True:
        query = catalog.items(export.exam_id, after=after).where(col(Item.id) <= export.last_row).limit(ITEM_BATCH)
        if export.since is not None:
            query = query.where(col(Item.updated_at) >= export.since)
        if export.until is not None:
            query = query.where(col(Item.updated_at) < export.until)
        records = catalog.records(db, query)
        for record in records:
            document = author_json.document(
                record.content,
                exam=exam.slug,
                live_version=record.live_version,
                updated_at=record.item.updated_at,
            )
            yield [document[column.name] for column in ITEM_COLUMNS]
        if len(records) < ITEM_BATCH:
            return
        after = records[-1].item.id
        db.expunge_all()  # what has been written need not stay


ITEM_COLUMNS = (
    Column("id", "id of the item"),
    Column("external_id", "the author's id, may be missing"),
    Column("exam", "slug of the exam"),
    Column("stage", "where the newest version stands in its life"),
    Column("version", "number of the newest version; all below is what it says"),
    Column("live_version", "number of the version that is served, if any"),
    Column("kind", "single_choice or multiple_choice"),
    Column("objective", "code of the objective"),
    Column("stem", "Markdown"),
    Column("options", "id, key, text, correct, rationale, misconception of each, in the author's order"),
    Column("short_explanation", "Markdown"),
    Column("full_explanation", "Markdown"),
    Column("tags", "namespace:value"),
    Column("angoff", "share of just-qualified candidates expected to answer right"),
    Column("shuffle", "whether the order of options may change"),
    Column("media", "id, role, alt, description of each image"),
    Column("references", "citation and url of each source"),
    Column("reading", "article and anchor of each place to read"),
    Column("author", "who wrote the version"),
    Column("created_at", "when the version was written, RFC 3339, UTC"),
    Column("updated_at", "when the item changed last, RFC 3339, UTC"),
)


def _last_item(exam_id: int) -> sa.Select[Any]:
    return sa.select(sa.func.max(col(Item.id))).where(col(Item.exam_id) == exam_id)


DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "responses", "every answer with its score, one row each", RESPONSE_COLUMNS, _response_rows, _last_response
        ),
        Dataset("items", "every item as its author reads it", ITEM_COLUMNS, _item_rows, _last_item),
    )
}


@dataclass(frozen=True, slots=True)
class FileFormat:
    name: str
    media_type: str
    write: Writer


FORMATS = {
    file_format.name: file_format
    for file_format in (
        FileFormat("csv", "text/csv; charset=utf-8", delimited.write),
        FileFormat("jsonl", "application/jsonl", jsonl.write),
    )
}
