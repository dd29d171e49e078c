r"""pCDBN made provable: moments, filters, moments, filters, one quadratic.

The paper's energy is, with a public normalisation, a polynomial in a filter whose coefficients
are moments of the windows' patches, the same for every unit. So the second moments are released
once for each layer, filters are their leading eigenvectors, and the output layer is solved from
one release of Σpp' and Σp(y - 1/2). The features p of a window are the pooled states of the
second layer, the user's own attributes of the last time and the friends' term, as in the dynamic
biases of equation 25; they are cut to lengths whose squares add up to 1.

Guarantees:
    A window's patches are scaled by one number so that \sum_j \|v_j\|^2 = 1 over its positions j;
    its moments then have Frobenius norm at most 1. With p = (a, s), \|a\| \le \sqrt{1 - \kappa^2}
    and |s| \le \kappa, a window's pp' has norm at most 1 and its p(y - 1/2) at most 1/2. How far a
    record moves the sums over windows is `price`'s, for each unit of protection. Later releases
    use filters made from earlier ones, which is adaptive composition; filters, descent and any
    number of epochs are post-processing.
    The number of users, M and N are public and enter as constants.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.core.gauges import measuring
from engine.papers.dbn.yesiwell import price, rbm
from engine.papers.dbn.yesiwell.rbm import Shape
from engine.papers.dbn.yesiwell.repetitions import seeds
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.papers.dbn.yesiwell.windows import Part, Sample, check_friends, sample
from engine.training import least_squares
from engine.training.activations import Activation
from engine.training.least_squares import SHORT, Quadratic
from engine.training.steady import steady
from engine.training.summed import summed
from engine.training.threads import single_thread

SLAB = 2**22
"""Most numbers of patches that lie in memory at once."""
MAPS = 0.4
"""Share of the squared length that the second layer's states get; own attributes get the rest."""
REACH = (2.0, 1.0)
"""Lengths at which states and attributes are cut, before they are scaled."""
GAIN = 3.0
"""Length of a filter: how far a patch along it moves the response."""
TINY = 1e-12
ROOM = 2**27
"""Numbers of the first layer's maps that are kept for a second visit: half a gibibyte."""


@dataclass(frozen=True, eq=False)
class Replica:
    """One replica: its filters, its quadratic, where it is tested, and noise over signal."""

    filters: tuple[Tensor, Tensor]
    quadratic: Quadratic
    test: Tensor
    windows: Sample
    ratio: float


@dataclass(frozen=True, eq=False)
class State:
    """What a step hands to the next: releases only, beside the test windows' features."""

    replicas: tuple[Replica, ...]
    taken: int


def init(
    batch: Batch[YesiwellSpec],
    data: Table,
    rng: Generator,
    shapes: tuple[Shape, Shape],
    activation: Callable[[YesiwellSpec], Activation],
) -> State:
    """All releases of all replicas; replicas of one repetition share the passes."""
    check_friends(data, batch.spec)
    how, made = activation(batch.spec), {}
    for seed, rows in seeds(batch).items():
        windows = sample(data, batch.spec, seed, str(rng.device))
        specs = [batch.specs[row] for row in rows]
        train = slabs(windows.train, shapes[0])
        lower, upper = filters(train, specs, shapes, how, rng)
        weights = lower.weight, upper
        test = _tested(windows.test, lower, specs, upper, shapes, how)
        sums = _sums(train, lower, specs, upper, shapes[1], how)
        for place, row in enumerate(rows):
            a, b = sums[0][place], sums[1][place]
            own = weights[0][place], weights[1][place]
            made[row] = _replica(specs[place], own, (a, b), test[:, place], windows, rng)
    return State(tuple(made[row] for row in range(len(batch))), 0)


