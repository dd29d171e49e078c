"""Scattering features: against another library, of one record alone, and kept on disk."""

import importlib
import sys
import types
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.training import features
from engine.training.features import kept
from engine.training.scattering import coefficients, scattering

SIDE = (28, 28)
IMAGES = torch.rand(6, 784, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def kymatio(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Its 2-D transform alone: the rest of the package asks for what scipy no longer has."""
    place = find_spec("kymatio")
    assert place is not None
    assert place.submodule_search_locations
    for name in ("kymatio", "kymatio.scattering2d"):
        package = types.ModuleType(name)
        folder = Path(place.submodule_search_locations[0], *name.split(".")[1:])
        package.__path__ = [str(folder)]
        monkeypatch.setitem(sys.modules, name, package)
    importlib.import_module("kymatio.scattering2d.core.scattering2d")
    importlib.import_module("kymatio.scattering2d.filter_bank")
    yield importlib.import_module("kymatio.scattering2d.frontend.torch_frontend")
    for name in [name for name in sys.modules if name.startswith("kymatio")]:
        monkeypatch.delitem(sys.modules, name)


def test_coefficients_are_those_of_another_library(kymatio: Any):
    """It writes 3.1415 for pi in its filters, so all maps differ by a factor of 1 + 3e-5."""
    theirs = kymatio.ScatteringTorch2D(J=2, shape=SIDE)(IMAGES.view(-1, *SIDE))
    ours = coefficients(IMAGES, SIDE)
    assert ours.shape == theirs.shape == (6, 81, 7, 7)
    torch.testing.assert_close(ours, theirs, rtol=5e-5, atol=2e-6)


def test_features_of_a_record_depend_on_no_other():
    whole, alone = scattering(IMAGES, SIDE), scattering(IMAGES[2:3], SIDE)
    torch.testing.assert_close(whole[2:3], alone, rtol=0, atol=2e-5)
    assert whole.shape == (6, 81 * 49)


def test_each_group_of_three_maps_has_the_same_length():
    groups = scattering(IMAGES, SIDE).view(6, 27, -1)
    # a millionth is added to lengths of at least .01 before dividing, so that zeros stay zeros
    torch.testing.assert_close(groups.norm(dim=2), torch.full((6, 27), 29.0), rtol=1e-4, atol=0)
    torch.testing.assert_close(groups.mean(2), torch.zeros(6, 27), rtol=0, atol=1e-5)


def test_features_are_kept_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    monkeypatch.setattr(features, "WORTHWHILE", 2)
    asked = []

    def transform(x: torch.Tensor, side: tuple[int, int]) -> torch.Tensor:
        asked.append(len(x))
        return x[:, :5] * 3.0

    first = kept(IMAGES, SIDE, transform)
    assert torch.equal(kept(IMAGES, SIDE, transform), first)
    assert asked == [6]
    kept(IMAGES[:3], SIDE, transform)
    assert asked == [6, 3], "other images have features of their own"
    (file, _) = sorted((tmp_path / "features").iterdir())
    assert file.stat().st_mode & 0o777 == 0o600
    for content in (b"no array", b""):  # empty: what a power cut can leave
        for damaged in (tmp_path / "features").iterdir():
            damaged.write_bytes(content)
        assert torch.equal(kept(IMAGES, SIDE, transform), first)
    assert asked == [6, 3, 6, 6]


def test_a_folder_that_cannot_be_made_only_costs_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("EXPLORER_HOME", str(blocked))
    monkeypatch.setattr(features, "WORTHWHILE", 2)
    assert kept(IMAGES, SIDE, lambda x, side: x[:, :5]).shape == (6, 5)
