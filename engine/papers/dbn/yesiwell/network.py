r"""Training of the networks: each layer by contrastive divergence, then the output layer.

Replicas of one repetition see the same windows and the same batches, so they share their
convolutions; repetitions take turns. Methods differ in a `Plan`: what a layer sees, how states
are read, whether the text's noise is added, and what the output layer minimises.

As printed, the noise of a layer is Laplace noise of scale \Delta / (\varepsilon n) on one
coefficient per order l and unit k of the mean energy: of the polynomial's many million monomials
the one in which all inputs are one. \Delta of Lemma 2 is read from the windows at hand. The output
layer has the functional mechanism on its quadratic with \Delta = f + f^2 / 4 (equation 19),
trimmed to a bounded one (`output.bounded`) or left as drawn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.papers.dbn.yesiwell import output, price, rbm, repetitions
from engine.papers.dbn.yesiwell.rbm import Layer, Shape
from engine.papers.dbn.yesiwell.repetitions import seeds
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.papers.dbn.yesiwell.windows import Part, Sample, check_friends, sample
from engine.privacy.noise import draw
from engine.training.activations import BETA, Activation, Q
from engine.training.adam import Adam, adam
from engine.training.steady import steady

KEPT = ("filters", "bias_1", "dynamic_1"), ("filters_second", "bias_2", "dynamic_2")
"""Names of a layer's weights, biases and dynamic biases."""
SLAB = 2**22
"""Most states that lie in memory at once while features are computed."""
SEEN = 500
"""Windows from which the largest sensitivity is read, where there are more."""


@dataclass(frozen=True)
class Plan:
    """What one method trains.

    Attributes:
        shapes: The layers for a spec.
        view: What the first layer sees of windows, and the inputs of its dynamic biases.
        activation: How states are read, for a spec.
        quadratic: Whether the output layer minimises the quadratic form.
        noise: Whether the text's noise is added.
    """

    shapes: Callable[[YesiwellSpec, int], tuple[Shape, ...]]
    view: Callable[[Part], tuple[Tensor, Tensor]]
    activation: Callable[[YesiwellSpec], Activation]
    quadratic: bool
    noise: bool


@dataclass(frozen=True, eq=False)
class Group(output.Headed):
    """The replicas of one repetition; parameters change in place.

    Attributes:
        layers: Parameters of all layers.
        optimisers: Their moments.
        noises: Noise on each layer's coefficients, shape (orders, E, K) each; empty without.
        train: Features (E, m, f) where the output layer sees them.
    """

    layers: tuple[Layer, ...]
    optimisers: tuple[Adam, ...]
    noises: tuple[Tensor, ...]
    train: Tensor | None = None


State: TypeAlias = repetitions.State[Group]


@steady
def init(batch: Batch[YesiwellSpec], data: Table, rng: Generator, plan: Plan) -> State:
    """Fresh weights, equal for equal seeds, and the noise of the lower layers."""
    if plan.noise:
        check_friends(data, batch.spec)
    groups = []
    for seed, rows in seeds(batch).items():
        windows = sample(data, batch.spec, seed, str(rng.device))
        shapes = plan.shapes(batch.spec, windows.whole.v.shape[1])
        own = plan.view(windows.whole.take(torch.arange(1, device=rng.device)))[1].shape[1]
        source = torch.Generator().manual_seed(seed)
        fresh = [shape.fresh([source], own, rng.device) for shape in shapes]
        layers = tuple(_spread(layer, len(rows)) for layer in fresh)
        specs = [batch.specs[row] for row in rows]
        noises = _noises(specs, windows, plan, shapes, rng) if plan.noise else ()
        groups.append(Group(rows, windows, layers, tuple(map(adam, layers)), noises))
    return State(tuple(groups), 0)


def _spread(layer: Layer, count: int) -> Layer:
    """The same fresh parameters for each replica of a repetition."""
    w, b, own, c, cown = (part.expand(count, *part.shape[1:]).clone() for part in layer)
    return w, b, own, c, cown


