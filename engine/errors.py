"""What the engine raises when a caller asks for something it cannot do.

EngineError
├── Infeasible          no form meets all constraints at once
├── InvalidConstraint   a constraint has a value or a field that it must not have
├── InvalidPolicy       a policy has a value or a field that it must not have
├── NothingDue          a review can't begin, since nothing is due yet
├── NothingToServe      a session can't begin, since no item is eligible
├── PositionConflict    an answer to a position that is settled otherwise, or not open yet
├── SessionFinished     the session is over
├── TimeOver            the time of a form is over, but nobody has ended it yet
└── Unsolved            the solver's limit was reached before a form was found

Wrong array shapes and parameters out of range are programming errors and raise ValueError.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

LONGEST_SHOWN = 200  # characters of a value in a message


class EngineError(Exception):
    """Root of the engine's own errors; they know nothing of HTTP."""


class Infeasible(EngineError):
    """No form meets all constraints; `constraints` names some that clash, each of which the clash needs."""

    def __init__(self, constraints: Sequence[str]):
        self.constraints = list(constraints)
        what = "this constraint" if len(self.constraints) == 1 else "these constraints together"
        super().__init__(f"no form of this pool meets {what}: {', '.join(self.constraints)}")


class InvalidConstraint(EngineError, ValueError):
    """A constraint has a value that it must not have; `name`, `field`, `value`, `expected` say which, what and why."""

    def __init__(self, name: str, field: str, value: object, expected: str):
        called, place = shown(name).strip('"'), shown(field).strip('"')
        super().__init__(f"constraint {called}, {place}: {shown(value)} given, {expected} expected")
        self.name, self.field, self.value, self.expected = called, place, value, expected


class InvalidPolicy(EngineError, ValueError):
    """A policy field has a value that it must not have; `field`, `value` and `expected` say which, what and why."""

    def __init__(self, field: str, value: object, expected: str):
        super().__init__(f"policy {field}: {shown(value)} given, {expected} expected")
        self.field, self.value, self.expected = field, value, expected


class NothingDue(EngineError):
    """Nothing is due for review; `next_due_at` says when the next item will be, None where none ever was answered."""

    def __init__(self, exam: str, next_due_at: datetime | None):
        when = "none was answered yet" if next_due_at is None else f"the next is due at {next_due_at.isoformat()}"
        super().__init__(f"no item of exam {exam} is due for review by this learner; {when}")
        self.exam, self.next_due_at = exam, None if next_due_at is None else next_due_at.isoformat()


class NothingToServe(EngineError):
    """No item is eligible for a new session: none is operational, or the learner has met them all."""

    def __init__(self, exam: str, pool_size: int):
        super().__init__(f"no item of exam {exam} can be served to this learner; its pool has {pool_size} items")
        self.exam, self.pool_size = exam, pool_size


class PositionConflict(EngineError):
    """The position was answered otherwise, or is not the open one."""

    def __init__(self, session: UUID, given: int, open_position: int):
        what = "was answered otherwise" if given < open_position else "is not open yet"
        super().__init__(f"position {given} of session {session} {what}; position {open_position} is the latest")
        self.session, self.given, self.open_position = str(session), given, open_position


class SessionFinished(EngineError):
    """The session is over; `stop_reason` says why."""

    def __init__(self, session: UUID, stop_reason: str):
        super().__init__(f"session {session} is finished: {stop_reason}")
        self.session, self.stop_reason = str(session), stop_reason


class TimeOver(EngineError):
    """The time of these forms is over, though they are still open: end them with `delivery.finish`, then look again."""

    def __init__(self, sessions: Sequence[UUID]):
        super().__init__(f"the time is over for session {', '.join(str(session) for session in sessions)}")
        self.sessions = list(sessions)


class Unsolved(EngineError):
    """The solver found no form within its limit, nor that there is none."""

    def __init__(self, limit: str):
        super().__init__(f"no form was found within {limit}; there may be one")
        self.limit = limit


def shown(value: object) -> str:
    """A value as JSON would have it, cut where it is long."""
    text = json.dumps(value, default=_plain, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _plain(value: Any) -> object:
    return value.to_json() if hasattr(value, "to_json") else str(value)
