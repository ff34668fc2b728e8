"""`@requires`: what stands in front of every view that isn't public."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import current_app, g, request

from api.auth.scopes import SCOPES
from api.errors import QuotaExceeded, ScopeMissing
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
            extensions = current_app.extensions
            caller = extensions[CALLERS].find(request.headers.get("Authorization"))
            g.caller = caller
            try:
                g.quota_headers = extensions[QUOTA].spend(caller)
            except QuotaExceeded as error:
                g.quota_headers = error.headers
                raise
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
