"""Rows to files and back."""

import csv
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from itembank.formats import delimited, jsonl

TEXT = st.text(alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=20)


@given(st.lists(st.tuples(TEXT, TEXT), max_size=10))
def test_csv_comes_back(rows: list[tuple[str, str]]) -> None:
    data = b"".join(delimited.write(["a", "b"], rows))
    assert list(csv.reader(io.StringIO(data.decode(), newline=""))) == [["a", "b"], *map(list, rows)]


@given(st.lists(st.tuples(TEXT, st.none() | st.integers() | st.lists(TEXT)), max_size=10))
def test_json_lines_come_back(rows: list[tuple[str, object]]) -> None:
    data = b"".join(jsonl.write(["a", "b"], rows))
    assert [tuple(json.loads(line).values()) for line in data.decode().split("\n")[:-1]] == rows


def test_files_come_in_chunks() -> None:
    for writer in (delimited.write, jsonl.write):
        chunks = list(writer(["a"], (["x" * 1000] for _ in range(1000))))
        assert max(map(len, chunks)) < 80_000
        assert len(chunks) > 10
