"""The option of the conformance tests, as a plug-in of pytest that an installation brings along."""

from contextlib import suppress

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--paper NAME`, which may be given several times, unless that was done before."""
    with suppress(ValueError):
        parser.addoption("--paper", action="append", help="a paper's slug, for conformance tests")
