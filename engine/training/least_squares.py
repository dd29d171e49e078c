r"""A classifier from one release of \sum p p' and \sum p y': the quadratic solved.

The quadratic Taylor form of the softmax layer (equation 18) is, per class,
\sum_t (1/2 - y_t) w'p_t + (w'p_t)^2 / 8, so all it needs is A = \sum p p' and
\sum p (y - 1/2)'. The latter follows from b = \sum p y' by post-processing, since the classes
of a one-hot y add up to 1; b has sensitivity 1 and \sum p (y - 1/2)' would have \sqrt{2.5}.
The constants 4 and 1/2 change no argmax and are left out.

Guarantees:
    \|p\| = 1 and y one-hot: \|p p'\|_F = 1 and \|p y'\|_F = 1 for each record.
    A symmetric matrix is released in the isometric coordinates (diagonal, \sqrt 2 times the
    upper triangle): noise s on the diagonal and s/\sqrt 2 beside it.
    Rounding is within these bounds. Rows are shorter than 1 by a millionth (`SHORT`), so p p' is
    by two. Products are added in double precision, ADDED rows at a time: n rows of length 1 give
    a sum that is off by at most (ADDED + n / ADDED) n 2^{-53} in Frobenius norm (Higham 2002,
    section 3.5), twice 3 10^{-8} for n = 60,000 and twice 5 10^{-7} for a million.
"""

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.noise import release
from engine.training.steady import steady

SHORT = 1.0 - 1e-6
"""Length of a row that counts as 1: what is missing is more than rounding adds."""
ADDED = 4096
"""Rows whose products are added up together, in double precision."""
RIDGE = 0.5
"""Weight of the ridge in units of s sqrt(d), a third of the noise's operator norm."""


@dataclass(frozen=True, eq=False)
class Quadratic:
    """A released quadratic in the coordinates in which its matrix is diagonal.

    Attributes:
        vectors: Eigenvectors of the noisy A, columns, shape (d, d).
        values: Their shrunk eigenvalues plus the ridge, shape (d,).
        target: The noisy b in these coordinates, shape (d, classes).
    """

    vectors: Tensor
    values: Tensor
    target: Tensor


def sums(p: Tensor, y: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    r"""A = \sum p p', shape (d, d), and b = \sum p y', shape (d, classes), double precision."""
    b = torch.zeros(classes, p.shape[1], dtype=torch.float64, device=p.device)
    for rows, kinds in zip(torch.split(p, ADDED), torch.split(y, ADDED), strict=True):
        for k in range(classes):
            b[k] += rows[kinds == k].sum(0, dtype=torch.float64)
    return squared(p.T), b.T.contiguous()


@steady
def quadratic(
    a: Tensor, b: Tensor, matrix: Gaussian, vector: Gaussian, rng: Generator
) -> Quadratic:
    """Releases A and b, and shrinks what is known to be noise."""
    values, vectors = torch.linalg.eigh(released(a, matrix, rng))
    target = vectors.T @ noisy(b, vector, rng)
    ridge = RIDGE * matrix.scale * math.sqrt(len(a))
    return Quadratic(vectors, shrunk(values, matrix.scale).clamp(min=0.0) + ridge, target)


def shrunk(values: Tensor, scale: float) -> Tensor:
    r"""Eigenvalues of A + noise moved towards those of A (Bun et al. 2016, additive noise).

    \xi_i = \lambda_i - 2 v \sum_j g_{ij} / (g_{ij}^2 + \eta^2), g_{ij} = \lambda_i - \lambda_j,
    with v = s^2/2 the variance off the diagonal and \eta a smoothing width.
    """
    variance, d = scale**2 / 2.0, len(values)
    width = math.sqrt(variance) * d**0.2
    gap = values[:, None] - values[None, :]
    pull: Tensor = (gap / (gap.square() + width**2)).sum(1)
    return values - 2.0 * variance * pull


def weights(quadratic: Quadratic, epochs: int | None) -> Tensor:
    r"""The minimiser, or what so many steps of gradient descent from zero reach, (d, classes).

    With step 1/\lambda_1, t steps give (1 - (1 - \lambda_i/\lambda_1)^t) of coordinate i.
    """
    answer = quadratic.target / quadratic.values[:, None]
    if epochs is not None:
        left = (1.0 - quadratic.values / quadratic.values.max()).pow(epochs)
        answer = answer * (1.0 - left)[:, None]
    return quadratic.vectors @ answer


def squared(wide: Tensor, parts: int = 4) -> Tensor:
    """W W', shape (D, D), double precision throughout.

    The upper triangle by blocks, some columns of W at a time, and then its mirror.
    """
    total = torch.zeros(len(wide), len(wide), dtype=torch.float64, device=wide.device)
    size = max(64, -(-len(wide) // parts))
    for some in torch.split(wide, ADDED, 1):
        rows = some.double()
        for start in range(0, len(wide), size):
            block = slice(start, start + size)
            total[block, start:] += rows[block] @ rows[start:].T
    upper: Tensor = total.triu()
    return upper + upper.triu(1).T


def shortened(rows: Tensor) -> Tensor:
    """Each record's numbers (n, ...) to length `SHORT`, in place; a record of zeros stays.

    Lengths are measured in double precision, so that dividing by them is all that rounds.
    """
    for part in torch.split(rows, ADDED):
        flat = part.flatten(1)
        length = torch.linalg.vector_norm(flat, dim=1, dtype=torch.float64).clamp_(min=1e-9)
        part.div_((length / SHORT).to(part).view(-1, *[1] * (part.dim() - 1)))
    return rows


def upper(size: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    r"""Rows, columns and weights (1 or \sqrt 2) of a symmetric matrix's isometric coordinates."""
    rows, columns = torch.triu_indices(size, size, device=device)
    weight = torch.where(rows == columns, 1.0, math.sqrt(2.0))
    return rows, columns, weight


def released(total: Tensor, mechanism: Gaussian, rng: Generator) -> Tensor:
    """A symmetric matrix with the mechanism's noise, symmetric again."""
    rows, columns, weight = upper(len(total), total.device)
    noisy_total = torch.empty_like(total)
    noisy_total[rows, columns] = release(total[rows, columns][None], [mechanism], rng, weight)[0]
    noisy_total[columns, rows] = noisy_total[rows, columns]
    return noisy_total


def noisy(total: Tensor, mechanism: Gaussian | Laplace, rng: Generator) -> Tensor:
    """An array of any shape with the mechanism's noise on every number."""
    return release(total[None], [mechanism], rng)[0]
