r"""The three links between a linear predictor \eta and the hazard h in one interval.

An interval that is survived costs -log(1 - h), one with an event costs -log h. Each is written so
that it neither overflows nor loses its digits, however far \eta goes.

| link    | h                      | -log(1 - h)    | -log h               |
|---------|------------------------|----------------|----------------------|
| logit   | 1/(1 + e^{-\eta})      | log(1+e^\eta)  | log(1+e^{-\eta})     |
| cloglog | 1 - exp(-e^\eta)       | e^\eta         | -log(-expm1(-e^\eta))|
| probit  | \Phi(\eta)             | -log\Phi(-\eta)| -log\Phi(\eta)       |
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

LARGEST = 30.0
"""Predictors of the complementary log-log link are cut here: surviving such an interval costs
exp(30), far beyond the level at which every method stops counting."""
FAR = 1e4
"""Predictors of the probit link are cut here: the slope grows no further."""
HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Link:
    r"""What one interval costs as a function of its \eta; each with its derivative.

    Attributes:
        survived: -log(1 - h) and its slope; for the logit link the slope is h.
        happened: -log h and its slope, which is negative.
        strip: Distance from the real line to the nearest point of the complex plane where either
            cost is not analytic.
    """

    survived: Callable[[Tensor], tuple[Tensor, Tensor]]
    happened: Callable[[Tensor], tuple[Tensor, Tensor]]
    strip: float

    def switched(self, eta: Tensor) -> tuple[Tensor, Tensor]:
        """What an event adds to the cost of an interval that was taken for survived."""
        if self.survived is _logit_survived:
            return -eta, eta.new_tensor(-1.0).expand_as(eta)
        (kept, kept_slope), (gone, gone_slope) = self.survived(eta), self.happened(eta)
        return gone - kept, gone_slope - kept_slope


def _logit_survived(eta: Tensor) -> tuple[Tensor, Tensor]:
    """log(1 + exp(eta)), in double precision as the logarithm of a sigmoid.

    That is the fastest form that is exact to 1e-16; in single precision torch's own is faster.
    """
    if eta.dtype is torch.float32:
        return softplus(eta), torch.sigmoid(eta)
    rest = torch.neg(eta).sigmoid_()
    if eta.numel() and float(eta.detach().amax()) < LARGEST:
        return rest.log().neg_(), 1.0 - rest
    return torch.where(eta > LARGEST, eta, -rest.clamp_min(1e-300).log()), 1.0 - rest


def _logit_happened(eta: Tensor) -> tuple[Tensor, Tensor]:
    value, slope = _logit_survived(-eta)
    return value, -slope


def _cloglog_survived(eta: Tensor) -> tuple[Tensor, Tensor]:
    rate = eta.clamp(-LARGEST * 20.0, LARGEST).exp()
    return rate, rate


def _cloglog_happened(eta: Tensor) -> tuple[Tensor, Tensor]:
    """-log(1 - exp(-rate)), which is -eta to first order, with slope -rate/expm1(rate)."""
    rate = eta.clamp(-LARGEST, LARGEST).exp()
    low = eta < -LARGEST
    value = torch.where(low, -eta, -torch.log(-torch.expm1(-rate)))
    return value, torch.where(low, -torch.ones_like(eta), -rate / torch.expm1(rate))


def _probit_survived(eta: Tensor) -> tuple[Tensor, Tensor]:
    """-log Phi(-eta), with slope phi(eta)/Phi(-eta) by its logarithm."""
    eta = eta.clamp(-FAR, FAR)
    log_survival = torch.special.log_ndtr(-eta)
    return -log_survival, torch.exp(-0.5 * eta.square() - HALF_LOG_TAU - log_survival)


def _probit_happened(eta: Tensor) -> tuple[Tensor, Tensor]:
    value, slope = _probit_survived(-eta)
    return value, -slope


LINKS: dict[str, Link] = {
    "logit": Link(_logit_survived, _logit_happened, math.pi),  # 1 + e^eta = 0
    "cloglog": Link(_cloglog_survived, _cloglog_happened, math.pi / 2.0),  # e^eta = 2 pi i
    "probit": Link(_probit_survived, _probit_happened, 2.8),  # the zero 1.92 + 2.82i of Phi
}
