"""The README and the guides do what they say: their commands are run against a real demo."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.factories.database import ROOT

BIN = Path(sys.executable).parent
STARTS_WITHIN_S = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the examples, in which the demo runs."""
    folder = tmp_path_factory.mktemp("newcomer")
    (folder / "examples").symlink_to(ROOT / "examples")
    with (folder / "log").open("wb") as log:
        command = [str(BIN / "nextitem"), "demo", "--port", "0"]
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, start_new_session=True)
    try:
        wait_for(folder / "var/demo.json", server)
        yield folder
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=30)


def answers(file: Path) -> bool:
    """Whether the demo that wrote this file is there; it writes before the port opens."""
    if not file.exists():
        return False
    url = urlsplit(json.loads(file.read_text())["base_url"])
    with contextlib.suppress(OSError), socket.create_connection((url.hostname, url.port), timeout=1):
        return True
    return False


def wait_for(file: Path, server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + STARTS_WITHIN_S
    while not answers(file):
        assert server.poll() is None, (file.parent.parent / "log").read_text()
        assert time.monotonic() < until, "the demo did not start"
        time.sleep(0.1)


def run(command: str, folder: Path) -> str:
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-ec", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def shell_blocks(page: Path) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def test_the_readmes_two_commands_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    blocks = [shell_blocks(ROOT / name)[0] for name in ("README.md", "CONTRIBUTING.md")]
    targets = re.findall(r"^make ([a-z]+)", "\n".join(blocks), re.MULTILINE)
    assert targets == ["demo", "test", "check"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_example_client_answers_questions(folder: Path) -> None:
    said = run("python3 examples/practise.py --guess 4", folder)
    assert "Question 4" in said
    assert re.search(r"\d of 4 right", said)


def test_the_readmes_session_by_hand_starts_one(folder: Path) -> None:
    block = next(block for block in shell_blocks(ROOT / "README.md") if "curl" in block)
    session = json.loads(run(block, folder))
    assert session["next"]["position"] == 1


def test_what_the_demo_prints_can_be_copied_and_run(folder: Path) -> None:
    printed = (folder / "log").read_text()
    steps = printed[printed.index("export NEXTITEM_URL") :]
    steps = steps[
        : steps.rindex('-H "Authorization: Bearer $NEXTITEM_KEY"') + len('-H "Authorization: Bearer $NEXTITEM_KEY"')
    ]
    said = run(steps, folder)
    assert '"feedback":{' in said
    assert '"answers":1' in said


def test_the_commands_to_run_it_for_real_exist(folder: Path, tmp_path: Path) -> None:
    block = next(block for block in shell_blocks(ROOT / "README.md") if "nextitem serve" in block)
    block = block.replace("postgresql://user:password@host/nextitem", f"sqlite:///{tmp_path}/real.db")
    block = re.sub(r"SECRET_KEY=\S+", f"SECRET_KEY={'k' * 40}", block).replace(
        "nextitem serve", "nextitem serve --help"
    )
    said = run(block, folder)
    assert "nxi_" in said


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    source = ROOT / page
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", source.read_text()):
        assert (source.parent / target).exists(), f"{page} links to {target}"
