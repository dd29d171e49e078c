"""Builds the wheel as `pyproject.toml` says, with the notebook's module as the package itself."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CONFORMANCE = ("__init__.py", "conftest.py", "test_methods.py")


class Build(build_py):
    """Names `epsilon_explorer.py` the package's `__init__`, so that the package is that module.

    The conformance tests are there as `epsilon_explorer.conformance` too, which is what
    `pytest --pyargs` is given.
    """

    def run(self) -> None:
        """As setuptools does it, and then the name."""
        super().run()
        package = Path(self.build_lib) / "epsilon_explorer"
        (package / "epsilon_explorer.py").replace(package / "__init__.py")
        (package / "conformance").mkdir(exist_ok=True)
        for name in CONFORMANCE:
            shutil.copy(package / "engine" / "conformance" / name, package / "conformance" / name)


setup(cmdclass={"build_py": Build})
