r"""Images sheared until they stand upright, each by its own ink.

People slant what they write, each in another way, and a classifier has to learn every slant. The
ink of an image is read as a mass with its middle at (\bar x, \bar y). Its rows are moved sideways
in proportion to their height by a = cov(x, y) / var(y), so that ink further down lies no further
left or right, and the middle is moved to the middle of the image (LeCun et al. 1998, Section
III-A, trained on such images too).

Guarantees:
    A fixed function of one record by itself: post-processing of the input, so neighbouring
    tables stay neighbours and nothing is spent. Values stay in [0, 1].
"""

import torch
from torch import Tensor
from torch.nn import functional

from engine.training.steady import steady

STEEPEST = 1.0
"""Rows are moved sideways by at most so many pixels for each pixel of height."""
RECORDS = 1000
"""Images sheared together, so that they stay in cache."""


@steady
def upright(x: Tensor, side: tuple[int, int]) -> Tensor:
    """Upright images, in the middle.

    Args:
        x: Images as rows with values in [0, 1], shape (N, height * width).
        side: Height and width.

    Returns:
        Shape (N, height * width), values in [0, 1].
    """
    return torch.cat([_sheared(part.view(-1, 1, *side)) for part in torch.split(x, RECORDS)])


def _sheared(images: Tensor) -> Tensor:
    """A slab of images (n, 1, height, width) as upright rows."""
    down, right = (torch.arange(s, device=images.device) - (s - 1) / 2.0 for s in images.shape[2:])
    ink = images[:, 0]
    mass = ink.sum((1, 2)).clamp(min=1e-6)
    middle_y, middle_x = ink.sum(2) @ down / mass, ink.sum(1) @ right / mass
    y, x = down - middle_y[:, None], right - middle_x[:, None]
    variance = (ink.sum(2) * y.square()).sum(1) / mass
    covariance = torch.einsum("nyx,ny,nx->n", ink, y, x) / mass
    shear = (covariance / variance.clamp(min=1.0)).clamp(-STEEPEST, STEEPEST)
    height, width = images.shape[2:]
    where = images.new_zeros(len(images), 2, 3)  # in halves of a side, columns before rows
    where[:, 0, 0] = where[:, 1, 1] = 1.0
    where[:, 0, 1] = shear * height / width
    where[:, 0, 2], where[:, 1, 2] = middle_x * 2.0 / width, middle_y * 2.0 / height
    grid = functional.affine_grid(where, list(images.shape), align_corners=False)
    moved = functional.grid_sample(images, grid, align_corners=False)
    return moved.flatten(1).clamp(0.0, 1.0)
