"""Clipping rules and AdamW: what a record can move, noise, price by hand, and old names."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from datasets import catalog as data
from engine.catalog import paper
from engine.conformance import checks
from engine.conformance.play import case
from engine.core.batch import Batch
from engine.papers.enadpp import clipping, descent, price, trainer
from engine.papers.enadpp.added import Added
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import VARIANTS
from engine.privacy import accounting
from engine.privacy.mechanisms import Gaussian
from engine.privacy.recording import recording, replaying
from engine.privacy.releases import cost
from engine.runs.job import request
from engine.training import ghost
from engine.training.network import Network
from engine.training.weights import Linear

MODERN = VARIANTS["dpsgd"]
SHORT = {"sample_rate": 0.2, "epochs": 1.0, "clip": 0.7}


def some(records=30, replicas=2, seed=0):
    """A linear layer, records and presence."""
    rng = torch.Generator().manual_seed(seed)
    network = Network((Linear(5, 3),))
    parameters = network.init(range(replicas), torch.device("cpu"))
    x = torch.randn(replicas, records, 5, generator=rng)
    y = torch.randint(3, (replicas, records), generator=rng)
    return network, parameters, x, y, torch.ones(replicas, records)


def alone(network, parameters, x, y, i):
    """One record's gradient, without clipping: weights and biases in a row, (R, d)."""
    own = ghost.clipped_sum(
        network, parameters, x[:, i : i + 1], y[:, i : i + 1], torch.ones(len(x), 1), None
    )
    return torch.cat([part.flatten(1) for part in own.sums[0]], 1)


def test_automatic_clipping_is_its_formula():
    """C g / (|g| + 0.01), summed, and less than C long for each record."""
    network, parameters, x, y, present = some()
    clip = torch.tensor([0.5, 2.0])
    made = clipping.automatic_sum(network, parameters, x, y, present, clip, ghost.cross_entropy)
    total = torch.zeros_like(alone(network, parameters, x, y, 0))
    for i in range(x.shape[1]):
        g = alone(network, parameters, x, y, i)
        part = clip[:, None] * g / (g.norm(dim=1, keepdim=True) + 0.01)
        assert bool((part.norm(dim=1) < clip).all())
        total += part
    ours = torch.cat([part.flatten(1) for part in made.sums[0]], 1)
    torch.testing.assert_close(ours, total, rtol=1e-4, atol=1e-5)


def test_a_gradient_that_is_not_finite_counts_as_nothing():
    network, parameters, x, y, present = some()
    x[0, 3] = math.inf
    clip = torch.tensor([1.0, 1.0])
    made = clipping.automatic_sum(network, parameters, x, y, present, clip, ghost.cross_entropy)
    kept = present.clone()
    kept[0, 3] = 0.0
    x[0, 3] = 0.0
    again = clipping.automatic_sum(network, parameters, x, y, kept, clip, ghost.cross_entropy)
    for one, two in zip(made.sums[0], again.sums[0], strict=True):
        torch.testing.assert_close(one, two)


@pytest.mark.parametrize("bound", [1e-3, 0.3, 40.0])
def test_no_record_adds_more_than_c_to_what_an_adaptive_step_releases(bound):
    """Every record alone: its part of gradients and count together is at most C long."""
    network, parameters, x, y, present = some()
    batch = Batch.grid(EnadppSpec(clipping="adaptive", clip=0.7), {}, (0, 1))
    bounds, longest = torch.full((2,), bound), 0.0
    for i in range(x.shape[1]):
        one = torch.zeros_like(present)
        one[:, i] = 1.0
        made = ghost.clipped_sum(network, parameters, x, y, one, bounds)
        parts = clipping.packed(batch, made, one, bounds)
        flat = torch.cat([part.flatten(1) for own in parts for part in own], 1)
        longest = max(longest, float(flat.norm(dim=1).max()))
    assert longest <= 0.7 * (1.0 + 1e-6)
    assert longest > 0.09  # the count alone is 0.14 of C


def test_what_is_unpacked_is_what_was_packed():
    network, parameters, x, y, present = some()
    batch = Batch.grid(EnadppSpec(clipping="adaptive", clip=0.7, clip_quantile=0.5), {}, (0, 1))
    bounds = torch.tensor([0.4, 3.0])
    made = ghost.clipped_sum(network, parameters, x, y, present, bounds)
    sums, after = clipping.unpacked(
        batch, clipping.packed(batch, made, present, bounds), bounds, 30
    )
    for one, two in zip(sums[0], made.sums[0], strict=True):
        torch.testing.assert_close(one, two)
    short = (made.norms <= bounds[:, None]).float().mean(1)
    torch.testing.assert_close(after, bounds * torch.exp(-0.2 * (short - 0.5)))


