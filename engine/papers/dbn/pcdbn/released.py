r"""What the published program of the authors does; not private.

Each layer minimises mean|h(v') - h(v)| + mean|v' - v|, with h a polynomial of a / max a over
the batch whose numerators carry Laplace noise drawn once, for data and reconstruction
apart, times a sensitivity computed from the batch. Above, one Laplace vector a step is
added to the features of all its records; nothing is added when testing.
"""

import numpy as np
import torch
from torch import Generator, Tensor

from engine.papers.dbn.pcdbn import crbm, sensitivity, top
from engine.papers.dbn.pcdbn.images import Images
from engine.papers.dbn.pcdbn.network import Layer, Recipe
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.privacy.mechanisms import Laplace
from engine.privacy.noise import draw
from engine.training import polynomials

DENOMINATORS = {1: 2.0, 2: 4.0, 3: 4.0, 5: 16.0, 7: 32.0}
"""The noise goes on the numerators of the printed polynomials."""
SLAB = 32
"""Records whose states are raised to powers together: they stay in the cache."""


def recipe(spec: PcdbnSpec, pictures: Images, n: int, rng: Generator) -> Recipe:
    """Draws the noise of the constants and says what the layers minimise."""
    count = min(spec.batch, len(pictures.x))
    alpha = polynomials.coefficients(spec.polynomial, spec.degree)
    clean = torch.tensor(alpha, dtype=torch.float32, device=rng.device)
    parts = DENOMINATORS[spec.degree] if spec.polynomial == "printed" else 1.0
    held = torch.tensor(np.abs(alpha) > 0, device=rng.device).float() / parts
    drawn = draw([Laplace(1.0 / count, spec.epsilon)], 4 * len(alpha), rng)[0].float()
    noise = drawn.view(2, 2, len(alpha)) * held

    def energy(stage: int, v: Tensor, layer: Layer) -> Tensor:
        bound = batch_bound(v, layer[0].shape[-1], clean)
        h = polynomial(v, layer, clean + bound * noise[stage, 0])
        dream = crbm.reconstruction(h, layer[0], layer[2] * 0.0, v.shape[-1])
        again = polynomial(dream, layer, clean + bound * noise[stage, 1])
        return (again - h).abs().mean() + (dream - v).abs().mean()

    def states(stage: int, v: Tensor, layer: Layer) -> Tensor:
        return torch.sigmoid(crbm.responses(v, layer[0], layer[1]))

    # the program's expression: classes (m + m^2/4) over epsilon times the batch
    jitter = Laplace(sensitivity.softmax(spec.hidden, pictures.classes) / count, spec.epsilon)
    bound = float(batch_bound(pictures.x[:count], spec.filter_size, clean))
    size = float(torch.linalg.vector_norm(clean * held * parts))
    ratio = (
        bound * 2**0.5 / (spec.epsilon * count * parts) * float(held.count_nonzero()) ** 0.5 / size
    )
    return Recipe(
        energy,
        states,
        top.Loss(True),
        jitter,
        ratio,
        (("constants", ratio), ("features", jitter.scale * 2**0.5)),
        apart=False,
    )


def polynomial(v: Tensor, layer: Layer, coefficients: Tensor) -> Tensor:
    """States from responses over their largest in the batch, clipped to [0, 1]."""
    a = crbm.responses(v, layer[0], layer[1])
    return tangent(a / a.max().clamp(min=1e-6), coefficients)


def tangent(x: Tensor, coefficients: Tensor) -> Tensor:
    """The polynomial clipped to [0, 1], as a line at each place: same value, same gradient.

    Horner's steps on all states at once would keep a copy of them each for the gradient.
    """
    own, alpha = x.detach(), [float(c) for c in coefficients]
    value, slope = torch.empty_like(own), torch.empty_like(own)
    for at, p, d in zip(*(torch.split(t, SLAB) for t in (own, value, slope)), strict=True):
        p.fill_(alpha[-1])
        d.zero_()
        for c in alpha[-2::-1]:
            d.mul_(at).add_(p)
            p.mul_(at).add_(c)
        d.mul_((p >= 0) & (p <= 1))
        p.clamp_(0.0, 1.0)
    return slope * (x - own) + value


def batch_bound(v: Tensor, size: int, coefficients: Tensor) -> Tensor:
    """2 max |sum of states| + 2 max |sum of pixels| with all weights one, over the batch."""
    one = v.new_ones(1, v.shape[1], size, size)
    h = polynomial(v, (one, v.new_ones(1), v.new_zeros(())), coefficients)
    return 2 * h.flatten(1).sum(1).max() + 2 * v.flatten(1).sum(1).abs().max()
