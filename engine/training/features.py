r"""Wavelet features: fixed filters, moduli and means. They look at one record and at no other.

Gabor filters of several angles and scales, the modulus of their answers, and a
smooth mean over neighbourhoods: the scattering transform of Bruna and Mallat (2013)
to first order; `engine.training.scattering` goes on to the second.
A linear layer on such features is a strong simple private classifier (Tramer and
Boneh 2021): the features spend no budget.

Guarantees:
    A fixed function of one record by itself: post-processing of the input, so
    neighbouring tables stay neighbours.
"""

import hashlib
import math
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.core.home import home, private_folder, private_opener

Transform: TypeAlias = Callable[[Tensor, tuple[int, int]], Tensor]
"""From images as rows (N, height * width) and their side to features (N, F)."""

ANGLES = 8
CELL, SMALL_CELL = 4, 2
"""Pixels between two means, in images of at least 16 pixels a side and in smaller ones."""
LENGTH = 12.0
"""Length of each group of features: long, so that a clipped linear layer learns in few steps."""
SLAB = 1000
"""Records transformed together."""
SOURCES = ("features.py", "scattering.py", "strokes.py", "upright.py")
"""Code that computes features: a change of it computes them again."""
WORTHWHILE = 10_000
"""From so many records features are kept on disk: they take a minute to compute."""


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


def kept(x: Tensor, side: tuple[int, int], transform: Transform) -> Tensor:
    """Features of images, read from the user's data folder where they were computed before.

    Those of a large table are rounded to half precision, kept or not, so that both give the same
    numbers. A folder that cannot be written to, or a damaged file, only costs the time to compute
    them again.
    """
    if len(x) < WORTHWHILE:
        return transform(x, side)
    path = _place(x, side, transform)
    if path.exists():
        try:
            return torch.from_numpy(np.load(path, allow_pickle=False)).to(x.device).float()
        except (OSError, ValueError, EOFError):
            pass  # damaged, or not ours to read: computed again below
    rounded = transform(x, side).half()
    _keep(path, rounded)
    return rounded.float()


def _place(x: Tensor, side: tuple[int, int], transform: Transform) -> Path:
    """Where features are kept: named by the images, their side and the code that computes them."""
    code = "".join((Path(__file__).parent / f).read_text() for f in SOURCES)
    digest = hashlib.sha256(f"{side}{transform.__name__}{code}".encode())
    digest.update(x.cpu().numpy().tobytes())
    return home() / "features" / f"{transform.__name__}-{digest.hexdigest()[:16]}.npy"


def _keep(path: Path, features: Tensor) -> None:
    """Writes a whole file or none."""
    draft = path.with_suffix(f".{os.getpid()}.part")
    try:
        private_folder(path.parent)
        with open(draft, "wb", opener=private_opener) as file:
            np.save(file, features.cpu().numpy())
        draft.replace(path)
    except OSError:  # a full or read-only disk: the features are in memory all the same
        with suppress(OSError):
            draft.unlink()


def _transform(image: Tensor) -> Tensor:
    """Means of the image and of the moduli at a fine and at a coarse scale."""
    cell = CELL if min(image.shape[2:]) >= 16 else SMALL_CELL
    moduli = (_modulus(image, _bank(scale, image.device)) for scale in range(2))
    groups = [_mean(part, cell) for part in (image, *moduli)]
    return torch.cat([_normal(group) for group in groups], 1)


def _normal(group: Tensor) -> Tensor:
    """Each record's group of features to mean 0 and length LENGTH, by that record alone."""
    return normal(group.flatten(1), LENGTH)


def normal(group: Tensor, length: float) -> Tensor:
    """Features moved and scaled to mean 0 and this length along the last axis."""
    centred = group - group.mean(-1, keepdim=True)
    unit: Tensor = centred * (length / (centred.norm(dim=-1, keepdim=True) + 1e-6))
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
