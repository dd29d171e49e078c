"""Which code a paper's numbers come from, so that numbers of an earlier version can be told.

A run is named by its request, not by the code: after an update the store still answers
with what was computed before it. So each run, and each shipped exhibit, keeps the digest of the
sources that computed it, and is outdated where today's digest is another. Comments, docstrings
and white space are left out of the digest, because they change no number. So are `@steady`, which
runs a function on one thread, since numbers that ship are of one thread, `@searched`, which keeps
what a function finds, and `@unseeded`, which acts where a generator has no seed.
"""

import ast
import functools
import hashlib
import importlib.util
import inspect
import io
import re
import sys
import textwrap
import threading
import tokenize
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from engine.catalog import catalog, outside
from engine.core.errors import RequestError
from engine.runs.job import Job

ROOT = Path(__file__).parents[2]
PARSING = threading.Lock()
"""Python 3.11 counts the depth of what it parses for all threads together, and stops at a mismatch:
two sessions that parse at one time end in a SystemError (python/cpython issue 106905)."""
SHARED = ("engine.core.batch", "engine.runs.driver")
"""What every method's numbers come from; what these import is not followed."""
FOLLOWED = ("engine.papers", "engine.training", "engine.privacy", "datasets")
"""Where imports lead to code that computes numbers."""
ASIDE = ("catalog", "guarantee", "guarantees", "cards", "exhibits", "figures", "steady", "searched",
         "unseeded")  # fmt: skip
"""Modules that list, explain, show and keep numbers, and compute none that ships."""
STEADY = re.compile(
    r"^( *@(steady|searched|unseeded)"
    r"|from engine\.(training\.(steady|unseeded)|privacy\.searched) import \w+)\n",
    re.MULTILINE,
)
"""Decorators that change no number that ships, and their imports."""
NUMBERLESS = ("__init__", "met", "neighbours", "outside", "published", "replay", "words")
"""Modules of `engine.audit` that no attack's number comes from."""
SILENT = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.INDENT, tokenize.DEDENT)


def sources(*jobs: Job) -> str:
    """The digest of the sources that compute these jobs' numbers; empty without any.

    Twelve hexadecimal digits, the same on every machine. A method or a data set that is gone
    counts as nothing.
    """
    parts = sorted({_digest(job.paper, job.method, job.dataset, job.audit) for job in jobs})
    if len(parts) < 2:
        return "".join(parts)
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:12]


@functools.cache
def _digest(paper: str, method: str, dataset: str, audit: bool) -> str:
    """The digest of one method's sources on one data set; empty where it is gone.

    Of an attack it counts the attack's own sources, the witness's and the witness's name too.
    """
    try:
        entry = catalog()[paper].entry(method)
    except (KeyError, RequestError):
        return ""
    data = f"datasets.{dataset}" if _file(f"datasets.{dataset}").exists() else "datasets.own"
    own, _, instance = entry.module.partition(":")
    chunk = getattr(entry.chunk, "func", entry.chunk)  # one that is given its first arguments
    witness, _, worst = entry.witness.partition(":") if audit else ("", "", "")
    digest = hashlib.sha256(f"{instance}{worst}\n{_words(inspect.getsource(chunk))}".encode())
    attack = (*_attacks(), witness) if audit else ()
    made = _in_packages(catalog()[paper].spec, entry.info, entry.releases)
    for name, text in made.items():
        digest.update(f"{name}\n{_words(text)}\n".encode())
    imports = [name for text in made.values() for name in _imported(text) if _counts(name)]
    for module in sorted(reached(own, data, *attack, *imports)):
        digest.update(f"{module}\n{_meaning(module)}\n".encode())
    return digest.hexdigest()[:12]


def _in_packages(*parts: object) -> dict[str, str]:
    """The text of the packages whose own file defines one of some classes and functions, by name.

    A small paper has all but its algorithm there.
    """
    names = sorted({getattr(part, "func", part).__module__ for part in parts})
    found = {name: getattr(sys.modules[name], "__file__", None) for name in names}
    return {
        name: Path(file).read_text(encoding="utf-8")
        for name, file in found.items() if file and Path(file).name == "__init__.py"
    }  # fmt: skip