def _tested(
    test: Part, lower: "Lower", specs: Sequence[YesiwellSpec], upper: Tensor,
    shapes: tuple[Shape, Shape], how: Activation,
) -> Tensor:  # fmt: skip
    """Features of the windows to test on, (m, E, f); of none of them where nobody measures."""
    some = test if measuring() else test.take(torch.arange(1, device=test.y.device))
    parts = [
        features(part, lower.maps(part.v), specs, upper, shapes[1], how)
        for part in slabs(some, shapes[0])
    ]
    return torch.cat(parts)[: len(test) if measuring() else 0]


@dataclass(frozen=True, eq=False)
class Lower:
    """The first layer of some replicas; keeps what it has computed of parts of the windows.

    Attributes:
        weight: Its filters, shape (E, K, 1, h, w).
        shape: Its sizes.
        how: How states are read.
        kept: Its maps by part, while there is room.
    """

    weight: Tensor
    shape: Shape
    how: Activation
    kept: dict[int, Tensor] = field(default_factory=dict)

    def __call__(self, part: Part) -> Tensor:
        """The maps of a part that lives as long as this layer, shape (m, E, K, h, w)."""
        if id(part) in self.kept:
            return self.kept[id(part)]
        made = self.maps(part.v)
        if (len(self.kept) + 1) * made.numel() <= ROOM:
            self.kept[id(part)] = made
        return made

    def maps(self, v: Tensor) -> Tensor:
        """The maps of windows (m, d, N)."""
        return maps(v, self.weight, self.shape, self.how)


def filters(
    train: Sequence[Part],
    specs: Sequence[YesiwellSpec],
    shapes: tuple[Shape, Shape],
    how: Activation,
    rng: Generator,
) -> tuple[Lower, Tensor]:
    """The first layer and the second's filters (E, K, C, h, w): two releases of moments."""
    releases = [price.moments(spec) for spec in specs]
    total = _moments(train, shapes[0], lambda part: part.v[:, None, None])
    firsts = [least_squares.released(total[0], made.first, rng) for made in releases]
    first = torch.stack([_directions(one, shapes[0]) for one in firsts])
    lower = Lower(first, shapes[0], how)
    later = _moments(train, shapes[1], lower)
    seconds = [
        least_squares.released(one, made.second, rng)
        for one, made in zip(later, releases, strict=True)
    ]
    return lower, torch.stack([_directions(one, shapes[1]) for one in seconds])


def maps(v: Tensor, weight: Tensor, shape: Shape, how: Activation) -> Tensor:
    """Pooled states of a layer less 1/2, (m, E, K, h, w), for v (m, d, N) or (m, E, C, h, w)."""
    replicas = len(weight)
    wide = v[:, None] if v.dim() == 3 else v.flatten(1, 2)
    none = torch.zeros(len(v), 0, device=v.device)
    zeros = torch.zeros(replicas, shape.units, device=v.device)
    rest = torch.zeros(replicas, shape.units, 0, device=v.device)
    layer = (weight, zeros, rest, zeros[:, 0], rest[:, 0])
    a = rbm.responses(wide, layer, none, shape)
    pooled = rbm.passed_on(a, how, shape).sub_(0.5)
    return pooled.view(len(v), replicas, shape.units, *pooled.shape[2:])


def _moments(train: Sequence[Part], shape: Shape, view: Callable[[Part], Tensor]) -> Tensor:
    r"""\sum_t \sum_j v v' of the patches of (m, E, C, h, w), shape (E, D, D), double precision.

    Patches lie side by side where no zeros are needed.
    """

    def work(part: Part) -> tuple[Tensor]:
        patches = _patches(view(part), shape)
        length = patches.square().sum((2, 3), keepdim=True, dtype=torch.float64)
        share = torch.where(length > TINY, SHORT * length.clamp(min=TINY).rsqrt(), 0.0)
        flat = (patches * share).transpose(0, 1).transpose(2, 3).flatten(1, 2)
        return (torch.bmm(flat.mT, flat),)

    return summed(train, work)[0]


