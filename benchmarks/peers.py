"""Peers that no longer import by themselves, and what they are given so that they do."""

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def prototorch(name: str) -> Any:
    """A module of prototorch.

    It imports torchvision for downloads and pictures, and pkg_resources, which setuptools no longer
    has, for plugins: nothing of that is timed here, so empty modules stand for them.
    """
    importlib.import_module("pytorch_lightning")  # first: it looks for torchvision by itself
    _stand_in("pkg_resources", iter_entry_points=lambda group: ())
    _stand_in("torchvision", __version__="0")
    _stand_in("torchvision.datasets")
    _stand_in("torchvision.datasets.utils", download_file_from_google_drive=None)
    _stand_in("torchvision.utils", make_grid=None)
    return importlib.import_module(f"prototorch.{name}")


def _stand_in(name: str, **holds: Any) -> None:
    """Registers a module under a name that nothing else has."""
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    vars(module).update(holds)
    sys.modules.setdefault(name, module)
