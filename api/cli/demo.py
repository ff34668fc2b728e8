"""`nextitem demo`: the sample exam, a key for everything, a server and a worker, in one command."""

import json
import os
import secrets
from dataclasses import replace
from pathlib import Path

import click

from api.auth import keys
from api.auth.scopes import ADMIN
from api.cli import serving, working
from api.cli.settings import migrate, read_config, utc_now, writing
from api.config import Config
from itembank import catalog, clients, importing
from itembank.content import Stage
from itembank.errors import Invalid
from itembank.formats import bundle
from itembank.store import Db

FOLDER = Path("var")
EXAMPLE = Path(__file__).parents[2] / "examples" / "ai-infrastructure"
NAME = "demo"  # of the tenant and of the client

INTRODUCTION = """
Nextitem's demo is ready. Practise in a browser at {base_url}/demo
Read {base_url}/docs, and try the API from this folder in another shell:

export NEXTITEM_URL={base_url} NEXTITEM_KEY={api_key}
"""
STEPS = r"""
# 1. the exams in the bank
curl -s $NEXTITEM_URL/v1/exams -H "Authorization: Bearer $NEXTITEM_KEY"

# 2. start a session; the first question comes with the reply
curl -s $NEXTITEM_URL/v1/sessions -H "Authorization: Bearer $NEXTITEM_KEY" -H 'Content-Type: application/json' \
  -d '{"exam": "EXAM", "learner": "me", "mode": "practice"}' | tee var/session.json

# 3. answer it with the first option: what was right and why, and the next question
curl -s \
  $NEXTITEM_URL/v1/sessions/$(python3 -c 'import json; print(json.load(open("var/session.json"))["id"])')/responses \
  -H "Authorization: Bearer $NEXTITEM_KEY" -H 'Content-Type: application/json' \
  -d "$(python3 -c 'import json; n = json.load(open("var/session.json"))["next"]; i = n["item"]
print(json.dumps({"position": n["position"], "item": i["id"], "selected": [i["options"][0]["id"]]}))')"

# 4. what the session has come to
curl -s \
  $NEXTITEM_URL/v1/sessions/$(python3 -c 'import json; print(json.load(open("var/session.json"))["id"])')/report \
  -H "Authorization: Bearer $NEXTITEM_KEY"
"""


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on, 0 for any that is free; else PORT.")
def demo(port: int | None) -> None:
    """Load the sample exam into var/demo.db, make a key and serve, with a worker beside.

    It uses no database but its own, and listens on this machine only.
    """
    given = read_config()
    config = replace(
        given,
        database_url=f"sqlite:///{FOLDER / 'demo.db'}",
        secret_key=secrets.token_urlsafe(32),
        host="127.0.0.1",
        port=given.port if port is None else port,
        workers=1,
        demo=True,
    )
    listener = serving.bind(config)
    migrate(config)
    exam, key = _fill(config)
    facts = {"base_url": serving.base_url(listener), "api_key": str(key), "exam": exam}
    write_private(FOLDER / "demo.json", json.dumps(facts, indent=1) + "\n")
    click.echo(INTRODUCTION.format(**facts) + STEPS.replace("EXAM", exam))
    worker = working.Child(config.database_url)
    serving.run(config, listener, on_exit=worker.stop)


def _fill(config: Config) -> tuple[str, keys.Key]:
    """Import the sample exam unless it is there; make a key, revoke those of earlier demos. Returns the exam's slug."""
    now, key = utc_now(), keys.mint()
    with writing(config) as db:
        tenant = clients.find_tenant(db, NAME) or clients.create_tenant(db, NAME, now=now)
        tenant_id = tenant.id
        for earlier in clients.clients(db, tenant_id):
            clients.revoke_client(db, tenant_id, earlier, now=now)
        secret_hash = keys.digest(key.secret)
        clients.create_client(
            db, tenant_id, name=NAME, prefix=key.prefix, secret_hash=secret_hash, scopes=[ADMIN], now=now
        )
        return _import_example(db, tenant_id), key


def _import_example(db: Db, tenant_id: int) -> str:
    found = catalog.find_exam(db, tenant_id, EXAMPLE.name)
    if found is not None:
        return found.slug  # as it is: importing again would undo what was tried out on it
    plan = importing.plan(db, tenant_id, bundle.read(EXAMPLE), stage=Stage.OPERATIONAL)
    if plan.issues:
        raise Invalid(plan.issues)
    return importing.apply(db, plan, actor=NAME, now=utc_now()).slug


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read; it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
