"""Learners' tokens: a JWT (HS256) that is good for one session and a short while, made for a browser to hold."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

AUDIENCE = "nextitem:session"
ALGORITHM = "HS256"
_CLAIMS: dict[str, Any] = {
    "aud": {"essential": True, "value": AUDIENCE},
    "exp": {"essential": True},
    "session": {"essential": True},
    "client": {"essential": True},
    "tenant": {"essential": True},
}


@dataclass(frozen=True, slots=True)
class SessionToken:
    """What a token says: `session` may be answered, on behalf of `client` of `tenant`; all are uuids."""

    session: UUID
    client: UUID
    tenant: UUID
    expires_at: datetime


class BadToken(Exception):
    """A token that is not ours, not whole, or out of date."""


def issue(token: SessionToken, *, secret_key: str, now: datetime) -> str:
    claims = {
        "aud": AUDIENCE,
        "iat": int(now.timestamp()),
        "exp": int(token.expires_at.timestamp()),
        "session": str(token.session),
        "client": str(token.client),
        "tenant": str(token.tenant),
    }
    return jwt.encode({"alg": ALGORITHM}, claims, OctKey.import_key(secret_key))


def read(text: str, *, secret_key: str, now: datetime) -> SessionToken:
    """Raises BadToken if any of it is wrong."""
    try:
        claims = jwt.decode(text, OctKey.import_key(secret_key), algorithms=[ALGORITHM]).claims
        jwt.JWTClaimsRegistry(now=int(now.timestamp()), **_CLAIMS).validate(claims)
        return SessionToken(
            session=UUID(claims["session"]),
            client=UUID(claims["client"]),
            tenant=UUID(claims["tenant"]),
            expires_at=now + timedelta(seconds=claims["exp"] - now.timestamp()),
        )
    except (JoseError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise BadToken(str(error)) from error
