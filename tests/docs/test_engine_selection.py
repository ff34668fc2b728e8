"""Whatever a policy can ask for is in the document of the API and on the page about selection."""

from dataclasses import fields
from pathlib import Path

import pytest

from api.schemas.sessions import STOP_REASONS, DecisionSchema, PolicySchema
from engine.selection import Policy, Rule, StopReason
from engine.selection.policy import ENUMS

PAGE = (Path(__file__).parents[2] / "docs" / "engine-selection.md").read_text()
NAMES = [field.name for field in fields(Policy)]


@pytest.mark.parametrize("name", NAMES)
def test_every_field_of_a_policy_is_documented(name: str) -> None:
    assert f"`{name}`" in PAGE
    assert PolicySchema().fields[name].metadata["description"]


def test_the_schema_has_no_other_fields() -> None:
    assert PolicySchema().fields.keys() == set(NAMES)


@pytest.mark.parametrize("name", ENUMS)
def test_every_value_of_an_enum_is_documented(name: str) -> None:
    assert [value for value in ENUMS[name] if f"`{value}`" not in PAGE] == []


@pytest.mark.parametrize("name", ["criterion", "content_rule", "classification", "on_time_out"])
def test_every_value_of_what_selection_offers_is_explained_in_the_api(name: str) -> None:
    description = PolicySchema().fields[name].metadata["description"]
    assert [value for value in ENUMS[name] if f"`{value}`" not in description] == []


def test_every_reason_to_stop_and_every_rule_is_documented() -> None:
    told = DecisionSchema().fields["rule"].metadata["description"]
    assert [
        reason for reason in StopReason if f"`{reason}`" not in PAGE or reason not in STOP_REASONS["description"]
    ] == []
    assert [rule for rule in Rule if f"`{rule}`" not in PAGE or f"`{rule}`" not in told] == []
