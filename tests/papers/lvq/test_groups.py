"""Several prototypes in a class: groups found with noise, priced, and attacked."""

import math

import numpy as np
import pytest
import torch
from torch import Generator

from engine.audit.replay import faults
from engine.audit.report import audit
from engine.audit.training import Setting
from engine.audit.witness import load
from engine.catalog import paper
from engine.conformance import checks
from engine.conformance.play import Case, case
from engine.conformance.test_methods import quick  # noqa: F401 : prices by a stand-in
from engine.papers.lvq import initial, price
from engine.papers.lvq.spec import LvqSpec
from tests.audit import small
from tests.audit.test_replay import neighbours
from tests.papers.lvq.conftest import make, run

LVQ = paper("lvq")
PRIVATE = ("glvq_dp", "gmlvq_dp")
each = pytest.mark.parametrize("method", PRIVATE)


def three(method: str, **values) -> Setting:
    """A short run with three prototypes a class, and the paper's worst pair."""
    entry, spec = LVQ.entry(method), small.spec(LVQ, prototypes=3, **values)
    witness = load(entry)
    return Setting(entry, spec, witness.pair(spec, small.table(LVQ)), witness)


@pytest.mark.thorough
@pytest.mark.parametrize("check", checks.ALL, ids=lambda check: check.__name__)
@each
def test_a_private_method_keeps_its_promises(method, check):
    one = case(LVQ, LVQ.entry(method))
    check(Case(one.paper, one.entry, one.table, one.base.replace(prototypes=3)))


@each
def test_the_witness_moves_no_release_further_than_it_is_priced_for(method):
    assert list(faults(three(method))) == []


@pytest.mark.parametrize("shape", ["random", "corner", "zero", "dot", "copy"])
@each
def test_no_pair_moves_a_release_further_than_it_is_priced_for(method, shape):
    one = three(method)
    pair = neighbours(small.table(LVQ), shape, 1, small.changed(one.pair))
    assert list(faults(Setting(one.entry, one.spec, pair, one.witness), 1)) == []


@each
def test_groups_that_are_released_and_not_priced_are_caught(method, monkeypatch):
    monkeypatch.setattr(price, "rounds", lambda spec: 0)
    assert any("expected releases" in one for one in faults(three(method)))


def test_groups_of_records_that_are_not_clipped_are_caught(monkeypatch):
    monkeypatch.setattr(initial, "clipped", lambda x, bound: 2.0 * x)
    assert any("got" in one for one in faults(three("glvq_dp", bound=0.1)))


@pytest.mark.slow
def test_an_attack_on_the_groups_finds_no_more_than_is_proved():
    one = three("glvq_dp", epsilon=1.0)
    (found, *_), *_ = list(audit(one.entry, one.spec, small.table(LVQ), 100))[-1:]
    assert not found.broken


def clouds(n=400) -> tuple[np.ndarray, np.ndarray]:
    """Each class has a cloud on either side of the other's: no two prototypes tell them apart."""
    rng = np.random.default_rng(0)
    side = np.array([[-0.6, 0.0], [0.6, 0.0], [0.0, -0.6], [0.0, 0.6]])
    which = np.arange(n) % 4
    return side[which] + 0.05 * rng.standard_normal((n, 2)), which // 2


def test_groups_are_found_where_a_class_has_two_clouds():
    x, y = (torch.from_numpy(part) for part in clouds())
    start = initial.exact(x, y, 2, LvqSpec(prototypes=2), Generator().manual_seed(0))
    ends = (start.w + start.centre).abs().amax(1)
    assert ends.numpy() == pytest.approx(np.full(4, 0.6), abs=0.02)


@each
def test_a_second_prototype_tells_apart_what_one_cannot(method):
    table = make(*clouds(2_000))
    values = {"epsilon": 4.0, "epochs": 6.0, "sample_rate": 1.0, "metric": "identity"}
    _, alone, _ = run(method, table, range(3), prototypes=1, **values)
    _, two, _ = run(method, table, range(3), prototypes=2, **values)
    assert alone.error.mean() > 0.2
    assert two.error.mean() < 0.05


def test_a_group_that_is_noise_is_drawn_back_to_where_it_began():
    """Noise of length 313 sqrt(50): a group's mean keeps less than a hundredth of that."""
    x = 0.01 * torch.randn(60, 50, generator=Generator().manual_seed(0), dtype=torch.float64)
    y, spec = torch.arange(60) % 2, LvqSpec(prototypes=3, epsilon=0.01)
    made = price.start_noise(spec, False, 50)
    start = initial.private(x, y, 2, spec, False, Generator().manual_seed(1))
    within = start.w.view(2, 3, 50) - start.w.view(2, 3, 50).mean(1, keepdim=True)
    assert float(within.norm(dim=2).median()) < 0.2 * made.sums.scale * math.sqrt(50)


@pytest.mark.parametrize("width", [2, 13, 64, 784])
def test_records_of_the_start_keep_to_their_bound_in_single_precision(width):
    """Without room for rounding the longest of them is 2.5e-7 too long."""
    x = 2.0 * torch.rand(20_000, width, generator=Generator().manual_seed(0)) - 1.0
    for bound in (0.1, 0.37):
        norms = initial.clipped(x, bound).double().norm(dim=1)
        assert 0.9999 * bound < norms.max() <= bound
