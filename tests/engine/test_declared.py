"""What papers declare in `paper.toml`: every table belongs to something and is read as it is."""

import dataclasses
import importlib
import re
import sys
from pathlib import Path

import pytest

from engine.catalog import catalog
from engine.core import declared
from engine.core.errors import SpecError
from engine.core.spec import Choice, Knob, knobs
from engine.promise import words

FOLDERS = sorted(path.parent for path in (Path(__file__).parents[2] / "engine").rglob("paper.toml"))
FACT = re.compile(r"\{(\w+)")


def named(kind, name):
    """The tables of a kind of the package in which a paper's spec stands."""
    return set(declared.kind(catalog()[name].spec.__module__, kind))


@pytest.mark.parametrize("slug", catalog())
def test_every_table_is_of_a_field_or_a_method(slug):
    paper = catalog()[slug]
    columns = {field.name for entry in paper.methods for field in dataclasses.fields(entry.info)}
    assert named("knobs", slug) <= {field.name for field in dataclasses.fields(paper.spec)}
    assert named("gauges", slug) <= columns
    assert named("methods", slug) == {entry.name for entry in paper.methods}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_sentence_is_said_somewhere(folder):
    tables = declared.read(folder / declared.FILE)
    code = [file.read_text() for file in folder.rglob("*.py")]
    inner = [declared.read(file) for file in folder.rglob(declared.FILE)]
    texts = " ".join(str({k: t.get(k) for k in ("cards", "sentences")}) for t in inner)
    said = {*FACT.findall(texts), *re.findall(r'"(\w+)"', " ".join(code))}
    options = {o for p in catalog().values() for k in knobs(p.spec).values()
               if isinstance(k, Choice) for o in k.options}  # fmt: skip
    assert set(tables.get("sentences", {})) <= said | options


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package `shelf` with one inside it, `shelf.book`, and a file in each."""
    inner = tmp_path / "shelf" / "book"
    inner.mkdir(parents=True)
    (inner.parent / "__init__.py").write_text("")
    (inner.parent / "paper.toml").write_text(
        '[cards.base]\nmechanism = "Noise of {size:.1f}"\nclaim = "{theorem}"\n'
        '[sentences]\ntheorem = "Theorem {number}."\n'
        'room = "At most {most}."\nalso = "And {room}"\n'
    )
    (inner / "paper.toml").write_text(
        '[cards.own]\nlike = "base"\nreasons = ["First.", "{why}", "{room}", "All: {why}"]\n'
        '[knobs.size]\nlabel = "Size"\nsymbol = "s"\nbounds = [1, 9]\nrange = [1, 5]\naxis = true\n'
        '[knobs.width]\nlike = "size"\nlabel = "Width"\n'
        '[knobs.kind]\nlabel = "Kind"\noptions = { a = "First", b = "Second" }\n'
    )
    (inner / "__init__.py").write_text(
        "from dataclasses import dataclass\n"
        "from engine.core.spec import Spec\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Sized(Spec):\n"
        "    size: float = 2.0\n    width: int = 3\n    kind: str = 'a'\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Bare(Spec):\n    height: float = 2.0\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("shelf.book")
    for name in ("shelf", "shelf.book"):
        sys.modules.pop(name, None)


def test_a_field_has_the_knob_of_its_table(package):
    expected = {
        "size": Knob("Size", "s", (1, 9), (1, 5), axis=True),
        "width": Knob("Width", "s", (1, 9), (1, 5), axis=True),
        "kind": Choice("Kind", ("a", "b"), ("First", "Second")),
    }
    assert knobs(package.Sized) == expected
    with pytest.raises(SpecError, match="size: expected a number from 1 to 9, got 10"):
        package.Sized(size=10.0)
    with pytest.raises(SpecError, match="kind: expected one of a, b"):
        package.Sized(kind="c")


def test_a_field_without_a_table_is_an_error_beside_a_file_with_knobs(package):
    with pytest.raises(KeyError, match="height"):
        package.Bare()


@pytest.mark.parametrize(
    ("why", "several", "together"),
    [
        ((), (), ""),
        (("theorem",), ("Theorem 3.",), "Theorem 3."),
        (("theorem", "also"), ("Theorem 3.", "And At most 7."), "Theorem 3. And At most 7."),
        ("{most}, as written", ("{most}, as written",), "{most}, as written"),
    ],
)
def test_a_fact_is_a_text_or_names_sentences(package, why, several, together):
    actual = words("shelf.book", "own", size=2.25, number=3, most=7, why=why)
    assert actual == {
        "mechanism": "Noise of 2.2",
        "claim": "Theorem 3.",
        "reasons": ("First.", *several, "At most 7.", f"All: {together}"),
    }


def test_a_card_without_one_of_its_facts_is_an_error(package):
    with pytest.raises(KeyError, match="size"):
        words("shelf.book", "own", number=3, most=7, why=())
