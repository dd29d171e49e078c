"""Closed-form norms and clipped sums against torch.func's gradient of every record."""

import pytest
import torch
from torch.func import functional_call, grad, vmap

from engine.training import weights
from engine.training.ghost import clipped_sum, cross_entropy
from engine.training.layers import Activation, Flatten, MeanPool
from engine.training.network import Network, cnn, mlp
from engine.training.siamese import pair_loss, siamese
from engine.training.weights import Convolution, Linear

REPLICAS, RECORDS = 3, 7
NETWORKS = {
    "mlp": (mlp(6, 5, 4, 3), (6,)),
    "tanh": (mlp(6, 5, 3, activation=Activation("tanh")), (6,)),
    "cnn": (cnn(12, 3, (2, 3), 5, size=3), (1, 12, 12)),
    "strided": (
        Network(
            (
                Convolution(1, 4, 4, stride=2, padding=1), Activation("sigmoid"), MeanPool(2),
                Convolution(4, 20, 3, padding=1), Activation("tanh"), Flatten(), Linear(180, 3),
            )
        ),
        (1, 13, 13),
    ),
}  # fmt: skip


def setting(name, dtype=torch.float32):
    network, shape = NETWORKS[name]
    rng = torch.Generator().manual_seed(1)
    x = torch.randn(REPLICAS, RECORDS, *shape, generator=rng).to(dtype)
    y = torch.randint(0, 3, (REPLICAS, RECORDS), generator=rng)
    parameters = network.init(range(REPLICAS), torch.device("cpu"))
    return network, tuple(tuple(p.to(dtype) for p in own) for own in parameters), x, y


def record_gradients(network, parameters, x, y, replica):
    """By torch.func, one replica: each tensor's gradient of each record."""

    def loss(own, record, target):
        return cross_entropy(network.outputs(own, record[None, None]), target[None, None])[0].sum()

    own = tuple(tuple(p[replica : replica + 1] for p in layer) for layer in parameters)
    actual = vmap(grad(loss), in_dims=(None, 0, 0))(own, x[replica], y[replica])
    return [[p[:, 0] for p in layer] for layer in actual]


def ratios_for(parameters):
    rng = torch.Generator().manual_seed(2)
    return [
        0.1 + torch.rand(REPLICAS, layer[0].shape[1], generator=rng) if layer else None
        for layer in parameters
    ]


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_ghost_equals_torch_func(name, norm, weighted, dtype, monkeypatch):
    """The closed forms themselves; that norms are rounded up is tested below."""
    monkeypatch.setattr(weights, "_rounding", lambda norm, patches, delta: delta.sum((1, 2)) * 0)
    network, parameters, x, y = setting(name, dtype)
    ratios = ratios_for(parameters) if weighted else None
    present = torch.ones(REPLICAS, RECORDS)
    present[:, -1] = 0
    clip = torch.tensor([0.5, 1.0, 1e6])
    total = clipped_sum(network, parameters, x, y, present, clip, norm, ratios)
    for replica in range(REPLICAS):
        exact = record_gradients(network, parameters, x, y, replica)
        rows = []
        for i, layer in enumerate(exact):
            for part in layer:
                weight = ratios[i][replica] if weighted else torch.ones(part.shape[1])
                rows.append((part * weight.view(1, -1, *[1] * (part.dim() - 2))).flatten(1))
        norms = torch.cat(rows, 1).norm(p=1 if norm == "l1" else 2, dim=1)
        torch.testing.assert_close(total.norms[replica], norms, rtol=1e-5, atol=1e-5)
        share = (clip[replica] / norms).clamp(max=1.0) * present[replica]
        for mine, layer in zip(total.sums, exact, strict=True):
            for ours, part in zip(mine, layer, strict=True):
                theirs = torch.einsum("b,b...->...", share, part)
                torch.testing.assert_close(ours[replica], theirs, rtol=3e-5, atol=1e-5)


def test_functional_call_agrees_on_the_forward_pass():
    """The layers compute what torch's own modules compute."""
    network, parameters, x, _ = setting("cnn")
    module = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(2, 3, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3),
    )  # fmt: skip
    names = [name for name, _ in module.named_parameters()]
    own = dict(zip(names, (p[1] for layer in parameters for p in layer), strict=True))
    theirs = functional_call(module, own, (x[1],))
    torch.testing.assert_close(network.outputs(parameters, x)[1], theirs)