def _noises(
    specs: Sequence[YesiwellSpec], windows: Sample, plan: Plan, shapes: tuple[Shape, ...],
    rng: Generator,
) -> tuple[Tensor, ...]:  # fmt: skip
    """The text's noise on each layer's coefficients, drawn once."""
    how, train = plan.activation(specs[0]), windows.train
    bound = lemma2(plan.view(train)[0][:SEEN], shapes[0], how)
    orders = len(how.coefficients)
    made = []
    for shape in shapes:
        mechanisms = [price.printed_layer(spec, bound, len(shapes)) for spec in specs]
        noise = draw(mechanisms, orders * shape.units, rng).float() / len(train)
        made.append(noise.view(len(specs), orders, shape.units).transpose(0, 1))
    return tuple(made)


def lemma2(v: Tensor, shape: Shape, how: Activation) -> float:
    r"""\Delta of Lemma 2 with |X| = 1 and attributes in [0, 1], largest over windows at hand."""
    ones = torch.ones(1, 1, *shape.kernel, device=v.device)
    wide = torch.nn.functional.pad((v + 0.5).clamp(0.0, 1.0), shape.margins())
    patches = torch.nn.functional.conv2d(wide, ones).flatten(1)
    alpha = sum(map(abs, how.coefficients))
    inside = (v + 0.5).clamp(0.0, 1.0).flatten(1).sum(1)
    return float((2 * alpha * (patches + 1).sum(1) + inside).max())


@steady
def step(
    batch: Batch[YesiwellSpec], data: Table, state: State, rng: Generator, plan: Plan
) -> State:
    """One step of contrastive divergence, or one epoch of the output layer."""
    spec, taken = batch.spec, state.taken + 1
    shapes = plan.shapes(spec, state.groups[0].windows.whole.v.shape[1])
    stage = state.taken // spec.pretraining
    if stage < len(shapes):
        for group in state.groups:
            _lower(spec, group, plan, shapes, stage, state.taken % spec.pretraining + 1, rng)
        return State(state.groups, taken)
    groups = tuple(
        _upper(batch, group if group.head else _ready(batch, group, plan, shapes, rng), rng)
        for group in state.groups
    )
    return State(groups, taken)


def _lower(
    spec: YesiwellSpec, group: Group, plan: Plan, shapes: tuple[Shape, ...], stage: int,
    count: int, rng: Generator,
) -> None:  # fmt: skip
    """One step of one layer of a repetition's replicas."""
    train, how = group.windows.train, plan.activation(spec)
    rows = torch.randint(len(train), (min(spec.batch, len(train)),), generator=rng,
                         device=rng.device)  # fmt: skip
    v, own = plan.view(train.take(rows))
    v = _below(v, own, group, shapes[:stage], how)
    with torch.enable_grad():
        free = tuple(part.detach().requires_grad_() for part in group.layers[stage])
        layer = (free[0], free[1], free[2], free[3], free[4])
        loss = rbm.divergence(v, layer, own, how, shapes[stage])
        if group.noises:
            loss = loss + perturbation(layer, group.noises[stage])
        slopes = torch.autograd.grad(loss, free)
    group.optimisers[stage].move(group.layers[stage], slopes, spec.pretraining_rate, count)


def perturbation(layer: Layer, noise: Tensor) -> Tensor:
    r"""\sum_{l,k} \eta_{lk} X_k^l s_k with s_k the sum of a unit's parameters, X_k = s_k / Z."""
    total = layer[0].flatten(2).sum(2) + layer[1]
    x = total / torch.clamp(total.abs(), min=Q**BETA)
    powers = torch.stack([x**order for order in range(len(noise))])
    return (noise * powers * total).sum()


def _below(
    v: Tensor, own: Tensor, group: Group, shapes: tuple[Shape, ...], how: Activation
) -> Tensor:
    """What a layer sees: the pooled states of those below it, less 1/2."""
    for layer, shape in zip(group.layers, shapes, strict=False):
        v = rbm.passed_on(rbm.responses(v, layer, own, shape), how, shape) - 0.5
    return v