@pytest.mark.parametrize("rule", ["flat", "automatic", "adaptive"])
def test_the_price_by_hand(rule):
    """Ten steps of all records at (1, 1e-5): sqrt(10) times the multiplier 3.7306 of one."""
    spec = EnadppSpec(epsilon=1.0, delta=1e-5, sample_rate=1.0, epochs=10, clipping=rule, clip=0.7)
    added = price.mechanism(MODERN, spec, 1797)
    assert isinstance(added, Gaussian)
    assert added.sensitivity == 0.7
    assert added.multiplier == pytest.approx(math.sqrt(10.0) * 3.7306317, rel=1e-3)
    card = paper("enadpp").entry("dpsgd").guarantee(spec, 1797, "a digit")
    event = cost(price.releases(MODERN, spec, 1797))
    assert card.epsilon_proved == pytest.approx(accounting.epsilon(event, 1e-5, "zero_out_one"))


def test_the_count_is_in_the_price():
    """As Andrew et al. state it: precisions of the sum and of the count add up to the step's."""
    z, count = 3.0, 3.0 / (2.0 * math.sqrt(clipping.COUNTED))
    sums = z * clipping.LONGER
    assert sums**-2 + (2.0 * count) ** -2 == pytest.approx(z**-2)


def test_the_noise_of_an_adaptive_step_has_its_scale(monkeypatch):
    """An empty batch: 640 weights and 2 replicas err by 2.0 %, the count is checked over steps."""
    monkeypatch.setattr(price, "_gaussian", lambda *plan: 1.5)
    spec = EnadppSpec(
        clipping="adaptive", clip=0.7, sample_rate=1e-6, epochs=1e-3, decay=0.0, epsilon=0.31,
        learning_rate=1e-9,
    )  # fmt: skip
    batch, table = Batch.grid(spec, {}, range(4)), data.load("digits")
    rng, counts = torch.Generator().manual_seed(0), []
    with torch.no_grad(), recording() as seen:
        state = trainer.init(MODERN, batch, table, rng)
        for _ in range(100):
            state, _ = trainer.step(MODERN, batch, table, state, rng)
    for one in seen.releases:
        noise = torch.cat(
            [(b - a).flatten(1) for a, b in zip(one.values, one.outputs, strict=True)], 1
        )
        counts.append(noise[:, -1])
        if len(counts) == 1:
            assert float(noise[:, :-1].std()) == pytest.approx(0.7 * 1.5, rel=0.1)
    assert float(torch.stack(counts).std()) == pytest.approx(0.7 * 1.5, rel=0.2)


def neighbours_hold(name, **values):
    """The conformance check of the sensitivity, at these settings."""
    entry = paper("enadpp").entry(name)
    made = case(paper("enadpp"), entry)
    own = made.base.replace(**values)
    checks.neighbours_stay_within_the_sensitivity(
        type(made)(made.paper, made.entry, made.table, own)
    )


@pytest.mark.parametrize("name", ["dpsgd", "dp_ftrl"])
@pytest.mark.parametrize("rule", ["automatic", "adaptive"])
def test_neighbours_stay_within_the_sensitivity(name, rule):
    neighbours_hold(name, clipping=rule, clip=0.7)


def test_a_count_that_is_left_out_of_the_price_is_caught(monkeypatch):
    """With the sums at full length the count makes a record's part longer than C."""
    whole = clipping.packed

    def careless(batch, clipped, present, bound):
        parts = whole(batch, clipped, present, bound)
        longer = tuple(tuple(part * 1.5 for part in own) for own in parts[:-1])
        return (*longer, parts[-1])

    monkeypatch.setattr(clipping, "packed", careless)
    with pytest.raises(AssertionError, match="sensitivities"):
        neighbours_hold("dpsgd", clipping="adaptive", clip=1e-3)


def test_a_gradient_scaled_after_it_was_clipped_is_caught(monkeypatch):
    """Large gradients to length 8 C, with noise for C."""
    whole = clipping.automatic_sum

    def scaled(network, parameters, x, y, present, clip, loss):
        return whole(network, parameters, x, y, present, 8.0 * clip, loss)

    monkeypatch.setattr(clipping, "automatic_sum", scaled)
    with pytest.raises(AssertionError, match="sensitivities"):
        neighbours_hold("dpsgd", clipping="automatic", clip=0.7)


@pytest.mark.thorough
def test_the_bound_follows_from_releases_alone():
    """Other records, the same releases: the same bound and weights."""
    spec = EnadppSpec(clipping="adaptive", **SHORT)
    batch, table = Batch.grid(spec, {}, (0,)), digits()
    other = digits(seed=1)
    ends = []
    seen = None
    for records in (table, other):
        rng = torch.Generator().manual_seed(0)
        watching = recording() if seen is None else replaying(seen.releases)
        with torch.no_grad(), watching as now:
            state = trainer.init(MODERN, batch, records, rng)
            for _ in range(price.steps(spec, len(records))):
                state, _ = trainer.step(MODERN, batch, records, state, rng)
        seen = now if seen is None else seen
        ends.append((state.bound, state.released[0][0]))
    assert torch.equal(ends[0][0], ends[1][0])
    assert torch.equal(ends[0][1], ends[1][1])
    assert float(ends[0][0]) != pytest.approx(spec.clip)


