r"""Features whitened by their second moments, which are released once before the first step.

Noise is equally long in every direction, while features vary far more in some directions than in
others. A linear layer thus learns more from the same noise where features vary equally (Mehta et
al. 2022). With p_i the features of record i, A = \sum_i p_i p_i' is released, and training sees
u_i = P' p_i with P = V diag(c / \sqrt{\lambda + r}), V and n \lambda the eigenvectors and
eigenvalues of the noisy A, and r of the noise's operator norm.

Guarantees:
    |p_i| <= 1, so a record moves A by at most \|p_i p_i'\|_F = |p_i|^2 <= 1 in the Frobenius norm:
    sensitivity 1 when a record is added, removed, or its place emptied. A symmetric matrix is
    released in the isometric coordinates (diagonal, \sqrt 2 times the upper triangle). A is
    summed in double precision, in which every length is measured, and what is longer than
    `LONGEST` is shortened: a length in single precision can miss 2e-6 with 784 numbers, and in
    single precision a record can move the sum of 700,000 records by more than 1. P follows
    from the released matrix and the public number of places, so it is public when training begins,
    and u_i is a function of record i alone: its gradient is clipped to C as any other.
    The released weights are those on p, w = P w_u: post-processing.
"""

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.papers.enadpp import price
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import Variant
from engine.privacy.noise import release
from engine.training.least_squares import upper
from engine.training.network import Parameters
from engine.training.records import Records
from engine.training.threads import single_thread

GAIN = 2.0
"""c: root mean square of features along a direction that is well known; the bias has input 1.

Clipping bounds and learning rates of other features suit those of this size. The more precise
the moments, the more directions are known, and the longer is the step."""
FLOOR = 1.0
"""r in units of s \\sqrt{2 d} / n, the operator norm of noise s on the mean of n records."""
LONGEST = 1.0 - 1e-7
"""Length of a record's features at most, below 1 by more than a sum in double precision rounds."""
SLAB = 8192
"""Records whose features are held in double precision together."""


@dataclass(frozen=True, eq=False)
class Whitened:
    """What follows from the released moments.

    Attributes:
        maps: P of each replica, shape (R, d, d).
        x: Whitened features to train on, shape (R, N, d).
    """

    maps: Tensor
    x: Tensor

    def take(self, records: Records, index: Tensor) -> tuple[Tensor, Tensor]:
        """Whitened features (R, B, d) and classes at positions (R, B)."""
        replicas, n, d = self.x.shape
        first = n * torch.arange(replicas, device=index.device)[:, None]
        rows = self.x.view(-1, d).index_select(0, (index + first).flatten())
        return rows.view(*index.shape, d), records.y[index]

    def folded(self, parameters: Parameters) -> Parameters:
        """The weights of a linear layer as they act on features that are not whitened."""
        (weight, bias), *rest = parameters
        return ((weight @ self.maps.mT, bias), *rest)


def whitened(
    variant: Variant, batch: Batch[EnadppSpec], records: Records, rng: Generator
) -> Whitened | None:
    """Releases the moments of each replica; None where features stay as they are.

    Raises:
        RequestError: Records that are compared two by two.
    """
    if not variant.whitens(batch.spec.representation):
        return None
    if records.paired:
        raise RequestError(
            "representation: expected scattering, wavelets or pixels where persons are compared, "
            "got whitened"
        )
    here = torch.ones(len(records), device=records.x.device)
    here[list(records.left_out)] = 0.0
    rows, columns, weight = upper(records.x.shape[1], records.x.device)
    value = _moments(records.x, here)[rows, columns].expand(len(batch), -1)
    mechanisms = [price.moments(spec) for spec in batch.specs]
    noisy = release(value, mechanisms, rng, weight)
    scales = [m.scale for m in mechanisms]
    maps = torch.stack([
        _map(row, (rows, columns), len(records), s) for row, s in zip(noisy, scales, strict=True)
    ])  # fmt: skip
    return Whitened(maps, torch.stack([records.x @ own for own in maps]))


def _moments(x: Tensor, here: Tensor) -> Tensor:
    r"""\sum p p' of the records that are there, shape (d, d), double precision throughout."""
    total = torch.zeros(x.shape[1], x.shape[1], dtype=torch.float64, device=x.device)
    for part, kept in zip(torch.split(x, SLAB), torch.split(here, SLAB), strict=True):
        rows = (part * kept[:, None]).double()
        rows /= torch.linalg.vector_norm(rows, dim=1, keepdim=True).div_(LONGEST).clamp_(min=1.0)
        with single_thread():
            total.addmm_(rows.T, rows)
    return total


def _map(noisy: Tensor, place: tuple[Tensor, Tensor], n: int, scale: float) -> Tensor:
    """P from the released upper triangle, shape (d, d), single precision."""
    d = int(place[0].max()) + 1
    total = noisy.new_zeros(d, d)
    total[place], total[place[::-1]] = noisy, noisy
    with single_thread():
        values, vectors = torch.linalg.eigh(total / n)
    floor = FLOOR * scale * math.sqrt(2.0 * d) / n
    made: Tensor = (vectors * (GAIN * (values.clamp(min=0.0) + floor).rsqrt())).float()
    return made
