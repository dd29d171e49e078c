"""Runs from before an update of the program are told from others, by the code itself."""

import ast
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest

from engine.catalog import catalog
from engine.runs import changes
from engine.runs.changes import accountants, reached, sources
from engine.runs.job import request
from engine.service.claim import take
from engine.service.job_runner import perform
from engine.service.process import here

CACHES = (changes._digest, changes._meaning, changes._imports)
METHOD = '''"""What it is."""
from engine.training.clip import (
    clip,
)

def step():
    """What it does."""
    import datasets.base  # late
    return clip(1.0)
'''


def forget():
    for cache in CACHES:
        cache.cache_clear()


@pytest.fixture(autouse=True)
def _forgetful():
    forget()
    yield
    forget()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A method that imports a part, and a data set; nothing else reaches anything."""
    files = {
        "engine/core/batch.py": "B = 1\n", "engine/runs/driver.py": "import engine.training.no\n",
        "engine/papers/one/method.py": METHOD, "engine/papers/one/exhibits.py": "E = 1\n",
        "engine/training/clip.py": "def clip(x):\n    return x\n", "engine/training/no.py": "N = 1",
        "engine/training/steady.py": "S = 1\n", "engine/training/unseeded.py": "U = 1\n",
        "engine/privacy/searched.py": "F = 1\n",
        "datasets/base.py": "T = 1\n", "datasets/own.py": "O = 1\n", "datasets/data.py": "D = 1\n",
    }  # fmt: skip
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(changes, "ROOT", tmp_path)
    return tmp_path


def digest() -> tuple[str, ...]:
    forget()
    actual = sorted(reached("engine.papers.one.method", "datasets.data"))
    return tuple(f"{name} {changes._meaning(name)}" for name in actual)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("engine/papers/one/method.py", True),
        ("engine/papers/one/exhibits.py", False),
        ("engine/training/clip.py", True),
        ("engine/training/no.py", False),
        ("engine/runs/driver.py", True),
        ("engine/core/batch.py", True),
        ("datasets/base.py", True),
        ("datasets/data.py", True),
        ("datasets/own.py", False),
    ],
)
def test_a_change_counts_where_it_can_change_numbers(project, name, counts):
    before = digest()
    (project / name).write_text((project / name).read_text() + "\nMORE = 1\n")
    assert (digest() != before) == counts


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("What it is.", "What it was.", False),
        ("What it does.", "What it did.", False),
        ("# late", "# later", False),
        ("    clip,\n", "    clip,\n\n", False),
        ("clip(1.0)", "clip(2.0)", True),
        ("return clip", "yield clip", True),
        ("def ", "@steady\ndef ", False),
        ("def ", "@searched\ndef ", False),
        ("def ", "@unseeded\ndef ", False),
        ("def ", "@cache\ndef ", True),
        (")\n\n", ")\nfrom engine.training.steady import steady\n\n", False),
        (")\n\n", ")\nfrom engine.training.unseeded import unseeded\n\n", False),
        (")\n\n", ")\nfrom engine.privacy.searched import searched\n\n", False),
        (")\n\n", ")\nfrom engine.training.no import N\n\n", True),
    ],
)
def test_prose_and_layout_change_no_number(project, old, new, counts):
    assert old in METHOD
    before = digest()
    (project / "engine/papers/one/method.py").write_text(METHOD.replace(old, new))
    assert (digest() != before) == counts


def test_what_prices_a_method_counts_where_its_package_defines_it(project, monkeypatch):
    """A small paper has spec and releases in `__init__.py`, and its method in a file of its own."""
    package = project / "engine/papers/one/__init__.py"
    entry = SimpleNamespace(
        name="method", module="engine.papers.one.method", witness="", chunk=forget, info=str,
        releases=partial(lambda scale, spec, n: (), 1.0),
    )  # fmt: skip
    entry.releases.func.__module__ = "engine.papers.one"
    paper = SimpleNamespace(spec=str, entry=lambda name: entry)
    monkeypatch.setattr(changes, "catalog", lambda: {"one": paper})
    monkeypatch.setitem(sys.modules, "engine.papers.one", SimpleNamespace(__file__=str(package)))

    def found(text: str) -> str:
        package.write_text(text)
        forget()
        return changes._digest("one", "method", "data", audit=False)

    prices = "from engine.training.no import N\n\n\ndef releases(spec, n):\n    return (N,)\n"
    first = found(prices)
    assert found(f'"""Words."""\n{prices}') == first
    assert found(prices.replace("(N,)", "(2 * N,)")) != first
    (project / "engine/training/no.py").write_text("N = 2")  # what it imports counts too
    assert found(prices) != first


def test_the_time_of_a_file_is_no_change(project):
    before = digest()
    (project / "datasets/data.py").touch()
    assert digest() == before


def test_every_method_has_sources_of_its_own():
    jobs = [
        request(paper.slug, entry.name, paper.datasets[0])
        for paper in catalog().values()
        for entry in paper.methods
    ]
    digests = [sources(job) for job in jobs]
    assert all(len(digest) == 12 for digest in digests)
    assert len(set(digests)) == len(digests)
    assert len(sources(*jobs)) == 12
    assert sources(*jobs) == sources(*jobs[::-1])
    assert sources() == ""


@pytest.mark.parametrize(
    ("module", "counts"),
    [
        ("engine.audit.bounds", True),
        ("engine.papers.mean.witness", True),
        ("engine.privacy.noise", True),
        ("engine.audit.words", False),
        ("engine.audit.replay", False),
    ],
)
def test_an_attack_is_dated_by_its_own_sources_too(module, counts, monkeypatch):
    jobs = [request("mean", "gaussian", "flchain", audit=audit) for audit in (False, True)]
    before, meaning = [sources(job) for job in jobs], changes._meaning
    monkeypatch.setattr(changes, "_meaning", lambda one: meaning(one) + " again" * (one == module))
    changes._digest.cache_clear()
    changed = [sources(job) for job in jobs]
    assert (changed[1] != before[1]) == counts
    assert (changed[0] != before[0]) == (module == "engine.privacy.noise")


def test_an_attack_is_dated_by_the_witness_that_its_method_names(monkeypatch):
    jobs = [request("survival", "out_pert", "flchain", audit=audit) for audit in (False, True)]
    before, paper = [sources(job) for job in jobs], catalog()["survival"]
    module = paper.entry("out_pert").witness.partition(":")[0]
    methods = tuple(
        replace(entry, witness=f"{module}:DESCENT") if entry.name == "out_pert" else entry
        for entry in paper.methods
    )
    other = {**catalog(), "survival": replace(paper, methods=methods)}
    monkeypatch.setattr(changes, "catalog", lambda: other)
    changes._digest.cache_clear()
    after = [sources(job) for job in jobs]
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_a_run_from_before_a_change_is_outdated_until_it_is_done_again(
    toy, store, client, monkeypatch
):
    job = toy()
    client.submit(job)
    perform(take(store, here()))
    assert not client.run(job.id).outdated
    monkeypatch.setattr("engine.service.run.sources", lambda job: "another")
    assert client.run(job.id).outdated
    assert client.again(job) == "new"
    run = client.run(job.id)
    assert (run.state, run.outdated) == ("queued", False)


def test_prices_come_from_the_accountants_sources_and_version(monkeypatch):
    before = accountants()
    for name, other in (
        ("_meaning", lambda module: f"{module == 'engine.privacy.objective'}"),
        ("version", lambda package: "0"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(changes, name, other)
            assert accountants.__wrapped__() != before
    assert accountants.__wrapped__() == before
    assert len(before) == 12


def test_threads_that_read_sources_at_one_time_do_not_meet_in_the_parser(monkeypatch):
    """Python 3.11 ends in a SystemError where they do."""
    inside, most = [0], [0]
    parse = ast.parse

    def slow(text, *more, **how):
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.01)
        inside[0] -= 1
        return parse(text, *more, **how)

    monkeypatch.setattr(changes.ast, "parse", slow)
    names = ["engine.core.batch", "engine.core.spec", "engine.runs.job", "engine.method"]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(changes._imports.__wrapped__, names))
    assert all(found)
    assert most == [1]
