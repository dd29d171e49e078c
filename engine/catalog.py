"""Which papers there are: every package under `engine/papers` that has a PAPER.

A package without one may hold several studies of one paper: packages of their own, each with a
PAPER and an address. Installed packages add papers by entry points of the group
`epsilon_explorer.papers`: the slug, and the module that has the PAPER.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from datasets import catalog as data_catalog
from engine import papers
from engine.core.declared import FILE
from engine.core.discovery import brief, imported, installed, packages
from engine.core.errors import DatasetError, RequestError, SpecError
from engine.core.gauges import BETTER, gauges
from engine.core.spec import SCALES, Knob, Value, knobs
from engine.method import RELATIONS, ROLES, Paper

GROUP = "epsilon_explorer.papers"
"""Of the entry points of installed packages."""


def catalog() -> dict[str, Paper[Any]]:
    """The papers by slug, those that are broken left out."""
    return _catalog()[0]


def problems() -> tuple[str, ...]:
    """One sentence for each package of a paper that is broken."""
    return tuple(_catalog()[1].values())


def paper(slug: str) -> Paper[Any]:
    """The paper of that slug.

    >>> paper("mean").entry("laplace").label
    'Laplace'

    Raises:
        RequestError: There is none, or it is broken.
    """
    known, broken = _catalog()
    if slug in broken:
        raise RequestError(broken[slug])
    if slug not in known:
        raise RequestError(f"paper: expected one of {', '.join(known)}, got {slug!r}")
    return known[slug]


def outside() -> tuple[str, ...]:
    """The slugs of the papers that installed packages add."""
    return tuple(
        slug
        for slug, one in catalog().items()
        if not one.methods[0].module.startswith(f"{papers.__name__}.")
    )


@functools.cache
def _catalog() -> tuple[dict[str, Paper[Any]], dict[str, str]]:
    modules, broken = imported(packages(papers))
    for name in [name for name, module in modules.items() if not hasattr(module, "PAPER")]:
        studies, wrong = imported(packages(modules[name]))
        if studies or wrong:
            del modules[name]
            modules, broken = modules | studies, broken | wrong
    added, wrong = installed(GROUP)
    for name in added.keys() & (modules.keys() | broken.keys()):
        said = f"expected a slug that no other paper has, got {name!r}"
        wrong[added[name].__name__] = f"{added[name].__name__}: {said}"
    modules, broken = added | modules, wrong | broken
    known = {}
    for name, module in sorted(modules.items()):
        held = getattr(module, "PAPER", None)
        if isinstance(held, Paper) and held.slug == name:
            if fault := _fault(held):
                broken[name] = f"{module.__name__}: {fault}"
            else:
                known[name] = held
        else:
            got = f"slug {held.slug!r}" if isinstance(held, Paper) else type(held).__name__
            broken[name] = f"{module.__name__}: expected a PAPER with slug {name!r}, got {got}"
    return known, broken


def _fault(held: Paper[Any]) -> str:
    """What is wrong with what a paper names, in a sentence; empty where nothing is."""
    try:
        return next(_unknown(held), "")
    except Exception as error:
        return f"expected a PAPER that can be read, got {brief(error)}"


def _unknown(held: Paper[Any]) -> Iterator[str]:
    """A sentence for each name in a paper that stands for nothing, and each value out of bounds.

    Whatever pages and commands read of every paper is read here once.
    """
    if held.relation not in RELATIONS:
        yield _expected("relation", RELATIONS, held.relation)
    yield from _unknown_data(held)
    yield from _unknown_in_methods(held)
    yield from _unknown_in_settings(held)
    yield from _unknown_measures(held)


def _unknown_data(held: Paper[Any]) -> Iterator[str]:
    """Of the data sets."""
    for name in held.datasets:
        try:
            data_catalog.card(name)
        except RequestError:
            yield _expected("datasets", data_catalog.names(), name)
        except DatasetError:  # the list of data sets says what is wrong with it
            continue


def _unknown_in_methods(held: Paper[Any]) -> Iterator[str]:
    """Of the methods, and names that two of them have."""
    seen: set[str] = set()
    settings = [one.name for one in fields(held.spec)]
    for entry in held.methods:
        if entry.name in seen:
            yield f"expected methods with names of their own, got {entry.name!r} twice"
        seen.add(entry.name)
        if entry.role not in ROLES:
            yield _expected(f"methods.{entry.name}.role", ROLES, entry.role)
        for name in entry.uses:
            if name not in settings:
                yield _expected(f"methods.{entry.name}.uses", settings, name)
        for name, _ in entry.fixed:
            if name not in settings:
                yield _expected(f"methods.{entry.name}.fixed", settings, name)


def _unknown_in_settings(held: Paper[Any]) -> Iterator[str]:
    """Of the knobs and the values that pages and commands begin with."""
    try:
        known = knobs(held.spec)
    except KeyError as error:
        yield _no_table("knobs", error)
        return
    for name, knob in known.items():
        if isinstance(knob, Knob) and knob.scale not in SCALES:
            yield _expected(f"knobs.{name}.scale", SCALES, knob.scale)
    for name in held.settings:
        if name not in held.datasets:
            yield _expected("settings", held.datasets, name)
    begins = {"opening": held.opening}
    begins |= {f"settings.{name}": values for name, values in held.settings.items()}
    for part, values in begins.items():
        for name in values:
            if name not in known:
                yield _expected(part, known, name)
    yield from _out_of_bounds(held)


def _out_of_bounds(held: Paper[Any]) -> Iterator[str]:
    """Of the values that pages and commands begin with, those that the spec refuses."""
    if said := _refused(held, {}):
        yield f"{said} by default"
        return
    for name in held.datasets:
        for values in (held.usual(name), held.opens(name)):
            if said := _refused(held, values):
                yield f"{said} to begin with on {name}"


def _refused(held: Paper[Any], values: Mapping[str, Value]) -> str:
    """Why the spec refuses some values; empty where it takes them."""
    try:
        held.spec(**values)
    except SpecError as error:
        return f"{str(error).removeprefix(f'{error.field}: ')} as {error.field}"
    return ""


def _unknown_measures(held: Paper[Any]) -> Iterator[str]:
    """Of what is measured."""
    try:
        measured = {n: one for entry in held.methods for n, one in gauges(entry.info).items()}
    except KeyError as error:
        yield _no_table("gauges", error)
        return
    for name, gauge in measured.items():
        if gauge.better not in BETTER:
            yield _expected(f"gauges.{name}.better", BETTER, gauge.better)
        if gauge.scale not in SCALES:
            yield _expected(f"gauges.{name}.scale", SCALES, gauge.scale)
    if held.gauge not in measured:
        yield _expected("gauge", measured, held.gauge)


def _no_table(kind: str, error: KeyError) -> str:
    return f"expected in {FILE} a table [{kind}.{error.args[0]}], got none"


def _expected(field: str, known: Iterable[str], got: object) -> str:
    return f"expected in {field} one of {', '.join(known)}, got {got!r}"
