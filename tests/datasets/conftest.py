import os
from collections.abc import Iterator
from pathlib import Path

import pooch
import pytest

from datasets import catalog, second_births


class NoNetworkError(OSError):
    pass


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No table kept from another test, an empty cache of downloads, and no network."""

    def refuse(*_: object, **__: object) -> str:
        raise NoNetworkError("no network in tests")

    monkeypatch.setattr(pooch, "retrieve", refuse)
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    catalog._load.cache_clear()
    second_births._published.cache_clear()
    yield
    catalog._load.cache_clear()
    second_births._published.cache_clear()


@pytest.fixture
def published() -> Path:
    """The folder with the publishers' files, where the person who runs the tests has one."""
    named = os.environ.get("EXPLORER_DATA")
    if not named:
        pytest.skip("EXPLORER_DATA names no folder with the publishers' files")
    return Path(named)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder that EXPLORER_DATA names."""
    place = tmp_path / "data"
    place.mkdir()
    monkeypatch.setenv("EXPLORER_DATA", str(place))
    return place
