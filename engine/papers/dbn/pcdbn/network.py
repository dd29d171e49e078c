r"""Training of the networks: two layers by contrastive divergence, then the layers above.

One step is one epoch. The methods differ in how states are read, in what the layers
minimise and in where noise enters: that is a `Recipe` per replica. Convolutions are
frozen once trained, so their features are computed once and kept in half precision.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.core.gauges import Column, measuring
from engine.method import Arrays
from engine.papers.dbn.pcdbn import course, slabs, top
from engine.papers.dbn.pcdbn.images import SHOWN_MAPS, Images, images
from engine.papers.dbn.pcdbn.price import network_steps
from engine.papers.dbn.pcdbn.spec import Digits, PcdbnSpec
from engine.privacy.mechanisms import Laplace
from engine.privacy.noise import draw
from engine.training import adam
from engine.training.layer_arrays import layer_arrays

MEASURES = 100
"""Measurements in a run."""
Layer = tuple[Tensor, Tensor, Tensor]
Upper = tuple[Tensor, Tensor, Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class Recipe:
    """What one replica does; made by the method from a spec, drawn noise included.

    Attributes:
        energy: From records and a layer's weight, bias and visible bias to what the layer
            minimises; the layer is 0 or 1.
        apart: Whether the energy is a mean over records, so that some can go after others.
        added: What a layer minimises beside it, whatever the records are; None for nothing.
        states: From records and a layer to the states that the next layer sees.
        loss: What the upper layers minimise.
        jitter: The Laplace noise on a step's features, drawn again in each; None for none.
        ratio: Noise over signal, for the gauge.
        noise: Noise over signal by name, for the chart.
    """

    energy: Callable[[int, Tensor, Layer], Tensor]
    states: Callable[[int, Tensor, Layer], Tensor]
    loss: top.Loss
    jitter: Laplace | None = None
    ratio: float = 0.0
    noise: tuple[tuple[str, float], ...] = ()
    apart: bool = True
    added: Callable[[int, Layer], Tensor] | None = None


Make = Callable[[PcdbnSpec, Images, int, Generator], Recipe]


@dataclass(frozen=True, eq=False)
class State:
    """What a step hands to the next; parameters change in place and are (R, ...).

    Attributes:
        layers: Weight, bias and visible bias of both convolutions.
        upper: Weights and biases of the hidden and the softmax layer.
        optimisers: Moments of Adam for both convolutions and for the upper layers.
        recipes: One per replica.
        train: Features of each replica once the convolutions are trained.
        test: The same of the test images.
        taken: Steps taken.
        moved: Training steps in the present stage.
        course: Epochs and accuracies as they were measured, shape (k, 1 + R).
    """

    layers: tuple[Layer, Layer]
    upper: Upper
    optimisers: tuple[adam.Adam, adam.Adam, adam.Adam]
    recipes: tuple[Recipe, ...]
    train: tuple[Tensor, ...]
    test: tuple[Tensor, ...]
    taken: int
    moved: int
    course: Tensor


@dataclass(frozen=True, eq=False)
class Step:
    """One training step, the same for every replica.

    Attributes:
        spec: The settings that all replicas share.
        pictures: The images.
        rows: Which of them are in the batch.
        count: Steps of this stage so far, this one included.
        stage: 0 and 1 for the convolution layers, 2 for the layers above.
    """

    spec: PcdbnSpec
    pictures: Images
    rows: Tensor
    count: int
    stage: int


def init(batch: Batch[PcdbnSpec], data: Table, rng: Generator, make: Make) -> State:
    """Fresh weights, equal for equal seeds, and each replica's recipe."""
    pictures, spec = images(data, batch.spec, str(rng.device)), batch.spec
    sources = [torch.Generator().manual_seed(seed) for seed in batch.seeds]
    quarter = (pictures.side + 3) // 4
    k = max(s.filters for s in batch.specs)
    layers = (
        _layer(sources, k, 1, spec.filter_size, rng),
        _layer(sources, 2 * k, k, spec.filter_size, rng),
    )
    flat = 2 * k * quarter**2
    upper = (
        _normal(sources, (flat, spec.hidden), (2.0 / flat) ** 0.5, rng),
        torch.zeros(len(batch), spec.hidden, device=rng.device),
        _normal(sources, (spec.hidden, pictures.classes), spec.hidden**-0.5, rng),
        torch.zeros(len(batch), pictures.classes, device=rng.device),
    )
    recipes = tuple(make(s, pictures, len(data), rng) for s in batch.specs)
    optimisers = (adam.adam(layers[0]), adam.adam(layers[1]), adam.adam(upper))
    return State(layers, upper, optimisers, recipes, (), (), 0, 0, course.none(len(batch)))


