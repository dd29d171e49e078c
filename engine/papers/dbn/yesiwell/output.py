r"""The output layer: cross-entropy on raw features, or the quadratic that noise can be added to.

The quadratic Taylor form (equations 17 and 18) is, for one label, the mean over windows of
(1/2 - y) z + z^2 / 8 with z = w'p. All it needs is A = mean pp' and b = mean p(y - 1/2), so its
epochs look at no window. Dropout enters by its expectation, which adds A's diagonal (Wager,
Wang and Liang 2013, equation 8).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from engine.papers.dbn.yesiwell.measure import Scored
from engine.papers.dbn.yesiwell.repetitions import Repetition
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.privacy.mechanisms import Laplace
from engine.privacy.noise import draw
from engine.training.adam import Adam, adam
from engine.training.steady import steady

LEAST = 1e-6
"""Smallest eigenvalue that a bounded quadratic keeps."""
FIVE = 5.0 * math.sqrt(2.0)
"""Deviations of a coefficient's noise that are added to the diagonal, as the reference program of
Zhang et al. (2012) does."""


@dataclass(frozen=True, eq=False)
class Quadratic:
    """One quadratic for each replica.

    Attributes:
        matrix: A as it is minimised, positive where it is bounded, shape (E, f, f).
        vector: b, shape (E, f).
        rate: Step of the descent, one over A's largest eigenvalue, shape (E,).
        weight: Where the descent is, shape (E, f).
    """

    matrix: Tensor
    vector: Tensor
    rate: Tensor
    weight: Tensor


@dataclass(frozen=True, eq=False, kw_only=True)
class Headed(Repetition):
    """The replicas of one repetition with an output layer.

    Attributes:
        head: The output layer; None before it begins.
        test: Features of the test windows, shape (E, m, f).
        ratio: Noise over signal of the output layer, shape (E,).
    """

    head: "Quadratic | Entropy | None" = None
    test: Tensor | None = None
    ratio: Tensor | None = None


def scored(groups: Iterable[Headed]) -> Scored:
    """Test scores of all replicas, once the output layer has begun."""

    def part(group: Headed) -> tuple[Repetition, Tensor, Tensor]:
        assert group.head is not None
        assert group.test is not None
        assert group.ratio is not None
        z = torch.bmm(group.test.double(), group.head.weight.double()[..., None])[..., 0]
        return group, z, group.ratio

    return Scored.of(map(part, groups))


def triangle(mechanisms: Sequence[Laplace], size: int, rng: Generator) -> Tensor:
    """Symmetric noise, drawn on the upper triangle, shape (E, size, size)."""
    rows, columns = torch.triu_indices(size, size, device=rng.device)
    noise = torch.zeros(len(mechanisms), size, size, dtype=torch.float64, device=rng.device)
    noise[:, rows, columns] = draw(mechanisms, len(rows), rng)
    upper: Tensor = noise.triu()
    return upper + noise.triu(1).mT


def printed(
    spec: YesiwellSpec, a: Tensor, b: Tensor, noise: tuple[Tensor, Tensor], scale: Tensor
) -> tuple["Quadratic", Tensor]:
    """The output layer by the functional mechanism, and its noise over signal, shape (E,).

    Args:
        spec: The setting.
        a: Mean of pp', shape (E, f, f).
        b: Mean of p(y - 1/2), shape (E, f).
        noise: Of a `triangle` and of a vector, on means.
        scale: Of the noise on means, shape (E,); pp' has the weight 1/8 in the loss.
    """
    head = objective(spec, a, b, (8.0 * noise[0], noise[1]), 8.0 * FIVE * scale)
    ratio = math.sqrt(2.0 * b.shape[1]) * scale / b.norm(dim=1).cpu().clamp(min=1e-12)
    return head, ratio


def sums(p: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Sums of pp' (E, f, f) and of p(y - 1/2) (E, f) over windows, p (m, E, f)."""
    wide = p.transpose(0, 1)
    target = (y.to(p.dtype) - 0.5).expand(len(wide), -1)
    return torch.bmm(wide.mT, wide), torch.bmm(wide.mT, target[..., None])[..., 0]


