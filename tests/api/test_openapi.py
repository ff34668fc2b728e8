"""The description of the API is valid, complete and true."""

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.app import create_app
from api.auth.scopes import SCOPES
from api.config import Config
from api.operations import NOTE, notes
from api.pages import docs
from tests.api.conftest import SECRET

ROOT = Path(__file__).parents[2]
PAGES = {"pages", "demo"}  # blueprints for people, which the description leaves out
PUBLIC = {"is_live", "is_ready", "metrics"}

Spec = dict[str, Any]


@pytest.fixture(scope="module")
def plain_app() -> Flask:
    """The application without a database: nothing is called on it that needs one."""
    return create_app(Config(secret_key=SECRET, database_url="sqlite://", demo=True), log_to=io.BytesIO())


@pytest.fixture(scope="module")
def spec(plain_app: Flask) -> Spec:
    document: Spec = plain_app.test_client().get("/openapi.json").json
    return document


@dataclass(frozen=True, slots=True)
class Operation:
    path: str
    method: str
    facts: Spec

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"


@pytest.fixture(scope="module")
def operations(spec: Spec) -> list[Operation]:
    return [
        Operation(path, method, facts)
        for path, methods in spec["paths"].items()
        for method, facts in methods.items()
        if method != "parameters"
    ]


def bodies(operation: Operation) -> Iterator[tuple[str, str, Spec]]:
    """What an operation takes and gives: a word for it, the media type, schema and example."""
    for media_type, content in operation.facts.get("requestBody", {}).get("content", {}).items():
        yield "body", media_type, content
    for status, response in operation.facts["responses"].items():
        for media_type, content in response.get("content", {}).items():
            yield status, media_type, content


def test_it_is_valid_openapi_3_1(spec: Spec) -> None:
    assert spec["openapi"].startswith("3.1")
    assert list(OpenAPIV31SpecValidator(spec).iter_errors()) == []


def test_it_says_null_as_openapi_3_1_does(spec: Spec) -> None:
    assert "nullable" not in str(spec)


