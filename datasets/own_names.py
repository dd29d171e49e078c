"""Names that a user's file brings, as plain words: no Markdown, HTML, formula or link in them.

Pages, charts and tables show names of columns, categories and classes in many places. So they are
made harmless once, when a table's card is read: whatever a renderer might take for more than a name
is left out.
"""

import re
from collections.abc import Iterable

MOST = 80
"""Characters of a name at most; the rest is cut off."""
OCCUR = ", which are those that occur in the file"
"""What a card says of classes that nobody has stated."""
GIVEN = "with the table by the person who added it, or known to everybody"
"""What a card said of bounds when the cells could still decide together what they mean."""
ODD = re.compile(r"[^\w .,;/%()+'²³°-]|(?<=www)\.", re.I)
"""Characters that a name may not hold: control signs and the like, and the dot of an address."""
LOOSE = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
"""Underscores that do not join two letters or digits: they would make text bold or slanted."""


def plain(text: str) -> str:
    """A text without anything that a page could take for more than words.

    >>> plain("![](http://evil.example/x.png)"), plain("age_at_entry"), plain("**dose** (mg/l)")
    ('(http //evil.example/x.png)', 'age_at_entry', 'dose (mg/l)')
    """
    words = LOOSE.sub(" ", ODD.sub(" ", text))
    return " ".join(words.split()).lstrip("+-.) ") or "unnamed"


def names(texts: Iterable[str]) -> tuple[str, ...]:
    """Such texts as short names that differ from each other, in the same order."""
    unique: list[str] = []
    for text in texts:
        name, count = plain(text)[:MOST], 1
        while (numbered := f"{name} {count}" if count > 1 else name) in unique:
            count += 1
        unique.append(numbered)
    return tuple(unique)
