"""Conditional requests, RFC 9110 section 13."""

import json

import pytest

from tests.factories.http import Caller

pytestmark = pytest.mark.parametrize("migrated_engine", ["sqlite"], indirect=True)  # one database will do


@pytest.fixture
def bear(caller: Caller) -> Caller:
    caller.post("/v1/toys", {"name": "bear"})
    return caller


@pytest.mark.parametrize("given", ['"7"', 'W/"7"', '"6", "7"', "*", '"a,b" , W/"7"'])
def test_who_has_it_already_gets_no_body(bear: Caller, given: str) -> None:
    reply = bear.get("/v1/toys/bear", If_None_Match=given)
    assert (reply.status_code, reply.data, reply.headers["ETag"]) == (304, b"", '"7"')


@pytest.mark.parametrize("given", ['"6"', 'W/"77"', ""])
def test_who_has_another_one_gets_the_new(bear: Caller, given: str) -> None:
    reply = bear.get("/v1/toys/bear", If_None_Match=given)
    assert (reply.status_code, reply.headers["ETag"]) == (200, '"7"')
    assert reply.headers["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize("given", ['"7"', '"6", "7"', "*"])
def test_who_saw_the_latest_may_change_it(bear: Caller, given: str) -> None:
    reply = bear.call("PUT", "/v1/toys/bear", {"name": "ball"}, If_Match=given)
    assert (reply.status_code, reply.headers["ETag"]) == (200, '"8"')


@pytest.mark.parametrize("given", ['"6"', 'W/"7"', '"6", W/"7"', ""])
def test_who_did_not_may_not(bear: Caller, given: str) -> None:
    reply = bear.call("PUT", "/v1/toys/bear", {"name": "ball"}, If_Match=given)
    assert (reply.status_code, reply.headers["ETag"]) == (412, '"7"')
    assert bear.get("/v1/toys/ball").status_code == 404


def test_without_a_condition_nothing_is_changed(bear: Caller) -> None:
    reply = bear.call("PUT", "/v1/toys/bear", {"name": "ball"})
    assert (reply.status_code, json.loads(reply.data)["code"]) == (428, "precondition_required")


def test_what_is_found_out_late_is_a_failed_condition_too(bear: Caller) -> None:
    reply = bear.call("PUT", "/v1/toys/bear", {"name": "late"}, If_Match='"7"')
    assert (reply.status_code, reply.headers["ETag"]) == (412, '"8"')


@pytest.mark.parametrize("given", ["7", '"7', '"7" "8"', "W/7", '"7";'])
def test_a_condition_that_cannot_be_read_is_refused(bear: Caller, given: str) -> None:
    assert bear.get("/v1/toys/bear", If_None_Match=given).status_code == 400
    assert bear.call("PUT", "/v1/toys/bear", {"name": "ball"}, If_Match=given).status_code == 400


def test_what_is_not_there_is_missed_before_the_condition(caller: Caller) -> None:
    assert caller.call("PUT", "/v1/toys/ghost", {"name": "ball"}).status_code == 404
