"""`@requires`: what stands in front of every view that isn't public."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import current_app, g, request

from api.auth.scopes import SCOPES
from api.edge import EXCHANGE
from api.errors import ScopeMissing
from api.operations import View, note
from itembank.errors import NotFound

CALLERS, QUOTA = "nextitem-callers", "nextitem-quota"  # where `app.extensions` keeps them


def requires(scope: str, *, session: bool = False, learner: bool = False) -> Callable[[View], View]:
    """Let in who has the scope, and count the request.

    session : also a learner's token, where the path's `session` is the one it was made for
    learner : also a learner's token on a path without a session; then the view must look at the caller's `session_uuid`
    """
    if scope not in SCOPES:
        raise ValueError(f"{scope!r} is not a scope")

    def guard(view: View) -> View:
        @wraps(view)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            environ, extensions = request.environ, current_app.extensions
            caller = extensions[CALLERS].find(environ.get("HTTP_AUTHORIZATION"))
            this = environ[EXCHANGE]
            this.actor, g.caller = caller.actor, caller
            this.headers = extensions[QUOTA].spend(caller)
            if caller.session_uuid is None:
                if scope not in caller.scopes:
                    raise ScopeMissing(scope)
            elif session:
                if kwargs["session"] != caller.session_uuid:
                    raise NotFound("session", kwargs["session"])
            elif not learner:
                raise ScopeMissing(scope)
            return view(*args, **kwargs)

        return note(guarded, scope=scope, learner=session or learner)

    return guard
