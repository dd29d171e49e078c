"""Builds the wheel as `pyproject.toml` says, with the notebook's module as the package itself."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class Build(build_py):
    """Names `epsilon_explorer.py` the package's `__init__`, so that the package is that module."""

    def run(self) -> None:
        """As setuptools does it, and then the name."""
        super().run()
        package = Path(self.build_lib) / "epsilon_explorer"
        (package / "epsilon_explorer.py").replace(package / "__init__.py")


setup(cmdclass={"build_py": Build})
