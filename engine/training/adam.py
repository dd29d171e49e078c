"""Adam (Kingma and Ba 2015), for parameters that are changed in place."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Adam:
    """Moments of Adam (Kingma and Ba 2015), one pair per parameter, changed in place."""

    first: tuple[Tensor, ...]
    second: tuple[Tensor, ...]

    def move(
        self, parameters: tuple[Tensor, ...], slopes: tuple[Tensor, ...], rate: float, count: int
    ) -> None:
        """Step number `count`, counted from 1."""
        for p, g, m, v in zip(parameters, slopes, self.first, self.second, strict=True):
            m.mul_(0.9).add_(g, alpha=0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            root = (v / (1 - 0.999**count)).sqrt_().add_(1e-8)
            p.addcdiv_(m, root, value=-rate / (1 - 0.9**count))


def adam(parameters: tuple[Tensor, ...]) -> Adam:
    """Moments of zero."""
    return Adam(tuple(map(torch.zeros_like, parameters)), tuple(map(torch.zeros_like, parameters)))
