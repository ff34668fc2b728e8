"""The demo as it runs, on a port of its own, and a Chromium that notes whatever a page does wrong."""

import io
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID

import pytest
import sqlalchemy as sa
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright
from sqlmodel import col, select
from werkzeug.serving import make_server

from api.app import create_app
from api.auth import keys
from api.config import Config
from api.pages.demo import TENANT
from itembank import authoring, clients, importing
from itembank.content import ItemKind, MediaRole, Stage
from itembank.formats import bundle
from itembank.models import Item, ItemMedia, ItemVersion, Misconception, Option, Response, Session
from itembank.store import Db, open_engine, transaction
from tests.conftest import ROOT, START
from tests.factories.bank import TO_OPERATIONAL, item_content, move
from tests.factories.database import upgrade

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 30_000  # the machine may be busy with other tests
NOTE_VIOLATIONS = """
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""


@dataclass(frozen=True, slots=True)
class Site:
    """A server with the sample exam, and what only the bank knows of it."""

    url: str
    engine: sa.Engine
    api_key: str

    def keys(self, item: str) -> set[str]:
        """Ids of an item's right options."""
        return {str(option.uuid) for option, _ in self._options(item) if option.is_key}

    def revealing(self, item: str) -> dict[str, str]:
        """Ids of the wrong options that show a misconception, and the anchor of the mistake entry it leads to."""
        return {
            str(option.uuid): idea.anchor
            for option, idea in self._options(item)
            if idea is not None and idea.anchor is not None and not option.is_key
        }

    def secrets(self, item: str) -> list[str]:
        """What an item's explanation says, as its author wrote it: the start of each of its texts."""
        options = self._options(item)
        with transaction(self.engine, writes=False) as db:
            version = db.get(ItemVersion, options[0][0].item_version_id)
        assert version is not None
        said = [version.short_explanation, version.full_explanation, *(option.rationale for option, _ in options)]
        return [text.split("`")[0].split("*")[0].split("\n")[0][:40] for text in said]

    def explained_by_image(self) -> set[str]:
        """Ids of the items whose explanation has an image."""
        query = (
            select(Item.uuid)
            .join(ItemVersion, col(ItemVersion.item_id) == col(Item.id))
            .join(ItemMedia, col(ItemMedia.item_version_id) == col(ItemVersion.id))
            .where(col(ItemMedia.role) == MediaRole.EXPLANATION)
        )
        with transaction(self.engine, writes=False) as db:
            return {str(uuid) for uuid in db.exec(query)}

    def answers(self, session: str) -> int:
        """How many answers are stored for a session."""
        query = select(sa.func.count()).select_from(Response).join(Session).where(col(Session.uuid) == UUID(session))
        with transaction(self.engine, writes=False) as db:
            return db.exec(query).one()

    def _options(self, item: str) -> list[tuple[Option, Misconception | None]]:
        query = (
            select(Option, Misconception)
            .join(ItemVersion, col(ItemVersion.id) == col(Option.item_version_id))
            .join(Item, col(Item.id) == col(ItemVersion.item_id))
            .outerjoin(Misconception, col(Misconception.id) == col(Option.misconception_id))
            .where(col(Item.uuid) == UUID(item))
        )
        with transaction(self.engine, writes=False) as db:
            return [(option, idea) for option, idea in db.exec(query)]


@dataclass  # without slots: Playwright keeps a note on whose method it calls
class Watch:
    """What a page did. A test that breaks the network on purpose says so in `expected`."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(text in message.text for text in self.expected):
            self.errors.append(message.text)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    url = f"sqlite:///{tmp_path_factory.mktemp('demo')}/demo.db"
    engine = open_engine(url)
    upgrade(engine)
    with transaction(engine, writes=True) as db:
        api_key = _fill(db)
    config = Config(secret_key="x" * 40, database_url=url, learner_rate_limit=None, demo=True)
    server = make_server("127.0.0.1", 0, create_app(config, engine=engine, log_to=io.BytesIO()), threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Site(f"http://127.0.0.1:{server.port}", engine, api_key)
    server.shutdown()
    thread.join()
    server.server_close()
    engine.dispose()


def _fill(db: Db) -> str:
    """What `nextitem demo` does, and an item with two right options, which the sample exam lacks. Returns the key."""
    tenant, key = clients.create_tenant(db, TENANT, now=START), keys.mint()
    digest = keys.digest(key.secret)
    clients.create_client(
        db, tenant.id, name=TENANT, prefix=key.prefix, secret_hash=digest, scopes=["admin"], now=START
    )
    plan = importing.plan(db, tenant.id, bundle.read(ROOT / "examples/ai-infrastructure"), stage=Stage.OPERATIONAL)
    exam = importing.apply(db, plan, actor=TENANT, now=START)
    single = item_content("several", objective="4.3")
    options = (replace(single.options[0], correct=True), replace(single.options[1], correct=True), *single.options[2:])
    several = replace(single, kind=ItemKind.MULTIPLE_CHOICE, options=options)
    move(db, authoring.submit(db, exam, several, external_id="several", actor=TENANT, now=START), *TO_OPERATIONAL)
    return str(key)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = CHROMIUM if Path(CHROMIUM).exists() else shutil.which("chromium")
    if path is None:
        pytest.skip(f"Chromium is not installed: neither {CHROMIUM} nor `chromium` on the PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 900, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(NOTE_VIOLATIONS)
    yield context
    context.close()


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def page(context: BrowserContext, site: Site, watch: Watch) -> Iterator[Page]:
    """The demo page with its first question; afterwards it must have done nothing wrong and called nobody else."""
    page = context.new_page()
    page.on("console", watch.hear)
    page.on("pageerror", lambda error: watch.errors.append(str(error)))
    page.on("request", lambda request: watch.requests.append(request.url))
    page.goto(f"{site.url}/demo")
    page.get_by_role("heading", name="Question 1").wait_for()
    yield page
    assert page.evaluate("window.violations") == []
    assert watch.errors == []
    assert {url for url in watch.requests if not url.startswith((f"{site.url}/", f"blob:{site.url}/"))} == set()
