"""ADNI: the simulator says that it is one, and a file of one's own is read or refused."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets import adni, catalog
from datasets.base import LabelledTable
from datasets.connectivity import PAIRS, WINDOWS, connectivity
from engine.core.errors import DatasetError


def publish(folder: Path, **changes: Any) -> Path:
    """A file of twelve persons, with some arrays replaced."""
    rng = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "features": rng.uniform(-1, 1, (12, 3, 10)).astype(np.float32),
        "labels": np.arange(12) % 2,
        "subjects": np.array([f"S{i}" for i in range(12)]),
    }
    place = folder / "adni/adni.npz"
    place.parent.mkdir(exist_ok=True)
    arrays |= changes
    np.savez(place, **{name: value for name, value in arrays.items() if value is not None})
    return place


def test_the_simulator_has_the_papers_counts_and_says_what_it_is(folder: Path) -> None:
    table = catalog.load("adni")
    assert isinstance(table, LabelledTable)
    assert table.x.shape == (319, WINDOWS * PAIRS)
    assert np.bincount(table.y).tolist() == [154, 165]
    assert np.abs(table.x).max() <= 1.0
    assert table.card.simulated
    assert "imulated" in table.card.title
    assert table.card.summary.startswith("Simulated")


def test_the_simulator_repeats_itself() -> None:
    groups = np.arange(20) % 2
    assert np.array_equal(connectivity(groups), connectivity(groups))
    assert not np.array_equal(connectivity(groups), connectivity(groups, seed=1))


def test_the_second_group_holds_together_less() -> None:
    """Regions of one network: 200 persons a group, five standard errors of their means apart."""
    x = connectivity(np.arange(400) % 2).reshape(400, WINDOWS, PAIRS)[:, :, 0].mean(1)
    error = np.sqrt((x[::2].var() + x[1::2].var()) / 200)
    assert x[::2].mean() - x[1::2].mean() > 5 * error


def test_a_file_of_ones_own_replaces_the_simulator(folder: Path) -> None:
    assert catalog.load("adni").card.simulated
    place = publish(folder)
    table = catalog.load("adni")
    assert isinstance(table, LabelledTable)
    assert table.x.shape == (12, 30)
    assert (table.card.records, table.card.simulated) == (12, False)
    assert "imulated" not in table.card.title + table.card.summary
    assert catalog.card("adni") == table.card
    place.unlink()
    assert catalog.load("adni").card.simulated


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"features": np.zeros((11, 30))}, "got shapes"),
        ({"features": np.zeros(12)}, "got shapes"),
        ({"labels": np.zeros((12, 1))}, "got shapes"),
        ({"subjects": np.arange(13)}, "got shapes"),
        ({"subjects": np.zeros(12)}, "expected each subject once"),
        ({"labels": np.arange(12)}, "0 or 1 as labels"),
        ({"features": np.full((12, 30), "x")}, "numbers as features"),
        ({"features": np.full((12, 30), 2.0)}, "within their bounds"),
        ({"features": np.full((12, 30), np.nan)}, "finite features"),
        ({"labels": np.zeros(12)}, "expected 2 classes"),
        ({"labels": None}, "KeyError"),
        ({"features": np.full((12, 3), None, dtype=object)}, "ValueError"),
    ],
)
def test_a_wrong_file_is_one_sentence(folder: Path, changes: dict[str, Any], reason: str) -> None:
    publish(folder, **changes)
    assert not catalog.card("adni").simulated
    with pytest.raises(DatasetError, match=reason) as caught:
        catalog.load("adni")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("damage", ["text", "npy", "cut", "empty"])
def test_a_damaged_file_is_one_sentence(folder: Path, damage: str) -> None:
    place = publish(folder)
    if damage == "npy":
        np.save(place.with_suffix(".npy"), np.zeros(3))
        place.with_suffix(".npy").rename(place)
    else:
        place.write_bytes(
            {"text": b"nothing", "cut": place.read_bytes()[:300], "empty": b""}[damage]
        )
    with pytest.raises(DatasetError, match=r"adni/adni\.npz: expected"):
        catalog.load("adni")


def test_a_changed_file_is_read_again(folder: Path) -> None:
    os.utime(publish(folder), ns=(1, 1))
    assert adni.card().records == 12
    publish(folder, features=np.zeros((14, 5)), labels=np.arange(14) % 2, subjects=np.arange(14))
    assert adni.card().records == 14
