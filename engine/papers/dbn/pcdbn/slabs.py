"""Gradients of a batch, some records at a time, on as many cores as torch has threads.

The maps of a whole batch are hundreds of megabytes: each operation would fetch them from memory
again. Those of some records stay in the cache. Sums over records are put together in the order
of the records, so numbers do not depend on the number of cores.
"""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Generator, Tensor
from torch.nn import functional

from engine.papers.dbn.pcdbn.maps import blocked, plain
from engine.training.spread import spread

MAPS = 64
"""Records convolved together."""
ROWS = 240
"""Records multiplied together."""


def batches(count: int, size: int, rng: Generator) -> Iterator[Tensor]:
    """The records in random order, some at a time; a rest below half a batch is left out."""
    order = torch.randperm(count, generator=rng, device=rng.device)
    for part in torch.split(order, size):
        if 2 * len(part) >= min(size, count):
            yield part


def slopes(
    loss: Callable[[tuple[Tensor, Tensor, Tensor]], Tensor], own: Sequence[Tensor]
) -> tuple[Tensor, ...]:
    """Gradient of a loss of a layer; zero for what it does not use."""
    with torch.enable_grad():
        free = tuple(p.detach().requires_grad_() for p in own)
        found = torch.autograd.grad(loss((free[0], free[1], free[2])), free, allow_unused=True)
    return tuple(torch.zeros_like(p) if g is None else g for p, g in zip(own, found, strict=True))


def energy_slopes(
    energy: Callable[[Tensor, tuple[Tensor, Tensor, Tensor]], Tensor],
    own: Sequence[Tensor],
    seen: Callable[[Tensor], Tensor],
    rows: Tensor,
    apart: bool,
) -> tuple[Tensor, ...]:
    """Gradient of the mean energy of some records, or of the energy of all of them together.

    Args:
        energy: Of what the layer sees and the layer.
        own: The layer's parameters.
        seen: What the layer sees of some records.
        rows: The records.
        apart: Whether the energy is a mean over records.
    """
    parts = torch.split(rows, MAPS) if apart else (rows,)
    found: list[tuple[Tensor, ...]] = [()] * len(parts)

    def work(part: int) -> None:
        v = seen(parts[part])
        found[part] = slopes(lambda layer: energy(v, layer), own)

    spread(work, range(len(parts)))
    shares = [len(part) / len(rows) for part in parts]
    return tuple(
        sum((g * share for g, share in zip(each[1:], shares[1:], strict=True)), each[0] * shares[0])
        for each in zip(*found, strict=True)
    )


def upper_slopes(
    x: Tensor,
    rows: Tensor,
    own: Sequence[Tensor],
    loss: Callable[[Tensor, Tensor, Tensor], Tensor],
) -> tuple[Tensor, ...]:
    """Gradient with respect to the weights and biases of the hidden and the softmax layer.

    Args:
        x: Features of all records, half precision, shape (n, F).
        rows: Those of the batch.
        own: Weight (F, m) and bias of the hidden layer, weight and bias of the softmax layer.
        loss: Of the hidden layer's responses (B, m) and the softmax layer.
    """
    parts = torch.split(rows, ROWS)
    kept: list[Tensor] = [x] * len(parts)
    answers: list[Tensor] = [x] * len(parts)

    def forward(part: int) -> None:
        kept[part] = blocked(x.index_select(0, parts[part]).float())
        answers[part] = plain(functional.linear(kept[part], own[0].T))

    spread(forward, range(len(parts)))
    a = torch.cat(answers) + own[1]
    with torch.enable_grad():
        free = tuple(p.detach().requires_grad_() for p in (a, own[2], own[3]))
        found = torch.autograd.grad(loss(*free), free)
    pulls = torch.split(found[0], ROWS)

    def backward(part: int) -> None:
        answers[part] = _product(kept[part], pulls[part])

    spread(backward, range(len(parts)))
    total = answers[0]
    for one in answers[1:]:
        total = total + one
    return total, found[0].sum(0), found[1], found[2]


def _product(x: Tensor, pull: Tensor) -> Tensor:
    """X' G, shape (F, m), for rows X (B, F) in oneDNN's layout or the usual one."""
    if not x.is_mkldnn:
        return x.T @ pull
    made = torch.ops.aten.mkldnn_linear_backward_weights(pull.to_mkldnn(), x, pull.T, False)
    answer: Tensor = made[0].to_dense().T
    return answer


def stacked(work: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """What `work` makes of all records, made of some at a time."""
    parts = torch.split(x, MAPS)
    made: list[Tensor] = [x] * len(parts)

    def fill(part: int) -> None:
        made[part] = work(parts[part])

    spread(fill, range(len(parts)))
    return torch.cat(made)
