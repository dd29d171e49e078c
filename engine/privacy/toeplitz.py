r"""Noise that is correlated over steps: banded Toeplitz factors of what descent adds up. No torch.

Weights are sums of all gradients so far, so noise that later steps partly take back disturbs them
less than noise that is drawn afresh. With C lower triangular, banded and Toeplitz, a run releases
y = C g + z, z independent, and descends along C^{-1} y = g + C^{-1} z (Denisov et al. 2022). C is
the square root of the matrix that descent with momentum \beta multiplies gradients by, cut to b
bands (Fichtenberger, Henzinger and Upadhyay 2023; Kalinin and Lampert 2024, Theorem 1):
c_j = \sum_{i \le j} r_{j-i} r_i \beta^i, r_i = \binom{2i}{i}/4^i.

Guarantees:
    A record whose gradient, of norm at most D, is in step s alone moves y in the steps s to
    s + b - 1, by c_j times that gradient: by D \|c\| in all. If its steps are at least b apart,
    these ranges do not meet, so k of them move y by at most \sqrt k D \|c\| (Choquette-Choo et
    al. 2023): as k Gaussian releases of sensitivity D \|c\|. Later gradients may depend on earlier
    outputs (Denisov et al. 2022, Theorem 2.1).
"""

import math
from functools import lru_cache


@lru_cache(maxsize=256)
def coefficients(bands: int, momentum: float) -> tuple[float, ...]:
    """The first column of C, c_0 = 1 first, shape (b,).

    >>> [round(c, 4) for c in coefficients(4, 0.0)]
    [1.0, 0.5, 0.375, 0.3125]

    Args:
        bands: b, at least 1; with 1 the noise of all steps is independent.
        momentum: Share of the last direction that descent keeps.
    """
    root = [math.comb(2 * i, i) / 4.0**i for i in range(bands)]
    return tuple(
        math.fsum(root[j - i] * root[i] * momentum**i for i in range(j + 1)) for j in range(bands)
    )


def norm(bands: int, momentum: float) -> float:
    r"""\|c\|."""
    return math.sqrt(math.fsum(c * c for c in coefficients(bands, momentum)))


@lru_cache(maxsize=256)
def spread(bands: int, momentum: float, steps: int) -> float:
    """Deviation of the noise of one late step's gradient, in units of z's.

    The inverse of a Toeplitz matrix is one: d_0 = 1 and d_t = -(c_1 d_{t-1} + ... ).
    """
    c, inverse = coefficients(bands, momentum), [1.0]
    for t in range(1, steps):
        inverse.append(-math.fsum(c[j] * inverse[t - j] for j in range(1, min(bands, t + 1))))
    return math.sqrt(math.fsum(d * d for d in inverse))
