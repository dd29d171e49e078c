"""Relevance is conserved from layer to layer, by both rules, in both kinds of network."""

import pytest
import torch

from engine.training.layers import Activation, Flatten, MeanPool
from engine.training.network import Network, cnn, mlp
from engine.training.relevance import neuron_shares, relevances
from engine.training.weights import Convolution, Linear

MEAN = Network(
    (Convolution(1, 4, 3), Activation(), MeanPool(2), Flatten(), Linear(100, 8), Activation(),
     Linear(8, 4))
)  # fmt: skip
NETWORKS = [(mlp(20, 16, 12, 4), (20,)), (cnn(12, 4, (3, 5), 16, size=3), (1, 12, 12)),
            (MEAN, (1, 12, 12))]  # fmt: skip


@pytest.mark.parametrize(("network", "shape"), NETWORKS, ids=["mlp", "cnn", "mean"])
@pytest.mark.parametrize("rule", ["z_plus", "epsilon"])
def test_every_layer_holds_the_whole_relevance(network, shape, rule):
    rng = torch.Generator().manual_seed(0)
    x = torch.rand(2, 40, *shape, generator=rng)
    parameters = tuple(
        tuple(part.double() for part in own) for own in network.init([1, 2], torch.device("cpu"))
    )
    relevance = relevances(network, parameters, x.double(), rule)
    top = network.outputs(parameters, x.double()).amax(-1)
    for layer in relevance:
        total = layer.flatten(2).sum(2)
        # z+ loses what a neuron with no positive contribution holds; none is so here
        torch.testing.assert_close(total, top, rtol=1e-3, atol=1e-3)


def test_z_plus_relevances_share_the_sign_of_the_output():
    rng = torch.Generator().manual_seed(0)
    network = mlp(20, 16, 12, 4)
    parameters = network.init([1], torch.device("cpu"))
    x = torch.rand(1, 100, 20, generator=rng)
    for layer in relevances(network, parameters, x, "z_plus"):
        assert (layer * network.outputs(parameters, x).amax(-1)[..., None] >= 0).all()


def test_values_of_either_sign_conserve_too():
    rng = torch.Generator().manual_seed(0)
    network = mlp(20, 16, 4, activation=Activation("tanh"))
    parameters = network.init([1], torch.device("cpu"))
    x = torch.randn(1, 50, 20, generator=rng)
    relevance = relevances(network, parameters, x, "z_plus")
    for layer in relevance:
        torch.testing.assert_close(layer.sum(2), relevance[-1].sum(2), rtol=1e-4, atol=1e-4)


def test_one_linear_layer_by_hand():
    """w = (2, -1), a = (3, 4): contributions 6 and -4, output 2; z+ gives all to the first."""
    network = Network((Linear(2, 1),))
    parameters = ((torch.tensor([[[2.0, -1.0]]]), torch.zeros(1, 1)),)
    x = torch.tensor([[[3.0, 4.0]]])
    signed = relevances(network, parameters, x, "epsilon")[0]
    torch.testing.assert_close(signed, torch.tensor([[[6.0, -4.0]]]), rtol=1e-5, atol=1e-5)
    positive = relevances(network, parameters, x, "z_plus")[0]
    torch.testing.assert_close(positive, torch.tensor([[[2.0, 0.0]]]))


def test_shares_of_a_layer_add_up_to_one():
    rng = torch.Generator().manual_seed(0)
    network = cnn(12, 4, (3, 5), 16, size=3)
    parameters = network.init([1, 2], torch.device("cpu"))
    x = torch.rand(2, 30, 1, 12, 12, generator=rng)
    shares = list(neuron_shares(network, parameters, x, "z_plus").values())
    assert [part.shape[1] for part in shares] == [3, 5, 16, 4]
    for part in shares:
        assert (part >= 0).all()
        torch.testing.assert_close(part.sum(1), torch.ones(2, dtype=torch.float64))
