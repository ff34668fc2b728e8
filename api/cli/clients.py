"""`nextitem client …`: API clients and their keys."""

import json
from uuid import UUID

import click

from api.auth import keys
from api.auth.scopes import SCOPES
from api.cli.settings import read_config, utc_now, writing
from itembank import clients


@click.group()
def client() -> None:
    """API clients and their keys."""


@client.command()
@click.option("--tenant", required=True, help="Name of the tenant; a new name makes a new tenant.")
@click.option("--name", required=True, help="What the client is called in the audit log.")
@click.option(
    "--scope",
    "scopes",
    required=True,
    multiple=True,
    type=click.Choice(list(SCOPES)),
    help="What it may do; repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def create(tenant: str, name: str, scopes: tuple[str, ...], as_json: bool) -> None:
    """Make an API client and print its key, which is shown only this once."""
    now, key = utc_now(), keys.mint()
    with writing(read_config()) as db:
        owner = clients.find_tenant(db, tenant) or clients.create_tenant(db, tenant, now=now)
        made = clients.create_client(
            db,
            owner.id,
            name=name,
            prefix=key.prefix,
            secret_hash=keys.digest(key.secret),
            scopes=scopes,
            now=now,
        )
        facts = {"id": str(made.uuid), "tenant": tenant, "name": name, "scopes": made.scopes, "api_key": str(key)}
    if as_json:
        click.echo(json.dumps(facts))
    else:
        click.echo(f"client  {facts['id']}\nkey     {key}\nKeep the key: it can't be shown again.")


@client.command()
@click.option("--tenant", required=True, help="Name of the tenant.")
@click.argument("client_id", type=click.UUID)
def revoke(tenant: str, client_id: UUID) -> None:
    """Take a client's key away. Running servers may honour it for up to 30 seconds more."""
    with writing(read_config()) as db:
        clients.revoke_client(db, clients.get_tenant(db, tenant).id, client_id, now=utc_now())
    click.echo(f"client {client_id} is revoked")
