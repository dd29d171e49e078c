"""Names that a user's file brings, as plain words: no Markdown, HTML, formula or link in them.

Pages, charts and tables show names of columns, categories and classes in many places. So they are
made harmless once, when a table's card is read: whatever a renderer might take for more than a name
is left out.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

MOST = 80
"""Characters of a name at most; the rest is cut off."""
BLANKS = ("", "na", "n/a", "nan", "null", "none", ".", "?", "-", "#n/a", "missing", "unknown")
"""What stands for a value that is missing, in small letters."""
OCCUR = ", which are those that occur in the file"
"""What a card says of classes that nobody has stated."""
GIVEN = "with the table by the person who added it, or known to everybody"
"""What a card said of bounds when the cells could still decide together what they mean."""
ODD = re.compile(r"[^\w .,;/%()+'²³°-]|(?<=www)\.", re.I)
"""Characters that a name may not hold: control signs and the like, and the dot of an address."""
LOOSE = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
"""Underscores that do not join two letters or digits: they would make text bold or slanted."""


SIGNS = {"<": "under", ">": "over", "=": "equals", "<=": "up to", ">=": "from", "≤": "up to",
         "≥": "from"}  # fmt: skip
BEFORE = re.compile(r"(<=|>=|[<>=≤≥])\s*(?=[-+]?[.,]?\d)")
"""A sign that compares with a number; a word stands for it, so that <65 and >65 stay apart."""
FIGURE = re.compile(r"[-+]?\d+([.,]\d+)?")
START = re.compile(r"\A(?:[.) ]|[-+](?!\d))+")
"""What a name does not begin with; the sign of a number stays."""


def plain(text: str) -> str:
    """A text without anything that a page could take for more than words.

    >>> plain("![](http://evil.example/x.png)"), plain("age_at_entry"), plain("**dose** (mg/l)")
    ('(http //evil.example/x.png)', 'age_at_entry', 'dose (mg/l)')
    >>> plain("<65"), plain("age >=65"), plain("-1"), plain("<b>")
    ('under 65', 'age from 65', '-1', 'b')
    >>> plain("-10 to -5"), plain("- dose")
    ('-10 to -5', 'dose')
    """
    if FIGURE.fullmatch(text.strip()):
        return text.strip()
    compared = BEFORE.sub(lambda sign: f" {SIGNS[sign[1]]} ", text)
    words = LOOSE.sub(" ", ODD.sub(" ", compared))
    return START.sub("", " ".join(words.split())) or "unnamed"


def names(texts: Iterable[str], most: int = MOST) -> tuple[str, ...]:
    """Such texts as short names that differ from each other, in the same order."""
    unique: list[str] = []
    for text in texts:
        name, count = plain(text)[:most], 1
        while (numbered := f"{name} {count}" if count > 1 else name) in unique:
            count += 1
        unique.append(numbered)
    return tuple(unique)


def some(texts: Sequence[str], most: int = 200) -> str:
    """As many of the first texts as fit a sentence, and how many more there are.

    >>> some(["age", "mass", "dose"]), some(["age", "mass", "dose"], 8)
    ('age, mass, dose', 'age and 2 more')
    """
    kept = max(1, sum(end <= most for end in accumulate(len(text) + 2 for text in texts)))
    more = f" and {len(texts) - kept:,} more" if kept < len(texts) else ""
    return f"{', '.join(texts[:kept])}{more}"
