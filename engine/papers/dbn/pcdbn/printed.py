r"""The algorithm as the text has it, as far as it can be run; heuristic.

The text adds Laplace noise of scale \Delta/\varepsilon to every coefficient of the polynomial
energy. With L = 7 and 5 x 5 filters there are 18,156,204 monomials, so one coefficient is
perturbed per order l and group k of the record-averaged energy: it multiplies X_k^l s_k
with s_k the sum of the group's parameters and X_k = s_k/Z, the same monomial with all
pixels one. The noise is drawn once for each layer. \Delta of Lemma 2 is read from the data.
The softmax layer has the functional mechanism on its quadratic, drawn once: noise on each
coefficient of w_i and of w_i w_j. The noise on w w' is no positive matrix, so the loss would
fall without end; `bounded` makes it one, as Zhang et al. (2012), whom the text cites, do.
"""

import math

import torch
from torch import Generator, Tensor
from torch.nn import functional

from engine.papers.dbn.pcdbn import crbm, sensitivity, top
from engine.papers.dbn.pcdbn.images import Images
from engine.papers.dbn.pcdbn.network import Layer, Recipe
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.papers.dbn.price import layer_budgets
from engine.privacy.mechanisms import Laplace
from engine.privacy.noise import draw
from engine.training import activations
from engine.training.steady import steady

WIDTH = 2.5
"""Root m times so many deviations are added to the diagonal. The noise's eigenvalues reach down to
-2 root m deviations (Wigner), so no direction is left without curvature."""


def recipe(
    how: activations.Activation, spec: PcdbnSpec, pictures: Images, n: int, rng: Generator
) -> Recipe:
    """Draws the noise of all three layers and says what they minimise."""
    lower, upper = layer_budgets(spec.epsilon, spec.layer_share, 2)
    bound = lemma2(pictures.x, spec.filter_size, how)
    stride = crbm.STRIDES[spec.pooling]
    counts = (spec.filters, 2 * spec.filters)
    scales = [Laplace(bound, budget).scale / n for budget in (lower, lower)]
    noises = [
        draw([Laplace(bound, budget)], len(how.coefficients) * count, rng)[0]
        .float()
        .view(len(how.coefficients), count)
        / n
        for budget, count in zip((lower, lower), counts, strict=True)
    ]

    def energy(stage: int, v: Tensor, layer: Layer) -> Tensor:
        return crbm.divergence(v, *layer, how, stride)

    def added(stage: int, layer: Layer) -> Tensor:
        side = (pictures.side, (pictures.side + 1) // 2)[stage]
        return perturbation(layer, noises[stage], crbm.positions(side, stride))

    def states(stage: int, v: Tensor, layer: Layer) -> Tensor:
        return crbm.halved(how.states(crbm.responses(v, layer[0], layer[1], stride)), stride)

    loss, scale = softmax(spec, pictures.classes, n, upper, rng)
    signal = crbm.positions(pictures.side, stride) * sum(map(abs, how.coefficients))
    ratios = (
        ("layer_1", math.sqrt(2) * scales[0] / signal),
        ("layer_2", math.sqrt(2) * scales[1] * 4 / signal),
        ("softmax", math.sqrt(2) * scale / (1 / 8)),
    )
    return Recipe(energy, states, loss, ratio=ratios[0][1], noise=ratios, added=added)


def perturbation(layer: Layer, noise: Tensor, places: int) -> Tensor:
    r"""\sum_{l,k} \eta_{lk} X_k^l s_k over a map's positions, as the energy is."""
    total = layer[0].flatten(1).sum(1) + layer[1]
    x = total / torch.clamp(total.abs(), min=activations.Q**activations.BETA)
    powers = torch.stack([x**order for order in range(len(noise))])
    return (noise * powers * total).sum() / places


def lemma2(x: Tensor, size: int, how: activations.Activation) -> float:
    r"""\Delta of Lemma 2 with |X| = 1, maximised over the records at hand, as the text has it."""
    alpha = sum(map(abs, how.coefficients))
    pixels = functional.avg_pool2d(x, size, 1) * size**2
    patches = pixels.flatten(1).sum(1) + pixels[0].numel()
    return float((2 * alpha * patches + x.flatten(1).sum(1)).max())


def softmax(
    spec: PcdbnSpec, classes: int, n: int, budget: float, rng: Generator
) -> tuple[top.Loss, float]:
    """The quadratic loss with noise on its coefficients, and the scale of the noise."""
    m = spec.hidden
    mechanism = Laplace(sensitivity.softmax(m, classes), budget)
    linear = draw([mechanism], m * classes, rng)[0].float().view(m, classes) / n
    rows, columns = torch.triu_indices(m, m, device=rng.device)
    square = torch.zeros(m, m, device=rng.device)
    square[rows, columns] = draw([mechanism], len(rows), rng)[0].float() / n
    square = torch.triu(square) + torch.triu(square, 1).T
    if spec.objective == "bounded":
        square = bounded(square, mechanism.scale / n)
    return top.Loss(True, linear, square), mechanism.scale / n


@steady
def bounded(square: Tensor, scale: float) -> Tensor:
    r"""Symmetric Laplace noise (m, m) with a public ridge, and without what stays negative.

    Regularisation and spectral trimming as in Section 6 of Zhang et al. (2012). They trim the sum
    of data and noise; here the data's part, p p', changes with the layer below and has no negative
    direction of its own, so the noise is trimmed. Their ridge of some deviations is for few
    features: with m = 25 half of the directions would stay flat, and the noise on linear
    coefficients would drive the weights along them without end.
    """
    ridge = WIDTH * math.sqrt(2.0 * len(square)) * scale
    values, vectors = torch.linalg.eigh(square.double())
    made: Tensor = (vectors * (values + ridge).clamp(min=0.0)) @ vectors.T
    return made.float()