def _attacks() -> list[str]:
    """The modules of `engine.audit` that an attack's numbers come from."""
    files = (ROOT / "engine" / "audit").glob("*.py")
    return sorted(f"engine.audit.{file.stem}" for file in files if file.stem not in NUMBERLESS)


@functools.cache
def accountants() -> str:
    """The digest of what works prices out: `engine.privacy`, and dp-accounting's version.

    Twelve hexadecimal digits, as `sources` gives them.
    """
    digest = hashlib.sha256(version("dp-accounting").encode())
    for file in sorted((ROOT / "engine" / "privacy").glob("*.py")):
        if file.stem in ASIDE:
            continue
        digest.update(f"{file.stem}\n{_meaning(f'engine.privacy.{file.stem}')}\n".encode())
    return digest.hexdigest()[:12]


def reached(*modules: str) -> set[str]:
    """Dotted names: the loop's modules, the given ones, and what these import in turn."""
    known, ahead = set(SHARED), list(modules)
    while ahead:
        module = ahead.pop()
        if module not in known and _file(module).exists():
            known.add(module)
            ahead += [name for name in _imports(module) if _counts(name)]
    return known


def _counts(module: str) -> bool:
    """Whether an import may lead to what computes numbers; of installed papers all their own do."""
    followed = module.startswith(FOLLOWED) or module.partition(".")[0] in _added()
    return followed and module.rpartition(".")[2] not in ASIDE


def _added() -> tuple[str, ...]:
    """The packages of the papers that are installed beside this program."""
    found = (entry.module for slug in outside() for entry in catalog()[slug].methods)
    return tuple(dict.fromkeys(module.partition(".")[0] for module in found))


@functools.cache
def _imports(module: str) -> tuple[str, ...]:
    """The modules that a module imports, wherever in it; a name that is none does no harm."""
    return tuple(_imported(_file(module).read_text(encoding="utf-8")))


def _imported(text: str) -> list[str]:
    names: list[str] = []
    with PARSING:
        parsed = ast.parse(text)
    for node in ast.walk(parsed):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


@functools.cache
def _meaning(module: str) -> str:
    return _words(_file(module).read_text(encoding="utf-8"))


def _words(text: str) -> str:
    """A program's words in their order, without comments, docstrings and layout."""
    words: list[str] = []
    begins = True  # whether a statement begins here; a text alone is then a docstring
    text = STEADY.sub("", textwrap.dedent(text))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in SILENT:
            continue
        if not (begins and token.type == tokenize.STRING):
            words.append(token.string.strip())
        begins = token.type == tokenize.NEWLINE or (begins and token.type == tokenize.STRING)
    return " ".join(filter(None, words))


def _file(module: str) -> Path:
    """The file of a module; a package is no file, and what it lists computes nothing."""
    if module.partition(".")[0] in _added():
        with suppress(ModuleNotFoundError):  # a name within a module is none
            if found := importlib.util.find_spec(module):
                return Path(found.origin or "")
    return ROOT / f"{module.replace('.', '/')}.py"


def written(*places: Path) -> float:
    """Unix time at which the newest source was written, of these files and in these folders.

    Tables beside the code count as the code does.
    """
    files: Iterable[Path] = (
        file
        for place in places
        for pattern in ("*.py", "*.toml")
        for file in (place.rglob(pattern) if place.is_dir() else [place])
    )
    return max(file.stat().st_mtime for file in files)


def added() -> tuple[Path, ...]:
    """Where the papers lie that are installed beside this program: folders, or single files."""
    found = filter(None, map(importlib.util.find_spec, _added()))
    places = (one.submodule_search_locations or [one.origin or ""] for one in found)
    return tuple(path for some in places for place in some if (path := Path(place)).exists())
