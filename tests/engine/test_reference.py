"""Computed exhibits survive the file, and a damaged file says so."""

import math

import pytest

from engine.catalog import catalog
from engine.core.errors import StoreError
from engine.runs import reference
from engine.runs.exhibit import Cell

CELLS = (
    Cell("FL", "1e-05", "as printed", 981.635, 771.7, 3.25, "0" * 12, 2.5),
    Cell("FL", "1e-04", "rigorous", None, math.nan, None, "1" * 12),
)


def test_cells_survive_the_file(tmp_path):
    reference.save("survival", "table2", CELLS, full=True, seconds=1.23, folder=tmp_path)
    actual = reference.load("survival", "table2", tmp_path)
    assert actual.cells[0] == CELLS[0]
    assert actual.cells[1].ours is None
    assert (actual.full, actual.seconds) == (True, 1.2)
    assert actual.cells[0].ratio == pytest.approx(771.7 / 981.635)
    assert actual.cells[1].ratio is None


def test_what_was_not_computed_is_none(tmp_path):
    assert reference.load("survival", "table2", tmp_path) is None


def test_a_damaged_file_is_one_sentence(tmp_path):
    path = reference.save("survival", "table2", CELLS, full=True, seconds=1.0, folder=tmp_path)
    path.write_text(path.read_text()[:40])
    with pytest.raises(StoreError, match="expected a computed exhibit, got"):
        reference.load("survival", "table2", tmp_path)


@pytest.mark.parametrize("slug", catalog())
def test_what_ships_can_be_read_and_is_full_size(slug):
    for path in (reference.FOLDER / slug).glob("*.json"):
        actual = reference.load(slug, path.stem)
        assert actual.full, path
        assert actual.cells


def test_exhibits_that_share_a_run_show_the_same_numbers():
    """Figure 1 of relevance learning draws the errors of Table 1 at three budgets."""
    figure, table = (reference.load("lvq", name).cells for name in ("figure1", "table1"))
    known = {
        (cell.run, cell.variant, cell.column.removeprefix("ε = ")): (cell.ours, cell.spread)
        for cell in table if cell.run
    }  # fmt: skip
    shared = {
        key: cell for cell in figure if (key := (cell.run, cell.variant, cell.column)) in known
    }
    assert len(shared) >= 12
    assert {key: (one.ours, one.spread) for key, one in shared.items()} == {
        key: known[key] for key in shared
    }
