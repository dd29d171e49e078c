"""The metric of private Newton steps: a root of the inverse curvature that moves little with it."""

import pytest
import torch

from engine.papers.survival.mechanisms.newton import whitening

LEAST = 0.5


def curvatures(spectrum, seed, apart):
    """A matrix with these eigenvalues and one that is `apart` from it in operator norm."""
    rng = torch.Generator().manual_seed(seed)
    size = len(spectrum)
    basis = torch.linalg.qr(torch.randn(size, size, generator=rng, dtype=torch.float64)).Q
    whole = basis @ torch.diag(torch.tensor(spectrum).double()) @ basis.T
    change = torch.randn(size, size, generator=rng, dtype=torch.float64)
    change = change + change.T
    change = change * apart / torch.linalg.matrix_norm(change, 2)
    return torch.stack([whole, whole + change])


@pytest.mark.parametrize("spectrum", [(1.0,) * 5, (0.6, 0.6, 0.6, 4.0, 4.0), (0.6, 1.0, 3.0, 9.0)])
@pytest.mark.parametrize("seed", range(5))
def test_curvatures_that_differ_little_give_roots_that_differ_little(spectrum, seed):
    r"""At most by \|S - T\| m^{-3/2}/2 where no eigenvalue is below m (Bhatia 1997, Theorem X.3.8).

    Directions that count the same have no eigenvectors of their own: a root along these would turn
    noise by any angle, and two trainings that draw the same noise would have little in common.
    """
    apart = 1e-3
    both = curvatures(spectrum, seed, apart)
    one, other = whitening(both)
    far = torch.linalg.matrix_norm(one - other, 2)
    assert far <= 0.5 * apart * LEAST**-1.5
    unit = one.T @ both[0] @ one
    torch.testing.assert_close(unit, torch.eye(len(spectrum)).double())


def test_a_direction_without_curvature_counts_as_a_little():
    flat = whitening(torch.diag(torch.tensor([4.0, 0.0]).double())[None])[0]
    assert flat[0, 0] == pytest.approx(0.5)
    assert flat[1, 1] == pytest.approx((4.0 * 1e-9) ** -0.5)
