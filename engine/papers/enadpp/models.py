"""What each method trains, on which inputs; and simulated inputs."""

from dataclasses import replace
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional

from datasets.base import LabelledTable
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import Variant
from engine.training import ghost
from engine.training.features import Transform, kept, wavelets
from engine.training.layers import Activation
from engine.training.network import Network, cnn, mlp
from engine.training.records import Records, episodes, records
from engine.training.scattering import scattering
from engine.training.siamese import Siamese, pair_loss, siamese
from engine.training.strokes import (
    sketched,
    unit,
    unit_wavelets,
    upright_sketched,
    upright_wavelets,
)
from engine.training.weights import Linear

WIDE = 256
"""From so many features on the paper's network is used, a smaller one below."""
FINE = 16
"""From so many pixels a side the second order of scattering has maps to look at."""

UNIT = {
    "whitened": (unit_wavelets, sketched),
    "upright": (upright_wavelets, upright_sketched),
}
"""What is whitened of small images and of fine ones, in rows of length 1."""

PAIRED = ("adni",)
"""Data sets whose persons are compared two by two, by a Siamese network, as published."""
BRANCH = (8, 4)
"""Hidden units and code of a branch; the paper prints no widths."""


def network(
    variant: Variant, spec: EnadppSpec, data: LabelledTable, inputs: int
) -> Network | Siamese:
    """The network of the variant for records of so many inputs."""
    if data.card.name in PAIRED:
        return siamese(inputs, *BRANCH)
    classes = int(data.card.classes or 2)
    if variant.whitens(spec.representation) or (_transformed(variant, spec) and data.image):
        return Network((Linear(inputs, classes),))
    bounded = Activation("tanh" if variant.modern else "relu")
    if spec.network == "cnn" and data.image is not None:
        return _convolutional(data.image[0], classes, bounded)
    hidden = (512, 256) if inputs >= WIDE else (64, 32)
    return mlp(inputs, *hidden, classes, activation=bounded)


def _convolutional(side: int, classes: int, bounded: Activation) -> Network:
    if side >= 20:
        return cnn(side, classes, (16, 32), 128, activation=bounded)
    return cnn(side, classes, (8, 16), 32, size=2, activation=bounded)


def inputs(variant: Variant, spec: EnadppSpec, data: LabelledTable, device: str) -> Records:
    """The records as the method sees them, on the device."""
    if data.card.name in PAIRED:
        return episodes(data, device)
    if _transformed(variant, spec) and data.image is not None:
        fine = min(data.image) >= FINE
        if variant.whitens(spec.representation):
            return _features(data, UNIT[spec.representation][fine], device)
        fine = fine and spec.representation == "scattering"
        return _features(data, scattering if fine else wavelets, device)
    flat = records(data, device)
    if variant.whitens(spec.representation):
        return replace(flat, x=unit(flat.x), test_x=unit(flat.test_x))
    if spec.network == "cnn" and data.image is not None:
        return _images(flat, data.image)
    return flat


def _features(data: LabelledTable, transform: Transform, device: str) -> Records:
    """Computed once for each table: a fixed function of each record by itself."""
    return (_of_few if data.left_out else _of_all)(data, transform, device)


def _transform(data: LabelledTable, transform: Transform, device: str) -> Records:
    plain, side = records(data, device), data.image or (0, 0)
    x, test_x = (kept(part, side, transform) for part in (plain.x, plain.test_x))
    if any(transform in pair for pair in UNIT.values()):  # features are kept rounded
        x, test_x = unit(x), unit(test_x)
    return replace(plain, x=x, test_x=test_x)


_of_all = lru_cache(maxsize=2)(_transform)
_of_few = lru_cache(maxsize=4)(_transform)  # what an attack compares


def _transformed(variant: Variant, spec: EnadppSpec) -> bool:
    """Whether images become features."""
    return variant.modern and spec.representation != "pixels"


def _images(flat: Records, side: tuple[int, int]) -> Records:
    """Rows as images of one channel."""
    return replace(flat, x=flat.x.view(-1, 1, *side), test_x=flat.test_x.view(-1, 1, *side))


def loss(net: Network | Siamese) -> ghost.Loss:
    """What the network is trained to make small."""
    return pair_loss if isinstance(net, Siamese) else ghost.cross_entropy


@lru_cache(maxsize=4)
def simulated(
    shape: tuple[int, ...], side: tuple[int, int] | None, paired: bool, device: str
) -> Tensor:
    """Inputs that depend on no record: smooth random blobs where records are images, else uniform.

    Returns:
        Shape (256, *shape), in [0, 1]; for pairs (256, *shape, 2), in [-1, 1].
    """
    rng, count = torch.Generator().manual_seed(20_230_101), 256
    if paired:
        return torch.empty(count, *shape, 2).uniform_(-1.0, 1.0, generator=rng).to(device)
    if side is None:
        return torch.rand(count, *shape, generator=rng).to(device)
    coarse = torch.rand(count, 1, 5, 5, generator=rng)
    smooth = functional.interpolate(coarse, side, mode="bicubic", align_corners=False)
    return ((smooth - 0.55) * 4.0).clamp(0.0, 1.0).reshape(count, *shape).to(device)
