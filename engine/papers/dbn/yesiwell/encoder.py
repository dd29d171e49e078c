r"""dPAH: an auto-encoder by the functional mechanism, then an output layer (Phan et al. 2016).

The decoder minimises the quadratic Taylor form of the reconstruction's cross-entropy, the mean
over windows of \sum_j (1/2 - x_j) W_j h + (W_j h)^2 / 8, with Laplace noise on its coefficients.
As printed, the code h = \sigma(W'x) has the decoder's weights, so the coefficients move with W;
the noise has scale \Delta / \varepsilon with \Delta = d (m + m^2 / 4) for d inputs and m units.

With proof the code of the decoder's training has public random weights, so its coefficients are
functions of the data alone; they are released once, and the decoder that they give becomes the
encoder of the output layer (Kasun et al. 2013 train auto-encoders so, without privacy).

Guarantees:
    With \|h\|_1 \le 1 and \|x\|_1 \le 1, a window's upper triangle of hh' has L1 norm at most 1
    and its xh' too; with \|p\|_1 \le 1, pp' has at most 1 and p(y - 1/2) at most 1/2. `price.codes`
    multiplies by the windows that go with a record. The friends' term is not an input, so no
    other user's windows change. Everything after the two releases is post-processing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.dbn.price import functional
from engine.papers.dbn.yesiwell import measure, output, price, repetitions
from engine.papers.dbn.yesiwell.repetitions import seeds
from engine.papers.dbn.yesiwell.spec import Behaviour, YesiwellSpec
from engine.papers.dbn.yesiwell.windows import Part, check_friends, panel, sample
from engine.privacy.mechanisms import Laplace
from engine.privacy.noise import draw, release_together
from engine.training.steady import steady

GAIN = 3.0
"""Length of a row of the random and of the solved encoder."""


@dataclass(frozen=True, eq=False)
class Group(output.Headed):
    """The replicas of one repetition.

    Attributes:
        encoder: Weights of the code, shape (E, m, d), changed as printed training goes.
        noise: The decoder's noise (E, m, m) and (E, d, m), on means over windows.
    """

    encoder: Tensor
    noise: tuple[Tensor, Tensor]


State: TypeAlias = repetitions.State[Group]


def flat(part: Part) -> Tensor:
    """Windows as rows, shape (m, d)."""
    return part.v.flatten(1)


def shorter(x: Tensor) -> Tensor:
    """Rows with L1 norm at most 1, rounded down."""
    short: Tensor = x * (1.0 - 1e-5) / x.abs().sum(-1, keepdim=True).clamp(min=1.0)
    return short


@steady
def encoded(x: Tensor, encoder: Tensor) -> Tensor:
    """Codes in [0, 1], shape (E, t, m)."""
    return torch.sigmoid(torch.einsum("td,emd->etm", x, encoder))


def noisy(
    square: Tensor, other: Tensor, mechanisms: Sequence[Laplace], rng: Generator
) -> tuple[Tensor, Tensor]:
    """One release of symmetric matrices, by their upper triangle, and of other sums beside them.

    Args:
        square: Shape (E, m, m), or (1, m, m) for all alike.
        other: Shape (E, ...), or (1, ...).
        mechanisms: One for each of E replicas.
        rng: Source of the noise.
    """
    rows, columns = torch.triu_indices(*square.shape[1:], device=square.device)
    count = len(mechanisms)
    values = (square[:, rows, columns].expand(count, -1), other.expand(count, *other.shape[1:]))
    upper, beside = release_together(values, mechanisms, rng)
    mirrored = square.new_empty(count, *square.shape[1:])
    mirrored[:, rows, columns] = upper
    mirrored[:, columns, rows] = upper
    return mirrored, beside


def init(batch: Batch[YesiwellSpec], data: Table, rng: Generator) -> State:
    """Fresh encoders, equal for equal seeds; in the rigorous calibration both releases."""
    check_friends(data, batch.spec)
    groups = []
    for seed, rows in seeds(batch).items():
        windows = sample(data, batch.spec, seed, str(rng.device))
        specs = [batch.specs[row] for row in rows]
        source = torch.Generator().manual_seed(seed)
        d, m = flat(windows.test).shape[1], batch.spec.code
        fresh = (torch.randn(m, d, generator=source) * d**-0.5).to(rng.device)
        encoder = fresh.expand(len(rows), m, d).clone()
        none = torch.zeros(0), torch.zeros(0)
        group = Group(rows, windows, encoder, none)
        make = _proved if batch.spec.calibration == "rigorous" else _printed
        groups.append(make(group, specs, rng))
    return State(tuple(groups), 0)


def _printed(group: Group, specs: Sequence[YesiwellSpec], rng: Generator) -> Group:
    """Draws the decoder's noise."""
    count, m, d = group.encoder.shape
    mechanisms = [price.printed_layer(spec, d * functional(m), 1) for spec in specs]
    n = len(group.windows.train)
    linear = draw(mechanisms, d * m, rng).view(count, d, m) / n
    return replace(group, noise=(8.0 * output.triangle(mechanisms, m, rng) / n, linear))


