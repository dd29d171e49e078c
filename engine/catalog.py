"""Which papers there are: every package under `engine/papers` that has a PAPER.

A package without one may hold several studies of one paper: packages of their own, each with a
PAPER and an address. Installed packages add papers by entry points of the group
`epsilon_explorer.papers`: the slug, and the module that has the PAPER.
"""

import functools
from typing import Any

from engine import papers
from engine.core.discovery import imported, installed, packages
from engine.core.errors import RequestError
from engine.method import Paper

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
            known[name] = held
        else:
            got = f"slug {held.slug!r}" if isinstance(held, Paper) else type(held).__name__
            broken[name] = f"{module.__name__}: expected a PAPER with slug {name!r}, got {got}"
    return known, broken
