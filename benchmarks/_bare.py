"""The floor under an answered question: Flask and psycopg, one SELECT, one INSERT, one UPDATE and a commit.

No validation, no scoring, no choice of what comes next, nobody is asked who they are.
"""

import os
import threading

import psycopg
from flask import Flask, Response, request
from psycopg.types.json import Jsonb

TABLES = """
CREATE TABLE bare_session (id uuid PRIMARY KEY, position integer NOT NULL, updated_at timestamptz NOT NULL);
CREATE TABLE bare_response (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session uuid NOT NULL REFERENCES bare_session, position integer NOT NULL, item uuid NOT NULL,
    selected jsonb NOT NULL, response_time_ms integer, answered_at timestamptz NOT NULL,
    UNIQUE (session, position)
);
"""
READ = "SELECT position FROM bare_session WHERE id = %s FOR UPDATE"
APPEND = (
    "INSERT INTO bare_response (session, position, item, selected, response_time_ms, answered_at) "
    "VALUES (%s, %s, %s, %s, %s, now())"
)
ADVANCE = "UPDATE bare_session SET position = %s, updated_at = now() WHERE id = %s"


def app() -> Flask:
    """The application for gunicorn; each thread keeps a connection."""
    flask, local, url = Flask("bare"), threading.local(), os.environ["BENCHMARK_DATABASE_URL"]

    @flask.get("/health/live")
    def live() -> dict[str, str]:
        return {"status": "ok"}

    @flask.post("/sessions/<uuid:session>/responses")
    def answer(session: object) -> Response:
        connection = getattr(local, "connection", None)
        if connection is None:
            connection = local.connection = psycopg.connect(url)
        given = request.get_json()
        [position] = connection.execute(READ, (session,)).fetchone()
        values = (session, position + 1, given["item"], Jsonb(given["selected"]), given["response_time_ms"])
        connection.execute(APPEND, values)
        connection.execute(ADVANCE, (position + 1, session))
        connection.commit()
        return flask.json.response({"position": position + 1})

    return flask
