"""YAML is plain data with known lines, or a complaint."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itembank.formats import yaml_documents

BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("a: 1\nb: 2\na: 3\n", "f.yaml:3 /a", "twice"),
        (BOMB, "f.yaml:1 /b/0", "aliases"),
        ("a: !!python/object/apply:os.system [x]", "f.yaml:1 /a", "tag"),
        ("a: !!bool maybe", "f.yaml:1", "not valid YAML"),
        ("a: 2024-01-01", "f.yaml:1 /a", "quotes"),
        ("a: [1, 2\nb: 3", "f.yaml:2", "not valid YAML"),
        ("a: b: c", "f.yaml:1", "not valid YAML"),
        ("? [a]\n: b", "f.yaml:1", "key"),
        ("<<: {a: 1}", "f.yaml:1", "key"),
        ("", "f.yaml:1", "empty"),
        ("[" * 40 + "]" * 40, "f.yaml:1", "deeper"),
        ("[" * 5000, "f.yaml", "not valid YAML"),
        ("a: \x00", "f.yaml", "not valid YAML"),
    ],
)
def test_what_is_refused(text: str, where: str, what: str) -> None:
    value, _, issues = yaml_documents.load(text, "f.yaml")
    assert value is None
    assert str(issues[0]).startswith(where)
    assert what in str(issues[0])


def test_lines_are_those_of_the_file() -> None:
    value, origin, issues = yaml_documents.load("a:\n  - x\n  - b/c: 1\n", "f", first_line=10)
    assert (value, issues) == ({"a": ["x", {"b/c": 1}]}, ())
    assert [origin.line(pointer) for pointer in ("", "/a/0", "/a/1/b~1c", "/a/1/missing")] == [10, 11, 12, 12]


@given(st.text(alphabet="ab:{}[]&*!<>|-?\n \"'#,%@0123456789.", max_size=40))
def test_any_text_gives_data_or_complaints(text: str) -> None:
    value, _, issues = yaml_documents.load(text, "f")
    assert value is None or issues == ()
