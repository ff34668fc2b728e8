"""The command line, as an operator types it."""

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import click
import pytest
import sqlalchemy as sa

from api.app import create_app
from api.cli import cli
from api.cli.demo import write_private
from api.config import Config
from itembank.store import open_engine
from tests.api.conftest import SECRET
from tests.factories.command import run
from tests.factories.http import Caller

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command runs in an empty folder and without settings."""
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith(("NEXTITEM_", "PROMETHEUS_")) or name == "PORT":
            monkeypatch.delenv(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, new_database: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty database that the settings name."""
    made = new_database(request.param)
    monkeypatch.setenv("NEXTITEM_DATABASE_URL", made)
    return made


def refuses(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that has to give up; the one line that it says."""
    assert run(*arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("nextitem: ")
    assert output.err.count("\n") == 1
    return output.err


def fetch(url: str, key: str = "") -> Any:
    request = Request(url, headers={"Authorization": f"Bearer {key}"} if key else {})
    with urlopen(request, timeout=10) as reply:
        body = reply.read().decode()
        return json.loads(body) if reply.headers.get_content_type() == "application/json" else body


@contextmanager
def server(*arguments: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """A server in its own process; it has to end by itself when it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from api.cli import main; main()", *arguments],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=40) == 0, process.communicate()[0]
    finally:
        process.kill()
        process.communicate()


def wait_until_it_answers(url: str, process: subprocess.Popen[str]) -> None:
    for _ in range(300):
        assert process.poll() is None, process.communicate()[0]
        try:
            fetch(f"{url}/health/live")
            return
        except URLError:
            time.sleep(0.1)
    raise AssertionError(f"{url} does not answer")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_upgrading_makes_the_schema_and_may_be_repeated(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (run("db", "upgrade"), run("db", "upgrade")) == (0, 0)
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    engine = open_engine(url)
    assert {"tenant", "item", "response"} <= set(sa.inspect(engine).get_table_names())
    engine.dispose()


def test_upgrading_makes_the_folder_of_an_sqlite_file(tmp_path: Path) -> None:
    assert run("db", "upgrade") == 0
    assert (tmp_path / "var" / "nextitem.db").is_file()


def test_a_new_clients_key_works_until_it_is_revoked(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("db", "upgrade")
    capsys.readouterr()
    assert run("client", "create", "--tenant", "acme", "--name", "lms", "--scope", "items:read", "--json") == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["tenant"], made["name"], made["scopes"]) == ("acme", "lms", ["items:read"])

    def status() -> int:
        app = create_app(Config(secret_key=SECRET, database_url=url, log_level="critical"))
        code = Caller(app.test_client(), made["api_key"]).get(f"/v1/sessions/{made['id']}/report").status_code
        app.extensions["nextitem-engine"].dispose()
        return code

    assert status() == 403  # known, but without that scope
    assert run("client", "revoke", "--tenant", "acme", made["id"]) == 0
    assert status() == 401


def test_a_key_is_shown_to_people_too(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("db", "upgrade")
    run("client", "create", "--tenant", "acme", "--name", "lms", "--scope", "items:read", "--scope", "admin")
    assert re.search(r"^key     nxi_[a-z2-7]{12}_\S{43}$", capsys.readouterr().out, re.MULTILINE)


def test_the_description_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("openapi") == 0
    assert json.loads(capsys.readouterr().out)["openapi"].startswith("3.1")


def test_help_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    assert "Usage:" in capsys.readouterr().out


def test_a_command_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'fly'" in refuses(capsys, "fly")


def test_a_scope_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    said = refuses(capsys, "client", "create", "--tenant", "a", "--name", "b", "--scope", "items:eat")
    assert "'items:eat'" in said


def test_a_setting_that_cannot_be_used_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEXTITEM_DATABASE_URL", "mysql://h/n")
    assert "NEXTITEM_DATABASE_URL must be" in refuses(capsys, "db", "upgrade")


def test_a_database_that_is_not_there_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEXTITEM_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    assert "the database: " in refuses(capsys, "db", "upgrade")


def test_revoking_what_is_not_there_is_told(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("db", "upgrade")
    capsys.readouterr()
    no_client = "0197a3f0-6b1d-7a52-8f0e-1d2c3b4a5968"
    assert "there is no tenant acme" in refuses(capsys, "client", "revoke", "--tenant", "acme", no_client)


def test_serving_needs_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    assert "NEXTITEM_SECRET_KEY" in refuses(capsys, "serve")


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXTITEM_SECRET_KEY", SECRET)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        assert f"port {port}" in refuses(capsys, "serve", "--port", port)


def test_several_processes_serve_and_count_together(url: str) -> None:
    run("db", "upgrade")
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    options = ("--port", str(port), "--workers", "2", "--threads", "2")
    with server("serve", *options, NEXTITEM_SECRET_KEY=SECRET, NEXTITEM_LOG_LEVEL="warning") as process:
        wait_until_it_answers(address, process)
        for _ in range(20):
            assert fetch(f"{address}/health/ready") == {"status": "ok"}
        line = 'nextitem_request_seconds_count{method="GET",route="/health/ready",status="200"} 20.0'
        assert line in fetch(f"{address}/metrics")


def test_the_demo_can_be_tried_as_it_says(tmp_path: Path) -> None:
    port = free_port()
    with server("demo", "--port", str(port), NEXTITEM_LOG_LEVEL="warning") as process:
        wait_until_it_answers(f"http://127.0.0.1:{port}", process)
        demo = json.loads((tmp_path / "var" / "demo.json").read_text())
        assert stat.S_IMODE((tmp_path / "var" / "demo.json").stat().st_mode) == 0o600
        assert (demo["base_url"], demo["exam"]) == (f"http://127.0.0.1:{port}", "ai-infrastructure")
        assert process.stdout is not None
        script = []
        for said in process.stdout:
            script.append(said)
            if said.startswith("# 4."):
                script += [process.stdout.readline() for _ in range(3)]
                break
        assert "".join(script).count("\ncurl ") == 4
        if not (shutil.which("curl") and shutil.which("bash")):
            pytest.skip("curl and bash are needed to try it")
        replies = [
            subprocess.run(["bash", "-c", f"{exported(script)}\n{step}"], check=True, capture_output=True).stdout
            for step in steps(script)
        ]
        _exams, started, answered, report = (json.loads(reply) for reply in replies)
        assert (started["learner"], answered["position"], report["answers"]) == ("me", 1, 1)
        assert answered["feedback"]["options"][0]["rationale"]
        assert fetch(f"{demo['base_url']}/v1/sessions/{started['id']}", demo["api_key"])["answered"] == 1


def exported(script: list[str]) -> str:
    return next(line for line in script if line.startswith("export "))


def steps(script: list[str]) -> list[str]:
    return re.split(r"^# \d\. .*$", "".join(script), flags=re.MULTILINE)[1:]


def test_a_private_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "secret.json"
    write_private(path, "1")
    path.chmod(0o644)
    write_private(path, "2")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("2", 0o600)
    assert list(path.parent.iterdir()) == [path]


def commands(group: click.Command, name: str = "nextitem") -> Iterator[tuple[str, click.Command]]:
    if isinstance(group, click.Group):
        for child, command in group.commands.items():
            yield from commands(command, f"{name} {child}")
    else:
        yield name, group


def test_the_documentation_lists_every_command_and_option() -> None:
    text = (ROOT / "docs/cli.md").read_text()
    sections = dict(re.findall(r"^## `(nextitem [a-z ]+)`\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    found = dict(commands(cli))
    assert sections.keys() == found.keys()
    for name, command in found.items():
        for parameter in command.params:
            spelled = parameter.opts[0] if isinstance(parameter, click.Option) else (parameter.name or "").upper()
            assert f"`{spelled}`" in sections[name], f"{name}: {spelled}"
