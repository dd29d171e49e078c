"""CONTRIBUTING's recipes: a further paper is four files, a data set one, and no edit elsewhere."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"\*\*`([\w/]+\.(?:py|toml))`\*\*[^`]*(?:`[^`]+`[^`]*)*?```(?:python|toml)\n(.*?)```", re.S
)
LINE = re.compile(r"the last of the `methods` of `([\w/]+\.py)`\*\*\s+```\n(.*?)```", re.S)
"""A line that is added to the list of a file that is there."""
KEEP = (
    "app.py",
    "pyproject.toml",
    "engine",
    "datasets",
    "pages",
    "tests",
    ".streamlit",
    "reference",
)


def recipes() -> dict[str, str]:
    """The files that CONTRIBUTING shows, by path."""
    return dict(BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text()))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with the files of the recipes, all of them new."""
    copy = tmp_path_factory.mktemp("recipe")
    for name in KEEP:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy / name)
    for path, text in recipes().items():
        assert not (copy / path).exists()
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_text(text)
    for path, text in LINE.findall((ROOT / "CONTRIBUTING.md").read_text()):
        before = (copy / path).read_text()
        end = "    ),\n    datasets="
        assert before.count(end) == 1
        (copy / path).write_text(before.replace(end, text + end))
    return copy


def run(project: Path, *command: str) -> str:
    """What a Python command prints in the copy."""
    environment = os.environ | {"EXPLORER_HOME": str(project / "home")}
    done = subprocess.run(
        [sys.executable, *command], cwd=project, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_a_paper_is_four_files_a_chart_two_and_a_method_and_a_data_set_one():
    """And a test of each."""
    assert sorted(recipes()) == [
        "datasets/wine.py",
        "engine/papers/count/__init__.py",
        "engine/papers/count/method.py",
        "engine/papers/count/rounded.py",
        "pages/count.py",
        "pages/ui/papers/count/layout.toml",
        "pages/ui/papers/count/sections.py",
        "tests/pages/test_count.py",
        "tests/papers/count/test_count.py",
        "tests/papers/count/test_rounded.py",
    ]


@pytest.mark.thorough
def test_the_paper_is_listed_priced_and_run(project):
    def answer(command: str):
        return json.loads(run(project, "-m", "engine", *command.split(), "--json"))

    papers = {paper["slug"]: paper for paper in answer("list")["papers"]}
    assert [method["name"] for method in papers["count"]["methods"]] == ["laplace", "rounded"]
    card = answer("price count laplace --set epsilon=0.3")["guarantee"]
    assert card["epsilon_proved"] == pytest.approx(0.3)
    assert "error" in json.dumps(answer("run count laplace --seeds 3"))


@pytest.mark.slow
def test_the_papers_tests_conformance_and_page_pass(project):
    tests = ("tests/papers/count", "tests/pages/test_count.py", "tests/test_conformance.py")
    more = ("engine/conformance", "tests/pages/test_app.py", "tests/test_house.py")
    chosen = "count-laplace or count-rounded or test_count or test_rounded or count] or shape"
    says = run(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, *more, "-k", chosen)
    passed = int(re.search(r"(\d+) passed", says)[1])
    assert passed >= 3 + 2 * 7 + 1, says  # their own tests, the conformance tests, the page


def test_the_data_set_loads(project):
    code = "from datasets import catalog; print(catalog.load('wine').x.shape, catalog.problems())"
    assert run(project, "-c", code) == "(178, 13) ()\n"


def test_the_recipes_are_as_tidy_as_the_project(project):
    modules = [path for path in recipes() if path.endswith(".py")]
    run(project, "-m", "ruff", "check", "--no-cache", *modules)
    run(project, "-m", "ruff", "format", "--no-cache", "--check", *modules)
