"""What all changes share: refusing, inserting, locking."""

from collections.abc import Iterable
from typing import TypeVar

from sqlalchemy.exc import IntegrityError
from sqlmodel import SQLModel

from itembank.errors import AlreadyExists, Invalid, Issue
from itembank.models import Article, Exam, Item
from itembank.store import Db

Row = TypeVar("Row", bound=SQLModel)


def refuse(issues: Iterable[Issue]) -> None:
    """Raise Invalid if there are any."""
    if found := tuple(issues):
        raise Invalid(found)


def insert(db: Db, row: Row, kind: str, key: object) -> Row:
    """Insert a row under a unique name; AlreadyExists also if somebody else took the name a moment ago."""
    try:
        with db.begin_nested():
            db.add(row)
            db.flush()
    except IntegrityError as error:
        raise AlreadyExists(kind, key) from error
    return row


def lock(db: Db, row: Exam | Item | Article) -> None:
    """Read the row anew and hold it until the transaction ends, so that two changes can't both be the next."""
    db.refresh(row, with_for_update=True)
