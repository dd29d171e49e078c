r"""Second-order scattering: wavelets, moduli and means, twice; of one record by itself.

The transform of Bruna and Mallat (2013) with Morlet wavelets of 8 angles at two scales: the
image, its moduli under every wavelet, and the moduli of those at the coarser scale, each averaged
and sampled every 4 pixels. That is 1 + 16 + 64 = 81 maps; a linear layer on them is the strongest
simple private classifier of images that is published (Tramer and Boneh 2021).

Guarantees:
    A fixed function of one record by itself: post-processing of the input, so neighbouring
    tables stay neighbours and nothing is spent.
"""

import functools
import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from engine.training.features import normal

ANGLES, SCALES = 8, 2
CELL = 1 << SCALES
"""Pixels between two means."""
SLANT = 4.0 / ANGLES
"""How much longer a wavelet's envelope is across its wave than along it, inverted."""
SLAB = 16
"""Images transformed together: more of them fall out of the processor's cache."""

GROUPS = 27
"""Groups of three maps that are normalised together (Tramer and Boneh 2021, Appendix B)."""
LENGTH = 29.0
"""Length of each group: with it a bound C = 1 clips as a bound of .42 on unit variances."""

Spectrum = NDArray[np.float64]


def scattering(x: Tensor, side: tuple[int, int]) -> Tensor:
    """Scattering coefficients, three maps at a time scaled by that record alone, shape (N, F)."""
    groups = coefficients(x, side).flatten(1).view(len(x), GROUPS, -1)
    return normal(groups, LENGTH).flatten(1)


def coefficients(x: Tensor, side: tuple[int, int]) -> Tensor:
    """Scattering coefficients of grey images.

    Args:
        x: Images as rows with values in [0, 1], shape (N, height * width).
        side: Height and width.

    Returns:
        Shape (N, 81, height // 4, width // 4): order 0, then order 1 by scale and angle, then
        order 2 by the first angle and the second.
    """
    parts = [_transform(part.view(-1, *side)) for part in torch.split(x, SLAB)]
    return torch.cat(parts)


