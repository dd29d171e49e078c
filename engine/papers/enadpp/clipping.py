r"""How long a record's gradient may be: one bound, all of one length, or a bound that follows.

Guarantees:
    A record's part in what a step releases is at most C long, C the bound that is chosen, under
    every rule. So noise and price are the same for all three.

    Flat: a gradient longer than C is cut to C (Abadi et al. 2016).

    Automatic: every gradient g counts as C g / (|g| + \gamma), which is shorter than C (Bu et al.
    2023, AUTO-S). One that is not finite counts as 0.

    Adaptive: gradients are cut to C_t, and b_i = 1 where record i's was no longer than that. The
    step releases, as one vector and by one Gaussian mechanism,

        C ( \sqrt{1 - a} \sum_i g_i / C_t,  2 \sqrt{a} \sum_i (b_i - 1/2) ).

    A record's part has length at most C \sqrt{(1 - a) + a} = C, because |g_i| <= C_t and
    |b_i - 1/2| = 1/2. The sum of b_i - 1/2 is thus a second Gaussian release on the same batch, to
    which a record adds 1/2: its noise has deviation \sigma / (2 \sqrt{a}), \sigma the multiplier
    of the step, and is \sigma / \sqrt{a} times what a record adds. It is in the price: at an equal
    price the noise on the gradients is longer by 1 / \sqrt{1 - a} (Andrew et al. 2021, Theorem 1,
    whose z_\Delta^{-2} + (2 \sigma_b)^{-2} = z^{-2} is this with a = (z / 2 \sigma_b)^2). The bound
    moves by C_{t+1} = C_t \exp(-\eta (\tilde b - q)), \tilde b the noisy share of short gradients:
    it follows from what was released before, so a step's bound is public when the step begins. The
    share is that of the gradients that a step is expected to hold, a public number; where records
    are drawn in pairs, a pair has one gradient.
"""

import math

import torch
from torch import Tensor

from engine.core.batch import Batch
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import Variant
from engine.training import ghost
from engine.training.network import Network, Parameters
from engine.training.records import Records
from engine.training.siamese import Siamese

STABILISER = 0.01
"""Gamma of automatic clipping, as published: gradients shorter than this keep their order."""
COUNTED = 0.02
"""a: the count's share of a step's budget. It makes the noise on gradients 1 % longer."""
PACE = 0.2
"""Eta: how fast the bound follows, as published."""
LONGER = 1.0 / math.sqrt(1.0 - COUNTED)
"""By so much the count makes the noise on gradients longer."""


def start(variant: Variant, batch: Batch[EnadppSpec], device: torch.device) -> Tensor | None:
    """The first bound of each replica, (R,), where it follows the gradients; else None."""
    if variant.clipping(batch.spec.clipping) != "adaptive":
        return None
    return torch.tensor(batch.column("clip"), dtype=torch.float32, device=device)


def automatic_sum(
    network: Network | Siamese,
    parameters: Parameters,
    x: Tensor,
    targets: Tensor,
    present: Tensor,
    clip: Tensor,
    loss: ghost.Loss,
) -> ghost.Clipped:
    """The sum of C g / (|g| + gamma); arguments and result as in `ghost.clipped_sum`."""
    values = network.values(parameters, x)
    losses, last = loss(values[-1], targets)
    signals = network.signals(parameters, values, last)
    norms = ghost.record_norms(network, parameters, values, signals, "l2")
    finite = norms.isfinite()
    share = present * clip[:, None] * ghost.SAFE / (norms + STABILISER)
    if ghost.may_overflow(norms):
        share = share.masked_fill(~finite, 0.0)
        values, signals = (
            [ghost.cleaned(part, finite) for part in rows] for rows in (values, signals)
        )
    sums = tuple(
        layer.total(a, d * share.view(*share.shape, *[1] * (d.dim() - 2))) if own else ()
        for layer, own, a, d in zip(network.layers, parameters, values, signals, strict=False)
    )
    return ghost.Clipped(sums, norms, losses)


def packed(
    batch: Batch[EnadppSpec], clipped: ghost.Clipped, present: Tensor, bound: Tensor
) -> Parameters:
    """What a step with an adaptive bound releases: the sums on the scale of C, and the count."""
    short = (present * ((clipped.norms <= bound[:, None]).float() - 0.5)).sum(1, keepdim=True)
    first = bound.new_tensor(batch.column("clip"))
    whole = _scaled(clipped.sums, first * math.sqrt(1.0 - COUNTED) / bound)
    return (*whole, (short * 2.0 * math.sqrt(COUNTED) * first[:, None],))


def gradients(size: float, records: Records) -> float:
    """How many gradients a step holds on average: one for each record, or for each pair.

    Args:
        size: Records that a step holds on average, drawn by coins or cut from an order.
        records: What is trained on.
    """
    return size * (len(records) // 2) / len(records) if records.paired else size


def unpacked(
    batch: Batch[EnadppSpec], noisy: Parameters, bound: Tensor, size: float
) -> tuple[Parameters, Tensor]:
    """The noisy sums on the gradients' own scale, and the next step's bound.

    Args:
        batch: The settings.
        noisy: What was released, as `packed` laid it out.
        bound: C_t of the step, (R,).
        size: Gradients that a step is expected to hold, see `gradients`.
    """
    first = bound.new_tensor(batch.column("clip"))
    gradient = _scaled(noisy[:-1], bound * LONGER / first)
    count = noisy[-1][0][:, 0] / (2.0 * math.sqrt(COUNTED) * first)
    off = count / size + 0.5 - bound.new_tensor(batch.column("clip_quantile"))
    # far from any gradient's length the bound stops, before it leaves what numbers can hold
    return gradient, (bound * torch.exp(-PACE * off.clamp(-5.0, 5.0))).clamp(1e-12, 1e12)


def _scaled(sums: Parameters, factor: Tensor) -> Parameters:
    """Every part times its replica's factor, (R,)."""
    return tuple(
        tuple(part * factor.view(-1, *[1] * (part.dim() - 1)) for part in own) for own in sums
    )