@steady
def bounded(a: Tensor, b: Tensor, noise: tuple[Tensor, Tensor], ridge: Tensor) -> Quadratic:
    """The quadratic with noise on its coefficients, regularised and trimmed to a bounded one.

    Adding a ridge and leaving out what is not positive is post-processing (Zhang et al. 2012,
    Section 6); without it the noisy objective has no minimum.

    Args:
        a: Mean of pp', shape (E, f, f).
        b: Mean of p(y - 1/2), shape (E, f).
        noise: What is added to A and to b.
        ridge: What is added to A's diagonal, shape (E,).
    """
    f = a.shape[1]
    more = ridge.to(a.device).double()[:, None, None]
    shifted = (a + noise[0]).double() + more * torch.eye(f, device=a.device)
    values, vectors = torch.linalg.eigh(shifted)
    kept = values.clamp(min=0.0)
    trimmed = (vectors * kept[:, None]) @ vectors.mT
    target = (b + noise[1]).double()
    inside = (vectors.mT @ target[..., None])[..., 0] * (values > LEAST)
    target = (vectors @ inside[..., None])[..., 0]
    return Quadratic(trimmed, target, 1.0 / kept.amax(1).clamp(min=LEAST), torch.zeros_like(target))


@steady
def drawn(a: Tensor, b: Tensor, noise: tuple[Tensor, Tensor]) -> Quadratic:
    """The same as it was drawn: where its matrix is not positive, the descent has no end."""
    matrix, target = (a + noise[0]).double(), (b + noise[1]).double()
    reach = torch.linalg.eigvalsh(matrix).abs().amax(1)
    return Quadratic(matrix, target, 1.0 / reach.clamp(min=LEAST), torch.zeros_like(target))


def objective(
    spec: YesiwellSpec, a: Tensor, b: Tensor, noise: tuple[Tensor, Tensor], ridge: Tensor
) -> Quadratic:
    """The noisy quadratic as a spec asks: bounded, or as drawn; see `bounded`."""
    return bounded(a, b, noise, ridge) if spec.objective == "bounded" else drawn(a, b, noise)


def descend(start: Quadratic, spec: YesiwellSpec, steps: int) -> Quadratic:
    """So many steps of gradient descent with dropout and L1 regularisation, on z^2 / 8 - ..."""
    share = spec.dropout / (1.0 - spec.dropout)
    diagonal = start.matrix.diagonal(dim1=1, dim2=2)
    matrix = start.matrix + torch.diag_embed(share * diagonal)
    rate = start.rate[:, None] / (1.0 + share) * 4.0
    w = start.weight
    for _ in range(steps):
        w = w - rate * ((matrix @ w[..., None])[..., 0] / 4.0 - start.vector)
        w = w.sign() * (w.abs() - rate * spec.lasso).clamp(min=0.0)
    return Quadratic(start.matrix, start.vector, start.rate, w)


@dataclass(frozen=True, eq=False)
class Entropy:
    """Weights that minimise the cross-entropy, changed in place.

    Attributes:
        weight: Shape (E, f).
        optimiser: Moments of Adam.
        moved: Training steps taken.
    """

    weight: Tensor
    optimiser: Adam
    moved: int


def entropy(replicas: int, features: int, device: torch.device) -> Entropy:
    """Weights of zero."""
    weight = torch.zeros(replicas, features, device=device)
    return Entropy(weight, adam((weight,)), 0)


@steady
def train(start: Entropy, p: Tensor, y: Tensor, spec: YesiwellSpec, rng: Generator) -> Entropy:
    """One epoch of balanced batches, with dropout and L1 regularisation, on features (E, m, f).

    Many batches are drawn at once: a training step then is few operations on small tensors.
    """
    moved = start.moved
    for some in torch.split(torch.stack(balanced(y, spec.batch, rng)), AT_ONCE):
        x = p[:, some.flatten()]
        keep = torch.rand(x.shape, generator=rng, device=x.device) >= spec.dropout
        x.mul_(keep).mul_(1.0 / (1.0 - spec.dropout))
        batches = x.view(len(p), *some.shape, -1).unbind(1)
        targets = y[some].to(p.dtype)
        for batch, target in zip(batches, targets, strict=True):
            moved += 1
            z = torch.bmm(batch, start.weight[..., None])[..., 0]
            slope = torch.bmm(batch.mT, (torch.sigmoid(z) - target)[..., None])[..., 0]
            slope = slope.div_(len(target)).add_(start.weight.sign(), alpha=spec.lasso)
            start.optimiser.move((start.weight,), (slope,), spec.learning_rate, moved)
    return Entropy(start.weight, start.optimiser, moved)


AT_ONCE = 64
"""Batches that are drawn together: their features stay in the cache."""


def balanced(y: Tensor, size: int, rng: Generator) -> list[Tensor]:
    """Batches that visit as many windows as there are, half of each class, drawn at random."""
    sides = [torch.nonzero(y == k)[:, 0] for k in (0, 1)]
    sides = [side for side in sides if len(side)]
    count, each = max(1, len(y) // size), max(1, min(size, len(y)) // len(sides))
    drawn = [
        side[torch.randint(len(side), (count, each), generator=rng, device=y.device)]
        for side in sides
    ]
    return list(torch.cat(drawn, 1))
