"""Modules that are found in a package's folder, so that no list of them has to be kept."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType


def packages(package: ModuleType) -> Iterator[str]:
    """The dotted names of the packages in a package, in alphabetical order."""
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda one: one.name):
        if module.ispkg:
            yield f"{package.__name__}.{module.name}"


def matching(package: ModuleType, pattern: str) -> Iterator[str]:
    """The dotted names of the modules in a package whose source has a match; imports none of them.

    So helper modules are not imported, nor the libraries that take them time to load.
    """
    for folder in package.__path__:
        for file in sorted(Path(folder).glob("*.py")):
            if re.search(pattern, file.read_text(encoding="utf-8", errors="replace")):
                yield f"{package.__name__}.{file.stem}"


def imported(names: Iterator[str]) -> tuple[dict[str, ModuleType], dict[str, str]]:
    """Modules by the last part of their names, and what is wrong with those that do not import.

    One broken module must not hide the others, so its error becomes a sentence.
    """
    modules: dict[str, ModuleType] = {}
    broken: dict[str, str] = {}
    for dotted in names:
        name = dotted.rpartition(".")[2]
        try:
            modules[name] = importlib.import_module(dotted)
        except Exception as error:
            broken[name] = f"{dotted}: expected a module that imports, got {brief(error)}"
    return modules, broken


def installed(group: str) -> tuple[dict[str, ModuleType], dict[str, str]]:
    """The modules that installed packages name as entry points of a group, as `imported`."""
    points = sorted(entry_points(group=group), key=lambda one: one.name)
    modules: dict[str, ModuleType] = {}
    broken: dict[str, str] = {}
    for point in points:
        try:
            modules[point.name] = importlib.import_module(point.module)
        except Exception as error:
            package = f" of {point.dist.name}" if point.dist else ""
            broken[point.name] = (
                f"{point.module}{package}: expected a module that imports, got {brief(error)}"
            )
    return modules, broken


def brief(error: Exception) -> str:
    """An error's kind and the first line of what it says."""
    says = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {says}" if says else type(error).__name__
