"""Every text that catalogues translate: `python -m pages.ui.gather` adds what they lack.

Texts stand where they are used: in calls of `tr`, in `screens.toml` and `home.toml`, the glossary,
the sentences of findings, and the charts that pages open with. A new text comes into every
catalogue without a translation, and `tests/pages/test_messages.py` fails until each has one.
"""

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from datasets import catalog as data_catalog
from engine.method import Paper
from pages.ui import home, messages
from pages.ui.bundle import collect
from pages.ui.kit import glossary, plot, shell
from pages.ui.kit.labels import drawn as words_of
from pages.ui.kit.labels import parts
from pages.ui.learn import declared, deployments
from pages.ui.paper import defaults, finding, panels, sketches, total
from pages.ui.site import compare, states
from pages.ui.words import SURVIVING, SWAPS

ROOT = Path(__file__).parents[2]
MENU = ("TEACHING", "ACROSS")
"""The lists of pages in `app.py`, whose second entries are titles."""
NOUNS = (
    "method", "methods", "repetition", "repetitions", "run", "runs", "training", "trainings",
    "wrong",
)  # fmt: skip
"""What Home counts, and the word at the line of guessing."""
WORDS = re.compile(r"(?:No|Without) .+|[a-z][a-z ]+")
"""A part of a method's name that describes it, such as "private"."""
NAMES = ("name", "default")
"""Keys in a file of words whose values no visitor reads."""


def texts() -> set[str]:
    """What is said: every English text that has to be in a catalogue."""
    found = {*_called(), *_menu(), *_words(declared.RAW), *_words(home.WORDS)}
    found |= {*plot.BUTTONS, *glossary.TERMS, *glossary.TERMS.values()}
    found |= {deployments.NOTE, deployments.TAKEN}
    found |= {data_catalog.card(name).record for name in data_catalog.names()} | {*NOUNS}
    found |= {t for one in deployments.LIST for t in (one.who, one.what, one.epsilon, one.unit)}
    found |= {*finding.SENTENCES.values(), sketches.BROKEN, *SWAPS.values(), *SURVIVING.values()}
    found |= {*total.ENDED.values()}
    for slug, paper in shell.papers().items():
        layout = defaults.layout(slug)
        found |= {paper.title, home.first(layout.words), paper.claim, *_names(paper, words=True)}
        found |= {one.summary for one in paper.methods if one.role != "reference"}
        for one in layout.says.values():
            found |= {one.text, *one.cost, one.own, one.thanks, one.errors, one.before}
    return {text for text in found if said(text)} - names()


def said(text: str) -> bool:
    """Whether a text has words beside the facts in its braces."""
    return re.search(r"[^\W\d_]{2,}", re.sub(r"\{[^}]*\}", "", text)) is not None


@functools.cache
def labels() -> frozenset[str]:
    """The words in the charts of all shipped stops, without names of methods; minutes of work."""
    collect.quiet()
    found: set[str] = set()
    for slug in shell.papers():
        opened, static = collect.take(slug), states.take(slug)
        drawn = opened.drawn if opened else []
        stops = [*static.stops()] if static else []
        found |= {one.title for one in chain(drawn, *(stop.drawn for stop in stops))}
        figures = (one.whole(at) for one in drawn for at in range(len(one.frames)))
        found |= _said(chain(figures, *(stop.figures() for stop in stops)))
    found |= _said(compare.figures()) | pictured()
    return frozenset(text for text in found if said(text)) - names()


def pictured() -> set[str]:
    """The words in the pictures beside the cost curves, and where a chart shows what fails."""
    collect.quiet()
    found = set(parts(panels.FAILING))
    for slug in shell.papers():
        page = defaults.addressed(slug, {})
        told = page.layout.story(page.view(collect.runs(page)[0], page.chosen))
        found |= set() if told is None else _said([told.figure.to_plotly_json()])
    return found


def _said(figures: Iterable[Mapping[str, Any]]) -> set[str]:
    """The words in figures."""
    return {part for one in figures for text in words_of(one) for part in parts(text)}


def names() -> set[str]:
    """Names of methods, whole and in parts: they are the same in every language."""
    return {name for paper in shell.papers().values() for name in _names(paper)}


def _names(paper: Paper[Any], *, words: bool = False) -> Iterator[str]:
    """The names of a paper's methods, or the words in them, which are translated."""
    for one in paper.methods:
        known = {*parts(one.label), *parts(one.brief)} if words else {one.label, *parts(one.label)}
        yield from (part for part in known if bool(WORDS.fullmatch(part)) == words)


def _called() -> Iterator[str]:
    """The texts of all calls of `tr`."""
    for path in (ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and _is_tr(node.func):
                text = node.args[0]
                if isinstance(text, ast.Constant):
                    yield str(text.value)


def _is_tr(node: ast.expr) -> bool:
    return getattr(node, "id", getattr(node, "attr", "")) == messages.tr.__name__


def _menu() -> Iterator[str]:
    """The titles of pages that are no paper's."""
    for node in ast.parse((ROOT / "app.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in MENU:
            yield from (title for _, title, _ in ast.literal_eval(node.value))
    yield "Runs"


def _words(of: Any) -> Iterator[str]:
    """The texts of a file of words."""
    if isinstance(of, str):
        yield of
    elif isinstance(of, (list, tuple)):
        for one in of:
            yield from _words(one)
    elif isinstance(of, dict):
        for key, one in of.items():
            if key not in NAMES:
                yield from _words(one)


def main() -> None:
    """Adds every text to every catalogue, and takes out what nothing says any more."""
    wanted = texts() | labels()
    for path in sorted(messages.FOLDER.glob("*.po")):
        with path.open("rb") as file:
            old = {one.id: one.string for one in read_po(file) if one.id}
        new = Catalog(locale=path.stem, project="Epsilon Explorer", fuzzy=False)
        for text in sorted(wanted):
            new.add(text, old.get(text, ""))
        with path.open("wb") as file:
            write_po(file, new, width=0, sort_output=True, omit_header=True)
        print(f"{path.name}: {sum(not old.get(text) for text in wanted)} of {len(wanted)} missing")


if __name__ == "__main__":
    main()
