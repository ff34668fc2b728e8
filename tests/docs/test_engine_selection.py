"""The guide to the engine names all that a policy can say, and the API takes all of it."""

from dataclasses import fields
from pathlib import Path

import pytest

from api.schemas.sessions import PolicySchema
from engine.selection import Policy, StopReason
from engine.selection.constraints import KINDS
from engine.selection.policy import ENUMS

PAGE = (Path(__file__).parents[2] / "docs" / "engine.md").read_text(encoding="utf-8")
CHAPTER = PAGE[PAGE.index("## Selection") :]


@pytest.mark.parametrize("name", [field.name for field in fields(Policy)])
def test_every_field_of_a_policy_is_explained(name: str) -> None:
    assert f"`{name}`" in CHAPTER


@pytest.mark.parametrize("value", sorted({str(value) for enum in ENUMS.values() for value in enum}))
def test_every_value_of_a_policy_is_explained(value: str) -> None:
    assert f"`{value}`" in CHAPTER


@pytest.mark.parametrize("reason", StopReason)
def test_every_reason_to_stop_is_explained(reason: StopReason) -> None:
    assert f"| `{reason}` |" in CHAPTER


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_constraint_is_explained(kind: str) -> None:
    assert f"`{kind}`" in PAGE


def test_the_api_takes_every_field_of_a_policy() -> None:
    assert set(PolicySchema().fields) == {field.name for field in fields(Policy)}


def test_the_api_describes_every_value() -> None:
    described = PolicySchema().fields
    for name, enum in ENUMS.items():
        if name in ("criterion", "content_rule", "content_level", "classification", "on_time_out", "estimator"):
            assert all(f"`{value}`" in described[name].metadata["description"] for value in enum), name
