"""The Siamese network against torch.func, and pairs whose batches move by one term at most."""

import math

import pytest
import torch
from torch.func import grad, vmap
from torch.nn import functional

from engine.training.ghost import clipped_sum
from engine.training.relevance import neuron_shares, relevances
from engine.training.sampling import pairs
from engine.training.siamese import MARGIN, REBUILT, pair_loss, siamese

REPLICAS, PAIRS, FEATURES = 2, 5, 7
NETWORK = siamese(FEATURES, 4, 3)


def setting():
    rng = torch.Generator().manual_seed(3)
    x = torch.randn(REPLICAS, PAIRS, FEATURES, 2, generator=rng)
    same = torch.randint(0, 2, (REPLICAS, PAIRS), generator=rng)
    return NETWORK.init(range(REPLICAS), torch.device("cpu")), x, same


def written_out(own, pair, same):
    """The loss of one pair (features, 2) in plain torch; own holds one replica's tensors."""
    (w1, b1), _, (w2, b2), (w3, b3), _, (w4, b4) = own
    total, codes = 0.0, []
    for place in (0, 1):
        x = pair[:, place]
        codes.append(w2 @ torch.tanh(w1 @ x + b1) + b2)
        rebuilt = w4 @ torch.tanh(w3 @ codes[-1] + b3) + b4
        total = total + 0.5 * REBUILT * (rebuilt - x).square().mean()
    distance = (codes[0] - codes[1]).square().sum()
    logit = MARGIN - distance
    return total + functional.binary_cross_entropy_with_logits(logit, same.to(logit.dtype))


def gradients(parameters, x, same, replica):
    own = tuple(tuple(part[replica] for part in layer) or (None, None) for layer in parameters)
    own = tuple(layer if layer[0] is not None else () for layer in own)
    actual = vmap(grad(written_out), in_dims=(None, 0, 0))(own, x[replica], same[replica])
    return [part for layer in actual for part in layer]


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_norms_and_clipped_sums_of_pairs_equal_torch_func(norm):
    parameters, x, same = setting()
    present = torch.ones(REPLICAS, PAIRS)
    present[:, -1] = 0
    clip = torch.tensor([0.3, 1e6])
    total = clipped_sum(NETWORK, parameters, x, same, present, clip, norm, loss=pair_loss)
    sums = [part for layer in total.sums for part in layer]
    for replica in range(REPLICAS):
        exact = gradients(parameters, x, same, replica)
        flat = torch.cat([part.flatten(1) for part in exact], 1)
        norms = flat.norm(p=1 if norm == "l1" else 2, dim=1)
        torch.testing.assert_close(total.norms[replica], norms, rtol=1e-4, atol=1e-5)
        share = (clip[replica] / norms).clamp(max=1.0) * present[replica]
        for ours, part in zip(sums, exact, strict=True):
            theirs = torch.einsum("b,b...->...", share, part)
            torch.testing.assert_close(ours[replica], theirs, rtol=1e-4, atol=1e-5)


def test_the_loss_of_a_pair_is_the_written_one():
    parameters, x, same = setting()
    losses, _ = pair_loss(NETWORK.values(parameters, x)[-1], same)
    own = tuple(tuple(part[1] for part in layer) for layer in parameters)
    for pair in range(PAIRS):
        theirs = written_out(own, x[1, pair], same[1, pair])
        torch.testing.assert_close(losses[1, pair], theirs)


def test_an_episode_is_answered_by_the_nearest_example():
    parameters, x, _ = setting()
    episode = torch.cat((x, x[..., :1]), -1)  # the third place repeats the first
    scores = NETWORK.outputs(parameters, episode)
    assert scores.shape == (REPLICAS, PAIRS, 2)
    assert (scores.argmax(-1) == 1).all()
    assert float(scores[..., 1].abs().max()) < 1e-9


def test_relevance_begins_with_the_distance_of_the_codes_and_is_conserved():
    parameters, x, _ = setting()
    doubled = tuple(tuple(part.double() for part in layer) for layer in parameters)
    relevance = relevances(NETWORK, doubled, x.double(), "epsilon")
    assert len(relevance) == NETWORK.code + 1
    distance = NETWORK.values(doubled, x.double())[-1][..., 0]
    torch.testing.assert_close(relevance[-1].sum((2, 3)), distance)
    shares = neuron_shares(NETWORK, doubled, x.double(), "z_plus")
    assert {i: part.shape[1] for i, part in shares.items()} == {0: 4, 2: 3}


@pytest.mark.parametrize("records", [8, 9])
def test_nobody_is_in_two_pairs_of_a_step(records):
    """Every record takes part with the rate's probability: 2,000 batches, 5 standard errors."""
    rate = 0.3
    index, present = pairs(2000, records, rate, torch.Generator().manual_seed(0))
    assert index.shape[-1] == 2
    taken = torch.zeros(2000, records)
    for side in (0, 1):
        taken.scatter_add_(1, index[..., side], present)
    assert float(taken.max()) == 1.0
    chance = rate * (records // 2 * 2) / records
    errors = 5 * math.sqrt(chance * (1 - chance) / 2000)
    assert (taken.mean(0) - chance).abs().max() < errors


def test_whom_one_meets_is_a_matter_of_chance():
    """Of 10 records each other is met with probability 1/9; 4,000 draws, 5 standard errors."""
    index, _ = pairs(4000, 10, 1.0, torch.Generator().manual_seed(1))
    left, right = (index == 0).nonzero(as_tuple=True)[0], (index == 0).nonzero(as_tuple=True)[1]
    place = (index == 0).nonzero(as_tuple=True)[2]
    met = index[left, right, 1 - place]
    share = torch.bincount(met, minlength=10)[1:].double() / 4000
    assert (share - 1 / 9).abs().max() < 5 * math.sqrt(1 / 9 * 8 / 9 / 4000)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_a_person_who_leaves_moves_the_sum_by_at_most_the_bound(norm):
    """The place stays, its pair adds nothing: one term less, whatever the person's features."""
    parameters, x, same = setting()
    clip = torch.full((REPLICAS,), 0.7)
    for extreme in (1e-3, 1.0, 1e3):
        wild = x.clone()
        wild[:, 2, :, 0] *= extreme
        present = torch.ones(REPLICAS, PAIRS)
        gone = present.clone()
        gone[:, 2] = 0
        with_, without = (
            clipped_sum(NETWORK, parameters, wild, same, who, clip, norm, loss=pair_loss).sums
            for who in (present, gone)
        )
        parts = [
            (p - r).flatten(1).double()
            for layer, other in zip(with_, without, strict=True)
            for p, r in zip(layer, other, strict=True)
        ]
        size = torch.cat(parts, 1).norm(p=1 if norm == "l1" else 2, dim=1)
        assert (size <= 0.7 * (1 + 1e-5)).all()


def test_one_record_makes_no_pair():
    index, present = pairs(3, 1, 0.5, torch.Generator().manual_seed(0))
    assert index.shape == (3, 1, 2)
    assert present.sum() == 0
