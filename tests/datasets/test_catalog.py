import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import datasets
from datasets import catalog
from datasets.base import LabelledTable, PanelTable, SurvivalTable
from engine.core.errors import DatasetError, RequestError

EMBEDDED = ("flchain", "second_births", "digits", "adni", "yesiwell_weekly")
FETCHED = ("third_births", "wichert", "mnist", "segment")
SURVIVAL = ("flchain", "third_births", "wichert", "second_births", "heart")


def matches_its_card(name: str) -> None:
    table, card = catalog.load(name), catalog.card(name)
    assert table.card == card
    assert len(table) == len(table.x) == card.records
    if isinstance(table, SurvivalTable):
        assert table.x.shape == (card.records, len(card.features))
        assert len(card.units) == len(card.features)
        assert table.event.dtype == np.bool_
        assert int(table.event.sum()) == card.events
        assert table.time.min() >= 0
        assert np.isfinite(table.x).all()
    elif isinstance(table, PanelTable):
        assert table.x.shape == (card.records, *table.y.shape[1:], len(card.features))
        assert len(card.units) == len(card.features)
    else:
        assert table.x.ndim == 2
        assert np.array_equal(np.unique(table.y), np.arange(card.classes or 0))
        lower, upper = table.bounds
        assert (table.x.min(axis=0) >= lower).all()
        assert (table.x.max(axis=0) <= upper).all()


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_tables_need_no_folder(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXPLORER_DATA", raising=False)
    assert catalog.card(name).embedded
    matches_its_card(name)


@pytest.mark.parametrize("name", FETCHED)
def test_published_files_match_their_cards(name: str, published: Path) -> None:
    assert not catalog.card(name).embedded
    matches_its_card(name)


def test_every_module_with_a_card_is_listed() -> None:
    modules = [import_module(f"datasets.{m.name}") for m in pkgutil.iter_modules(datasets.__path__)]
    with_card = {module.CARD.name for module in modules if "CARD" in vars(module)}
    assert with_card == set(catalog.names())


@pytest.mark.parametrize("name", catalog.names())
def test_a_card_says_what_a_page_needs(name: str) -> None:
    card = catalog.card(name)
    assert card.name == name
    assert (card.events is None) != (card.classes is None)
    assert (card.events is not None) == (name in SURVIVAL)
    texts = (card.title, card.summary, card.record, card.source, card.licence, card.public)
    assert all(texts)


def test_a_proof_on_bounds_chosen_with_the_file_in_view_stands_under_an_assumption() -> None:
    from engine.catalog import paper

    assert "in view" in catalog.card("segment").public
    for slug, method in (("lvq", "glvq_dp"), ("lvq", "gmlvq_dp"), ("enadpp", "dpsgd")):
        card = paper(slug).entry(method).promise(paper(slug).spec(), catalog.card("segment"))
        assert card.status == "proved_under_assumption"
        assert "in view" in card.reasons[0]
    for name in catalog.names():
        assert catalog.card(name).taken == ("in view" in catalog.card(name).public)


@pytest.mark.parametrize("name", ["", "mnist2", "../base", "base"])
def test_an_unknown_name_is_a_request_error(name: str) -> None:
    for ask in (catalog.card, catalog.load):
        with pytest.raises(RequestError, match=r"dataset: expected one of flchain, .*got "):
            ask(name)


def test_a_table_is_kept_and_a_failure_is_not(folder: Path) -> None:
    assert catalog.load("digits") is catalog.load("digits")
    for _ in range(2):
        with pytest.raises(DatasetError):
            catalog.load("third_births")
    assert catalog._load.cache_info().currsize == 1


def test_cards_import_nothing_heavy() -> None:
    heavy = ("torch", "sksurv", "sklearn", "pandas", "scipy", "pooch", "requests")
    code = (
        "import sys; from datasets import catalog; [catalog.card(n) for n in catalog.names()];"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    root = Path(datasets.__path__[0]).parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_labelled_images_have_their_shape() -> None:
    digits = catalog.load("digits")
    assert isinstance(digits, LabelledTable)
    assert digits.image == (8, 8)
    assert digits.x.shape[1] == 64
