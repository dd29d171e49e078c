r"""Ghost clipping: the sum of clipped record gradients, without any record's gradient.

Guarantees:
    Sensitivity: with records added or removed, the sum changes by one term of norm
    at most C, whatever the data; a record whose gradient is not finite contributes
    nothing. With ratios \alpha_q > 0 fixed in advance for every neuron q, the
    clipped norm is \sum_q \alpha_q \|g_q\|_1, or the root of
    \sum_q \alpha_q^2 \|g_q\|_2^2: the norm of the gradient after the public linear
    map diag(\alpha).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from engine.training.layers import Norm
from engine.training.network import Network, Parameters
from engine.training.siamese import Siamese

Loss: TypeAlias = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""From outputs (R, B, K) and targets to each record's loss (R, B) and its signal (R, B, K)."""
Ratios: TypeAlias = Sequence[Tensor | None]
"""Per layer the ratio of each neuron or channel, shape (R, outputs); None stands for ones."""

SAFE = 1.0 - 1e-5
"""Clipped norms stay this much below C: the rounding of a product of two lengths. Sums over
positions, which may cancel, have norms that are rounded up (`weights`)."""


@dataclass(frozen=True, eq=False)
class Clipped:
    """What one batch gives.

    Attributes:
        sums: Clipped gradients summed over the batch, shaped as the parameters.
        norms: Each record's (weighted) gradient norm before clipping, shape (R, B).
        losses: Each record's loss, shape (R, B).
    """

    sums: Parameters
    norms: Tensor
    losses: Tensor


def cross_entropy(outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Loss of the softmax for class numbers (R, B), and its derivative."""
    logs = torch.log_softmax(outputs, -1)
    signal = logs.exp()
    signal.scatter_add_(-1, targets[..., None], -torch.ones_like(outputs[..., :1]))
    return -logs.gather(-1, targets[..., None])[..., 0], signal


def clipped_sum(
    network: Network | Siamese,
    parameters: Parameters,
    x: Tensor,
    targets: Tensor,
    present: Tensor,
    clip: Tensor | None,
    norm: Norm = "l2",
    ratios: Ratios | None = None,
    loss: Loss = cross_entropy,
) -> Clipped:
    """Sums the records' gradients, each scaled to a joint norm of at most `clip`.

    Args:
        network: What is trained.
        parameters: Its parameters.
        x: Records, shape (R, B, ...).
        targets: What the loss compares with, (R, B) class numbers for cross-entropy.
        present: 1 for records in the batch, 0 for padding, shape (R, B).
        clip: Bound C, shape (R,); None clips nothing and is not private.
        norm: In which norm.
        ratios: Public weights of the neurons inside the norm.
        loss: Each record's loss and its derivative.
    """
    values = network.values(parameters, x)
    losses, last = loss(values[-1], targets)
    signals = network.signals(parameters, values, last)
    norms = record_norms(network, parameters, values, signals, norm, ratios)
    share = present if clip is None else present * (clip[:, None] * SAFE / norms).clamp(max=1.0)
    if clip is not None and may_overflow(norms):
        values, signals, share = _without(norms.isfinite(), values, signals, share)
    sums = tuple(
        layer.total(a, d * _like(share, d)) if own else ()
        for layer, own, a, d in zip(network.layers, parameters, values, signals, strict=False)
    )
    return Clipped(sums, norms, losses)


def may_overflow(norms: Tensor) -> bool:
    """Whether a norm may not be finite; a card is not asked, which would take longer than zeros."""
    return norms.device.type != "cpu" or not bool(norms.isfinite().all())


def record_norms(
    network: Network | Siamese,
    parameters: Parameters,
    values: Sequence[Tensor],
    signals: Sequence[Tensor],
    norm: Norm,
    ratios: Ratios | None = None,
) -> Tensor:
    """Each record's norm over all layers jointly, shape (R, B)."""
    total = torch.zeros(values[0].shape[:2], device=values[0].device)
    for i, (layer, own) in enumerate(zip(network.layers, parameters, strict=True)):
        if own:
            ratio = None if ratios is None else ratios[i]
            signal = signals[i] if ratio is None else signals[i] * _wide(ratio, signals[i])
            total = total + layer.norms(norm, values[i], signal)
    return total.sqrt() if norm == "l2" else total


def _without(
    keep: Tensor, values: Sequence[Tensor], signals: Sequence[Tensor], share: Tensor
) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """The same with zeros for the records that are not kept, even where they are infinite."""
    return (
        [cleaned(part, keep) for part in values],
        [cleaned(part, keep) for part in signals],
        cleaned(share, keep),
    )


def cleaned(part: Tensor, keep: Tensor) -> Tensor:
    """Zeros for the records (R, B) that are not kept; layers that learn nothing have no rows.

    A copy lies in memory as what it copies, so that sums are added up in the same order.
    """
    return part if part.dim() < 2 else part.clone().masked_fill_(~_like(keep, part), 0.0)


def _like(rows: Tensor, part: Tensor) -> Tensor:
    """One number per record, shape (R, B), against values (R, B, ...)."""
    return rows.view(*rows.shape, *[1] * (part.dim() - 2))


def _wide(ratio: Tensor, signal: Tensor) -> Tensor:
    """Ratios (R, outputs) against signals (R, B, outputs, ...)."""
    return ratio.view(len(ratio), 1, -1, *[1] * (signal.dim() - 3))
