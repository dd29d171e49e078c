"""Papers and data sets of installed packages: found by entry points, on pages and in commands."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_recipe import recipes

ROOT = Path(__file__).parents[2]
POINTS = """[epsilon_explorer.papers]
count = count_paper
broken = no_such_module_here
mean = count_paper.mean

[epsilon_explorer.datasets]
wine = wine_table
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """CONTRIBUTING's examples as an installed package: modules and their entry points."""
    folder = tmp_path_factory.mktemp("site")
    told = recipes()
    package, name = folder / "count_paper", "engine.papers.count"
    package.mkdir()
    for path, text in told.items():
        if path.startswith("engine/papers/count/"):
            (package / Path(path).name).write_text(text.replace(name, "count_paper"))
    (package / "mean.py").write_text("PAPER = None\n")
    (folder / "wine_table.py").write_text(told["datasets/wine.py"])
    info = folder / "count_paper-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: count-paper\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    return folder


@pytest.fixture
def run(site, tmp_path):
    """Runs Python where the package is installed."""

    def run(*command: str) -> tuple[str, str]:
        path = os.pathsep.join([str(site), str(ROOT)])
        environment = os.environ | {"PYTHONPATH": path, "EXPLORER_HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout, done.stderr

    return run


def test_an_installed_paper_is_listed_and_a_broken_one_hides_nothing(run):
    told, problems = run("-m", "engine", "list", "--json")
    slugs = [paper["slug"] for paper in json.loads(told)["papers"]]
    assert {"count", "mean", "survival"} <= set(slugs)
    assert "no_such_module_here of count-paper: expected a module that imports" in problems
    assert "expected a slug that no other paper has, got 'mean'" in problems


@pytest.mark.thorough
def test_it_runs_is_priced_audited_and_verified(run):
    told, _ = run("-m", "engine", "run", "count", "laplace", "--set", "epsilon=2", "--json")
    assert json.loads(told)["replicas"][0]["guarantee"]["epsilon_proved"] == 2.0
    told, _ = run("-m", "engine", "price", "count", "laplace", "--set", "epsilon=2", "--json")
    assert json.loads(told)["guarantee"]["epsilon_proved"] == 2.0
    told, _ = run("-m", "engine", "audit", "count", "laplace", "--replicas", "200", "--json")
    assert 0.0 < json.loads(told)["epsilon_attacked"] <= 1.0
    run("-m", "engine", "verify", "count", "laplace")
    code = (
        "from engine.runs.changes import sources, reached\n"
        "from engine.runs.job import request\n"
        "assert 'count_paper.method' in reached('count_paper.method')\n"
        "print(sources(request('count', 'laplace', 'flchain', {})))"
    )
    assert len(run("-c", code)[0].strip()) == 12


@pytest.mark.thorough
def test_an_installed_data_set_is_there(run):
    code = "from datasets import catalog; print(len(catalog.load('wine').y))"
    assert run("-c", code)[0] == "178\n"


@pytest.mark.thorough
def test_it_has_a_page(run):
    code = (
        "from streamlit.testing.v1 import AppTest\n"
        "from pages.ui.kit import shell\n"
        "assert 'count' in shell.papers()\n"
        "at = AppTest.from_file(shell.script('count'), default_timeout=120)\n"
        "at.session_state[shell.ENTERED] = True\n"
        "at.run()\n"
        "assert not at.exception, at.exception\n"
        "print(at.title[0].value)"
    )
    assert "Private count" in run("-c", code)[0]


@pytest.mark.thorough
def test_home_leads_to_its_page_and_so_does_an_exhibit(run):
    code = (
        "from streamlit.testing.v1 import AppTest\n"
        "from pages.ui.exhibits import provenance\n"
        "from pages.ui.jobs.live import Watched\n"
        "from pages.ui.paper import defaults\n"
        "at = AppTest.from_file('app.py', default_timeout=120).run()\n"
        "assert not at.exception, at.exception\n"
        "assert any('Private count' in one.value for one in at.markdown)\n"
        "job = defaults.opening('count')['laplace']\n"
        "print(provenance._row('', Watched('', job, None), {}, {})['Open'])"
    )
    assert "/count?" in run("-c", code)[0]


@pytest.mark.thorough
def test_its_runs_are_in_compare(run):
    run("-m", "engine", "run", "count", "laplace", "--sweep", "epsilon=1,2", "--seeds", "3")
    code = (
        "from streamlit.testing.v1 import AppTest\n"
        "from pages.ui.kit import shell\n"
        "at = AppTest.from_file('pages/compare.py', default_timeout=120)\n"
        "at.session_state[shell.ENTERED] = True\n"
        "at.run()\n"
        "at.selectbox[0].set_value('FLchain').run()\n"
        "at.selectbox[1].set_value('Error of the count').run()\n"
        "assert not at.exception, at.exception\n"
        "print(at.multiselect[0].value)"
    )
    assert run("-c", code)[0] == "['Laplace']\n"


@pytest.mark.thorough
def test_it_is_a_static_page_once_it_is_trained_here(run):
    code = (
        "from engine.cli.work import complete\n"
        "from engine.service.client import Client\n"
        "from pages.ui.paper import defaults\n"
        "from pages.ui.site import states, write\n"
        "assert states.take('count') is None\n"
        "client = Client(workers=False)\n"
        "for job in defaults.opening('count').values():\n"
        "    complete(client, job, lambda done, total: None)\n"
        "one = states.take('count')\n"
        "pages = dict(write._pages({'count': one}))\n"
        "assert 'Private count' in pages['index.html']\n"
        "assert len(one.opening.state.budgets) > 1\n"
        "print(*sorted(name for name in pages if name.startswith('count')))"
    )
    assert run("-c", code)[0] == "count/data.js count/index.html count/others.js\n"
