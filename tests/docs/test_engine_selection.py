"""docs/engine.md names every field of a policy, every value that it may have and every reason to stop."""

import re
from dataclasses import fields

import pytest

from api.schemas.sessions import PolicySchema
from engine.selection import Policy, StopReason
from engine.selection.policy import ENUMS
from tests.factories.database import ROOT

PAGE = (ROOT / "docs/engine.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", PAGE, flags=re.MULTILINE | re.DOTALL)))
FIELDS = [field.name for field in fields(Policy)]
VALUES = [(name, value.value) for name, enum in ENUMS.items() for value in enum]


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_of_a_policy_is_explained_and_can_be_sent(name: str) -> None:
    assert name in NAMED
    assert name in PolicySchema().fields


@pytest.mark.parametrize(("field", "value"), VALUES)
def test_every_value_of_a_field_is_explained(field: str, value: str) -> None:
    assert value in NAMED, f"{field}: {value}"


@pytest.mark.parametrize("reason", StopReason)
def test_every_reason_to_stop_is_explained(reason: StopReason) -> None:
    assert reason.value in NAMED


def test_nothing_can_be_sent_that_a_policy_does_not_have() -> None:
    assert set(PolicySchema().fields) == set(FIELDS)


def test_links_within_the_page_lead_to_its_headings() -> None:
    titles = re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    headings = {re.sub(r"[^\w\s-]", "", title.lower()).replace(" ", "-") for title in titles}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= headings
