"""Which papers there are: every package under `engine/papers` that has a PAPER."""

import functools
import importlib
import pkgutil
from typing import Any

from engine import papers
from engine.core.errors import RequestError
from engine.method import Paper


@functools.cache
def catalog() -> dict[str, Paper[Any]]:
    """The papers by slug. A package that cannot be imported is an error."""
    names = sorted(module.name for module in pkgutil.iter_modules(papers.__path__))
    found = [importlib.import_module(f"engine.papers.{name}").PAPER for name in names]
    return {paper.slug: paper for paper in found}


def paper(slug: str) -> Paper[Any]:
    """The paper of that slug.

    Raises:
        RequestError: There is none.
    """
    if slug not in catalog():
        raise RequestError(f"paper: expected one of {', '.join(catalog())}, got {slug!r}")
    return catalog()[slug]
