"""One test for each private method and each promise, of all papers or of those that are named."""

import pytest

from engine.catalog import catalog
from engine.conformance import checks
from engine.conformance.option import pytest_addoption  # noqa: F401 : pytest looks for it here
from engine.conformance.play import Case, case, private, some_multiplier


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The cases and the checks of `test_methods`."""
    if {"made", "check"} <= set(metafunc.fixturenames):
        cases = _cases(tuple(metafunc.config.getoption("--paper", None) or catalog()))
        metafunc.parametrize("check", checks.ALL, ids=lambda check: check.__name__)
        metafunc.parametrize("made", cases.values(), ids=list(cases))


def _cases(slugs: tuple[str, ...]) -> dict[str, Case]:
    """The private methods of some papers.

    Raises:
        pytest.UsageError: There is no such paper, or it has no private method.
    """
    known = catalog()
    if missing := [slug for slug in slugs if slug not in known]:
        raise pytest.UsageError(
            f"--paper: expected one of {', '.join(known)}, got {', '.join(missing)}"
        )
    with some_multiplier():  # which kinds of release there are does not depend on their noise
        found = {
            f"{slug}-{entry.name}": made
            for slug in slugs
            for entry in known[slug].methods
            if private(made := case(known[slug], entry))
        }
    if not found:
        raise pytest.UsageError(f"--paper: expected a private method in {', '.join(slugs)}")
    return found
