"""No parameter of an address becomes a link, an image or a script on the page that it opens."""

import re

import pytest

from engine.catalog import catalog
from engine.core.spec import knobs
from tests.pages.conftest import Open
from tests.pages.test_private import every_text

EVIL = ("http://evil.example/login-again", "[x](//evil.example) www.evil.example <img src=x>")
LINK = re.compile(r"(?<!\\)(?:://|\bwww\.)evil|(?<!\\)\]\(//evil|<img src=x>|[a-z]@evil")
OTHERS = {
    "": ("lesson", "view", "present", "notes", "any"),
    "compare": ("papers", "method", "gauge", "epsilon", "dataset", "seeds", "a", "b", "switch"),
    "learn": ("epsilon", "step", "screen"),
    "lessons": ("lesson", "view", "edit", "new"),
    "reproduce": ("paper", "exhibit", "tab"),
    "runs": ("paper", "state", "run", "method"),
}
"""Pages that belong to no paper, and what they may be asked."""
CHOSEN = ("method", "gauge", "dataset", "seeds", "budget", "tab", "axis", "repetitions", "look")
"""What a page of a paper may be asked beside its fields; all papers read them by the same code."""


def asked(page: str) -> list[str]:
    """Names of parameters: those that a page reads, and some that it does not."""
    if page in catalog():
        return [f"{page}.{name}" for name in (*CHOSEN, *knobs(catalog()[page].spec))]
    prefix = f"{page}." if page else ""
    return [f"{prefix}{name}" for name in OTHERS[page]] + list(OTHERS[page])


@pytest.mark.slow
@pytest.mark.parametrize("evil", EVIL)
@pytest.mark.parametrize("page", [*OTHERS, "mean"])
def test_no_parameter_of_an_address_is_more_than_words(visit: Open, page: str, evil: str):
    said = 0
    for name in asked(page):
        test = visit(page, **{name: evil})
        assert not test.exception, name
        text = every_text(test)
        assert not LINK.search(text), f"{name}: {text}"
        said += "evil" in text
    assert said or page not in catalog()  # a field that is wrong is named
