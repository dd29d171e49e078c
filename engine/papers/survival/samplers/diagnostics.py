"""Split R-hat and effective sample size (ArviZ: Vehtari et al. 2021)."""

import warnings

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


WORST = 10.0
"""Largest R-hat that is reported; chains that have not moved, or too few draws, get this."""
FEWEST = 8
"""Draws below which nothing is said about a chain."""


def mixing(draws: Floats) -> tuple[Floats, Floats]:
    """How well chains agree and how many independent draws they are worth.

    Args:
        draws: Shape (R, chains, m, d).

    Returns:
        Rank-normalised split R-hat, at most 10, and bulk effective sample size, shape (R, d) each;
        NaN for a chain that is not finite, 10 and 0 where it has not moved.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it announces a new version when it is imported
        import arviz
    rows, _, count, d = draws.shape
    r_hat, ess = np.full((rows, d), WORST), np.zeros((rows, d))
    for row, column in np.ndindex(rows, d):
        chains = draws[row, :, :, column]
        if not np.isfinite(chains).all():
            r_hat[row, column] = ess[row, column] = np.nan
        elif count >= FEWEST and (np.ptp(chains, axis=1) > 0).all():
            half = count // 2  # a single chain is compared with itself: ArviZ wants two
            pair = chains if len(chains) > 1 else chains[0, : 2 * half].reshape(2, half)
            r_hat[row, column] = min(WORST, arviz.rhat(pair))
            ess[row, column] = arviz.ess(chains)
    return r_hat, ess
