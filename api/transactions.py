"""A transaction that is tried once more where that is safe."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from itembank.store import Db, autocommitted, transaction

Result = TypeVar("Result")
Begin = Callable[[sa.Engine], AbstractContextManager[Db]]

READING: Begin = partial(transaction, writes=False)
WRITING: Begin = partial(transaction, writes=True)
AT_ONCE: Begin = autocommitted


def transact(engine: sa.Engine, work: Callable[[Db], Result], begin: Begin) -> Result:
    """Do the work in a transaction; once more, if the connection turns out to be dead before anything was committed.

    A pooled connection does not notice that the database was restarted. The first use of one throws the whole pool
    away, so the second attempt has a fresh connection. After COMMIT was sent nobody knows, so there is no second one.
    What is done AT_ONCE must be such that doing it twice is doing it once.
    """
    is_done = False
    try:
        with begin(engine) as db:
            result = work(db)
            is_done = True
        return result
    except DBAPIError as error:
        if is_done or not error.connection_invalidated:
            raise
    with begin(engine) as db:
        return work(db)
