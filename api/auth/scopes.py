"""What a client may be allowed to do: the one table of permissions.

A view says which of these it needs with `@requires`; `docs/permissions.md` lists the result for every operation.
"""

ADMIN = "admin"

SCOPES: dict[str, str] = {
    "items:read": "Read exams, blueprints, articles and items, with their keys and explanations.",
    "items:write": "Create and change exams, blueprints, articles, media and items.",
    "items:review": "Review items and move them through their life cycle; read the traces of sessions.",
    "sessions:write": "Start sessions, answer in them, read their reports, give a learner's browser a token for one.",
    "learners:read": "Read what is known of a learner, and all that is stored.",
    "calibrations:write": "Calibrate item parameters, publish and activate releases, simulate.",
    "exports:read": "Export responses and items.",
    ADMIN: "Everything; erasing a learner needs it.",
}


def expand(scopes: list[str]) -> frozenset[str]:
    """Every scope that the given ones stand for; those that no longer exist are dropped."""
    return frozenset(SCOPES) if ADMIN in scopes else frozenset(scopes) & frozenset(SCOPES)
