"""Noise on whole numbers: its law, its bits, its price, and releases that are drawn with it."""

import json
import math
import random
from fractions import Fraction

import numpy as np
import opendp.prelude as opendp
import pytest
import torch
from scipy.stats import chisquare

from datasets import catalog as data_catalog
from engine.audit.witness import load
from engine.catalog import catalog, paper
from engine.cli.main import main
from engine.core.batch import Batch
from engine.papers.mean import method, price
from engine.papers.mean.spec import MeanSpec
from engine.privacy import discrete, exact
from engine.privacy.mechanisms import Exponential, Laplace
from engine.privacy.recording import recording
from engine.runs.job import request
from engine.runs.release import checked

opendp.enable_features("contrib")
BROKEN = 1e-9
"""OpenDP's numbers cannot be drawn again, so its sample fails a test this seldom."""
REACH = 400
LAWS = [
    (lambda bits: discrete.laplace(Fraction(7, 3), bits), lambda x: np.exp(-np.abs(x) * 3 / 7)),
    (lambda bits: discrete.laplace(Fraction(1, 3), bits), lambda x: np.exp(-np.abs(x) * 3.0)),
    (lambda bits: discrete.gaussian(Fraction(13, 4), bits), lambda x: np.exp(-(x**2) / 6.5)),
    (lambda bits: discrete.gaussian(Fraction(1, 5), bits), lambda x: np.exp(-(x**2) / 0.4)),
]


def masses(weight):
    """Chances of the whole numbers from -REACH to REACH."""
    weights = weight(np.arange(-REACH, REACH + 1).astype(float))
    return weights / weights.sum()


def unlikely(draws, law):
    """The p value of a sample: numbers that are expected five times or more, and all others."""
    counts = np.bincount(np.array(draws) + REACH, minlength=2 * REACH + 1)
    expected = law * len(draws)
    often = expected >= 5
    observed = [*counts[often], counts[~often].sum()]
    return chisquare(observed, [*expected[often], expected[~often].sum()]).pvalue


@pytest.mark.parametrize(("draw", "weight"), LAWS)
def test_draws_have_the_law_that_is_priced(draw, weight):
    bits = random.Random(0).getrandbits
    assert unlikely([draw(bits) for _ in range(4_000)], masses(weight)) > 1e-3
    shifted = [draw(bits) + (k % 3 == 0) for k in range(4_000)]
    assert unlikely(shifted, masses(weight)) < 1e-3  # the test sees a third that is off by one


class EndError(Exception):
    """No bit is left."""


def answers(sampler, depth):
    """What a sampler answers to every string of so many bits, and the share that goes on."""
    ended, rest = {}, 0.0
    open_strings = [""]
    while open_strings:
        string, place = open_strings.pop(), 0

        def bits(count, string=string):
            nonlocal place
            if place + count > len(string):
                raise EndError
            place += count
            return int(string[place - count : place] or "0", 2)

        try:
            answer = sampler(bits)
            ended[answer] = ended.get(answer, 0.0) + 2.0 ** -len(string)
        except EndError:
            if len(string) < depth:
                open_strings += [string + "0", string + "1"]
            else:
                rest += 2.0**-depth
    return ended, rest


@pytest.mark.parametrize(
    ("sampler", "chances"),
    [
        (lambda bits: discrete.below(5, bits), dict.fromkeys(range(5), 0.2)),
        (lambda bits: discrete.coin(Fraction(3, 8), bits), {True: 0.375}),
        (lambda bits: discrete.coin_exp(Fraction(1, 2), bits), {True: math.exp(-0.5)}),
        (lambda bits: discrete.coin_exp(Fraction(3, 2), bits), {True: math.exp(-1.5)}),
        (lambda bits: discrete.laplace(Fraction(1), bits), {0: math.tanh(0.5)}),
        (lambda bits: discrete.laplace(Fraction(1), bits), {-1: math.tanh(0.5) / math.e}),
    ],
)
def test_all_strings_of_bits_together_have_exactly_the_chances(sampler, chances):
    """Not by a sample: every string of 14 bits, and the chance that more are needed."""
    ended, rest = answers(sampler, 14)
    assert 0.0 <= rest < 0.2
    for answer, chance in chances.items():
        assert ended[answer] - 1e-12 <= chance <= ended[answer] + rest + 1e-12


