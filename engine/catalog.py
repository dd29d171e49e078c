"""Which papers there are: every package under `engine/papers` that has a PAPER."""

import functools
from typing import Any

from engine import papers
from engine.core.discovery import imported, packages
from engine.core.errors import RequestError
from engine.method import Paper


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


@functools.cache
def _catalog() -> tuple[dict[str, Paper[Any]], dict[str, str]]:
    modules, broken = imported(packages(papers))
    known = {}
    for name, module in modules.items():
        held = getattr(module, "PAPER", None)
        if isinstance(held, Paper) and held.slug == name:
            known[name] = held
        else:
            got = f"slug {held.slug!r}" if isinstance(held, Paper) else type(held).__name__
            broken[name] = f"engine.papers.{name}: expected a PAPER with slug {name!r}, got {got}"
    return known, broken
