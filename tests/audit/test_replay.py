"""Every private method, replayed on neighbours: no release moves by more than it is priced for."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets.base import LabelledTable, PanelTable, SurvivalTable
from engine.audit import replay
from engine.audit.replay import faults, inside, summed
from engine.audit.training import Setting
from engine.audit.witness import Pair, left_out, load
from engine.catalog import catalog
from engine.privacy.mechanisms import Laplace
from engine.privacy.releases import Release
from tests.audit import small, toys

PRIVATE = [
    (paper, entry)
    for paper in catalog().values()
    for entry in paper.methods
    if entry.witness and load(entry).recorded
]
each = pytest.mark.parametrize(
    ("paper", "entry"), PRIVATE, ids=[f"{paper.slug}-{entry.name}" for paper, entry in PRIVATE]
)


def setting(paper, entry, pair=None, **values) -> Setting:
    spec, witness = small.spec(paper, **values), load(entry)
    return Setting(entry, spec, pair or witness.pair(spec, small.table(paper)), witness)


@each
def test_the_witness_moves_no_release_further_than_it_is_priced_for(paper, entry):
    assert list(faults(setting(paper, entry))) == []


SHAPES = ("random", "corner", "zero", "dot", "copy")


def features(shape: str, rng, data) -> np.ndarray:
    """A record of a shape that has broken other libraries, within the public bounds."""
    low, high = (np.broadcast_to(b, data.x.shape[1:]).astype(float) for b in data.bounds)
    match shape:
        case "corner":
            return np.where(rng.random(low.shape) < 0.5, low, high)
        case "zero":
            return low
        case "dot":
            return np.where(np.arange(low.size) == rng.integers(low.size), high, low)
        case "copy":
            return np.asarray(data.x[rng.integers(len(data))], float)
        case _:
            return rng.uniform(low, high)


def neighbours(data, shape: str, seed: int, row: int) -> Pair:
    """Two neighbours that differ in one record of that shape."""
    rng = np.random.default_rng(seed)
    if isinstance(data, LabelledTable):
        return left_out(data, row, features(shape, rng, data))
    if isinstance(data, PanelTable):
        x, y = np.array(data.x), np.array(data.y)
        low, high = (np.asarray(bound, x.dtype) for bound in data.bounds)
        far = np.where(rng.random(x[row].shape) < 0.5, low, high)
        x[row] = {"corner": far, "zero": low}.get(shape, rng.uniform(low, high, x[row].shape))
        y[row] = rng.integers(0, 2, y[row].shape)
        present = replace(data, x=x, y=y)
        return Pair(replace(present, left_out=(row,)), present)
    assert isinstance(data, SurvivalTable)
    low, high = np.array(data.card.bounds.covariates, float).T
    tables = []
    for _ in range(2):
        x, time, event = data.x.copy(), data.time.copy(), data.event.copy()
        far = np.where(rng.random(low.shape) < 0.5, low, high)
        x[row] = far if shape == "corner" else rng.uniform(low, high)
        time[row] = data.card.bounds.horizon * (shape != "zero") * rng.uniform(0.0, 2.0)
        event[row] = rng.random() < 0.5
        tables.append(replace(data, x=x, time=time, event=event))
    return Pair(tables[0], tables[1])


@each
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(shape=st.sampled_from(SHAPES), seed=st.integers(0, 10_000))
@pytest.mark.thorough
def test_no_pair_moves_a_release_further_than_it_is_priced_for(paper, entry, shape, seed):
    """Rows that are trained on are found by the witness; coins of 1 in 4 pick them."""
    data = small.table(paper)
    pair = load(entry).pair(small.spec(paper), data)
    pair = neighbours(data, shape, seed, small.changed(pair))
    actual = faults(setting(paper, entry, pair), seed)
    assert list(actual) == []


@pytest.mark.parametrize(
    ("fault", "says"),
    [("scaled", "got 2 times it"), ("twice", "expected releases"), ("half", "got 2 times it")],
)
def test_a_mutant_is_caught(fault, says):
    spec = toys.SumSpec(fault=fault)
    broken = Setting(toys.ENTRY, spec, toys.opposed(spec, toys.table()), toys.WITNESS)
    assert any(says in one for one in faults(broken))


def test_a_mechanism_that_is_priced_at_another_noise_is_caught():
    def cheap(spec, n):
        made = toys.releases(spec, n)[0]
        return (Release(replace(made.mechanism, multiplier=9.0), times=made.times),)

    spec = toys.SumSpec()
    entry = replace(toys.ENTRY, releases=cheap)
    right = Setting(entry, spec, toys.opposed(spec, toys.table()), toys.WITNESS)
    assert any("expected releases" in one for one in faults(right))


def test_the_right_method_has_no_fault():
    spec = toys.SumSpec(steps=3)
    right = Setting(toys.ENTRY, spec, toys.opposed(spec, toys.table()), toys.WITNESS)
    assert list(faults(right)) == []


def test_every_private_method_names_its_worst_case():
    for paper in catalog().values():
        for entry in paper.methods:
            card = entry.guarantee(paper.spec(), 2_000, "a person")
            private = card.epsilon_claimed is not None or card.epsilon_proved is not None
            assert bool(entry.witness) == private, f"{paper.slug} {entry.name}"


INSIDE = [
    (paper, entry)
    for paper in catalog().values()
    for entry in paper.methods
    if entry.witness and load(entry).implied
]
perturbed = pytest.mark.parametrize(
    ("paper", "entry"), INSIDE, ids=[f"{paper.slug}-{entry.name}" for paper, entry in INSIDE]
)


@perturbed
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(shape=st.sampled_from(SHAPES), seed=st.integers(0, 10_000))
def test_noise_inside_an_objective_covers_what_neighbours_imply(paper, entry, shape, seed):
    """The answer names the noise that led to it, on either table; see `inside`."""
    data = small.table(paper)
    own = setting(paper, entry, neighbours(data, shape, seed, 0))
    assert list(inside(own, seed)) == []


@perturbed
def test_the_witness_of_noise_inside_an_objective_is_covered(paper, entry):
    assert list(inside(setting(paper, entry))) == []


@perturbed
def test_an_objective_that_is_priced_at_a_smaller_sensitivity_is_caught(paper, entry):
    """The same replay, against a mechanism whose sensitivity is a tenth of a record's reach."""
    own = setting(paper, entry)
    implied = own.witness.implied

    def larger(spec, table, state, noises):
        term, curvature = implied(spec, table, state, noises)
        base, _ = implied(spec, own.pair.without, state, noises)
        return base + 10.0 * (term - base), curvature

    broken = replace(own, witness=replace(own.witness, implied=larger))
    assert any("within the sensitivity" in one for one in inside(broken))


def test_prices_are_compared_to_twelve_digits():
    """The sum of a price depends on its order in the sixteenth digit; a wrong price on more."""
    right, summed, wrong = (Laplace(1.0, 3.996 * share) for share in (1.0, 1.0 - 1e-15, 1.0 + 1e-9))
    assert right.event != summed.event
    assert replay._noise(right) == replay._noise(summed) != replay._noise(wrong)


def test_the_room_for_rounding_covers_single_precision_and_hides_no_slip():
    values = torch.rand(500, 40, generator=torch.Generator().manual_seed(0))
    off = (values.sum(0).double() - values.double().sum(0)).abs().max()
    assert 0.0 < float(off) < summed(500) < summed(10**7) <= 1e-3
