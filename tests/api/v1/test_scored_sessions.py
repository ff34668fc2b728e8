"""Items with scored options over HTTP."""

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from itembank.store import transaction
from tests.factories.bank import make_exam, make_item, make_tenant
from tests.factories.http import Caller
from tests.factories.scored import make_multiple, parameters, release

OPTIONS = {"asked-0": (1.2, 0.0), "asked-1": (0.4, 0.3), "asked-2": (-0.6, 0.1), "asked-3": (-1.0, 0.0)}


@pytest.fixture
def lms(client: FlaskClient, engine: sa.Engine, api_key: Callable[..., str]) -> Caller:
    """For two exams: one asks which, the other for all that are right."""
    with transaction(engine, writes=True) as db:
        tenant = make_tenant(db)
        which, all_right = make_exam(db, tenant, "which"), make_exam(db, tenant, "all-right")
        make_item(db, which, "asked")
        make_multiple(db, all_right)
        release(db, which, {"asked": parameters(model="nominal", options=OPTIONS)})
        release(db, all_right, {"multiple": parameters(model="gpcm", steps=(-0.5, 0.0, 0.5))})
    return Caller(client, api_key("sessions:write", "learners:read", "items:review"))


def answered(lms: Caller, exam: str, learner: str, *places: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The reply to choosing the options whose texts have these numbers, and the session's report."""
    session = lms.start(exam=exam, learner=learner)
    item = session["next"]["item"]
    chosen = [option["id"] for option in item["options"] if int(option["text"].split()[1]) in places]
    body = {"position": 1, "item": item["id"], "selected": chosen, "response_time_ms": 60_000}
    reply = lms.post(f"/v1/sessions/{session['id']}/responses", body)
    assert reply.status_code == 200, reply.text
    return reply.json, lms.get(f"/v1/sessions/{session['id']}/report").json


def test_two_wrong_options_lead_to_different_abilities(lms: Caller) -> None:
    (near, _), (far, _) = answered(lms, "which", "ada", 1), answered(lms, "which", "bob", 3)
    assert (near["correct"], near["score"]) == (far["correct"], far["score"]) == (False, 0.0)
    assert near["ability"]["theta"] > far["ability"]["theta"] + 0.3
    one, other = (lms.get(f"/v1/learners/{who}/exams/which").json["ability"]["theta"] for who in ("ada", "bob"))
    assert one > other + 0.3


def test_a_partly_right_answer_has_its_score_and_is_not_correct(lms: Caller) -> None:
    replies = [
        answered(lms, "all-right", f"learner-{n}", *places) for n, places in enumerate([(3,), (0, 1), (0, 1, 2)])
    ]
    steps, reports = [step for step, _ in replies], [report for _, report in replies]
    assert [step["score"] for step in steps] == pytest.approx([0.0, 2 / 3, 1.0])
    assert [step["correct"] for step in steps] == [False, False, True]
    assert [report["right"] for report in reports] == [0, 0, 1]
    assert [report["items"][0]["score"] for report in reports] == [step["score"] for step in steps]
    thetas = [step["ability"]["theta"] for step in steps]
    assert thetas[0] < thetas[1] < thetas[2]
