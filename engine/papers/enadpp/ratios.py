r"""Relevance to budget ratio: the paper's formula, and its rival's. Arrays only, no torch.

With shares p_q = |R_q| / \sum |R|, entropy En = -\sum p \log p and gain
Ga(q) = En - p_q \log p_q (Zhang et al. 2023, Section 4.1, with the minus signs that
their print lost), the ratio is the gain scaled to [0, 1] within its layer:

    \alpha_q = \frac{Ga(q) - \min Ga}{\max Ga - \min Ga}
             = \frac{h(p_q) - \min h}{\max h - \min h},   h(p) = -p \log p,

because En is the same for all neurons of a layer and cancels. While all shares stay
below 1/e, where h increases, \alpha is an increasing function of relevance:
EnADPP ranks the neurons as ADPPL does, whose ratio is the share itself, and differs
from it in contrast alone. (A share above 1/e can come second to a smaller one.)
"""

import numpy as np

from datasets.base import Floats


def shares(relevance: Floats) -> Floats:
    """|R| over its sum along the last axis; equal shares where all are zero."""
    size = np.abs(np.asarray(relevance, np.float64))
    total = size.sum(-1, keepdims=True)
    even = np.full_like(size, 1.0 / size.shape[-1])
    part: Floats = np.divide(size, total, out=even, where=(total > 0) & np.isfinite(total))
    return part


def surprise(share: Floats) -> Floats:
    """-p log p, with its limit 0 at p = 0."""
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    gain: Floats = -share * logs
    return gain


def entropy(relevance: Floats) -> Floats:
    """Entropy of a layer's relevances in nats, without the last axis."""
    total: Floats = surprise(shares(relevance)).sum(-1)
    return total


def gain(relevance: Floats) -> Floats:
    """Information gain of each neuron: the layer's entropy plus its own surprise."""
    return entropy(relevance)[..., None] + surprise(shares(relevance))


def enadpp(relevance: Floats) -> Floats:
    """Gain scaled to [0, 1] within the layer; ones where all gains are equal."""
    value = gain(relevance)
    low, high = value.min(-1, keepdims=True), value.max(-1, keepdims=True)
    flat = high - low <= 1e-12 * np.abs(high)
    ratio: Floats = np.divide(value - low, high - low, out=np.ones_like(value), where=~flat)
    return ratio


def adppl(relevance: Floats) -> Floats:
    """The share of Gong et al. (2020), scaled so that the layer's largest is one.

    The scaling is ours: the text takes the share itself (Zhang et al. 2023, Section 6), with which
    all but a few neurons of a wide layer would be at the smallest ratio.
    """
    share = shares(relevance)
    ratio: Floats = share / share.max(-1, keepdims=True)
    return ratio


def figure(relevance: Floats) -> dict[str, Floats]:
    """Figure 1: both ratios, and the shares, of the same relevances (..., q)."""
    return {
        "share": shares(relevance),
        "ADPPL": adppl(relevance),
        "EnADPP": enadpp(relevance),
    }
