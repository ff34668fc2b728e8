"""Items over HTTP, from draft to live."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from itembank import authoring, clients
from itembank.models import Item, ItemVersion
from itembank.store import transaction
from tests.factories import documents
from tests.factories.articles import PNG
from tests.factories.bank import START
from tests.factories.http import Caller

Create = Callable[..., dict[str, Any]]
Move = Callable[..., TestResponse]
TO_OPERATIONAL = ("in_review", "approved", "operational")
NOBODY = "0197a3f0-5a3c-7c1e-9d4b-2f6f0c8e1a52"


def pointers(reply: TestResponse) -> list[str]:
    assert reply.status_code == 422, reply.text
    return [fault["pointer"] for fault in reply.json["errors"]]


def test_an_item_is_created_as_a_draft_and_read(author: Caller, exam: str) -> None:
    made = author.post(f"/v1/exams/{exam}/items", documents.item())
    assert (made.status_code, made.headers["Location"]) == (201, f"/v1/items/{made.json['id']}")
    read = author.get(made.headers["Location"])
    assert (read.json, read.headers["ETag"]) == (made.json, made.headers["ETag"])
    assert (read.json["stage"], read.json["version"], read.json["live_version"]) == ("draft", 1, None)
    assert (read.json["exam"], read.json["author"]) == ("exam", "test")
    sent = documents.item()
    assert {name: read.json[name] for name in sent.keys() - {"options"}} == {
        name: sent[name] for name in sent.keys() - {"options"}
    }
    assert [option["text"] for option in read.json["options"]] == [f"Answer {place}" for place in range(4)]


def test_options_without_a_key_get_one(create: Create) -> None:
    options = [{"text": f"Text {i}", "correct": i == 0} for i in range(3)]
    options[1]["key"] = "option-2"
    assert [option["key"] for option in create(options=options)["options"]] == ["option-1", "option-2", "option-3"]


def test_everything_wrong_is_named_at_once_and_nothing_stored(author: Caller, exam: str, engine: sa.Engine) -> None:
    body = documents.item(stem=" ", objective="9.9", tags=["no namespace"], reading=[{"article": "x", "anchor": "y"}])
    body["options"][2]["text"] = "Answer 1"
    body["options"][1]["misconception"] = "gone"
    body["media"] = [{"id": NOBODY, "role": "stem", "alt": "x"}]
    assert sorted(pointers(author.post(f"/v1/exams/{exam}/items", body))) == [
        "/media/0",
        "/objective",
        "/options/1/misconception",
        "/options/1/text",
        "/options/2/text",
        "/reading/0",
        "/stem",
        "/tags/0",
    ]
    with transaction(engine, writes=False) as db:
        assert db.scalar(sa.select(sa.func.count()).select_from(Item)) == 0


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"stem": "x" * 300_000}, "/stem"),
        ({"stem": "a\x00b"}, "/stem"),
        ({"stem": 3}, "/stem"),
        ({"kind": "essay"}, "/kind"),
        ({"colour": "red"}, "/colour"),
        ({"stage": "operational"}, "/stage"),
        ({"options": []}, "/options"),
        ({"options": [{"id": NOBODY, "text": "x"}]}, "/options/0/id"),
        ({"options": [{"text": "x"}, {"text": 1}]}, "/options/1/text"),
        ({"angoff": 1}, "/angoff"),
        ({"angoff": "0.5"}, "/angoff"),
        ({"shuffle": 1}, "/shuffle"),
        ({"external_id": ""}, "/external_id"),
        ({"media": [{"id": "x", "role": "stem", "alt": "x"}]}, "/media/0/id"),
        ({"references": [{"citation": "x", "url": "javascript:alert(1)"}]}, "/references/0/url"),
    ],
)
def test_what_is_wrong_is_named(author: Caller, exam: str, changes: dict[str, Any], pointer: str) -> None:
    assert pointer in pointers(author.post(f"/v1/exams/{exam}/items", documents.item(**changes)))


def test_a_script_in_the_stem_is_gone(create: Create) -> None:
    assert create(stem="<script>alert(1)</script>What *now*?")["stem"] == "<div>What *now*?</div>"


def test_an_external_id_is_taken_once(author: Caller, exam: str, create: Create) -> None:
    create()
    reply = author.post(f"/v1/exams/{exam}/items", documents.item())
    assert (reply.status_code, reply.json["type"]) == (409, "/problems/already-exists")


def test_a_repeated_request_creates_once(author: Caller, exam: str) -> None:
    replies = [author.post(f"/v1/exams/{exam}/items", documents.item(), Idempotency_Key='"a"') for _ in range(2)]
    assert replies[0].json == replies[1].json
    assert replies[1].headers["Location"] == replies[0].headers["Location"]
    other = author.post(f"/v1/exams/{exam}/items", documents.item("two"), Idempotency_Key='"a"')
    assert other.status_code == 422


def test_what_is_there_already_need_not_be_sent_again(author: Caller, create: Create) -> None:
    path = f"/v1/items/{create()['id']}"
    tag = author.get(path).headers["ETag"]
    assert author.get(path, If_None_Match=tag).status_code == 304
    assert author.get(path, If_None_Match='"0"').status_code == 200


def test_a_revision_needs_the_tag_and_becomes_a_new_version(author: Caller, create: Create, move: Move) -> None:
    item = create()
    path, body = f"/v1/items/{item['id']}", documents.item(stem="Better?")
    move(item["id"], *TO_OPERATIONAL)
    assert author.put(path, body).status_code == 428
    tag = author.get(path).headers["ETag"]
    revised = author.put(path, body, tag)
    assert revised.status_code == 200, revised.text
    assert (revised.json["version"], revised.json["stage"], revised.json["live_version"]) == (2, "draft", 1)
    stale = author.put(path, documents.item(stem="Mine?"), tag)
    assert (stale.status_code, stale.headers["ETag"]) == (412, revised.headers["ETag"])
    assert author.get(path).json["stem"] == "Better?"
    assert author.get(f"{path}?version=1").json["stem"] == "What is one?"


def test_what_was_read_can_be_changed_and_sent_back(author: Caller, create: Create) -> None:
    item = create()
    path = f"/v1/items/{item['id']}"
    read = author.get(path)
    made = ("id", "exam", "stage", "version", "live_version", "author", "created_at", "updated_at")
    body = {name: value for name, value in read.json.items() if name not in made}
    same = author.put(path, body, read.headers["ETag"])
    assert (same.json, same.headers["ETag"]) == (read.json, read.headers["ETag"])
    body["options"][3] |= {"key": "renamed", "text": "Changed"}
    changed = author.put(path, body, read.headers["ETag"]).json
    assert [option["id"] for option in changed["options"]] == [option["id"] for option in item["options"]]


def test_an_option_known_by_its_id_keeps_its_key(author: Caller, create: Create) -> None:
    item = create()
    options = [{"id": o["id"], "text": o["text"] + "!", "correct": o["correct"]} for o in item["options"]]
    changed = author.put(f"/v1/items/{item['id']}", documents.item(options=options), '"1"').json
    assert [option["key"] for option in changed["options"]] == [option["key"] for option in item["options"]]


def test_an_option_of_another_item_is_refused(author: Caller, create: Create) -> None:
    one, two = create("one"), create("two")
    body = documents.item("one")
    body["options"][0]["id"] = two["options"][0]["id"]
    assert pointers(author.put(f"/v1/items/{one['id']}", body, '"1"')) == ["/options/0/id"]


def test_the_external_id_stays(author: Caller, create: Create) -> None:
    path = f"/v1/items/{create()['id']}"
    assert pointers(author.put(path, documents.item("other"), '"1"')) == ["/external_id"]


def test_an_item_moves_through_its_stages(author: Caller, create: Create, move: Move) -> None:
    item = create()
    reply = move(item["id"], *TO_OPERATIONAL)
    assert (reply.status_code, reply.json["stage"], reply.json["live_version"]) == (200, "operational", 1)
    assert reply.headers["ETag"] == author.get(f"/v1/items/{item['id']}").headers["ETag"]


def test_a_move_that_does_not_exist_says_which_do(create: Create, move: Move) -> None:
    reply = move(create()["id"], "operational")
    assert (reply.status_code, reply.json["type"]) == (409, "/problems/stage-conflict")
    assert (reply.json["stage"], reply.json["allowed"]) == ("draft", ["in_review"])


def test_an_item_without_a_rationale_stays_a_draft(author: Caller, create: Create, move: Move) -> None:
    body = documents.item()
    del body["options"][1]["rationale"]
    item = create(options=body["options"])
    assert pointers(move(item["id"], "in_review")) == ["/options/1/rationale"]


@pytest.mark.parametrize(
    "body", [{}, {"to": "heaven"}, {"to": "in_review", "version": 0}, {"to": "in_review", "by": "me"}]
)
def test_a_move_that_can_not_be_read(author: Caller, create: Create, body: dict[str, Any]) -> None:
    assert author.post(f"/v1/items/{create()['id']}/transitions", body).status_code == 422


def test_a_repeated_move_is_made_once(author: Caller, create: Create) -> None:
    path = f"/v1/items/{create()['id']}/transitions"
    replies = [author.post(path, {"to": "in_review"}, Idempotency_Key='"m"') for _ in range(2)]
    assert replies[0].json == replies[1].json
    assert author.post(path, {"to": "in_review"}).status_code == 409


def test_versions_are_listed_newest_first(author: Caller, create: Create) -> None:
    item = create()
    path = f"/v1/items/{item['id']}"
    for place in range(1, 4):
        author.put(path, documents.item(stem=f"Stem {place}?"), f'"{place}"')
    first = author.get(f"{path}/versions?limit=3").json
    second = author.get(f"{path}/versions?limit=3&cursor={first['next_cursor']}").json
    assert [version["version"] for version in first["data"] + second["data"]] == [4, 3, 2, 1]


def listed(author: Caller, query: str) -> list[str]:
    reply = author.get(f"/v1/exams/exam/items?{query}")
    assert reply.status_code == 200, reply.text
    return [item["external_id"] for item in reply.json["data"]]


def test_items_are_listed_by_what_they_are(author: Caller, create: Create, move: Move) -> None:
    create("one")
    two = create("two", objective="1.2", tags=["topic:x"])
    move(two["id"], "in_review")
    assert listed(author, "") == listed(author, "objective=1") == ["one", "two"]
    assert listed(author, "objective=1.2") == listed(author, "stage=in_review") == ["two"]
    assert listed(author, "tag=bloom:apply") == listed(author, "external_id=one") == ["one"]
    assert listed(author, "tag=topic:x&stage=draft") == []


def test_items_are_listed_page_by_page_while_others_come(author: Caller, create: Create) -> None:
    for place in range(3):
        create(f"item-{place}")
    first = author.get("/v1/exams/exam/items?limit=2").json
    create("item-3")
    cursor = first["next_cursor"]
    second = author.get(f"/v1/exams/exam/items?limit=2&cursor={cursor}").json
    names = [item["external_id"] for item in first["data"] + second["data"]]
    assert names == [f"item-{place}" for place in range(4)]
    mismatched = author.get(f"/v1/exams/exam/items?limit=2&cursor={cursor}&stage=draft")
    assert (mismatched.status_code, mismatched.json["errors"][0]["code"]) == (400, "cursor_mismatch")


@pytest.mark.parametrize("query", ["stage=heaven", "colour=red", "limit=0", "limit=201", "cursor=x", "tag=%00"])
def test_a_list_that_can_not_be_asked_for(author: Caller, exam: str, query: str) -> None:
    assert author.get(f"/v1/exams/{exam}/items?{query}").status_code == 400


def test_images_are_named_by_their_ids(author: Caller, create: Create, engine: sa.Engine) -> None:
    with transaction(engine, writes=True) as db:
        tenant = clients.get_tenant(db, "acme")
        image = str(authoring.add_media(db, tenant.id, PNG, actor="test", now=START).uuid)
    use = {"id": image, "role": "stem", "alt": "a picture", "description": ""}
    assert create(media=[use])["media"] == [use]


def test_nothing_of_another_tenant_is_there(stranger: Caller, create: Create, exam: str) -> None:
    item = create()["id"]
    replies = [
        stranger.get(f"/v1/items/{item}"),
        stranger.put(f"/v1/items/{item}", documents.item(), '"1"'),
        stranger.get(f"/v1/items/{item}/versions"),
        stranger.post(f"/v1/items/{item}/transitions", {"to": "in_review"}),
        stranger.get(f"/v1/exams/{exam}/items"),
        stranger.post(f"/v1/exams/{exam}/items", documents.item("theirs")),
    ]
    assert {reply.status_code for reply in replies} == {404}


def test_what_does_not_exist(author: Caller, create: Create) -> None:
    item = create()["id"]
    for path in (f"/v1/items/{NOBODY}", "/v1/items/one", f"/v1/items/{item}?version=9", "/v1/exams/none/items"):
        assert author.get(path).status_code == 404, path


def test_writing_is_not_reviewing(client: FlaskClient, api_key: Callable[..., str], create: Create) -> None:
    item = create()["id"]
    writer = Caller(client, api_key("items:write"))
    assert writer.post(f"/v1/items/{item}/transitions", {"to": "in_review"}).status_code == 403
    assert writer.get(f"/v1/items/{item}").status_code == 403


def test_half_of_a_surrogate_pair_is_no_text(author: Caller, exam: str, client: FlaskClient) -> None:
    headers = {"Authorization": f"Bearer {author.credentials}", "Content-Type": "application/json"}
    body = json.dumps(documents.item(stem="half \ud800"))  # escaped, as a client would send it
    assert pointers(client.post(f"/v1/exams/{exam}/items", data=body, headers=headers)) == ["/stem"]


def test_malformed_json_is_no_item(author: Caller, exam: str, client: FlaskClient) -> None:
    headers = {"Authorization": f"Bearer {author.credentials}", "Content-Type": "application/json"}
    path = f"/v1/exams/{exam}/items"
    assert client.post(path, data="{", headers=headers).status_code == 400
    assert client.post(path, data="{}", headers=headers | {"Content-Type": "text/plain"}).status_code == 415
    assert client.post(path, data=b'"' + b"x" * 2_000_000 + b'"', headers=headers).status_code == 413


def test_an_item_made_over_http_is_served(author: Caller, create: Create, move: Move, lms: Caller) -> None:
    item = create()
    assert lms.post("/v1/sessions", {"exam": "exam", "learner": "a", "mode": "practice"}).status_code == 409
    move(item["id"], *TO_OPERATIONAL)
    assert lms.start(learner="b")["next"]["item"]["id"] == item["id"]
    move(item["id"], "suspended")
    assert lms.post("/v1/sessions", {"exam": "exam", "learner": "c", "mode": "practice"}).status_code == 409


@pytest.fixture
def lms(client: FlaskClient, api_key: Callable[..., str]) -> Caller:
    return Caller(client, api_key("sessions:write"))


def test_two_revisions_of_one_version_are_not_both_stored(author: Caller, create: Create, engine: sa.Engine) -> None:
    item = create()["id"]
    app = author.client.application
    bodies = [documents.item(stem=f"Stem {place}?") for place in range(4)]

    def send(body: dict[str, Any]) -> int:
        return Caller(app.test_client(), author.credentials).put(f"/v1/items/{item}", body, '"1"').status_code

    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(send, bodies))
    assert statuses == [200, 412, 412, 412]
    with transaction(engine, writes=False) as db:
        assert db.scalar(sa.select(sa.func.count()).select_from(ItemVersion)) == 2
