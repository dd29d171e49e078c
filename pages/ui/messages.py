"""Texts in other languages: catalogues of messages as gettext writes them, `messages/<code>.po`.

A text is written in English where it is used; the catalogue holds it in another language under the
English one. A language is complete or absent: `tests/pages/test_messages.py` collects every text
and compares. What no catalogue holds, such as names of methods, is shown as it is.
"""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from babel import Locale
from babel.messages.pofile import read_po

FOLDER = Path(__file__).with_suffix("")
SOURCE = "en"
SEMICOLONS = {"fr": "\u202f; ", "zh": "；"}
"""Where they are written in another way than in English."""
UNITS = {"zh": {"s": "秒", "min": "分钟", "h": "小时"}}
"""Units of time, where they are written in another way than as these symbols."""
NUMBER = re.compile(r"(?<![\w.,])[+-]?\d[\d.,]*(?![\w])")
POINTS = "\u3000-\u303f\uff00-\uffef"
BETWEEN = re.compile(f"(?<=[{POINTS}]) |(?<=[{POINTS}\u4e00-\u9fff]) (?=[{POINTS}\u4e00-\u9fff])")
_SPOKEN: ContextVar[str] = ContextVar("spoken", default="")
_asks: list[Callable[[], str]] = []


@functools.cache
def languages() -> dict[str, str]:
    """The languages that there are by their codes, each by its own name; English first."""
    codes = [SOURCE, *sorted(path.stem for path in FOLDER.glob("*.po"))]
    return {code: (Locale.parse(code).display_name or code).capitalize() for code in codes}


def found_by(ask: Callable[[], str]) -> None:
    """Says how a session's language is found out, by those who know sessions."""
    _asks[:] = [ask]


def language() -> str:
    """The code of the language that is spoken here."""
    code = _SPOKEN.get() or (_asks[0]() if _asks else SOURCE)
    return code if code in languages() else SOURCE


@contextmanager
def spoken(code: str) -> Iterator[None]:
    """Speaks a language, whatever the session's is."""
    token = _SPOKEN.set(code)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


@functools.cache
def catalogue(code: str) -> Mapping[str, str]:
    """The messages of a language by their English texts; none for English."""
    path = FOLDER / f"{code}.po"
    if code == SOURCE or not path.exists():
        return {}
    with path.open("rb") as file:
        return {str(one.id): str(one.string) for one in read_po(file, locale=code) if one.id}


def tr(text: str) -> str:
    """A text in the language that is spoken here; the text itself where there is no other."""
    return catalogue(language()).get(text, text)


@functools.cache
def _marks(code: str) -> Mapping[int, str]:
    """What a language writes for the English decimal point and the comma between thousands."""
    symbols = Locale.parse(code).number_symbols["latn"]
    return str.maketrans({".": str(symbols["decimal"]), ",": str(symbols["group"])})


def figures(text: str) -> str:
    """A number as this language writes it, from the English way.

    >>> with spoken("de"):
    ...     figures("1,234.5")
    '1.234,5'
    """
    return text.translate(_marks(language()))


def numbered(text: str) -> str:
    """A text in which every number is written as this language writes it.

    >>> with spoken("de"):
    ...     numbered("At 0.5 and 1,000 of arXiv.org")
    'At 0,5 and 1.000 of arXiv.org'
    """
    return NUMBER.sub(lambda found: _kept_end(found[0]), text)


def _kept_end(text: str) -> str:
    """A number without the full stop or comma that ends its sentence."""
    plain = text.rstrip(".,")
    return figures(plain) + text[len(plain) :]


def joined(parts: Iterable[str]) -> str:
    """Parts of a sentence with this language's semicolons between them."""
    return SEMICOLONS.get(language(), "; ").join(parts)


def tight(text: str) -> str:
    """A text without spaces between two Chinese characters, and after Chinese points.

    >>> tight("高斯噪声 为 2。 隐私")
    '高斯噪声为 2。隐私'
    """
    return BETWEEN.sub("", text)


def separators() -> str:
    """The two marks as Plotly takes them: decimal, then thousands."""
    return figures(".,")