def digits(seed=0):
    """The digits, in another order for another seed."""
    table = data.load("digits")
    order = np.random.default_rng(seed).permutation(len(table)) if seed else slice(None)
    return replace(table, x=table.x[order], y=table.y[order])


def test_adamw_agrees_with_torch_and_the_correction_with_its_formula():
    """Five steps of one weight matrix against torch's own; then one corrected step by hand."""
    rng = torch.Generator().manual_seed(0)
    start, slopes = torch.randn(1, 3, 4, generator=rng), torch.randn(5, 1, 3, 4, generator=rng)
    theirs = torch.nn.Parameter(start.clone())
    other = torch.optim.AdamW([theirs], lr=0.01, weight_decay=0.1, eps=1e-8)
    spec = EnadppSpec(optimiser="adamw", learning_rate=0.01, decay=0.1, sample_rate=1.0)
    batch = Batch.grid(spec, {}, (0,))
    parameters = ((start.clone(),),)
    memory = descent.memory(MODERN, spec, parameters)
    size = descent.size(MODERN, spec, 1797)
    for taken, slope in enumerate(slopes):
        theirs.grad = slope.clone()
        other.step()
        gradient = ((slope * size,),)
        descent.descend(MODERN, batch, 1797, parameters, memory, gradient, None, taken)
    torch.testing.assert_close(parameters[0][0], theirs.data, rtol=1e-4, atol=1e-6)


def test_the_correction_takes_the_noise_off_the_squares():
    """First step: m/(1-b) = g and v/(1-b) = g^2, so it moves by rate g / sqrt(g^2 - phi)."""
    spec = EnadppSpec(
        optimiser="adamw_corrected", learning_rate=0.01, decay=0.0, sample_rate=1.0, clip=1.0
    )
    batch = Batch.grid(spec, {}, (0,))
    size = descent.size(MODERN, spec, 1797)
    parameters = ((torch.zeros(1, 1, 2),),)
    added = Added((Gaussian(1.0, 0.5 * size),), torch.ones(1), torch.ones(1, dtype=torch.float64))
    g = torch.tensor([[[1.0, -0.3]]])
    descent.descend(
        MODERN, batch, 1797, parameters, descent.memory(MODERN, spec, parameters),
        ((g * size,),), added, 0,
    )  # fmt: skip
    floored = -0.3 / math.sqrt(descent.FLOOR * 0.25)  # 0.09 is less than the noise's 0.25
    expected = -0.01 * torch.tensor([[[1.0 / math.sqrt(0.75), floored]]])
    torch.testing.assert_close(parameters[0][0], expected, rtol=1e-4, atol=1e-7)


def test_choices_that_are_not_made_do_not_name_a_run():
    """Runs of before keep their names."""
    old = {"representation": "scattering", "momentum": 0.9}

    def name(**values):
        return request("enadpp", "dpsgd", "digits", {**old, **values}, {"epsilon": (1.0,)}).id

    assert name() == name(clipping="flat", optimiser="momentum", clip_quantile=0.5)
    assert len({name(), name(clipping="automatic"), name(optimiser="adamw")}) == 3
    five = request("enadpp", "dpsgd", "digits", old, {"epsilon": (1.0,)}, range(5))
    assert five.id == "e554cd447f88"


@pytest.mark.parametrize("sampling", ["poisson", "shuffled"])
@pytest.mark.parametrize("quantile", [0.2, 0.8])
@pytest.mark.thorough
def test_the_bound_settles_where_persons_are_compared(quantile, sampling, monkeypatch):
    """A step of half the persons holds 64 pairs on average, and so many gradients."""
    monkeypatch.delenv("EXPLORER_DATA", raising=False)
    monkeypatch.setattr(price, "_gaussian", lambda *plan: 1e-4)
    spec = EnadppSpec(
        clipping="adaptive", clip_quantile=quantile, sampling=sampling, sample_rate=0.5, epochs=60,
        learning_rate=1e-9,
    )  # fmt: skip
    batch, table = Batch.grid(spec, {}, (0,)), data.load("adni")
    rng, bounds = torch.Generator().manual_seed(0), []
    with torch.no_grad():
        state = trainer.init(MODERN, batch, table, rng)
        for _ in range(120):
            state, _ = trainer.step(MODERN, batch, table, state, rng)
            bounds.append(math.log(float(state.bound)))
    # each step adds -0.2 (share short - quantile): over 60 steps the share's mean is the quantile
    assert (bounds[59] - bounds[119]) / (0.2 * 60) == pytest.approx(0.0, abs=0.02)
