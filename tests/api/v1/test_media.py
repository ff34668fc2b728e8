"""Images over HTTP, and what of them a learner may see when."""

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from itembank import authoring, clients
from itembank.store import transaction
from tests.factories.articles import PNG
from tests.factories.bank import START
from tests.factories.bundles import SVG
from tests.factories.http import Caller

Images = dict[str, str]


@pytest.fixture
def images(engine: sa.Engine, author: Caller) -> Images:
    """Ids of three images, by what they are for."""
    with transaction(engine, writes=True) as db:
        tenant = clients.get_tenant(db, "acme").id
        data = {"stem": PNG, "explanation": SVG.encode(), "unused": PNG + b"!"}
        return {
            name: str(authoring.add_media(db, tenant, content, actor="test", now=START).uuid)
            for name, content in data.items()
        }


@pytest.fixture
def session(
    client: FlaskClient,
    api_key: Callable[..., str],
    images: Images,
    create: Callable[..., Any],
    move: Callable[..., Any],
) -> Callable[..., tuple[Caller, dict[str, Any]]]:
    """A function that starts a session over an item with images; a learner's browser, and the session."""
    media = [{"id": images[role], "role": role, "alt": role} for role in ("stem", "explanation")]
    move(create(media=media)["id"], "in_review", "approved", "operational")
    lms = Caller(client, api_key("sessions:write"))

    def start(**policy: str) -> tuple[Caller, dict[str, Any]]:
        started = lms.start(policy=policy)
        return Caller(client, lms.post(f"/v1/sessions/{started['id']}/tokens").json["token"]), started

    return start


def test_an_image_comes_as_it_was_given(author: Caller, images: Images) -> None:
    reply = author.get(f"/v1/media/{images['explanation']}")
    assert (reply.status_code, reply.data, reply.content_type) == (200, SVG.encode(), "image/svg+xml")
    assert "immutable" in reply.headers["Cache-Control"]
    assert "sandbox" in reply.headers["Content-Security-Policy"]
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    again = author.get(f"/v1/media/{images['explanation']}", If_None_Match=reply.headers["ETag"])
    assert (again.status_code, again.data) == (304, b"")


def test_another_tenants_image_is_not_there(stranger: Caller, images: Images) -> None:
    assert stranger.get(f"/v1/media/{images['stem']}").status_code == 404


def visible(learner: Caller, images: Images) -> set[str]:
    return {name for name, media in images.items() if learner.get(f"/v1/media/{media}").status_code == 200}


def test_an_image_of_an_explanation_is_shown_after_the_answer(
    session: Callable[..., tuple[Caller, dict[str, Any]]], images: Images
) -> None:
    learner, started = session()
    assert visible(learner, images) == {"stem"}
    assert learner.answer(started["id"], started["next"]).status_code == 200
    assert visible(learner, images) == {"stem", "explanation"}


def test_an_image_of_an_explanation_waits_for_the_end_where_feedback_does(
    session: Callable[..., tuple[Caller, dict[str, Any]]], images: Images, create: Any, move: Any
) -> None:
    move(create("two")["id"], "in_review", "approved", "operational")
    learner, started = session(feedback="end")
    step = learner.answer(started["id"], started["next"]).json
    assert step["status"] == "in_progress"
    assert "explanation" not in visible(learner, images)
    learner.answer(started["id"], step["next"])
    learner.post(f"/v1/sessions/{started['id']}/finish")
    assert visible(learner, images) == {"stem", "explanation"}
