r"""The mean cost without its kinks, and the coordinates in which it is solved.

A record's cost \mu = (d+ - d-)/(d+ + d-) has a kink where its two nearest wrong prototypes are
equally far: it is the largest of the costs \mu_j with each wrong prototype j, since \mu falls with
d-. Minima of such sums lie in kinks, where the gradient does not vanish and no solver can bring it
below a tolerance. The soft maximum \tau \log \sum_j \exp(\mu_j/\tau) has none, and is never below
\mu and at most \tau \log(j) above it (Nesterov 2005, Section 4).
"""

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from engine.papers.lvq.model import Model, Sample, distances, right
from engine.training.steady import steady

VARIES = 1e-12
"""Variance of a direction in which records vary, as a part of the largest direction's."""
RIDGE = 1e-3
"""Added to each variance, as a part of their mean: no direction rests on single records."""


class Slope(NamedTuple):
    """Mean soft cost of one replica, and its gradient by prototypes and matrix (None: GLVQ)."""

    cost: float
    w: Tensor
    omega: Tensor | None


class Whitened(NamedTuple):
    """Coordinates z = x P in which records vary alike, P = V diag(1/s).

    Attributes:
        axes: V, orthonormal directions in which the records vary, shape (d, k).
        spread: s, shape (k,).
    """

    axes: Tensor
    spread: Tensor

    def records(self, sample: Sample) -> Sample:
        """The records in these coordinates."""
        z = sample.x @ (self.axes / self.spread)
        return sample._replace(x=z, square=z.square().sum(2))

    def into(self, model: Model) -> Model:
        """The model in these coordinates, where its matrix is the identity before.

        Its matrix here is (k, k), up to a rotation of its image and a factor, on which no cost
        depends: its norm is made sqrt(k), so that a gradient's size means the same everywhere.
        """
        scaled = self.spread / self.spread.square().mean().sqrt()
        start = torch.diag(scaled).expand(len(model.w), -1, -1)
        return replace(model, w=model.w @ (self.axes / self.spread), omega=start)

    def back(self, model: Model) -> Model:
        """The model in the first coordinates: directions without variance have weight 0."""
        assert model.omega is not None
        omega = self.axes @ (model.omega / self.spread) @ self.axes.mT
        return replace(model, w=(model.w * self.spread) @ self.axes.mT, omega=omega)


@steady
def whitened(x: Tensor) -> Whitened:
    """The principal directions of centred records (n, d) and their deviations.

    The training records say nothing of a direction in which none of them varies.
    """
    values, vectors = torch.linalg.eigh(x.mT @ x / len(x))
    varies = values > VARIES * values.max()
    kept = values[varies]
    return Whitened(vectors[:, varies], (kept + RIDGE * kept.mean()).sqrt())


def soft_cost(model: Model, sample: Sample, temperature: float) -> Slope:
    r"""The mean soft cost of one replica, and its gradient.

    With \mu_j's share p_j of the soft maximum, the gradient by d+ is \sum_j p_j 2d_j/S_j and by d_j
    -p_j 2d+/S_j, S_j = (d+ + d_j)²; those of the distances are as in `engine.papers.lvq.model`.

    Args:
        model: The parameters, without a basis.
        sample: Its records, shape (1, n, d), none of them padding.
        temperature: \tau above.
    """
    z, zw = right(sample.x, model.omega), right(model.w, model.omega)
    square = sample.square if model.omega is None else z.square().sum(2)
    apart, own = distances(z, square, zw), model.labels == sample.y[..., None]
    near, plus = apart.masked_fill(~own, torch.inf).min(2, keepdim=True)
    ratio = ((near - apart) / (near + apart)).masked_fill_(own, -torch.inf) / temperature
    share = torch.softmax(ratio, 2)
    pushed = 4 * share / (near + apart).square()  # of 2 d- or 2 d+, and the 2 of a distance
    up = (pushed * apart).sum(2, keepdim=True)
    pull = (pushed * near).scatter_add_(2, plus, -up) / sample.x.shape[1]
    w = pull.mT @ z - pull.sum(1)[..., None] * zw
    cost = float(temperature * torch.logsumexp(ratio, 2).mean())
    if model.omega is None:
        return Slope(cost, w, None)
    turned = (z * pull.sum(2, keepdim=True)).mT @ sample.x - zw.mT @ (pull.mT @ sample.x)
    return Slope(cost, w @ model.omega, w.mT @ model.w - turned)
