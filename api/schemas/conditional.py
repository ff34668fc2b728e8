"""ETags: `If-None-Match` saves sending what the caller has, `If-Match` keeps two authors from undoing each other.

RFC 9110, sections 8.8 and 13. Our tags are strong: `"7"` for revision 7.
"""

import re

from flask import Response, request

from api.errors import InvalidHeader, PreconditionFailed, PreconditionMissing

_TAG = re.compile(r'\s*(W/)?("[\x21\x23-\x7e\x80-\xff]*")\s*(?:,|$)')


def etag(revision: object) -> str:
    return f'"{revision}"'


def not_modified(current: str) -> Response | None:
    """A 304 reply if the caller already has what `current` stands for, else None."""
    given = request.headers.get("If-None-Match")
    if given is None:
        return None
    if given.strip() == "*" or any(tag == current for _, tag in _tags("If-None-Match", given)):
        return Response(status=304, headers={"ETag": current})
    return None


def require_match(current: str) -> None:
    """Raise unless the caller's `If-Match` names what is stored now."""
    given = request.headers.get("If-Match")
    if given is None:
        raise PreconditionMissing
    if given.strip() != "*" and all(weak or tag != current for weak, tag in _tags("If-Match", given)):
        raise PreconditionFailed(current)


def _tags(header: str, value: str) -> list[tuple[bool, str]]:
    tags, at = [], 0
    while at < len(value):
        match = _TAG.match(value, at)
        if match is None:
            raise InvalidHeader(header, 'must be * or a list of quoted tags, such as "7"')
        tags.append((match[1] is not None, match[2]))
        at = match.end()
    return tags
