"""Every operation of the OpenAPI document, called with whatever its schemas allow and with what they don't.

A reply must be one that the document has: its status, its media type, its schema; and never a 500. Path parameters are
often real ids, so that the calls get further than "not found".
"""

import io
import random
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import schemathesis
import sqlalchemy as sa
from flask import Flask
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.app import create_app
from api.auth import keys
from api.config import Config
from itembank import clients, importing
from itembank.content import Stage
from itembank.formats import bundle
from itembank.store import open_engine, transaction
from tests.factories.bank import START
from tests.factories.clock import Clock
from tests.factories.database import ROOT, upgrade
from tests.factories.http import Caller

EXAMPLES_PER_OPERATION = 30
EXAM = "ai-infrastructure"
settings = hypothesis.settings(
    max_examples=EXAMPLES_PER_OPERATION,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def make_app(folder: Path) -> tuple[Flask, str]:
    """The application with the sample exam, and a key that may do everything."""
    engine = open_engine(f"sqlite:///{folder}/fuzz.db")
    upgrade(engine)
    key = keys.mint()
    with transaction(engine, writes=True) as db:
        tenant = clients.create_tenant(db, "acme", now=START)
        values = {"prefix": key.prefix, "secret_hash": keys.digest(key.secret), "scopes": ["admin"]}
        clients.create_client(db, tenant.id, name="fuzz", now=START, **values)
        content = bundle.read(ROOT / "examples" / EXAM)
        plan = importing.plan(db, tenant.id, content, stage=Stage.OPERATIONAL)
        importing.apply(db, plan, actor="test", now=START)
    config = Config(secret_key="a key that is only good for tests, and long", rate_limit=None, learner_rate_limit=None)
    return create_app(config, clock=Clock(START), engine=engine, log_to=io.BytesIO()), str(key)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Flask, str]]:
    app, key = make_app(tmp_path_factory.mktemp("fuzz"))
    yield app, key
    app.extensions["nextitem-engine"].dispose()


@pytest.fixture(scope="module")
def ids(world: tuple[Flask, str]) -> dict[str, list[str]]:
    """Real values for path parameters, by their name."""
    app, key = world
    lms = Caller(app.test_client(), key)
    sessions = [lms.start(exam=EXAM, learner=f"learner-{place}") for place in range(3)]
    lms.answer(sessions[0]["id"], sessions[0]["next"])
    found = {"exam": [EXAM], "learner": ["learner-0", "learner-1"], "session": [session["id"] for session in sessions]}
    with transaction(app.extensions["nextitem-engine"], writes=False) as db:
        for name in ("item", "article", "media"):
            found[name] = [str(uuid) for uuid in db.scalars(sa.text(f"SELECT uuid FROM {name} LIMIT 5"))]
    return found


def operations() -> list[tuple[str, str]]:
    """Method and path of everything in the document."""
    config = Config(secret_key="only to see which operations there are", database_url="sqlite://")
    spec = create_app(config).test_client().get("/openapi.json").json
    methods = {"get", "post", "put", "patch", "delete"}
    return [(method, path) for path, item in spec["paths"].items() for method in item if method in methods]


@pytest.mark.parametrize(("method", "path"), operations())
def test_no_call_gets_a_reply_that_the_document_does_not_have(
    method: str, path: str, world: tuple[Flask, str], ids: dict[str, list[str]]
) -> None:
    app, key = world
    authorization = {"Authorization": f"Bearer {key}"}
    operation = schemathesis.openapi.from_wsgi("/openapi.json", app, headers=authorization)[path][method]

    @settings
    @hypothesis.given(case=operation.as_strategy())
    def call(case: schemathesis.Case) -> None:
        chance = random.Random(repr(case.path_parameters))
        for name in set(case.path_parameters or ()) & ids.keys():
            if chance.random() < 0.8:
                case.path_parameters[name] = chance.choice(ids[name])
        case.call_and_validate(headers=authorization, checks=CHECKS)

    call()
