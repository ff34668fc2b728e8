"""What the engine raises when a caller asks for something it cannot do.

EngineError
├── InvalidPolicy       a policy has a value or a field that it must not have
├── NothingToServe      a session can't begin, since no item is eligible
├── PositionConflict    an answer to a position that is settled otherwise, or not open yet
└── SessionFinished     the session is over

Wrong array shapes and parameters out of range are programming errors and raise ValueError.
"""

from uuid import UUID


class EngineError(Exception):
    """Root of the engine's own errors; they know nothing of HTTP."""


class InvalidPolicy(EngineError, ValueError):
    """A policy field has a value that it must not have; `field`, `value` and `expected` say which, what and why."""

    def __init__(self, field: str, value: object, expected: str):
        super().__init__(f"policy {field}: {value!r} given, {expected} expected")
        self.field, self.value, self.expected = field, value, expected


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