def test_routes_and_description_agree(plain_app: Flask, operations: list[Operation]) -> None:
    described = {(re.sub(r"{(\w+)}", r"<\1>", found.path), found.method.upper()) for found in operations}
    routed = {
        (re.sub(r"<\w+:(\w+)>", r"<\1>", rule.rule), method)
        for rule in plain_app.url_map.iter_rules()
        if rule.endpoint.split(".")[0] not in PAGES
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    assert described == routed


def test_every_operation_has_a_name_of_its_own_and_a_summary(operations: list[Operation]) -> None:
    names = [found.facts["operationId"] for found in operations]
    assert len(set(names)) == len(names)
    for found in operations:
        assert re.fullmatch(r"[A-Z][^\n]*[^.\n]", found.facts["summary"]), found


def test_every_operation_shows_what_it_takes_and_gives(operations: list[Operation]) -> None:
    missing = [
        f"{found}: {where} {media_type}"
        for found in operations
        for where, media_type, content in bodies(found)
        if "example" not in content and "examples" not in content and media_type != "multipart/form-data"
    ]
    assert missing == []
    for found in operations:
        assert any(int(status) < 400 for status in found.facts["responses"]), found


def test_examples_are_what_the_schemas_say(spec: Spec, operations: list[Operation]) -> None:
    wrong = []
    for found in operations:
        for where, media_type, content in bodies(found):
            if media_type == "application/json" and "example" in content:
                schema = {**content["schema"], "components": spec["components"]}  # so that references lead somewhere
                validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
                wrong += [
                    f"{found}: {where}: {error.json_path}: {error.message}"
                    for error in validator.iter_errors(content["example"])
                ]
    assert wrong == []


def test_every_operation_documents_its_errors(spec: Spec, operations: list[Operation]) -> None:
    for found in operations:
        statuses = set(found.facts["responses"])
        expected = {"500"} | ({"404"} if "{" in found.path else set())
        if found.facts["security"]:
            expected |= {"401", "403", "429", "503"}
        if "application/json" in found.facts.get("requestBody", {}).get("content", {}):
            expected |= {"400", "413", "415", "422"}
        assert statuses >= expected, f"{found} lacks {expected - statuses}"


def test_every_error_is_a_problem(spec: Spec, operations: list[Operation]) -> None:
    for found in operations:
        for status, response in found.facts["responses"].items():
            if int(status) >= 400:
                name = response["$ref"].rsplit("/", 1)[1]
                assert set(spec["components"]["responses"][name]["content"]) == {"application/problem+json"}, found


def test_every_parameter_says_what_it_means(spec: Spec, operations: list[Operation]) -> None:
    for path, methods in spec["paths"].items():
        for parameter in methods.get("parameters", ()):
            assert parameter.get("description"), f"{path}: {parameter['name']}"
    for found in operations:
        for parameter in found.facts["parameters"]:
            assert "$ref" in parameter or parameter.get("description"), f"{found}: {parameter['name']}"


def test_every_creating_post_takes_an_idempotency_key(operations: list[Operation]) -> None:
    """Answering is idempotent by its position; making a token creates nothing that is stored."""
    exempt = {"create_session_token"}
    for found in operations:
        if found.method == "post" and {"201", "202"} & found.facts["responses"].keys():
            references = [parameter.get("$ref", "") for parameter in found.facts["parameters"]]
            is_exempt = found.facts["operationId"] in exempt
            assert is_exempt or "#/components/parameters/IdempotencyKey" in references, found


def test_every_update_of_a_thing_needs_its_etag(operations: list[Operation]) -> None:
    """A learner who changes an answer means the last one, whichever tab it came from."""
    exempt = {"change_response"}
    for found in operations:
        if found.method in {"put", "patch"} and found.facts["operationId"] not in exempt:
            assert {"$ref": "#/components/parameters/IfMatch"} in found.facts["parameters"], found


def test_whoever_is_let_in_without_credentials_is_on_the_list(operations: list[Operation]) -> None:
    assert {found.facts["operationId"] for found in operations if not found.facts["security"]} == PUBLIC


def test_what_is_written_is_written_in_a_transaction(plain_app: Flask) -> None:
    for rule in plain_app.url_map.iter_rules():
        facts = notes(plain_app.view_functions[rule.endpoint])
        if rule.rule.startswith("/v1/"):
            assert facts.get("scope") in SCOPES, rule
            assert not facts.get("creates") or facts["transaction"] == "writes", rule


def test_the_documentation_lists_who_may_do_what(operations: list[Operation]) -> None:
    text = (ROOT / "docs/permissions.md").read_text()
    scopes = dict(re.findall(r"^\| `([a-z:]+)` \| ([^|]*) \|$", text, re.MULTILINE))
    assert scopes == SCOPES
    rows = re.findall(r"^\| `(\w+)` \| `([A-Z]+ [^`]*)` \| `([a-z:]+)` \| (yes|–) \|$", text, re.MULTILINE)
    expected = {
        (
            found.facts["operationId"],
            str(found),
            found.facts["security"][0]["apiKey"][0],
            "yes" if {"learnerToken": []} in found.facts["security"] else "–",
        )
        for found in operations
        if found.facts["security"]
    }
    assert set(rows) == expected


def test_an_operation_without_notes_cannot_be_registered() -> None:
    assert notes(lambda: None) == {}
    assert NOTE == "nextitem"


def test_it_is_the_same_from_the_command_line(spec: Spec, plain_app: Flask) -> None:
    with plain_app.app_context():
        assert docs.spec()["paths"].keys() == spec["paths"].keys()


def test_the_description_may_say_where_the_api_is(make_app: Callable[..., Flask]) -> None:
    app = make_app(public_url="https://exams.example/")
    assert app.test_client().get("/openapi.json").json["servers"] == [{"url": "https://exams.example/"}]
