"""Settings: read once, checked at once, documented all."""

import re
from pathlib import Path

import pytest

from api.config import Config, ConfigError, settings

ROOT = Path(__file__).parents[2]


def test_without_any_setting_the_defaults_hold() -> None:
    config = Config.from_environment({})
    assert config == Config()
    assert (config.database_url, config.port, str(config.rate_limit)) == (
        "sqlite:///var/nextitem.db",
        8000,
        "6000 per 1 minute",
    )


def test_an_empty_setting_is_no_setting() -> None:
    assert Config.from_environment({"PORT": "", "NEXTITEM_SECRET_KEY": ""}) == Config()


def test_settings_are_read_from_their_names() -> None:
    config = Config.from_environment(
        {
            "PORT": "81",
            "NEXTITEM_RATE_LIMIT": "off",
            "NEXTITEM_DEMO": "on",
            "NEXTITEM_DATABASE_URL": "postgresql://u@h/n",
        }
    )
    assert (config.port, config.rate_limit, config.demo) == (81, None, True)
    assert config.database_url == "postgresql://u@h/n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "0"),
        ("PORT", "eight"),
        ("PORT", "8000.5"),
        ("NEXTITEM_WORKERS", "-1"),
        ("NEXTITEM_THREADS", "257"),
        ("NEXTITEM_THREADS", "٨"),
        ("NEXTITEM_SECRET_KEY", "short"),
        ("NEXTITEM_DATABASE_URL", "mysql://h/n"),
        ("NEXTITEM_DATABASE_URL", "nonsense"),
        ("NEXTITEM_RATE_LIMIT", "many"),
        ("NEXTITEM_LOG_LEVEL", "loud"),
        ("NEXTITEM_MAX_BODY_BYTES", "1"),
        ("NEXTITEM_DEMO", "yes"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name} must "):
        Config.from_environment({name: value})


def test_all_values_that_cannot_be_used_are_named_at_once() -> None:
    with pytest.raises(ConfigError, match=r"PORT .*; NEXTITEM_LOG_LEVEL|NEXTITEM_LOG_LEVEL .*; PORT"):
        Config.from_environment({"PORT": "x", "NEXTITEM_LOG_LEVEL": "x"})


def test_secrets_are_not_shown() -> None:
    config = Config(secret_key="s3cret" * 8, database_url="postgresql://u:pa55@h/n")
    assert "s3cret" not in repr(config)
    assert "pa55" not in repr(config)


def test_the_documentation_lists_every_setting() -> None:
    rows = {
        match[1]: (match[2], match[3])
        for match in re.finditer(
            r"^\| `(\w+)` \| (.*?) \| (.*) \|$", (ROOT / "docs/configuration.md").read_text(), re.MULTILINE
        )
    }
    expected = {
        row.metadata["name"]: (
            f"`{row.metadata['default']}`" if row.metadata["default"] else "–",
            row.metadata["meaning"],
        )
        for row in settings()
    }
    assert rows == expected


def test_nobody_else_reads_the_environment() -> None:
    readers = {
        str(file.relative_to(ROOT))
        for room in ("api", "engine", "itembank")
        for file in (ROOT / room).rglob("*.py")
        if re.search(r"\bgetenv\b|\benviron\b(?!\[EXCHANGE\])", file.read_text())
    }
    assert readers <= {
        "api/config.py",  # says how
        "api/cli/settings.py",  # hands the environment to it
        "api/cli/serving.py",  # sets variables for its processes
        "api/edge.py",  # WSGI's environ, another thing
        "api/auth/guard.py",  # the same
    }
