"""The command line, as somebody types it."""

from pathlib import Path

import pytest

from api.cli import main


def run(*arguments: str | Path) -> int:
    """The status it ends with."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)
