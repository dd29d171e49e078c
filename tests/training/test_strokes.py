"""Simulated strokes and the axes of their features."""

import torch

from engine.training import strokes
from engine.training.strokes import basis, sketched, unit

SIDE = (16, 16)


def few(monkeypatch, directions=20):
    monkeypatch.setattr(strokes, "DRAWN", 60)
    monkeypatch.setattr(strokes, "DIRECTIONS", directions)
    basis.cache_clear()


def test_strokes_are_white_on_black_and_in_the_middle():
    drawn = strokes.strokes(40, SIDE, torch.Generator().manual_seed(0)).view(-1, *SIDE)
    assert (float(drawn.min()), float(drawn.max())) == (0.0, 1.0)
    ink = drawn.sum((1, 2))
    assert 0.02 < float(ink.mean()) / 256 < 0.5
    for axis in (1, 2):
        middle = drawn.sum(3 - axis) @ torch.arange(16.0) / ink
        assert float((middle - 7.5).abs().max()) < 2.0  # whole pixels, and a stroke may be wide


def test_axes_do_not_depend_on_the_number_of_threads(monkeypatch):
    few(monkeypatch)
    first, before = basis(SIDE), torch.get_num_threads()
    basis.cache_clear()
    torch.set_num_threads(2)
    try:
        again = basis(SIDE)
    finally:
        torch.set_num_threads(before)
        basis.cache_clear()
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


def test_features_are_of_one_record_and_at_most_one_long(monkeypatch):
    few(monkeypatch)
    x = torch.rand(5, 256, generator=torch.Generator().manual_seed(1))
    x[4] = 0.0
    rows = sketched(x, SIDE)
    assert rows.shape == (5, 20)
    assert float(rows.norm(dim=1).max()) <= 1.0
    assert torch.allclose(sketched(x[2:3], SIDE), rows[2:3], atol=1e-5)
    basis.cache_clear()


def test_a_row_of_zeros_stays_one():
    assert torch.equal(unit(torch.zeros(1, 3)), torch.zeros(1, 3))
