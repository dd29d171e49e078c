"""Papers and data sets are found in their folders, and a broken one hides no other."""

import sys
from pathlib import Path

import pytest

import datasets
from datasets import catalog as data
from engine import catalog, papers
from engine.cli.main import main
from engine.core.errors import DatasetError, RequestError

PAPER = "from dataclasses import replace\nfrom engine.papers.lvq import PAPER as one\n"


def with_paper(changed: str) -> str:
    """The text of a paper that is another's but for what it is given."""
    return f"{PAPER}PAPER = replace(one, slug='sixth', {changed})\n"


def with_method(changed: str) -> str:
    """The text of a paper whose first method is changed."""
    return with_paper(f"methods=(replace(one.methods[0], {changed}), *one.methods[1:])")


CARD = "from dataclasses import replace\nfrom datasets.digits import CARD as one, load\n"


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Writes further modules where papers and data sets are looked for."""
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path / "papers")])
    monkeypatch.setattr(datasets, "__path__", [*datasets.__path__, str(tmp_path / "datasets")])

    def write(path: str, text: str) -> None:
        file: Path = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        catalog._catalog.cache_clear()
        data._found.cache_clear()

    before = set(sys.modules)
    yield write
    for name in set(sys.modules) - before:
        if name.startswith(("engine.papers.", "datasets.")):
            del sys.modules[name]
    catalog._catalog.cache_clear()
    data._found.cache_clear()


def test_what_ships_is_not_broken():
    assert catalog.problems() == data.problems() == ()


def test_a_further_paper_and_data_set_are_found(beside):
    beside("papers/sixth/__init__.py", PAPER + "PAPER = replace(one, slug='sixth')\n")
    beside("datasets/more.py", CARD + "CARD = replace(one, name='more')\n")
    assert catalog.paper("sixth").slug == "sixth"
    assert data.card("more").records == 1797
    assert catalog.problems() == data.problems() == ()


def test_studies_of_one_paper_are_found_in_its_folder_and_a_broken_one_is_named(beside):
    beside("papers/sixth/__init__.py", "")
    beside("papers/sixth/first/__init__.py", PAPER + "PAPER = replace(one, slug='first')\n")
    beside("papers/sixth/second/__init__.py", "raise RuntimeError\n")
    assert catalog.paper("first").slug == "first"
    (problem,) = catalog.problems()
    assert problem.startswith("engine.papers.sixth.second: expected a module that imports")
    assert "sixth" not in catalog.catalog()


def test_a_card_with_an_unknown_status_is_refused(beside, capsys):
    lines = (
        "import dataclasses",
        "first = one.methods[0]",
        "def card(*asked):",
        "    return dataclasses.replace(first.guarantee(*asked), status='prooved')",
        with_method("guarantee=card, sized=None").removeprefix(PAPER),
    )
    beside("papers/sixth/__init__.py", PAPER + "\n".join(lines))
    first = catalog.paper("sixth").methods[0].name
    assert main(["price", "sixth", first]) == 2
    assert capsys.readouterr().err.startswith(
        "status: expected one of proved, proved_under_assumption, heuristic, not_private, got 'proo"
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import nothing_of_this_name\n", "ModuleNotFoundError: No module named 'nothing_of"),
        ("def broken(:\n", "SyntaxError: invalid syntax"),
        ("raise RuntimeError\n", "expected a module that imports, got RuntimeError"),
        ("", "expected a PAPER with slug 'sixth', got NoneType"),
        (PAPER + "PAPER = one\n", "expected a PAPER with slug 'sixth', got slug 'lvq'"),
        (with_paper("datasets=('digits', 'mnits')"), "expected in datasets one of flchain, "),
        (with_paper("gauge='accurcy'"), "expected in gauge one of error, "),
        (with_paper("spec=None"), "expected a PAPER that can be read, got TypeError"),
        (with_method("role='rivall'"), "role one of paper, rival, reference, beyond, "),
        (with_method("uses=('epsilom',)"), ".uses one of epsilon, "),
        (
            with_method("name=one.methods[1].name"),
            "expected methods with names of their own, got '",
        ),
        (with_method("fixed=(('epsilom', 1.0),)"), ".fixed one of epsilon, "),
        (with_paper("relation='replace'"), "expected in relation one of replace_one, add_or_rem"),
        (with_paper("opening={'epsilom': 1.0}"), "expected in opening one of epsilon, "),
        (with_paper("opening={'epsilon': -1.0}"), "got -1.0 as epsilon to begin with on digits"),
        (with_paper("settings={'mnits': {}}"), "expected in settings one of digits, mnist, "),
        (
            with_paper("settings={'mnist': {'epsilom': 1.0}}"),
            "expected in settings.mnist one of epsilon, ",
        ),
        (
            with_paper("settings={'mnist': {'epsilon': -1.0}}"),
            "got -1.0 as epsilon to begin with on mnist",
        ),
    ],
)
def test_a_broken_paper_is_one_sentence_and_the_others_are_listed(beside, capsys, text, says):
    known = set(catalog.catalog())
    beside("papers/sixth/__init__.py", text)
    assert main(["list"]) == 0
    out, error = capsys.readouterr()
    assert "lvq: Private relevance learning" in out
    assert error.startswith("engine.papers.sixth: expected")
    assert says in error
    assert len(error.splitlines()) == 1
    assert set(catalog.catalog()) == known
    with pytest.raises(RequestError, match=r"engine\.papers\.sixth: expected"):
        catalog.paper("sixth")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[knobs.bound]", "[knobs.bond]", "in paper.toml a table [knobs.bound], got"),
        ("[gauges.bias]", "[gauges.bia]", "in paper.toml a table [gauges.bias], got"),
        ("bounds = [2, 1_0", "bounds = [2000, 1_0", "got 500 as records by default"),
        ("step = 0.1", "stepp = 0.1", "a PAPER that can be read, got TypeError: Kn"),
        (
            'scale = "log"\nunit = "mg/dL"\naxis', 'scale = "logg"\naxis',
            "expected in knobs.bound.scale one of linear, log, got 'logg'",
        ),
        (
            'better = "down"\nunit = "mg/dL"\nscale', 'better = "downn"\nscale',
            "expected in gauges.error.better one of up, down, neither, got 'downn'",
        ),
        (
            'scale = "log"\nhelp = """\\\n  Absolute', 'scale = "lg"\nhelp = """ ',
            "expected in gauges.error.scale one of linear, log, got 'lg'",
        ),
    ],
)  # fmt: skip
def test_a_mistake_in_the_tables_of_a_paper_is_one_sentence(
    outside, tmp_path, capsys, old, new, says
):
    known = set(catalog.catalog())
    slug = outside()
    file = tmp_path / "papers" / slug / "paper.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    assert main(["list"]) == 0
    out, error = capsys.readouterr()
    assert all(one in out for one in known)
    assert error.startswith(f"engine.papers.{slug}: expected")
    assert says in error
    assert len(error.splitlines()) == 1
    assert set(catalog.catalog()) == known


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "import nothing_of_this_name\nCARD = 1\n",
            "expected a module that imports, got ModuleNotFou",
        ),
        ("\nCARD = 1\n", "expected a CARD with the name 'more', got int"),
        (CARD + "CARD = one\n", "expected a CARD with the name 'more', got the name 'digits'"),
        (CARD + "CARD = replace(one, name='more')\ndel load\n", "a function load(), got none"),
    ],
)
def test_a_broken_data_set_is_one_sentence_and_the_others_are_listed(beside, capsys, text, says):
    known = data.names()
    beside("datasets/more.py", text)
    beside(
        "papers/sixth/__init__.py",
        PAPER + "PAPER = replace(one, slug='sixth', datasets=('more', 'digits'))\n",
    )
    assert main(["list", "sixth"]) == 0
    out, error = capsys.readouterr()
    assert "Digits (8 x 8)" in out
    assert error.startswith("datasets.more: expected")
    assert says in error
    assert len(error.splitlines()) == 1
    assert data.names() == known
    for ask in (data.card, data.load):
        with pytest.raises(DatasetError, match=r"datasets\.more: expected"):
            ask("more")
