"""Each mode from start to end, over HTTP: what it serves, what it moves, how it ends and what it tells."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from sqlmodel import col, select

from itembank import authoring, catalog, importing
from itembank.content import ExamContent, ObjectiveContent, RelationKind, Stage
from itembank.formats.base import Origin
from itembank.formats.bundle import Bundle, ItemPart, Part
from itembank.models import Exam, Item
from itembank.store import Db, transaction
from tests.factories.bank import START, item_content, make_exam, make_items, make_tenant, make_timings, move
from tests.factories.clock import Clock
from tests.factories.http import Caller

REPORT = "/v1/learners/ada/exams/exam"
UNSCORED = (Stage.IN_REVIEW, Stage.APPROVED, Stage.PRETEST)


@pytest.fixture
def bank(engine: sa.Engine) -> sa.Engine:
    """An exam of 36 items on three objectives in two domains, weighed 0.4, 0.2 and 0.4."""
    with transaction(engine, writes=True) as db:
        make_items(db, make_exam(db, make_tenant(db)), 36)
    return engine


@pytest.fixture
def lms(bank: sa.Engine, client: FlaskClient, api_key: Callable[..., str]) -> Caller:
    return Caller(client, api_key("sessions:write", "learners:read", "items:review"))


def right(options: list[dict[str, Any]]) -> int:
    return next(place for place, option in enumerate(options) if "Answer 0" in option["text"])


def wrong(options: list[dict[str, Any]]) -> int:
    return next(place for place, option in enumerate(options) if "Answer 1" in option["text"])


class Sitting:
    """A session that a learner goes through."""

    def __init__(self, lms: Caller, mode: str, **more: Any):
        self.lms, started = lms, lms.start(mode=mode, **more)
        self.path, self.id, self.next = f"/v1/sessions/{started['id']}", started["id"], started["next"]
        self.last: dict[str, Any] = {}

    def answer(self, choose: Callable[[list[dict[str, Any]]], int] = right, *, time_ms: int = 4000) -> dict[str, Any]:
        """Answers the open item; the item."""
        item: dict[str, Any] = self.next["item"]
        body = {
            "position": self.next["position"],
            "item": item["id"],
            "selected": [item["options"][choose(item["options"])]["id"]],
            "response_time_ms": time_ms,
        }
        reply = self.lms.post(f"{self.path}/responses", body)
        assert reply.status_code == 200, reply.text
        self.last = reply.json
        self.next = self.last["next"]
        return item

    def to_the_end(self, choose: Callable[[list[dict[str, Any]]], int] = right) -> list[dict[str, Any]]:
        items = []
        while self.next is not None:
            items.append(self.answer(choose))
        return items

    @property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = self.lms.get(f"{self.path}/report").json
        return found

    @property
    def log(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.lms.get(f"{self.path}/responses?limit=200").json["data"]
        return found


def exam_of(db: Db) -> Exam:
    return db.exec(select(Exam).where(Exam.slug == "exam")).one()


def add_items(db: Db, exam: Exam, objectives: list[str], each: int) -> None:
    """Operational items, imported, `each` of them on every objective."""
    parts = tuple(
        ItemPart(
            f"{code}-{n}", Origin("items.yaml"), (), item_content(f"part-{n}", objective=code, angoff=0.3 + 0.1 * n)
        )
        for code in objectives
        for n in range(each)
    )
    stored = catalog.blueprint_content(db, catalog.get_blueprint(db, exam))
    bundle = Bundle(Part(exam.slug, Origin("exam.yaml"), (), catalog.exam_content(exam, stored)), items=parts)
    plan = importing.plan(db, exam.tenant_id, bundle, stage=Stage.OPERATIONAL)
    assert not plan.issues
    importing.apply(db, plan, actor="test", now=START)


# Diagnostic


def test_a_diagnostic_ends_within_25_items_in_proportion_with_a_map_of_the_domains(lms: Caller) -> None:
    sitting = Sitting(lms, "diagnostic", seed=3)
    items = sitting.to_the_end()
    assert 10 <= len(items) <= 25
    asked = Counter(item["objective"].partition(".")[0] for item in items)
    assert {
        domain: round(count - share * len(items))
        for (domain, count), share in zip(sorted(asked.items()), (0.6, 0.4), strict=True)
    } == {"1": 0, "2": 0}
    report = sitting.report
    assert [(each["code"], each["answers"], each["evidence"]) for each in report["domains"]] == [
        ("1", asked["1"], "enough"),
        ("2", asked["2"], "enough"),
    ]
    for domain in report["domains"]:
        share = domain["mastery"]["share_right"]
        assert share["low"] < share["value"] < share["high"]
    assert report["next_due_at"] is not None


def test_the_map_of_a_diagnostic_rests_on_its_own_answers_alone(lms: Caller) -> None:
    Sitting(lms, "adaptive_test", policy={"maximum_length": 12, "minimum_length": 12}, seed=1).to_the_end(wrong)
    policy = {"maximum_length": 4, "minimum_length": 4}
    known, new = (Sitting(lms, "diagnostic", learner=learner, policy=policy, seed=5) for learner in ("ada", "bob"))
    known.to_the_end()
    new.to_the_end()
    assert {each["evidence"] for each in new.report["domains"]} == {"not_enough"}
    assert [each["missing_answers"] for each in known.report["domains"]] == [1, 1]
    assert known.report["domains"] == new.report["domains"]


def test_a_diagnostic_of_forty_objectives_keeps_to_the_domains(
    engine: sa.Engine, client: FlaskClient, api_key: Callable[..., str]
) -> None:
    shares, leaves = {"1": 0.5, "2": 0.3, "3": 0.2}, {"1": 20, "2": 12, "3": 8}
    blueprint = tuple(
        ObjectiveContent(
            domain,
            f"Domain {domain}",
            share,
            tuple(
                ObjectiveContent(f"{domain}.{n}", f"Part {n}", share / leaves[domain]) for n in range(leaves[domain])
            ),
        )
        for domain, share in shares.items()
    )
    with transaction(engine, writes=True) as db:
        content = ExamContent(slug="exam", title="An exam", blueprint=blueprint)
        exam = authoring.create_exam(db, make_tenant(db).id, content, actor="test", now=START)
        add_items(db, exam, [leaf.code for domain in blueprint for leaf in domain.objectives], 3)
    sitting = Sitting(Caller(client, api_key("sessions:write")), "diagnostic", policy={"standard_error": None})
    items = sitting.to_the_end()
    asked = Counter(item["objective"].partition(".")[0] for item in items)
    assert len(items) == 25
    assert all(abs(asked[domain] - 25 * share) <= 1.0 for domain, share in shares.items())
    assert [(each["code"], each["evidence"]) for each in sitting.report["domains"]] == [
        (domain, "enough") for domain in shares
    ]
    assert len({item["objective"] for item in items}) >= 20


# Review


def test_a_review_before_anything_is_due_is_refused_and_says_when_to_come(lms: Caller, now: datetime) -> None:
    body = {"exam": "exam", "learner": "ada", "mode": "review"}
    reply = lms.post("/v1/sessions", body)
    assert (reply.status_code, reply.json["code"], reply.json["next_due_at"]) == (409, "nothing_due", None)
    practised = Sitting(lms, "practice")
    practised.answer()
    lms.post(f"{practised.path}/finish")
    reply = lms.post("/v1/sessions", body)
    assert reply.status_code == 409
    due_at = datetime.fromisoformat(reply.json["next_due_at"])
    assert due_at >= now + timedelta(days=1)
    assert datetime.fromisoformat(practised.report["next_due_at"]) == due_at


def test_a_review_serves_what_is_due_most_overdue_first_and_moves_memory_but_not_ability(
    lms: Caller, bank: sa.Engine, clock: Clock
) -> None:
    choices = [right, wrong, right, wrong, right, right, wrong, right]
    learned = Sitting(lms, "adaptive_test", policy={"maximum_length": 8, "minimum_length": 8}, seed=1)
    for choose in choices:
        learned.answer(choose)
        clock.advance(minutes=7)
    clock.advance(days=40)
    before = lms.get(REPORT).json
    with transaction(bank, writes=False) as db:
        rows = db.execute(
            sa.text("SELECT item_id, due_at, stability FROM learner_item ORDER BY due_at, stability")
        ).all()
        uuid_of = {item.id: str(item.uuid) for item in db.exec(select(Item))}
    assert before["reviews"] == {"due": 8, "next_due_at": None}
    review = Sitting(lms, "review")
    items = review.to_the_end()
    assert [item["id"] for item in items] == [uuid_of[row.item_id] for row in rows]
    assert review.last["stop_reason"] == review.report["stop_reason"] == "nothing_due"
    after = lms.get(REPORT).json
    assert (after["ability"], after["readiness"]) == (before["ability"], before["readiness"])
    assert {row["exposure_class"] for row in review.log} == {"repeat_revealed"}
    assert after["reviews"]["due"] == 0
    assert review.report["next_due_at"] == after["reviews"]["next_due_at"] is not None
    assert review.report["domains"] is None


def test_a_review_serves_nothing_that_is_not_due(lms: Caller, clock: Clock) -> None:
    sitting = Sitting(lms, "practice", seed=2)
    missed = sitting.answer(wrong)["id"]
    for _ in range(5):
        sitting.answer(right)
    clock.advance(days=1)
    assert [item["id"] for item in Sitting(lms, "review").to_the_end()] == [missed]


# Practice


def test_practice_brings_a_wrong_item_back_no_sooner_than_the_next_day(lms: Caller, clock: Clock) -> None:
    sitting = Sitting(lms, "practice", seed=2)
    missed = sitting.answer(wrong)["id"]
    assert missed not in [item["id"] for item in sitting.to_the_end()]
    clock.advance(hours=3)
    again = lms.post("/v1/sessions", {"exam": "exam", "learner": "ada", "mode": "practice"})
    assert again.json["code"] == "nothing_to_serve"
    clock.advance(hours=22)
    assert missed in [item["id"] for item in Sitting(lms, "practice").to_the_end()]


def test_practice_mixes_in_what_is_due_at_its_share(lms: Caller, clock: Clock) -> None:
    sitting = Sitting(lms, "practice", seed=2)
    missed = []
    for _ in range(10):
        missed.append(sitting.answer(wrong)["id"])
        clock.advance(seconds=30)
    lms.post(f"{sitting.path}/finish")
    clock.advance(days=1)
    session = Sitting(lms, "practice", policy={"maximum_length": 20})
    items = [item["id"] for item in session.to_the_end()]
    reviewed = [item for item in items if item in missed]
    assert reviewed == missed[:6]
    assert [row["trace"]["turn"] for row in session.log].count("due") == 6
    halves = [sum(item in missed for item in part) for part in (items[:10], items[10:])]
    assert halves == [3, 3]


def test_practice_asks_for_a_missed_item_in_another_way_a_few_positions_later(lms: Caller, bank: sa.Engine) -> None:
    with transaction(bank, writes=True) as db:
        items = list(db.exec(select(Item).order_by(col(Item.id))))
        # objectives take turns
        pairs = [
            (items[place], items[place + 3]) for start in range(0, len(items), 6) for place in range(start, start + 3)
        ]
        for one, other in pairs:
            authoring.relate(db, one, other, RelationKind.SIBLING, actor="test", now=START)
        names = [(str(one.uuid), str(other.uuid)) for one, other in pairs]
        sibling = dict(names) | {other: one for one, other in names}
    sitting = Sitting(lms, "practice", seed=4)
    missed = sitting.answer(wrong)["id"]
    after = [sitting.answer(right)["id"] for _ in range(8)]
    place = after.index(sibling[missed])
    assert place <= 4
    turns = [row["trace"]["turn"] for row in sitting.log]
    assert "sibling" in turns or place < 4


# Pretest items and rapid guesses


@pytest.fixture
def unscored(bank: sa.Engine) -> str:
    """The id of the only item in pretest."""
    with transaction(bank, writes=True) as db:
        exam = exam_of(db)
        item = authoring.submit(db, exam, item_content("new"), external_id="new", actor="test", now=exam.created_at)
        move(db, item, *UNSCORED)
        found = str(item.uuid)
    return found


def test_a_pretest_item_comes_at_its_slot_only_and_moves_nothing(lms: Caller, unscored: str) -> None:
    policy = {"maximum_length": 12, "minimum_length": 12, "pretest_slots": [5]}
    slotted = Sitting(lms, "adaptive_test", policy=policy, seed=1)
    items = [item["id"] for item in slotted.to_the_end(wrong)]
    assert items.index(unscored) == 4
    row = slotted.log[4]
    assert (row["exposure_class"], row["moves_ability"]) == ("pretest", False)
    assert row["ability_after"] == row["ability_before"]
    assert lms.get(REPORT).json["answers"] == 11
    without = Sitting(lms, "adaptive_test", learner="bob", policy=policy | {"pretest_slots": [], "maximum_length": 36})
    assert unscored not in [item["id"] for item in without.to_the_end()]


def test_what_was_a_pretest_item_never_waits_as_a_review(lms: Caller, unscored: str, clock: Clock) -> None:
    policy = {"maximum_length": 1, "pretest_slots": [1], "minimum_length": 1}
    assert [item["id"] for item in Sitting(lms, "adaptive_test", policy=policy).to_the_end()] == [unscored]
    body = {"exam": "exam", "learner": "ada", "mode": "review"}
    assert lms.post("/v1/sessions", body).json["next_due_at"] is None
    clock.advance(days=60)
    assert lms.get(REPORT).json["reviews"] == {"due": 0, "next_due_at": None}
    assert lms.post("/v1/sessions", body).json["code"] == "nothing_due"


def test_a_rapid_guess_is_labelled_and_moves_neither_ability_nor_memory(lms: Caller, bank: sa.Engine) -> None:
    with transaction(bank, writes=True) as db:
        make_timings(db, 20_000.0)
    sitting = Sitting(lms, "adaptive_test", policy={"maximum_length": 4, "minimum_length": 4})
    guessed = sitting.answer(wrong, time_ms=2_900)["id"]
    sitting.answer(right, time_ms=3_100)
    row, honest = sitting.log
    assert (row["exposure_class"], row["moves_ability"]) == ("rapid_guess", False)
    assert row["ability_after"] == row["ability_before"]
    assert (honest["exposure_class"], honest["moves_ability"]) == ("clean_first", True)
    assert lms.get(REPORT).json["answers"] == 1
    with transaction(bank, writes=False) as db:
        item = db.exec(select(Item)).all()
        guess = next(each for each in item if str(each.uuid) == guessed)
        memories = {row.item_id: row.due_at for row in db.execute(sa.text("SELECT item_id, due_at FROM learner_item"))}
    assert len(memories) == 2
    assert [memories[guess.id] is None, sum(due is None for due in memories.values())] == [True, 1]
