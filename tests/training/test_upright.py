"""Images that are sheared upright, each by its own ink."""

import math
from itertools import pairwise

import torch

from engine.training import strokes
from engine.training.strokes import basis, sketched, upright_sketched
from engine.training.upright import STEEPEST, upright

SIDE = (28, 20)


def slanted(slope: float, right: float = 0.0, down: float = 0.0, width: float = 2.0):
    """A soft bar of 13 pixels that moves so many columns to the right with each row down."""
    y, x = torch.meshgrid(torch.arange(28) - 13.5 - down, torch.arange(20) - 9.5, indexing="ij")
    bar = torch.exp(-0.5 * ((x - right - slope * y) / width) ** 2)
    return (bar * torch.exp(-((y / 6.5) ** 6))).reshape(1, -1)


def spread(x: torch.Tensor) -> tuple[float, float, float]:
    """Middle of the ink in rows and in columns, and how both vary together."""
    ink = x.view(SIDE).double()
    y, x = (torch.arange(s, dtype=torch.float64) - (s - 1) / 2.0 for s in SIDE)
    mass = ink.sum()
    down, across = ink.sum(1) @ y / mass, ink.sum(0) @ x / mass
    together = (y - down) @ ink @ (x - across) / mass
    return float(down), float(across), float(together)


def test_a_slanted_bar_stands_upright_in_the_middle():
    """The sheared bar is the bar that was never slanted, but for rounding to pixels."""
    for slope in (-0.5, 0.25, 0.5):
        bar = slanted(slope, right=1.0, down=3.0)
        assert abs(spread(bar)[2]) > 3.0
        found = upright(bar, SIDE)
        assert max(map(abs, spread(found))) < 0.02
        assert float((found - slanted(0.0)).abs().max()) < 0.05


def test_no_row_moves_by_more_than_the_steepest_shear():
    """At twice the slope a bar is brought half way."""
    found = upright(slanted(2.0 * STEEPEST, width=1.0), SIDE).view(SIDE)
    columns = torch.arange(20.0)
    rows = range(11, 17)
    middles = [float(found[row] @ columns / found[row].sum()) for row in rows]
    for above, below in pairwise(middles):
        assert math.isclose(below - above, STEEPEST, abs_tol=0.1)


def test_an_image_is_turned_by_itself_alone():
    """Bit by bit the same whatever stands beside it, and on any number of threads."""
    x = torch.rand(1_203, 560, generator=torch.Generator().manual_seed(0))
    x[7] = 0.0
    whole, before = upright(x, SIDE), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        again = upright(x, SIDE)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(whole, again)
    for row in (0, 999, 1_000, 1_202):
        assert torch.allclose(upright(x[row : row + 1], SIDE)[0], whole[row], atol=1e-5)
    assert torch.equal(whole[7], torch.zeros(560))
    assert float(whole.min()) >= 0.0
    assert float(whole.max()) <= 1.0


def test_slanted_images_have_the_features_of_upright_ones(monkeypatch):
    """Without the shear they lie far apart."""
    monkeypatch.setattr(strokes, "DRAWN", 60)
    monkeypatch.setattr(strokes, "DIRECTIONS", 20)
    basis.cache_clear()
    both = torch.cat([slanted(0.0), slanted(0.4)])
    turned, plain = upright_sketched(both, SIDE), sketched(both, SIDE)
    basis.cache_clear()
    assert float(turned[0] @ turned[1]) > 0.95
    assert float(plain[0] @ plain[1]) < 0.8
    assert float(turned.norm(dim=1).max()) <= 1.0
