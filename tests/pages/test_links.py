"""No parameter of an address becomes a link, an image or a script on the page that it opens."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.runtime.state.query_params_proxy import QueryParamsProxy
from streamlit.testing.v1 import AppTest

from engine.catalog import catalog
from pages.ui.kit import address
from pages.ui.paper import defaults
from tests.pages.conftest import ROOT, Open
from tests.pages.played import play

EVIL = (
    "http://evil.example/login-again",
    "[x](//evil.example) www.evil.example me@evil.example ![y](x) <img src=x>",
)
LINK = re.compile(
    r"(?<!\\)(?:://|\bwww\.)evil|(?<!\\)\]\(//evil|<img src=x>|[a-z]@evil|(?<!\\)!\[y"
)
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("[!_]*.py"))
PLAIN = {"code", "text_area", "text_input", "json"}
"""Elements that show a text as it is."""


@pytest.fixture(autouse=True)
def filled(home: Path) -> None:
    """Runs for the pages that list them: of two methods, so that there is something to compare."""
    for job in list(defaults.opening("mean").values())[:2]:
        play(home, job)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of parameters that pages which are opened from now on look for."""
    found: set[str] = set()
    item, settle = QueryParamsProxy.__getitem__, address.settle

    def heard(self: QueryParamsProxy, key: str) -> str:
        found.add(key)
        return item(self, key)

    def settled(page, slug, offers, free=()):
        found.update(f"{slug}.{name}" for name in (*(one.field for one in offers), *free))
        settle(page, slug, offers, free)

    monkeypatch.setattr(QueryParamsProxy, "__getitem__", heard)
    monkeypatch.setattr(address, "settle", settled)
    return found


def strings(message) -> Iterator[str]:
    """Every text in a message to the browser, at any depth."""
    for field, value in message.ListFields():
        for one in value if field.is_repeated else (value,):
            if field.type == field.TYPE_MESSAGE and hasattr(one, "ListFields"):
                yield from strings(one)
            elif isinstance(one, str):
                yield one


def shown(test: AppTest) -> list[str]:
    """Every text that the browser may read as Markdown: of labels, help and tables too."""
    nodes = [node for node in (*test.main, *test.sidebar) if node.proto is not None]
    return [text for node in nodes if node.type not in PLAIN for text in strings(node.proto)]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_no_parameter_of_an_address_is_more_than_words(visit: Open, asked: set[str], page: str):
    visit(page)
    names = sorted(asked)
    assert names
    if page in catalog():
        assert {f"{page}.{name}" for name in ("epsilon", "method", "tab")} <= set(names)
    said = set()
    for evil in EVIL:
        for name in (*names, "unknown", evil):
            test = visit(page, **{name: evil})
            assert not test.exception, name
            texts = shown(test)
            assert [text for text in texts if LINK.search(text)] == [], name
            said |= {name} if any("evil" in text for text in texts) else set()
    assert said or page in ("home", "learn", "lost", "runs")