def _patches(wide: Tensor, shape: Shape) -> Tensor:
    """Patches of maps (m, E, C, h, w), shape (m, E, D, positions)."""
    m, replicas = wide.shape[:2]
    stride = (max(1, shape.kernel[0] // 2), 1)
    patches = torch.nn.functional.unfold(wide.flatten(0, 1), shape.kernel, stride=stride)
    return patches.view(m, replicas, *patches.shape[1:])


@steady
def _directions(moments: Tensor, shape: Shape) -> Tensor:
    """The leading eigenvectors as filters, each of length `GAIN`; more units repeat with -1."""
    _, vectors = torch.linalg.eigh(moments)
    rows = vectors.flip(1).T
    rows = rows * torch.where(rows.sum(1, keepdim=True) < 0, -1.0, 1.0)
    rows = torch.cat([rows, -rows])[: shape.units]
    if len(rows) < shape.units:
        rows = rows[torch.arange(shape.units) % len(rows)]
    return GAIN * rows.float().view(shape.units, shape.channels, *shape.kernel)


def features(
    part: Part,
    low: Tensor,
    specs: Sequence[YesiwellSpec],
    upper: Tensor,
    shape: Shape,
    how: Activation,
) -> Tensor:
    r"""P = (states, own attributes, friends' term) of windows, shape (m, E, f), \|p\| \le 1.

    In double precision, so that a friend's share of the last number moves it by that share.
    """
    high = maps(low, upper, shape, how).flatten(2)
    kappa = torch.tensor([spec.social for spec in specs], device=part.v.device).double()
    rest = (1.0 - kappa.square()).clamp(min=0.0)
    top = cut(high.double(), REACH[0]) * (MAPS * rest).sqrt()[:, None]
    own = cut(part.v[:, :, -1].double(), REACH[1])[:, None]
    friends = part.capped.clamp(-1.0, 1.0)[:, None, None] * kappa[:, None]
    return torch.cat([top, own * ((1.0 - MAPS) * rest).sqrt()[:, None], SHORT * friends], 2)


def cut(x: Tensor, reach: float) -> Tensor:
    """Vectors along the last axis, divided by `reach`, or by their length where that is more.

    Shorter by a millionth, which is more than rounding adds to them or to their sums.
    """
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    short: Tensor = x * SHORT / length.clamp(min=reach)
    return short


def slabs(part: Part, shape: Shape) -> list[Part]:
    """The windows, few enough at a time for the patches to lie in memory."""
    size = max(1, SLAB // (shape.units * 48 * part.v[0].numel()))
    rows = torch.split(torch.arange(len(part), device=part.y.device), size)
    return [part.take(some) for some in rows]


def _sums(
    train: Sequence[Part],
    lower: Callable[[Part], Tensor],
    specs: Sequence[YesiwellSpec],
    upper: Tensor,
    shape: Shape,
    how: Activation,
) -> tuple[Tensor, Tensor]:
    """Σpp' (E, f, f) and Σp(y - 1/2) (E, f), double precision."""

    def work(part: Part) -> tuple[Tensor, Tensor]:
        wide = features(part, lower(part), specs, upper, shape, how).transpose(0, 1)
        target = (part.y.double() - 0.5).expand(len(wide), -1)
        return torch.bmm(wide.mT, wide), torch.bmm(wide.mT, target[..., None])[..., 0]

    a, b = summed(train, work)
    return a, b


@single_thread()
def _replica(
    spec: YesiwellSpec, own: tuple[Tensor, Tensor], sums: tuple[Tensor, Tensor], test: Tensor,
    windows: Sample, rng: Generator,
) -> Replica:  # fmt: skip
    """The release of one replica's quadratic."""
    made, (a, b) = price.moments(spec), sums
    ratio = made.vector.scale * math.sqrt(b.numel()) / max(float(b.norm()), TINY)
    quadratic = least_squares.quadratic(a, b[:, None], made.matrix, made.vector, rng)
    return Replica(own, quadratic, test.contiguous(), windows, ratio)


def step(state: State) -> State:
    """One epoch of descent on the released quadratic."""
    return replace(state, taken=state.taken + 1)
