"""An installation: the wheel holds all that runs, and its command starts from any folder."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from engine import __version__
from engine.cli import app, start
from engine.cli.main import main

ROOT = Path(__file__).parents[1]
FOLDERS = ("engine", "datasets", "pages", "reference", ".streamlit")


def sources(root: Path) -> set[str]:
    """What runs, under a root: the app and the files of its folders."""
    files = {path for name in FOLDERS for path in (root / name).rglob("*")} | {root / "app.py"}
    return {
        path.relative_to(root).as_posix()
        for path in files
        if path.is_file() and path.suffix != ".pyc"
    }


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The wheel, built from a copy of the sources and unpacked as pip does it."""
    folder = tmp_path_factory.mktemp("install")
    source = folder / "source"
    shutil.copytree(
        ROOT, source, ignore=shutil.ignore_patterns(".*_cache", ".venv", ".git", "build", "tests")
    )
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-w", folder, source], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name.startswith(f"epsilon_explorer-{__version__}-")
    site = folder / "site"
    zipfile.ZipFile(wheel).extractall(site)
    return site


@pytest.mark.slow
def test_the_wheel_holds_what_runs_and_only_that(installed):
    assert sources(installed / "epsilon_explorer") == sources(ROOT)
    assert [path.name for path in installed.iterdir() if path.suffix != ".dist-info"] == [
        "epsilon_explorer"
    ]


@pytest.mark.slow
def test_a_notebook_imports_the_package_and_nothing_else(installed, tmp_path):
    price = "ee.price('mean', 'laplace', epsilon=2).epsilon_proved"
    code = f"import epsilon_explorer as ee; print({price})"
    environment = os.environ | {"PYTHONPATH": str(installed), "EXPLORER_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "2.0\n", done.stderr


@pytest.mark.slow
def test_the_conformance_tests_come_with_it(installed, tmp_path):
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs")
    line = [sys.executable, *command, "epsilon_explorer.conformance", "--paper", "mean"]
    environment = os.environ | {"PYTHONPATH": str(installed), "EXPLORER_HOME": str(tmp_path)}
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert " passed" in done.stdout, done.stdout + done.stderr
    assert " failed" not in done.stdout


@pytest.mark.slow
def test_every_requirement_comes_with_it(installed):
    (metadata,) = installed.glob("*.dist-info/METADATA")
    needed = [line.split()[0] for line in (ROOT / "requirements.txt").read_text().splitlines()]
    for line in needed:
        assert line == "#" or f"Requires-Dist: {line}" in metadata.read_text()


@pytest.mark.slow
def test_the_command_runs_from_any_folder(installed, tmp_path):
    code = "import sys, epsilon_explorer.engine.cli.start as s; sys.exit(s.main(sys.argv[1:]))"
    environment = os.environ | {"PYTHONPATH": str(installed), "EXPLORER_HOME": str(tmp_path)}

    def run(*arguments: str) -> str:
        line = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(
            line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert run("--version") == f"epsilon-explorer {__version__}\n"
    assert {"survival", "lvq"} <= {
        paper["slug"] for paper in json.loads(run("list", "--json"))["papers"]
    }


def test_without_arguments_the_command_starts_the_app(monkeypatch, capsys):
    seen = []
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(app.os, "execv", lambda program, line: seen.extend(line))
    start.main([])
    assert seen[1:] == ["-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", "8501"]
    assert capsys.readouterr().out == "Epsilon Explorer: http://localhost:8501\n"


@pytest.mark.parametrize("port", ["0", "70000"])
def test_a_port_that_does_not_exist_is_one_sentence(capsys, port):
    assert main(["app", "--port", port]) == 2
    assert capsys.readouterr().err == f"--port: expected a number from 1 to 65535, got {port}\n"
