"""Closed-form norms and clipped sums against torch.func's gradient of every record."""

import pytest
import torch
from torch.func import functional_call, grad, vmap

from engine.training.ghost import clipped_sum, cross_entropy
from engine.training.layers import Activation, Flatten, MeanPool
from engine.training.network import Network, cnn, mlp
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


def setting(name):
    network, shape = NETWORKS[name]
    rng = torch.Generator().manual_seed(1)
    x = torch.randn(REPLICAS, RECORDS, *shape, generator=rng)
    y = torch.randint(0, 3, (REPLICAS, RECORDS), generator=rng)
    parameters = network.init(range(REPLICAS), torch.device("cpu"))
    return network, parameters, x, y


def record_gradients(network, parameters, x, y, replica):
    """By torch.func, one replica: each tensor's gradient of each record."""

    def loss(own, record, target):
        return cross_entropy(network.outputs(own, record[None, None]), target[None, None])[0].sum()

    own = tuple(tuple(p[replica : replica + 1] for p in layer) for layer in parameters)
    found = vmap(grad(loss), in_dims=(None, 0, 0))(own, x[replica], y[replica])
    return [[p[:, 0] for p in layer] for layer in found]


def ratios_for(parameters):
    rng = torch.Generator().manual_seed(2)
    return [
        0.1 + torch.rand(REPLICAS, layer[0].shape[1], generator=rng) if layer else None
        for layer in parameters
    ]


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
def test_ghost_equals_torch_func(name, norm, weighted):
    network, parameters, x, y = setting(name)
    ratios = ratios_for(parameters) if weighted else None
    present = torch.ones(REPLICAS, RECORDS)
    present[:, -1] = 0
    clip = torch.tensor([0.5, 1.0, 1e6])
    found = clipped_sum(network, parameters, x, y, present, clip, norm, ratios)
    for replica in range(REPLICAS):
        exact = record_gradients(network, parameters, x, y, replica)
        rows = []
        for i, layer in enumerate(exact):
            for part in layer:
                weight = ratios[i][replica] if weighted else torch.ones(part.shape[1])
                rows.append((part * weight.view(1, -1, *[1] * (part.dim() - 2))).flatten(1))
        norms = torch.cat(rows, 1).norm(p=1 if norm == "l1" else 2, dim=1)
        torch.testing.assert_close(found.norms[replica], norms, rtol=1e-5, atol=1e-5)
        share = (clip[replica] / norms).clamp(max=1.0) * present[replica]
        for mine, layer in zip(found.sums, exact, strict=True):
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
