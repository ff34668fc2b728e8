"""From credentials to a caller. What was found is remembered for a while, so that a request costs no query for it."""

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa

from api.auth import keys, scopes, tokens
from api.errors import Unauthenticated
from api.transactions import READING, transact
from itembank import clients

REMEMBERED = timedelta(seconds=30)  # so long may a revoked key go on working in a process that has just seen it
REMEMBERED_CALLERS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sends a request.

    actor : how the audit log and authorship name the caller
    scopes : what the caller may do, `admin` spelled out
    session_uuid : the one session that a learner's token is good for; None for an API client
    client_uuid, tenant_uuid : what a token made for this caller's learner says
    """

    client_id: int
    tenant_id: int
    client_uuid: UUID
    tenant_uuid: UUID
    actor: str
    scopes: frozenset[str]
    session_uuid: UUID | None = None

    @property
    def is_learner(self) -> bool:
        return self.session_uuid is not None


class Callers:
    """Finds callers by the `Authorization` header. One for each process; safe for threads."""

    def __init__(self, engine: sa.Engine, *, secret_key: str, clock: Callable[[], datetime]):
        self._engine, self._secret_key, self._clock = engine, secret_key, clock
        self._known: dict[bytes, tuple[Caller, datetime]] = {}
        self._lock = threading.Lock()

    def find(self, authorization: str | None) -> Caller:
        """Raises Unauthenticated."""
        if not authorization:
            raise Unauthenticated("send an API key or a token as `Authorization: Bearer`")
        fingerprint = hashlib.sha256(authorization.encode("utf-8", "surrogateescape")).digest()
        now = self._clock()
        known = self._known.get(fingerprint)
        if known is not None and known[1] > now:
            return known[0]
        caller, until = self._look_up(authorization, now)
        self._remember(fingerprint, caller, until, now)
        return caller

    def _look_up(self, authorization: str, now: datetime) -> tuple[Caller, datetime]:
        scheme, _, credentials = authorization.partition(" ")
        if scheme.lower() != "bearer" or not credentials:
            raise Unauthenticated("the Authorization header is not of the Bearer scheme", "invalid_request")
        credentials = credentials.strip()
        key = keys.parse(credentials)
        return self._by_key(key, now) if key else self._by_token(credentials, now)

    def _by_key(self, key: keys.Key, now: datetime) -> tuple[Caller, datetime]:
        found = transact(self._engine, lambda db: clients.find_client_by_prefix(db, key.prefix), READING)
        if found is None or not keys.verify(key, found.secret_hash) or found.is_revoked:
            raise Unauthenticated("there is no such API key, or it was revoked", "invalid_token")
        return _caller(found, found.name, scopes.expand(found.scopes)), now + REMEMBERED

    def _by_token(self, text: str, now: datetime) -> tuple[Caller, datetime]:
        try:
            token = tokens.read(text, secret_key=self._secret_key, now=now)
        except tokens.BadToken as error:
            raise Unauthenticated("the token is not good, or no longer", "invalid_token") from error
        found = transact(self._engine, lambda db: clients.find_client(db, token.client), READING)
        if found is None or found.is_revoked or found.tenant_uuid != token.tenant:
            raise Unauthenticated("the client that asked for this token is gone", "invalid_token")
        caller = _caller(found, f"session {token.session}", frozenset(), session=token.session)
        return caller, min(token.expires_at, now + REMEMBERED)

    def _remember(self, fingerprint: bytes, caller: Caller, until: datetime, now: datetime) -> None:
        with self._lock:
            if len(self._known) >= REMEMBERED_CALLERS:
                self._known = {key: entry for key, entry in self._known.items() if entry[1] > now}
            if len(self._known) >= REMEMBERED_CALLERS:
                self._known = {}
            self._known[fingerprint] = (caller, until)


def _caller(client: clients.Identity, actor: str, allowed: frozenset[str], *, session: UUID | None = None) -> Caller:
    return Caller(
        client_id=client.client_id,
        tenant_id=client.tenant_id,
        client_uuid=client.client_uuid,
        tenant_uuid=client.tenant_uuid,
        actor=actor,
        scopes=allowed,
        session_uuid=session,
    )
