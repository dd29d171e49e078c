r"""The sensitivities that the paper and its program use, as functions of the sizes alone.

Plain numpy, so that a slider over L, K and N_W moves them at once. Images have
pixels in [0, 1]; the worst image for every formula is the white one.
"""

import math
from dataclasses import dataclass

import numpy as np

from engine.papers.dbn.price import functional
from engine.training import polynomials


@dataclass(frozen=True)
class Layer:
    """The sizes of one convolution layer.

    Attributes:
        side: Pixels of the image's side, N_V.
        size: Pixels of the filter's side, N_W.
        degree: L.
        polynomial: Which one, "printed" or "chebyshev".
        bright: Mean pixel value of the image that is taken for the worst; 1 is white.
    """

    side: int = 28
    size: int = 5
    degree: int = 7
    polynomial: str = "printed"
    bright: float = 1.0

    @property
    def hidden(self) -> int:
        """N_H = N_V - N_W + 1."""
        return self.side - self.size + 1


def lemma2(layer: Layer) -> float:
    r"""\Delta of Lemma 2 for one group with X in [-1, 1].

    2 \sum_{ij} \sum_l |\alpha_l| (|X|^l + \sum_{rs} |X|^l |v_rs|) + \sum_{ij} |v_ij|, at |X| = 1.
    The paper takes the largest group in place of their sum: see `groups`.
    """
    alpha = np.abs(polynomials.coefficients(layer.polynomial, layer.degree)).sum()
    patch = layer.bright * layer.size**2
    return float(2 * layer.hidden**2 * alpha * (1 + patch) + layer.bright * layer.side**2)


def groups(layer: Layer, filters: int) -> float:
    """Lemma 2 if every group has noise of its own: all K change with a record."""
    pixels = layer.bright * layer.side**2
    return filters * (lemma2(layer) - pixels) + pixels


def equation28(layer: Layer) -> float:
    r"""\Delta with states, not probabilities: 2\sum_{ij}\sum_{rs}|v| + N_H^2 + \sum|v|."""
    patch = layer.bright * layer.size**2
    return float(2 * layer.hidden**2 * patch + layer.hidden**2 + layer.bright * layer.side**2)


def released(layer: Layer) -> float:
    r"""\Delta of the published program: 2 \sum_{ij} p(h/max h) + 2 \sum v, weights and bias one.

    Stride 2 with padding; h is the sum of the pixels under the filter plus one.
    """
    image = np.full((layer.side, layer.side), layer.bright)
    h = _sums(image, layer.size) + 1.0
    p = np.polynomial.Polynomial(polynomials.coefficients(layer.polynomial, layer.degree))
    return float(2 * np.clip(p(h / h.max()), 0.0, 1.0).sum() + 2 * image.sum())


def _sums(
    image: np.ndarray[tuple[int, ...], np.dtype[np.float64]], size: int
) -> polynomials.Floats:
    """Sums of the pixels under a square at stride 2, zeros outside."""
    before = (size - 2) // 2 if len(image) % 2 == 0 else size // 2
    padded = np.pad(image, ((before, size), (before, size)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size)).sum((2, 3))
    count = -(-len(image) // 2)
    kept: polynomials.Floats = windows[::2, ::2][:count, :count]
    return kept


def softmax(features: int, classes: int = 10) -> float:
    r"""\Delta_C of the quadratic softmax layer in L1: classes (d + d^2/4), features in [0, 1]."""
    return classes * functional(features)


def monomials(size: int, degree: int) -> int:
    """Monomials of degree at most L + 1 in a filter's N_W^2 + 1 parameters."""
    total = 1
    for i in range(1, degree + 2):
        total = total * (size**2 + 1 + i) // i
    return total


def signal_to_noise(delta: float, epsilon: float, records: int, layer: Layer) -> float:
    r"""An order's largest averaged coefficient over its Laplace noise \Delta/(\varepsilon n).

    The coefficient of a group is at most half of Lemma 2's first term.
    """
    largest = lemma2(layer) / 2.0
    return largest * epsilon * records / (delta * math.sqrt(2.0))
