"""CSV as RFC 4180 has it: UTF-8, a header line, CRLF. What is nested goes in as JSON."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

CHUNK = 64 * 1024  # characters, about


def write(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """The file in chunks.

    >>> b"".join(write(["a", "b"], [[1, True], [None, "x,y"]]))
    b'a,b\\r\\n1,true\\r\\n,"x,y"\\r\\n'
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
        if buffer.tell() >= CHUNK:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return value
