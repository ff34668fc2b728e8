"""API keys: `nxi_<prefix>_<secret>`.

The prefix finds the client, the secret is 256 random bits. Only the secret's SHA-256 is stored; a slow hash is for
passwords, which can be guessed, and would cost every request what it costs an attacker.
"""

import base64
import hashlib
import hmac
import re
import secrets
from typing import NamedTuple

SCHEME = "nxi"
_PREFIX_LENGTH = 12
_FORM = re.compile(rf"{SCHEME}_([a-z2-7]{{{_PREFIX_LENGTH}}})_([A-Za-z0-9_-]{{43}})", re.ASCII)


class Key(NamedTuple):
    prefix: str
    secret: str

    def __str__(self) -> str:
        return f"{SCHEME}_{self.prefix}_{self.secret}"


def mint() -> Key:
    prefix = base64.b32encode(secrets.token_bytes(8)).decode().lower()[:_PREFIX_LENGTH]
    return Key(prefix, secrets.token_urlsafe(32))


def parse(text: str) -> Key | None:
    match = _FORM.fullmatch(text)
    return Key(*match.groups()) if match else None


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def verify(key: Key, secret_hash: str) -> bool:
    return hmac.compare_digest(digest(key.secret), secret_hash)
