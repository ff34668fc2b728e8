"""What is sent is what is meant, or it is refused."""

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import marshmallow as ma
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import MalformedBody
from api.schemas.base import Flag, Id, Integer, Moment, Number, Prose, QueryFlag, QueryInteger, Slug, Strict, Text
from api.schemas.base import format_moment as shown
from api.schemas.parsing import parse_json


def load(field: ma.fields.Field[Any], value: Any) -> Any:
    return field.deserialize(value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (Integer(), "1"),
        (Integer(), True),
        (Integer(), 1.0),
        (Integer(), 2**31),
        (Integer(), -(2**31) - 1),
        (Integer(minimum=1), 0),
        (Integer(), [1]),
        (Number(), "1"),
        (Number(), False),
        (Number(), float("nan")),
        (Number(), float("inf")),
        (Number(), 10**400),
        (Flag(), 1),
        (Flag(), "true"),
        (Flag(), None),
        (Text(), 1),
        (Text(), "a\0b"),
        (Text(), "a\x1bb"),
        (Text(), "\ud83d"),
        (Text(length=3), "abcd"),
        (Text(shortest=1), ""),
        (Prose(), "\udc00"),
        (Slug(), "Not-A-Slug"),
        (Slug(), "a--b"),
        (Slug(), "-a"),
        (Slug(), "a\n"),
        (Slug(), ""),
        (Id(), "{0197a3f0-6b1d-7a52-8f0e-1d2c3b4a5968}"),
        (Id(), "0197a3f06b1d7a528f0e1d2c3b4a5968"),
        (Id(), 1),
        (Moment(), "2026-01-05"),
        (Moment(), "2026-01-05T09:00:00"),
        (Moment(), "2026-13-05T09:00:00Z"),
        (Moment(), "2026-01-05T09:00:00+25:00"),
        (Moment(), "0001-01-01T00:00:00+14:00"),
        (Moment(), 1767603600),
        (QueryInteger(), "1.0"),
        (QueryInteger(), "1_0"),
        (QueryInteger(), " 1"),
        (QueryInteger(), "١"),
        (QueryInteger(minimum=1), "0"),
        (QueryFlag(), "1"),
        (QueryFlag(), "True"),
    ],
)
def test_what_is_not_meant_is_refused(field: ma.fields.Field[Any], value: Any) -> None:
    with pytest.raises(ma.ValidationError):
        load(field, value)


@pytest.mark.parametrize(
    ("field", "value", "meant"),
    [
        (Integer(), 0, 0),
        (Integer(maximum=2**53), 2**53, 2**53),
        (Number(), 1, 1.0),
        (Number(), -2.5e-3, -2.5e-3),
        (Flag(), False, False),
        (Text(), "línea\n\ttwo 😀", "línea\n\ttwo 😀"),
        (Prose(), "a\0b", "a\0b"),
        (Slug(), "ai-101", "ai-101"),
        (Id(), "0197A3F0-6b1d-7a52-8f0e-1d2c3b4a5968", UUID("0197a3f0-6b1d-7a52-8f0e-1d2c3b4a5968")),
        (Moment(), "2026-01-05t09:00:00.5+01:00", datetime(2026, 1, 5, 8, 0, 0, 500_000, tzinfo=UTC)),
        (QueryInteger(), "17", 17),
        (QueryFlag(), "true", True),
    ],
)
def test_what_is_meant_is_understood(field: ma.fields.Field[Any], value: Any, meant: Any) -> None:
    understood = load(field, value)
    assert understood == meant
    assert type(understood) is type(meant)


def test_a_member_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(ma.ValidationError, match="Unknown field"):
        Strict().load({"colour": "red"})


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7))]), min_value=datetime(1970, 1, 1)))
def test_times_come_back_as_they_went_out_to_the_millisecond(time: datetime) -> None:
    text = shown(time)
    assert text.endswith("Z")
    assert abs(load(Moment(), text) - time) < timedelta(milliseconds=1)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_all_json_is_read(value: Any) -> None:
    assert parse_json(json.dumps(value).encode()) == value


@given(st.binary())
def test_whatever_is_not_json_is_refused_as_such(body: bytes) -> None:
    with suppress(MalformedBody):
        parse_json(body)
