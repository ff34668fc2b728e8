"""JSON lines: one object a row, UTF-8."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

CHUNK = 64 * 1024  # characters, about


def write(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """The file in chunks.

    >>> b"".join(write(["a", "b"], [[1, None]]))
    b'{"a":1,"b":null}\\n'
    """
    lines: list[str] = []
    size = 0
    for row in rows:
        line = json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False, separators=(",", ":"))
        lines.append(line + "\n")
        size += len(line)
        if size >= CHUNK:
            yield "".join(lines).encode()
            lines, size = [], 0
    yield "".join(lines).encode()
