"""The documentation as a page: complete, and whole without scripts and without the rest of the Internet."""

import io
import re
from html.parser import HTMLParser

import pytest
from flask.testing import FlaskClient

from api.app import create_app
from api.config import Config
from api.errors import HTTP_PROBLEMS, PROBLEMS
from tests.api.conftest import SECRET


@pytest.fixture(scope="module")
def visitor() -> FlaskClient:
    return create_app(Config(secret_key=SECRET, database_url="sqlite://"), log_to=io.BytesIO()).test_client()


@pytest.fixture(scope="module")
def page(visitor: FlaskClient) -> str:
    reply = visitor.get("/docs")
    assert (reply.status_code, reply.content_type) == (200, "text/html; charset=utf-8")
    return reply.text


class Elements(HTMLParser):
    """Tags, ids and links of a page."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in {"href", "src"}:
                self.links.append(value or "")


def test_the_front_door_leads_to_it(visitor: FlaskClient) -> None:
    reply = visitor.get("/")
    assert (reply.status_code, reply.headers["Location"]) == (302, "/docs")


def test_every_operation_has_its_section(visitor: FlaskClient, page: str) -> None:
    spec = visitor.get("/openapi.json").json
    ids = set(Elements(page).ids)
    for methods in spec["paths"].values():
        for method, operation in methods.items():
            if method != "parameters":
                assert operation["operationId"] in ids
    assert {f"schema-{name}" for name in spec["components"]["schemas"]} <= ids


def test_every_problem_type_leads_to_its_row(visitor: FlaskClient, page: str) -> None:
    ids = Elements(page).ids
    for problem in {*PROBLEMS.values(), *HTTP_PROBLEMS.values()}:
        assert f"problem-{problem.slug}" in ids
        assert visitor.get(problem.type).headers["Location"] == f"/docs#problem-{problem.slug}"


def test_every_link_leads_somewhere(visitor: FlaskClient, page: str) -> None:
    elements = Elements(page)
    assert len(set(elements.ids)) == len(elements.ids)
    for link in set(elements.links):
        if link.startswith("#"):
            assert link[1:] in elements.ids
        else:
            with visitor.get(link) as reply:
                assert reply.status_code == 200, link


def test_it_needs_no_script_and_nothing_from_elsewhere(visitor: FlaskClient, page: str) -> None:
    elements = Elements(page)
    assert not {"script", "iframe", "img", "style"} & set(elements.tags)
    assert not [link for link in elements.links if re.match(r"[a-z]+:|//", link)]
    policy = visitor.get("/docs").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    with visitor.get("/static/docs.css") as style:
        assert (style.status_code, style.mimetype) == (200, "text/css")
        assert "url(" not in style.text
        assert "@import" not in style.text


def test_every_operation_can_be_tried_in_a_shell(page: str) -> None:
    lines = re.findall(r"<pre><code>curl(.*?)</code></pre>", page, re.DOTALL)
    sections = page.count('<p class="path">')
    assert len(lines) == sections
    assert all("$NEXTITEM_URL/" in line for line in lines)


def test_it_is_a_page_for_everyone(page: str) -> None:
    assert '<html lang="en">' in page
    assert "<title>Nextitem API" in page
    assert page.count("<h1") == 1
    assert page.count("<th ") == page.count("<th scope=")