@pytest.mark.parametrize(("scale", "move"), [(Fraction(5, 2), 2), (Fraction(1, 2), 1)])
def test_laplace_costs_what_opendp_says_and_what_its_masses_say(scale, move):
    space = opendp.atom_domain(T="i64"), opendp.absolute_distance(T="i64")
    theirs = opendp.m.make_laplace(*space, scale=float(scale))
    assert theirs.map(move) == pytest.approx(move / float(scale))
    law = masses(lambda x: np.exp(-np.abs(x) / float(scale)))[REACH - 30 : REACH + 31]
    assert np.log(law[:-move] / law[move:]).max() == pytest.approx(move / float(scale))
    assert unlikely([theirs(0) for _ in range(2_000)], masses(
        lambda x: np.exp(-np.abs(x) / float(scale)))) > BROKEN  # fmt: skip


@pytest.mark.parametrize("deviation", [1.5, 6.0])
def test_gaussian_costs_what_opendp_says_and_no_less_than_its_masses_say(deviation):
    """Two counts that move by 1, as of a record that is replaced in a histogram."""
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l2_distance(T="f64")
    theirs = opendp.m.make_gaussian(*space, scale=deviation)
    curve = opendp.c.make_zCDP_to_approxDP(theirs).map(math.sqrt(2.0))
    actual = discrete.epsilon(2.0 / deviation**2, 1e-5)
    assert actual == pytest.approx(curve.epsilon(1e-5), rel=1e-3)
    law = masses(lambda x: np.exp(-(x**2) / (2 * deviation**2)))
    near, far = np.outer(law[1:-1], law[1:-1]), np.outer(law[2:], law[:-2])
    assert np.maximum(near - math.exp(actual) * far, 0.0).sum() <= 1e-5
    assert np.maximum(near - math.exp(actual / 1.2) * far, 0.0).sum() > 1e-5  # and not much more
    drawn = [number for _ in range(500) for number in theirs([0, 0, 0, 0])]
    assert unlikely(drawn, law) > BROKEN


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_whole_number_noise_is_scaled_to_the_price_on_the_card(epsilon):
    spec = MeanSpec(epsilon=epsilon)
    made = paper("mean").entry("gaussian").releases(spec, 500)
    by = exact.factor(made, epsilon, spec.delta)
    precision = sum(one.mechanism.multiplier**-2 for one in made)
    assert 0.999 * epsilon < discrete.epsilon(precision / by**2, spec.delta) <= epsilon
    assert 1.0 < by < 1.12
    assert exact.factor(paper("mean").entry("laplace").releases(spec, 500), epsilon, 0.0) == 1.0
    assert Fraction(0.1) < discrete.up(0.1) < Fraction(0.1) + Fraction(3, discrete.FINE)


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_a_release_draws_that_noise_on_whole_numbers(name):
    spec, data = MeanSpec(records=50), data_catalog.load("flchain")
    entry, batch = paper("mean").entry(name), Batch.grid(spec, {}, (0,))
    run, bits = entry.load(), random.Random(3).getrandbits
    noise = []
    for _ in range(60):
        rng = torch.Generator().manual_seed(0)
        with exact.exactly(entry.whole, 1.5, bits):
            state, _ = run.step(batch, data, run.init(batch, data, rng), rng)
        noisy, true = state.counts
        assert torch.equal(noisy, noisy.round())
        whole = float(state.mean * price.GRID * spec.records / spec.bound)
        assert whole == pytest.approx(round(whole), abs=1e-6)
        noise += (noisy - true).flatten().tolist()
    mechanism = entry.releases(spec, len(data))[1].mechanism
    power, wanted = (1, mechanism.scale) if name == "laplace" else (2, (1.5 * mechanism.scale) ** 2)
    size = np.abs(noise) ** power  # a deviation of wanted, or √2 of it: six standard errors
    assert abs(size.mean() / wanted - 1.0) < 6 * math.sqrt(2.0 / len(noise))