def _proved(group: Group, specs: Sequence[YesiwellSpec], rng: Generator) -> Group:
    """Both releases: the decoder's sums under a public random code, then the output layer's."""
    train = group.windows.train
    x, m = shorter(flat(train)), group.encoder.shape[1]
    h = shorter(encoded(flat(train), GAIN * group.encoder[:1]))[0].double()
    made = [price.codes(spec) for spec in specs]
    lower = [one.decoder for one in made]
    a, cross = noisy((h.T @ h)[None], (h.T @ x.double())[None], lower, rng)
    decoder = _solved(a, cross, torch.tensor([one.scale for one in lower]).double())
    length = decoder.flatten(2).norm(dim=2, keepdim=True).clamp(min=1e-12)
    group = replace(group, encoder=(GAIN * decoder / length).float())
    p = shorter(_features(flat(train), group) - 0.5).double()
    own_a, own_b = output.sums(p.transpose(0, 1), train.y)
    upper = [one.output for one in made]
    scale = torch.tensor([one.scale for one in upper]).double().to(own_b.device)
    a, b = noisy(own_a, own_b, upper, rng)
    head = output.bounded(a, b, _none(a, b), output.FIVE * scale)
    ratio = math.sqrt(2.0 * (m + 1)) * scale / own_b.norm(dim=1).clamp(min=1e-12)
    test = shorter(_features(flat(group.windows.test), group) - 0.5)
    return replace(group, head=head, test=test, ratio=ratio)


@steady
def _solved(a: Tensor, cross: Tensor, scale: Tensor) -> Tensor:
    """The decoder (E, m, d): ridge regression on the noisy sums, trimmed to positive ones."""
    ridge = output.FIVE * scale[:, None, None] * torch.eye(a.shape[1], dtype=a.dtype)
    values, vectors = torch.linalg.eigh(a + ridge.to(a.device))
    inverse = torch.where(values > output.LEAST, 1.0 / values.clamp(min=output.LEAST), 0.0)
    decoder: Tensor = (vectors * inverse[:, None]) @ (vectors.mT @ cross)
    return decoder


def _features(x: Tensor, group: Group) -> Tensor:
    """Codes with a one for the bias, shape (E, t, m + 1)."""
    h = encoded(x, group.encoder)
    return torch.cat([h, torch.ones_like(h[..., :1])], 2)


def _descend(spec: YesiwellSpec, group: Group) -> Group:
    """One step of the printed auto-encoder on all windows; the code is held fixed in it."""
    x = flat(group.windows.train)
    h = encoded(x, group.encoder)
    square = torch.bmm(h.mT, h).double() / len(x) + group.noise[0]
    linear = torch.einsum("td,etm->edm", -x, h).double() / len(x) + group.noise[1]
    decoder = group.encoder.double().mT
    none = _none(square, linear[:, 0])
    head = output.objective(spec, square, linear[:, 0], none, _least(square))
    slope = linear + decoder @ head.matrix / 4.0
    moved = decoder - 4.0 * head.rate[:, None, None] * slope
    return replace(group, encoder=moved.mT.float().contiguous())


def _none(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return torch.zeros_like(a), torch.zeros_like(b)


def _least(a: Tensor) -> Tensor:
    return torch.full((len(a),), output.LEAST, dtype=a.dtype)


def _ready(group: Group, specs: Sequence[YesiwellSpec], rng: Generator) -> Group:
    """The printed output layer: the functional mechanism on its quadratic."""
    train = group.windows.train
    p = _features(flat(train), group).double()
    a, b = output.sums(p.transpose(0, 1), train.y)
    f, n = p.shape[2], len(train)
    mechanisms = [price.printed_output(spec, f) for spec in specs]
    scale = torch.tensor([one.scale for one in mechanisms]).double() / n
    noise = output.triangle(mechanisms, f, rng) / n, draw(mechanisms, f, rng) / n
    head, ratio = output.printed(specs[0], a / n, b / n, noise, scale)
    return replace(group, head=head, test=_features(flat(group.windows.test), group), ratio=ratio)


class Dpah:
    """One step is one step of the auto-encoder, or one epoch of the output layer."""

    def init(self, batch: Batch[YesiwellSpec], data: Table, rng: Generator) -> State:
        """See `init`."""
        return init(batch, data, rng)

    def step(
        self, batch: Batch[YesiwellSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Behaviour | None]:
        """Descends on the noisy quadratics."""
        spec, printed = batch.spec, batch.spec.calibration != "rigorous"
        before = spec.pretraining if printed else 0
        if state.taken < before:
            groups = tuple(_descend(spec, group) for group in state.groups)
            return State(groups, state.taken + 1), None
        moved = []
        for group in state.groups:
            specs = [batch.specs[row] for row in group.rows]
            ready = group if group.head else _ready(group, specs, rng)
            assert isinstance(ready.head, output.Quadratic)
            steps = max(1, ready.windows.places // spec.batch)
            moved.append(replace(ready, head=output.descend(ready.head, spec, steps)))
        state = State(tuple(moved), state.taken + 1)
        if not measure.due(state.taken - before, spec.epochs):
            return state, None
        return state, measure.gauges(self.scored(batch, state))

    def products(self, batch: Batch[YesiwellSpec], data: Table, state: State) -> Arrays:
        """Weights, calibration, accuracy by number of friends, predictions on the network."""
        arrays = measure.products(self.scored(batch, state), panel(data, batch.spec))
        codes: dict[int, Tensor] = {}
        outputs: dict[int, Tensor] = {}
        for group in state.groups:
            assert group.head is not None
            for place, row in enumerate(group.rows):
                codes[row], outputs[row] = group.encoder[place], group.head.weight[place]
        weights = {"weights_code": codes, "weights_output": outputs}
        return {**arrays, **{name: measure.rows(one) for name, one in weights.items()}}

    def scored(self, batch: Batch[YesiwellSpec], state: State) -> measure.Scored:
        """The replicas' test scores."""
        return output.scored(state.groups)


METHOD = Dpah()
