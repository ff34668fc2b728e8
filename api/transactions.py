"""A transaction that is tried once more where that is safe."""

from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from itembank.store import Db, transaction

Result = TypeVar("Result")


def transact(engine: sa.Engine, work: Callable[[Db], Result], *, writes: bool) -> Result:
    """Do the work in a transaction; once more, if the connection turns out to be dead before anything was committed.

    A pooled connection does not notice that the database was restarted. The first use of one throws the whole pool
    away, so the second attempt has a fresh connection. After COMMIT was sent nobody knows, so there is no second one.
    """
    is_done = False
    try:
        with transaction(engine, writes=writes) as db:
            result = work(db)
            is_done = True
        return result
    except DBAPIError as error:
        if is_done or not error.connection_invalidated:
            raise
    with transaction(engine, writes=writes) as db:
        return work(db)
