r"""Wavelet features: fixed filters, moduli and means. They look at one record and at no other.

Gabor filters of several angles and scales, the modulus of their answers, and a
smooth mean over neighbourhoods: the scattering transform of Bruna and Mallat (2013)
to first order. (The second order costs ten times the time and moved no figure here.)
A linear layer on such features is a strong simple private classifier (Tramer and
Boneh 2021): the features spend no budget.

Guarantees:
    A fixed function of one record by itself: post-processing of the input, so
    neighbouring tables stay neighbours.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

ANGLES = 8
CELL, SMALL_CELL = 4, 2
"""Pixels between two means, in images of at least 16 pixels a side and in smaller ones."""
LENGTH = 12.0
"""Length of each group of features: long, so that a clipped linear layer learns in few steps."""
SLAB = 1000
"""Records transformed together."""


def wavelets(x: Tensor, side: tuple[int, int]) -> Tensor:
    """Features of images with values in [0, 1].

    Args:
        x: Images as rows, shape (N, height * width).
        side: Height and width.

    Returns:
        Shape (N, F), each row normalised.
    """
    parts = [_transform(part.view(-1, 1, *side)) for part in torch.split(x, SLAB)]
    return torch.cat(parts)


def _transform(image: Tensor) -> Tensor:
    """Means of the image and of the moduli at a fine and at a coarse scale."""
    cell = CELL if min(image.shape[2:]) >= 16 else SMALL_CELL
    moduli = (_modulus(image, _bank(scale, image.device)) for scale in range(2))
    groups = [_mean(part, cell) for part in (image, *moduli)]
    return torch.cat([_normal(group) for group in groups], 1)


def _normal(group: Tensor) -> Tensor:
    """Each record's group of features to mean 0 and length LENGTH, by that record alone."""
    flat = group.flatten(1)
    flat = flat - flat.mean(1, keepdim=True)
    unit: Tensor = flat * (LENGTH / (flat.norm(dim=1, keepdim=True) + 1e-6))
    return unit


def _modulus(image: Tensor, bank: tuple[Tensor, Tensor]) -> Tensor:
    """Length of the complex answer of every filter, shape (N, ANGLES, H, W)."""
    pad = bank[0].shape[-1] // 2
    real, imaginary = (functional.conv2d(image, part, padding=pad) for part in bank)
    size: Tensor = torch.hypot(real, imaginary)
    return size


def _mean(image: Tensor, cell: int) -> Tensor:
    """Gaussian means every `cell` pixels."""
    at = torch.arange(-cell, cell + 1, device=image.device).float()
    bump = torch.exp(-0.5 * (at / (0.5 * cell)) ** 2)
    window = torch.outer(bump, bump)[None, None] / bump.sum() ** 2
    wide = window.expand(image.shape[1], 1, -1, -1)
    means: Tensor = functional.conv2d(image, wide, stride=cell, padding=cell, groups=len(wide))
    return means


def _bank(scale: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Morlet filters of one scale: real and imaginary part, shape (ANGLES, 1, k, k)."""
    width, frequency = 0.8 * 2**scale, 0.75 * math.pi / 2**scale
    reach = 3 * 2**scale
    at = torch.arange(-reach, reach + 1, device=device).float()
    y, x = torch.meshgrid(at, at, indexing="ij")
    real, imaginary = [], []
    for angle in range(ANGLES):
        turn = math.pi * angle / ANGLES
        along, across = (
            x * math.cos(turn) + y * math.sin(turn),
            y * math.cos(turn) - x * math.sin(turn),
        )
        envelope = torch.exp(-(along**2 + (0.5 * across) ** 2) / (2 * width**2))
        wave = torch.cos(frequency * along)
        offset = (envelope * wave).sum() / envelope.sum()  # a wavelet has mean zero
        real.append(envelope * (wave - offset) / envelope.sum())
        imaginary.append(envelope * torch.sin(frequency * along) / envelope.sum())
    return torch.stack(real)[:, None], torch.stack(imaginary)[:, None]