def features(part: Part, group: Group, plan: Plan, spec: YesiwellSpec) -> Tensor:
    """States of the last layer with a one for the bias, in [0, 1], shape (m, E, f)."""
    shapes = plan.shapes(spec, part.v.shape[1])
    v, own = plan.view(part)
    p = _below(v, own, group, shapes, plan.activation(spec)) + 0.5
    wide = p.view(len(p), len(group.rows), -1)
    return torch.cat([wide, torch.ones_like(wide[..., :1])], 2)


def slabs(part: Part, replicas: int) -> list[Part]:
    """The windows, few enough at a time for the first layer's states to lie in memory."""
    size = max(1, SLAB // (10 * replicas * part.v[0].numel()))
    rows = torch.split(torch.arange(len(part), device=part.y.device), size)
    return [part.take(some) for some in rows]


def _ready(
    batch: Batch[YesiwellSpec], group: Group, plan: Plan, shapes: tuple[Shape, ...], rng: Generator
) -> Group:
    """Features of all windows, and the output layer before its first epoch."""
    spec, count = batch.spec, len(group.rows)
    train, test = group.windows.train, group.windows.test
    seen = torch.cat([features(one, group, plan, spec) for one in slabs(test, count)])
    group = replace(group, test=seen.transpose(0, 1).contiguous())
    if not plan.quadratic:
        parts = [features(one, group, plan, spec) for one in slabs(train, count)]
        p = torch.cat(parts).transpose(0, 1).contiguous()
        head = output.entropy(count, p.shape[2], p.device)
        return replace(group, train=p, head=head, ratio=torch.zeros(count))
    f = seen.shape[2]
    a = torch.zeros(count, f, f, dtype=torch.float64, device=seen.device)
    b = torch.zeros(count, f, dtype=torch.float64, device=seen.device)
    for one in slabs(train, count):
        own_a, own_b = output.sums(features(one, group, plan, spec), one.y)
        a, b = a + own_a, b + own_b
    specs = [batch.specs[row] for row in group.rows]
    return _quadratic(group, specs, (a, b), len(train), plan.noise, rng)


def _quadratic(
    group: Group, specs: Sequence[YesiwellSpec], made: tuple[Tensor, Tensor], n: int,
    noise: bool, rng: Generator,
) -> Group:  # fmt: skip
    """The output layer's quadratic, with the functional mechanism's noise on it or without."""
    a, b = made[0] / n, made[1] / n
    count, f = b.shape
    if not noise:
        none = torch.zeros_like(a), torch.zeros_like(b)
        head = output.bounded(a, b, none, torch.full((count,), output.LEAST))
        return replace(group, head=head, ratio=torch.zeros(count))
    mechanisms = [price.printed_output(spec, f) for spec in specs]
    scale = torch.tensor([one.scale for one in mechanisms], dtype=torch.float64) / n
    linear = draw(mechanisms, f, rng) / n
    square = output.triangle(mechanisms, f, rng) / n
    head, ratio = output.printed(specs[0], a, b, (square, linear), scale)
    return replace(group, head=head, ratio=ratio)


def _upper(batch: Batch[YesiwellSpec], group: Group, rng: Generator) -> Group:
    """One epoch of the output layer."""
    spec, train = batch.spec, group.windows.train
    if isinstance(group.head, output.Entropy) and group.train is not None:
        return replace(group, head=output.train(group.head, group.train, train.y, spec, rng))
    assert isinstance(group.head, output.Quadratic)
    steps = max(1, len(train) // spec.batch)
    return replace(group, head=output.descend(group.head, spec, steps))


def products(state: State) -> dict[str, Tensor]:
    """What a network consists of, by name, the replicas in their order."""
    rows = torch.tensor([row for group in state.groups for row in group.rows]).argsort()
    arrays = {
        names[part]: torch.cat([group.layers[k][part] for group in state.groups])[rows]
        for k, names in enumerate(KEPT[: len(state.groups[0].layers)])
        for part in range(3)
    }
    heads = [group.head.weight for group in state.groups if group.head is not None]
    return {**arrays, "weights_output": torch.cat(heads)[rows]}
