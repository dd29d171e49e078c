"""The field's terms, in one or two sentences each, and links from texts that use them."""

import re
from collections.abc import Mapping
from pathlib import Path

from engine.core.declared import read
from pages.ui.kit.root import rooted

_FILE = read(Path(__file__).with_suffix(".toml"))
TERMS: Mapping[str, str] = _FILE["terms"]
MENTIONS: Mapping[str, str] = _FILE["mentions"]
"""How texts mention terms, where not as the glossary spells them alone."""
ASIDE = re.compile(r"\[[^]]*\]\([^)]*\)|\$\$?[^$]*\$\$?|`[^`]*`|:material/\w+:|https?://\S+")
"""What holds no mentions: links, formulas, code and icons."""
_SAID = {f"t{i}": term for i, term in enumerate(sorted(TERMS, key=len, reverse=True))}
_MENTION = re.compile(
    "|".join(rf"(?P<{key}>\b(?:{MENTIONS.get(term, term)})\b)" for key, term in _SAID.items()),
    re.IGNORECASE,
)


def linked(text: str) -> str:
    """A text in Markdown whose first mention of each term leads to the glossary.

    >>> linked("Noise hides a record; more noise hides `noise` better.")
    '[Noise](/learn#noise) hides a [record](/learn#record); more noise hides `noise` better.'
    """
    page = rooted("/learn")
    known = {term for term in TERMS if f"{page}#{anchor(term)})" in text}

    def lead(found: re.Match[str]) -> str:
        term = _SAID[str(found.lastgroup)]
        if term in known:
            return found[0]
        known.add(term)
        return f"[{found[0]}]({page}#{anchor(term)})"

    made, end = "", 0
    for aside in ASIDE.finditer(text):
        made += _MENTION.sub(lead, text[end : aside.start()]) + aside[0]
        end = aside.end()
    return made + _MENTION.sub(lead, text[end:])


def anchor(term: str) -> str:
    """The name of a term in an address.

    >>> anchor("Privacy budget ε"), anchor("As printed")
    ('privacy-budget', 'as-printed')
    """
    return "-".join(part for part in term.casefold().split() if part.isascii())


def link(term: str, text: str = "") -> str:
    """A link to a term, in Markdown.

    Args:
        term: As the glossary spells it.
        text: What the link says; the term if empty.

    Raises:
        KeyError: The glossary does not have it.
    """
    return here(term, text).replace("](#", f"]({rooted('/learn')}#")


def here(term: str, text: str = "") -> str:
    """The same for the page that holds the glossary."""
    if term not in TERMS:
        raise KeyError(f"glossary: expected one of {', '.join(TERMS)}, got {term!r}")
    return f"[{text or term.lower()}](#{anchor(term)})"