def test_parts_of_the_bound_are_whole_and_near_their_values():
    bound = torch.tensor([[3.0]], dtype=torch.float64)
    values = torch.tensor([[0.0, 1.0, 3.0, 2.999999]], dtype=torch.float64)
    actual = method.parts(values, bound)
    assert actual.max() == price.GRID
    assert torch.equal(actual, actual.round())
    assert float((actual * bound / price.GRID - values).abs().max()) <= 1.5 / price.GRID


def test_the_command_draws_and_says_so(tmp_path, capsys):
    asked = ["run", "mean", "gaussian", "--release", "--exact", "--to", str(tmp_path / "out")]
    assert main(asked) == 0
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    limits = " ".join(card["guarantee"]["limits"])
    assert card["guarantee"]["exact"]
    assert "whole-number arithmetic" in limits
    assert "Real arithmetic is assumed" not in limits
    assert card["guarantee"]["epsilon_proved"] == pytest.approx(1.0)
    assert "--exact" in (tmp_path / "out" / "README.md").read_text()
    with np.load(tmp_path / "out" / "release.npz") as arrays:
        assert (arrays["histogram"] == arrays["histogram"].round()).all()
        assert float(arrays["mean"][0]) > 0.0  # whatever was paid for is there
    capsys.readouterr()
    assert main(["run", "mean", "gaussian", "--exact"]) == 2
    assert "expected --release with it" in capsys.readouterr().err
    asked = ["run", "survival", "dp_gd", "--dataset", "heart", "--release", "--exact"]
    assert main([*asked, "--to", str(tmp_path / "other")]) == 2
    assert "expected a method that releases whole numbers" in capsys.readouterr().err


def test_every_method_that_says_so_releases_whole_numbers_within_its_moves():
    """On the records that its attack uses: each release moves by at most what is declared."""
    found, data = [], data_catalog.load("flchain")
    entries = [(one.slug, entry) for one in catalog().values() for entry in one.methods]
    for slug, entry in entries:
        if entry.whole is None:
            continue
        job = request(slug, entry.name, "flchain", {}, {}, (0,))
        assert checked(job, data.card, exact=True).exact
        pair, run, seen = load(entry).pair(job.batch().spec, data), entry.load(), []
        for table in (pair.without, pair.present):
            rng = torch.Generator().manual_seed(0)
            with recording() as one, torch.no_grad():
                run.step(job.batch(), table, run.init(job.batch(), table, rng), rng)
            seen.append([release.values[0] for release in one.releases])
        for a, b, most, made in zip(*seen, entry.whole, one.releases, strict=True):
            assert torch.equal(a, a.round())
            change, kind = (a - b).abs(), type(made.mechanisms[0])
            moved = change.sum() if kind is Laplace else change.square().sum()
            assert moved == most  # the worst case moves it that much
            found.append(kind)
    assert sorted(kind.__name__ for kind in found) == ["Gaussian"] * 4 + ["Laplace"] * 2


def test_what_is_not_whole_is_refused():
    bits = random.Random(0).getrandbits
    run = exact.Exact(moves=(1,), factor=1.0, bits=bits)
    rng, law = torch.Generator(), [Laplace(1.0, 1.0)]
    with pytest.raises(exact.WholeError, match="expected values that are whole numbers"):
        run.watch(law, (torch.tensor([[0.5]]),), rng, tuple)
    with pytest.raises(exact.WholeError, match="expected 1 releases of one setting, got more"):
        run.watch(law, (torch.tensor([[1.0]]),), rng, tuple)
    with pytest.raises(exact.WholeError, match="expected Laplace or Gaussian noise"):
        exact.law(Exponential(1.0, 1.0), 1, 1.0)
