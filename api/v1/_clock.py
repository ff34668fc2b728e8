"""Forms end when their time is over, whoever looks first."""

from functools import wraps
from typing import Any

from api import context
from api.operations import View
from api.transactions import WRITING, transact
from engine import delivery
from engine.errors import TimeOver
from itembank.store import Db


def keeps_time(view: View) -> View:
    """If the view finds forms whose time is over, end them in a transaction of their own and run the view again.

    It stands above `@reads` and the like, whose transaction the first attempt leaves behind.
    """

    @wraps(view)
    def timely(*args: Any, **kwargs: Any) -> Any:
        try:
            return view(*args, **kwargs)
        except TimeOver as over:
            late = over.sessions
        tenant_id, now = context.caller().tenant_id, context.now()

        def end(db: Db) -> None:
            for session in late:
                delivery.finish(db, tenant_id, session, now=now)

        transact(context.engine(), end, WRITING)
        return view(*args, **kwargs)

    return timely