def _layer(sources: list[Generator], outputs: int, inputs: int, size: int, rng: Generator) -> Layer:
    count, device = len(sources), rng.device
    weight = _normal(sources, (outputs, inputs, size, size), 0.1 / inputs**0.5, rng)
    return weight, torch.zeros(count, outputs, device=device), torch.zeros(count, device=device)


def _normal(
    sources: list[Generator], shape: tuple[int, ...], width: float, rng: Generator
) -> Tensor:
    drawn = [torch.randn(shape, generator=source) for source in sources]
    return (torch.stack(drawn) * width).to(rng.device)


def step(
    batch: Batch[PcdbnSpec], data: Table, state: State, rng: Generator
) -> tuple[State, Digits | None]:
    """One epoch: of the first layer, of the second, or of the layers above."""
    spec = batch.spec
    pictures = images(data, spec, str(rng.device))
    stage = min(state.taken // spec.pretraining, 2)
    first = state.taken in (spec.pretraining, 2 * spec.pretraining)
    state = replace(state, moved=0) if first else state
    if stage == 2 and not state.train:
        train, test = (
            tuple(_features(x, state, row) for row in range(len(batch)))
            for x in (pictures.x, pictures.test_x)
        )
        state = replace(state, train=train, test=test)
    moved = state.moved
    for rows in slabs.batches(len(pictures.x), spec.batch, rng):
        moved += 1
        at = Step(spec, pictures, rows, moved, stage)
        for row in range(len(batch)):
            if stage == 2:
                _upper(at, state, row, rng)
            else:
                _lower(at, state, row)
    state = replace(state, taken=state.taken + 1, moved=moved)
    info = _measure(spec, pictures, len(data), state) if stage == 2 else None
    if info is not None:
        done = state.taken - 2 * spec.pretraining
        state = replace(state, course=course.later(state.course, done, info.accuracy))
    return state, info


def _lower(at: Step, state: State, row: int) -> None:
    """One step of a convolution layer of one replica."""
    recipe, own = state.recipes[row], _row(state.layers[at.stage], row)

    def seen(rows: Tensor) -> Tensor:
        v = at.pictures.x.index_select(0, rows)
        return recipe.states(0, v, _row(state.layers[0], row)) if at.stage == 1 else v

    slopes = slabs.energy_slopes(partial(recipe.energy, at.stage), own, seen, at.rows, recipe.apart)
    if recipe.added is not None:
        more = slabs.slopes(partial(recipe.added, at.stage), own)
        slopes = tuple(a + b for a, b in zip(slopes, more, strict=True))
    moments = _moments(at.spec, state.optimisers[at.stage], row)
    _move(moments, own, slopes, at.spec.pretraining_rate, at.count)


def _upper(at: Step, state: State, row: int, rng: Generator) -> None:
    """One step of the hidden and the softmax layer of one replica."""
    recipe, own = state.recipes[row], tuple(p[row] for p in state.upper)
    noise = None if recipe.jitter is None else draw([recipe.jitter], own[0].shape[1], rng)[0]

    def loss(a: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        p = top.rectified(a)
        p = p if noise is None else (p + noise.float()).clamp(0.0, 1.0)
        return recipe.loss.value(p, weight, bias, at.pictures.y[at.rows])

    slopes = slabs.upper_slopes(state.train[row], at.rows, own, loss)
    moments = _moments(at.spec, state.optimisers[2], row)
    _move(moments, own, slopes, at.spec.learning_rate, at.count)


def _row(layer: Layer, row: int) -> Layer:
    return layer[0][row], layer[1][row], layer[2][row]


def _moments(spec: PcdbnSpec, optimiser: adam.Adam, row: int) -> adam.Adam | None:
    """One replica's moments of Adam; None for plain gradient descent."""
    if spec.optimiser == "descent":
        return None
    return adam.Adam(
        tuple(m[row] for m in optimiser.first), tuple(v[row] for v in optimiser.second)
    )


def _move(
    moments: adam.Adam | None,
    own: tuple[Tensor, ...],
    slopes: tuple[Tensor, ...],
    rate: float,
    count: int,
) -> None:
    """One step on one replica's rows."""
    if moments is not None:
        moments.move(own, slopes, rate, count)
        return
    for p, g in zip(own, slopes, strict=True):
        p.sub_(g, alpha=rate)


def _features(x: Tensor, state: State, row: int) -> Tensor:
    """Features of one replica, (n, F), in half precision."""
    recipe, layers = state.recipes[row], [_row(layer, row) for layer in state.layers]
    return slabs.stacked(
        lambda part: (
            recipe.states(1, recipe.states(0, part, layers[0]), layers[1]).flatten(1).half()
        ),
        x,
    )


def _measure(spec: PcdbnSpec, pictures: Images, n: int, state: State) -> Digits | None:
    """Test accuracy, some hundred times in a run."""
    total, done = spec.epochs, state.taken - 2 * spec.pretraining
    if not measuring() or (
        done % max(1, total // MEASURES) and state.taken != network_steps(spec, n)
    ):
        return None
    accuracy = [_accuracy(pictures, state, row) for row in range(len(state.recipes))]
    ratios: Column = np.array([recipe.ratio for recipe in state.recipes], dtype=np.float64)
    return Digits(np.array(accuracy), ratios)


def outputs(x: Tensor, state: State) -> Tensor:
    """Outputs of every replica's network for images (m, 1, side, side), shape (R, m, classes)."""
    count = len(state.recipes)
    return torch.stack([_answered(_features(x, state, row), state, row) for row in range(count)])


def _answered(features: Tensor, state: State, row: int) -> Tensor:
    """Outputs of one replica for features (m, F), shape (m, classes)."""
    own = tuple(p[row] for p in state.upper)
    return top.hidden(features.float(), own[0], own[1]) @ own[2] + own[3]


def _accuracy(pictures: Images, state: State, row: int) -> float:
    z = _answered(state.test[row], state, row)
    right = float((z.argmax(1) == pictures.test_y).double().mean())
    return right if bool(torch.isfinite(z).all()) else math.nan


def products(batch: Batch[PcdbnSpec], data: Table, state: State) -> Arrays:
    """Filters, maps of a few test images, noise over signal by coefficient, test predictions."""
    pictures = images(data, batch.spec, str(state.upper[0].device))
    shown = [
        recipe.states(0, pictures.shown, _row(state.layers[0], row))
        for row, recipe in enumerate(state.recipes)
    ]
    noise = {
        f"noise_{name}": np.array([dict(recipe.noise)[name] for recipe in state.recipes])
        for name, _ in state.recipes[0].noise
    }
    answers = [_answered(x, state, row).argmax(1) for row, x in enumerate(state.test)]
    return {
        "filters": state.layers[0][0][:, :, 0].cpu().numpy(),
        "filters_second": state.layers[1][0][:, :SHOWN_MAPS].norm(dim=2).cpu().numpy(),
        "maps": torch.stack(shown)[:, :, :SHOWN_MAPS].cpu().numpy(),
        "learning": course.array(state.course),
        "test_predictions": torch.stack(answers).cpu().numpy().astype(np.uint8),
        **noise,
        **layer_arrays((*state.layers, state.upper[:2], state.upper[2:])),
    }