def _padded(length: int) -> int:
    """Length with a margin of at least one cell, a multiple of the cell."""
    return (length // CELL + 2) * CELL


def _transform(image: Tensor) -> Tensor:
    """All three orders of a slab of images (n, h, w), shape (n, 81, h // 4, w // 4)."""
    side = (int(image.shape[1]), int(image.shape[2]))
    padded = _mirrored(image)
    bank = _bank(_padded(side[0]), _padded(side[1]), image.device)
    spectrum = torch.fft.fft2(padded)[:, None]
    orders, second = [_mean(padded[:, None], side, 0)], []
    for scale in range(SCALES):
        first = torch.fft.ifft2(_sampled(spectrum * bank[scale], 1 << scale)).abs()
        orders.append(_mean(first, side, scale))
        for coarser in range(scale + 1, SCALES):
            waves = torch.fft.fft2(first)[:, :, None] * _folded(bank[coarser], scale)
            moduli = torch.fft.ifft2(_sampled(waves, 1 << (coarser - scale))).abs()
            second.append(_mean(moduli.flatten(1, 2), side, coarser))
    return torch.cat([*orders, *second], 1)


def _mirrored(image: Tensor) -> Tensor:
    """Images with a mirrored margin, shape (n, padded height, padded width)."""
    more = [_padded(length) - length for length in image.shape[1:]]
    margin = (more[1] // 2, more[1] - more[1] // 2, more[0] // 2, more[0] - more[0] // 2)
    return functional.pad(image[:, None], margin, mode="reflect")[:, 0]


def _mean(signal: Tensor, side: tuple[int, int], level: int) -> Tensor:
    """Smooth means every cell, without the margin, of signals sampled every 2^level pixels."""
    rows, columns = (_averages(length, level).to(signal.device) for length in side)
    means: Tensor = rows @ signal @ columns.T
    return means


@functools.cache
def _averages(length: int, level: int) -> Tensor:
    """The mean along one axis as a matrix, shape (length // 4, padded length >> level)."""
    whole = _padded(length)
    window = _spectrum(_gabor(whole, 1, 0.8 * 2 ** (SCALES - 1), 0.0, 0.0, 1.0))
    window = window / window[0]  # one axis of a window whose values add up to one
    low, half = torch.from_numpy(window[:, 0]).float(), whole >> level + 1
    if level:  # a sampled signal has low frequencies alone
        low = torch.cat([low[:half], low[len(low) - half :]])
    unit = torch.fft.fft(torch.eye(whole >> level), dim=0) * low[:, None]
    every = CELL >> level
    kept = torch.fft.ifft(unit.view(every, -1, whole >> level).mean(0), dim=0).real
    top = (whole - length) // 2 // CELL
    matrix: Tensor = kept[top : top + length // CELL].contiguous()
    return matrix


def _sampled(spectrum: Tensor, every: int) -> Tensor:
    """Spectrum of a signal of which one value in `every` is kept, each way."""
    if every == 1:
        return spectrum
    rows = sum(spectrum.chunk(every, -2), torch.zeros(()))  # far faster than a mean over two axes
    columns = sum(rows.chunk(every, -1), torch.zeros(()))
    return columns / every**2


@functools.cache
def _bank(height: int, width: int, device: torch.device) -> tuple[Tensor, ...]:
    """Spectra of the wavelets by scale, each (ANGLES, height, width)."""
    turns = [(ANGLES // 2 - 1 - k) * math.pi / ANGLES for k in range(ANGLES)]
    made = []
    for scale in range(SCALES):
        spread, frequency = 0.8 * 2**scale, 0.75 * math.pi / 2**scale
        waves = [_morlet(height, width, spread, turn, frequency) for turn in turns]
        made.append(torch.from_numpy(np.stack(waves)).float().to(device))
    return tuple(made)


def _morlet(height: int, width: int, spread: float, turn: float, frequency: float) -> Spectrum:
    """Spectrum of a wave under a Gaussian envelope, moved to have mean zero."""
    wave = _gabor(height, width, spread, turn, frequency, SLANT)
    envelope = _gabor(height, width, spread, turn, 0.0, SLANT)
    return _spectrum(wave - envelope * (wave.sum() / envelope.sum()))


def _spectrum(signal: NDArray[np.complex128]) -> Spectrum:
    """The Fourier transform of a signal that is Hermitian, which is real."""
    return np.fft.fft2(signal).real


def _gabor(
    height: int, width: int, spread: float, turn: float, frequency: float, slant: float
) -> NDArray[np.complex128]:
    """A wave under a Gaussian envelope on a torus, shape (height, width)."""
    y = np.arange(-2 * height, 3 * height)[:, None].astype(float)
    x = np.arange(-2 * width, 3 * width)[None, :].astype(float)
    along = y * math.cos(turn) + x * math.sin(turn)
    across = x * math.cos(turn) - y * math.sin(turn)
    size = np.exp(-(along**2 + (slant * across) ** 2) / (2 * spread**2))
    wave = size * np.exp(1j * frequency * along) * slant / (2 * math.pi * spread**2)
    return np.asarray(wave.reshape(5, height, 5, width).sum((0, 2)))


def _folded(spectrum: Tensor, level: int) -> Tensor:
    """A filter for signals sampled at every 2^level-th place: its low frequencies alone."""
    *rest, height, width = spectrum.shape
    every = 1 << level
    if every == 1:
        return spectrum
    kept = torch.zeros_like(spectrum)
    h, w = height // every // 2, width // every // 2
    for rows in (slice(0, h), slice(height - h, height)):
        for columns in (slice(0, w), slice(width - w, width)):
            kept[..., rows, columns] = spectrum[..., rows, columns]
    return kept.reshape(*rest, every, height // every, every, width // every).sum((-4, -2))