def test_a_record_that_is_not_finite_contributes_nothing():
    network, parameters, x, y = setting("mlp")
    present, clip = torch.ones(REPLICAS, RECORDS), torch.ones(REPLICAS)
    broken = x.clone()
    broken[:, 0] = torch.inf
    without = present.clone()
    without[:, 0] = 0
    ours = clipped_sum(network, parameters, broken, y, present, clip)
    theirs = clipped_sum(network, parameters, x, y, without, clip)
    torch.testing.assert_close(ours.sums, theirs.sums)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_neighbours_move_the_sum_by_at_most_the_bound(name, norm):
    """Adding one record, however extreme, moves the weighted sum by at most C."""
    network, parameters, x, y = setting(name)
    ratios = ratios_for(parameters)
    for extreme in (1e-3, 1.0, 1e3, 1e6):
        present = torch.ones(REPLICAS, RECORDS)
        less = present.clone()
        less[:, 0] = 0
        wild = x.clone()
        wild[:, 0] *= extreme
        clip = torch.full((REPLICAS,), 0.7)
        a = clipped_sum(network, parameters, wild, y, present, clip, norm, ratios).sums
        b = clipped_sum(network, parameters, wild, y, less, clip, norm, ratios).sums
        moved = torch.cat(
            [
                ((p - r) * w.view(*w.shape, *[1] * (p.dim() - 2))).flatten(1).double()
                for layer, other, w in zip(a, b, ratios, strict=True)
                for p, r in zip(layer, other, strict=True)
            ],
            1,
        )
        size = moved.norm(p=1 if norm == "l1" else 2, dim=1)
        assert (size <= 0.7 * (1 + 1e-5)).all()


def length(sums):
    return sum(float(part.double().square().sum()) for own in sums for part in own) ** 0.5


@pytest.mark.parametrize("gap", [1e-2, 1e-3, 3e-4])
def test_two_persons_who_are_almost_equal_stay_below_the_bound(gap):
    """The two terms of a pair cancel: their norm in single precision is mostly rounding."""
    rng, count = torch.Generator().manual_seed(0), 600
    network = siamese(count, 8, 4)
    for seed in range(40):
        first = torch.rand(count, generator=rng) * 2 - 1
        second = (first + gap * torch.randn(count, generator=rng)).clamp(-1, 1)
        between = second - first
        slope = between / between.norm() ** 2 * 0.5
        parameters = network.init([seed], torch.device("cpu"))
        for own in parameters[3:]:
            for part in own:
                part.zero_()
        parameters[0][0][0], parameters[2][0][0] = slope.repeat(8, 1), torch.full((4, 8), 20.0)
        parameters[0][1][0], parameters[2][1][0] = -(slope @ (first + second) / 2), torch.zeros(4)
        pair = torch.stack([first, second], -1)[None, None]
        total = clipped_sum(
            network, parameters, pair, torch.ones(1, 1, dtype=torch.long), torch.ones(1, 1),
            torch.ones(1), loss=pair_loss,
        )  # fmt: skip
        assert length(total.sums) <= 1.0


@pytest.mark.parametrize("gap", [1e-2, 1e-3, 1e-4])
def test_signals_that_cancel_over_positions_stay_below_the_bound(gap):
    """A second convolution sees almost the same everywhere, with signals of both signs."""
    k, relu = 32, Activation("relu")
    network = Network(
        (
            Convolution(1, k, 5, 2, 2), relu, Convolution(k, 2 * k, 5, 2, 2), relu, Flatten(),
            Linear(2 * k * 49, 25), relu, Linear(25, 10),
        )
    )  # fmt: skip
    sign = torch.zeros(7, 7)
    sign[1:6, 1:5] = torch.tensor([-1.0, 1.0]).repeat(5, 2).mul(-1)
    for seed in range(10):
        rng = torch.Generator().manual_seed(seed)
        parameters = network.init([seed], torch.device("cpu"))
        lower, upper, top = (parameters[i] for i in (0, 2, 5))
        lower[0].zero_()[0, :, 0, 2, 2] = gap
        lower[1].fill_(1.0)
        upper[0].zero_()
        upper[1].fill_(1e-4)
        size = torch.randn(25, 2 * k, 1, 1, generator=rng).abs() * 300
        top[0][0] = (size * sign).reshape(25, -1)
        top[1].fill_(1.0)
        x = torch.rand(1, 1, 1, 28, 28, generator=rng)
        target = torch.zeros(1, 1, dtype=torch.long)
        total = clipped_sum(network, parameters, x, target, torch.ones(1, 1), torch.ones(1))
        assert length(total.sums) <= 1.0


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("name", ["cnn", "strided"])
def test_norms_of_sums_over_positions_are_rounded_up_and_little(name, norm, monkeypatch):
    network, parameters, x, y = setting(name)
    present = torch.ones(REPLICAS, RECORDS)
    raised = clipped_sum(network, parameters, x, y, present, None, norm).norms
    monkeypatch.setattr(weights, "_rounding", lambda norm, patches, delta: delta.sum((1, 2)) * 0)
    plain = clipped_sum(network, parameters, x, y, present, None, norm).norms
    assert bool((raised >= plain).all())
    assert bool((raised > plain).any())
    assert bool((raised <= 1.0002 * plain).all())
