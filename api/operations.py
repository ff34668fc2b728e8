"""What a view says about itself: the scope it needs, whether it creates, which problems it answers with.

Decorators note it on the view; the OpenAPI document and the tests read it. flask-smorest hands the note through.
"""

from collections.abc import Callable
from typing import Any

View = Callable[..., Any]
NOTE = "nextitem"


def note(view: View, **facts: Any) -> View:
    """Add facts to a view's note. Wrappers share their view's note by reference, so it is copied."""
    apidoc = dict(getattr(view, "_apidoc", {}))
    apidoc[NOTE] = {**apidoc.get(NOTE, {}), **facts}
    view._apidoc = apidoc  # type: ignore[attr-defined]
    return view


def notes(view: View) -> dict[str, Any]:
    facts: dict[str, Any] = getattr(view, "_apidoc", {}).get(NOTE, {})
    return facts
