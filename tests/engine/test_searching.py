"""A search at rising ε: its noise, its price once it has stopped, and attacks on that price."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import norm

from datasets import catalog, own
from engine.catalog import catalog as papers
from engine.cli.main import main
from engine.core.errors import BudgetError
from engine.method import Entry
from engine.privacy import expost, gaussian, refining
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.noise import release
from engine.privacy.recording import recording
from engine.privacy.refining import Ladder, RefiningError
from engine.runs import ledger, searching, selecting
from engine.runs.release import ReleaseError
from engine.runs.searching import SHARE, Aim
from tests.engine.test_ledger import SETTINGS, TABLE

DELTA = 1e-5
REFINED = [
    (slug, entry.name)
    for slug, paper in papers().items() for entry in paper.methods if entry.refines
]  # fmt: skip


def by_hand(precision, at):
    """Two tails of a normal law (Borodin and Salminen 2002)."""
    root = math.sqrt(precision)
    return norm.cdf(root / 2 - at / root) + math.exp(at) * norm.cdf(-root / 2 - at / root)


def climb(values, multipliers, seed, sensitivity=1.0):
    """The outputs of each level, (K, ...), of one value."""
    ladder, rng, outputs = Ladder(), torch.Generator().manual_seed(seed), []
    for multiplier in multipliers:
        with refining.refining(ladder):
            outputs.append(release(values, [Gaussian(sensitivity, multiplier)], rng)[0])
    return torch.stack(outputs).numpy()


@pytest.mark.parametrize(("precision", "at"), [(0.05, 0.3), (2.0, 3.0), (4.0, 1.0)])
def test_the_loss_crosses_a_line_as_often_as_is_priced(precision, at):
    """Between two points of a path a Brownian bridge crosses with a known chance."""
    rng, paths, steps = np.random.default_rng(0), 4_000, 200
    dt = precision / steps
    moves = rng.normal(dt / 2, math.sqrt(dt), (paths, steps))
    path = np.hstack([np.zeros((paths, 1)), moves.cumsum(axis=1)])
    gap = np.maximum(at - path, 0.0)
    stays = np.prod(-np.expm1(-2.0 * gap[:, :-1] * gap[:, 1:] / dt), axis=1)
    expected = by_hand(precision, at)
    assert expost.crossing(precision, at) == pytest.approx(expected, rel=1e-10)
    assert abs(np.mean(1.0 - stays) - expected) < 5 * math.sqrt(expected / paths)


@pytest.mark.parametrize("fails", [1e-9, 1e-5, 0.02])
def test_price_and_precision_are_each_other_s_inverse_on_the_private_side(fails):
    for at in (1e-3, 0.1, 1.0, 8.0, 300.0):
        precision = expost.precision(at, fails)
        assert by_hand(precision, at) <= fails * (1 + 1e-9)
        assert expost.epsilon(precision, fails) == pytest.approx(at, rel=1e-6)
        assert expost.epsilon(precision, fails) > gaussian.epsilon(precision, fails)
    with pytest.raises(BudgetError, match="positive number"):
        expost.precision(0.0, fails)
    assert expost.epsilon(0.0, fails) == 0.0


def test_the_noise_of_each_level_has_the_variance_and_the_covariances_of_a_brownian_motion():
    multipliers, size, scale = (6.0, 2.5, 2.0, 0.5), 200_000, 3.0
    value = torch.full((1, size), 7.0, dtype=torch.float64)
    noise = climb(value, multipliers, seed=1, sensitivity=scale) - 7.0
    found = noise @ noise.T / size
    variance = (scale * np.array(multipliers)) ** 2
    expected = np.minimum.outer(variance, variance)
    spread = np.sqrt((np.outer(variance, variance) + expected**2) / size)
    assert np.all(np.abs(found - expected) < 5 * spread)
    assert np.all(np.abs(noise.mean(axis=1)) < 5 * np.sqrt(variance / size))


def test_weights_divide_the_noise_at_every_level():
    ladder, rng = Ladder(), torch.Generator().manual_seed(2)
    value, weight = torch.zeros(1, 100_000, dtype=torch.float64), torch.tensor([[0.01]])
    for multiplier in (4.0, 2.0):
        with refining.refining(ladder):
            output = release(value, [Gaussian(1.0, multiplier)], rng, weight)
    assert float(output.std()) == pytest.approx(200.0, rel=0.02)


def test_what_cannot_be_refined_is_refused():
    rng, value = torch.Generator().manual_seed(0), torch.zeros(1, 3, dtype=torch.float64)
    first = Gaussian(1.0, 4.0)

    def second(changed, mechanisms):
        ladder = Ladder()
        with refining.refining(ladder):
            release(value, [first], rng)
        with refining.refining(ladder):
            release(changed, mechanisms, rng)

    for mechanism in (first, Gaussian(1.0, 5.0)):
        with pytest.raises(RefiningError, match="less noise"):
            second(value, [mechanism])
    with pytest.raises(RefiningError, match="value and the sensitivity"):
        second(value + 1e-15, [Gaussian(1.0, 2.0)])
    with pytest.raises(RefiningError, match="value and the sensitivity"):
        second(value, [Gaussian(2.0, 2.0)])
    with pytest.raises(RefiningError, match="one setting with Gaussian"):
        second(value, [Laplace(1.0, 1.0)])
    ladder = Ladder()
    with refining.refining(ladder):
        release(value, [first], rng)
    with pytest.raises(RefiningError, match="expected 1 releases"), refining.refining(ladder):
        pass


def planned(aim, budgets=(0.5, 1.0, 2.0), method="out_pert_gauss", data="heart"):
    values = {"intervals": "5"}
    return searching.plan("survival", method, catalog.card(data), values, budgets, aim)


@pytest.mark.parametrize("aim", [Aim("score", 0.9), Aim("width", 10.0)])
def test_the_price_of_each_level_by_hand(aim):
    method = "out_pert_gauss" if aim.by == "score" else "km_dp"
    made, checks = planned(aim, method=method), 0.0
    for level, target in zip(made.levels, (0.5, 1.0, 2.0), strict=True):
        (own,) = level.job.entry().releases(level.job.batch().spec, catalog.card("heart").records)
        checks += 0.0 if level.check is None else level.check.multiplier**-2.0
        spent = own.mechanism.multiplier**-2.0 + checks
        assert by_hand(spent, level.epsilon) == pytest.approx(DELTA / 3, rel=1e-6)
        assert target * (1 - 1e-6) < level.epsilon <= target * (1 + 1e-9)
        share = checks / spent
        assert share == pytest.approx(SHARE if aim.by == "score" else 0.0, abs=1e-6)
        assert level.alone < level.epsilon  # what stopping at will costs
    assert made.card.epsilon_proved == made.levels[-1].epsilon
    assert made.after(0).epsilon_proved == made.levels[0].epsilon
    assert "up to ε = 2 was promised" in made.after(0).reasons[0]
    assert made.levels[1].epsilon < 0.5 + 1.0  # two releases, each on its own


@pytest.mark.parametrize(("slug", "method"), REFINED)
def test_neighbours_change_every_level_s_value_by_no_more_than_is_priced(slug, method):
    """The value is the same at every ε, and one replaced record moves it within its sensitivity."""
    data = catalog.load("flchain")
    rows = np.arange(len(data))
    far = replace(data, x=np.where(rows[:, None] == 0, data.x.max(axis=0), data.x),
                  event=np.where(rows == 0, ~data.event, data.event))  # fmt: skip
    entry: Entry = papers()[slug].entry(method)
    values = []
    for table, budget in itertools.product((data, far), (0.1, 5.0)):
        job = searching.asked(slug, method, data.card, {"intervals": "5", "epsilon": budget})
        batch, rng = job.batch(), torch.Generator().manual_seed(0)
        with torch.no_grad(), recording() as seen:
            entry.load().step(batch, table, entry.load().init(batch, table, rng), rng)
        (one,) = seen.releases
        values.append(one.values[0])
        (priced,) = entry.releases(batch.spec, len(data))
        assert one.mechanisms == (priced.mechanism,)
    assert torch.equal(values[0], values[1])
    assert 0.0 < float((values[0] - values[2]).norm()) <= priced.mechanism.sensitivity


def test_one_record_changes_a_check_by_no_more_than_one():
    data, made = catalog.load("heart"), planned(Aim("score", 0.9))
    job = made.levels[-1].job
    arrays = searching.release(job, data)
    scores = searching.judge("survival")
    rows = np.arange(len(data))
    far = replace(data, event=np.where(rows == 3, ~data.event, data.event),
                  x=np.where(rows[:, None] == 3, data.x.min(axis=0), data.x))  # fmt: skip
    shares = [scores(job.batch().spec, table, arrays) for table in (data, far)]
    both = [float(selecting.summed(one)) for one in shares]
    assert 0.0 < abs(both[0] - both[1]) <= made.levels[-1].check.sensitivity == 1.0


def test_a_record_moves_a_sum_of_shares_by_no_more_than_one_in_any_bit():
    rng = np.random.default_rng(3)
    shares = rng.random((200, 500))
    shares[:, 0] = 0.0
    far = shares.copy()
    far[:, 0] = 1.0
    moved = selecting.summed(far) - selecting.summed(shares)
    assert float(moved.max()) == 1.0
    assert float((torch.from_numpy(far).sum(1) - torch.from_numpy(shares).sum(1)).max()) > 1.0


DELTAS, LEVELS, TRIALS = 0.05, (0.3, 0.6, 1.2, 2.4, 4.8), 200_000


def stopped(reached, losses):
    """The loss where each search stops, and the level: the first that is above its claim."""
    above = losses > reached[:, None]
    level = np.where(above.any(axis=0), above.argmax(axis=0), len(reached) - 1)
    return losses[level, np.arange(losses.shape[1])], level


def test_an_attacker_who_stops_at_the_worst_level_breaks_the_price_of_one_and_not_the_search_s():
    """The loss of each of many searches for a value of 1, against 0, by the code that draws."""
    fails = DELTAS / len(LEVELS)
    precision = np.array([expost.precision(at, fails) for at in LEVELS])
    value = torch.ones(1, TRIALS, dtype=torch.float64)
    seen = climb(value, precision**-0.5, seed=3)
    losses = precision[:, None] * (seen - 0.5)  # log density ratio of the last level, which is all
    priced = np.array([expost.epsilon(one, fails) for one in precision])
    loss, level = stopped(priced, losses)
    broken = np.mean(loss > priced[level])
    assert broken < DELTAS
    assert broken > 0.2 * DELTAS  # the attack finds something: the bound is no empty one
    alone = norm.isf(DELTAS) * np.sqrt(precision) + precision / 2  # each level, if chosen before
    naive, level = stopped(alone, losses)
    assert np.mean(naive > alone[level]) > 1.5 * DELTAS


def test_an_attacker_on_what_is_published_stays_below_the_price_of_its_level():
    """Among searches that stop early because they look like the other value, at a threshold."""
    fails = DELTAS / len(LEVELS)
    precision = np.array([expost.precision(at, fails) for at in LEVELS])
    counts = []
    for value in (0.0, 1.0):
        level = torch.full((1, TRIALS), value, dtype=torch.float64)
        seen = climb(level, precision**-0.5, seed=4 + int(value))
        wanted = seen > 1.0 + 1.0 / np.sqrt(precision)[:, None]
        counts.append([np.mean(wanted[k] & ~wanted[:k].any(axis=0)) for k in range(len(LEVELS))])
    without, present = np.array(counts)
    found = np.log(np.maximum(present - DELTAS, 1e-12) / without)
    assert np.all(found < [expost.epsilon(one, fails) for one in precision])
    assert np.log(present / without).max() > 0.5


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    return own.keep("study.csv", TABLE.encode(), SETTINGS)


def asked(table, *words):
    base = ["choose", "survival", "--dataset", table, "--methods", "out_pert_gauss"]
    return [*base, "--set", "intervals=5", "--set", "regularisation=0.1", *words]


def test_a_search_enters_what_it_may_cost_and_settles_what_it_did(table, tmp_path, capsys):
    easy = ("--accuracy-first", "16,8,32", "--target", "0.05", "--json")  # whatever the noise
    assert main(asked(table, *easy, "--to", str(tmp_path / "out"))) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["reached"], said["met"]) == (0, True)
    assert said["guarantee"]["epsilon_proved"] == pytest.approx(8.0, rel=1e-6)
    assert said["beforehand"] == pytest.approx(32.0, rel=1e-6)
    assert len(said["told"]) == 1
    assert np.isfinite(said["released"]["coefficients"]).all()
    body = json.loads((tmp_path / "out" / "card.json").read_text())
    assert body["guarantee"]["epsilon_proved"] == said["guarantee"]["epsilon_proved"]
    assert body["curves"] is None
    (entry,) = ledger.read(table).entries
    assert entry.epsilon == said["guarantee"]["epsilon_proved"]
    assert entry.said == said["said"] == "ε = 8 is enough for a mean record score of 0.05"
    hard = ("--accuracy-first", "8,16", "--target", "0.999", "--json")
    assert main(asked(table, *hard)) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["reached"], said["met"], len(said["told"])) == (1, False, 2)
    assert ledger.read(table).entries[1].epsilon == pytest.approx(16.0, rel=1e-6)


def test_a_limit_counts_what_a_search_may_cost(table, capsys):
    ledger.set_limit(table, ledger.Limit(3.0))
    easy = ("--accuracy-first", "1,4", "--target", "0.05")
    assert main(asked(table, *easy)) == 2
    assert "nothing was drawn" in capsys.readouterr().err
    assert ledger.read(table).entries == ()


def test_a_search_that_is_killed_counts_in_full_and_one_that_was_kept_goes_on(
    table, tmp_path, monkeypatch, capsys
):
    words = asked(
        table, "--accuracy-first", "8,16", "--target", "0.05", "--to", str(tmp_path / "o")
    )

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("engine.runs.searching.search", killed)
        assert main(words) != 0
    (entry,) = ledger.read(table).entries
    assert entry.epsilon == pytest.approx(16.0, rel=1e-6)
    with monkeypatch.context() as patch:
        patch.setattr("engine.cli.choose.ledger.settle", killed)
        assert main(words) != 0
    assert [round(one.epsilon) for one in ledger.read(table).entries] == [16, 16]
    monkeypatch.setattr("engine.runs.searching.search", killed)  # nothing is drawn again
    capsys.readouterr()
    assert main(words) == 0
    # both were entered in the same second or not: either may be the one that is settled
    assert sorted(round(one.epsilon) for one in ledger.read(table).entries) == [8, 16]
    assert (tmp_path / "o" / "card.json").exists()


def test_a_level_that_withholds_its_result_is_not_enough(monkeypatch):
    """Its noise is drawn and paid, so the search goes on; at the last level nothing is left."""
    data = catalog.load("heart")
    made = searching.plan("survival", "km_dp", data.card, {}, [1.0, 5.0], searching.Aim("width", 1))

    def withheld(job, data):
        if job is made.levels[0].job or fails:
            raise ReleaseError("withheld")
        return {}

    monkeypatch.setattr(searching, "release", withheld)
    monkeypatch.setattr(searching, "_width", lambda *_: 0.5)
    fails = False
    found = searching.search(made, data)
    assert (found.reached, found.told) == (1, (None, 0.5))
    fails = True
    with pytest.raises(ReleaseError):
        searching.search(made, data)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--methods", "dp_newton"], "noise can be reduced (km_dp, out_pert_gauss)"),
        (["--methods", "km_dp"], "expected results that can be judged, got km_dp"),
        (["--accuracy-first", "1,x"], "expected values of ε such as 0.5,1,2, got '1,x'"),
        (["--accuracy-first", "0,1"], "epsilon: expected a positive number, got 0"),
        (["--target", "2"], "target: expected a number between 0 and 1, got 2"),
        (["--width", "3"], "expected either --target or --width"),
        (["--tries", "3"], "expected one setting and no tries, got --tries"),
        (["--grid", "regularisation=1,2"], "expected one setting and no tries, got --grid"),
        (["--set", "epsilon=1"], "set: expected no epsilon"),
        (["--set", "intervls=5"], "intervls: expected a knob"),
        (["--set", "delta=0"], "delta: expected"),
    ],
)
def test_a_search_that_cannot_be_is_refused(words, says, capsys):
    first = ["--methods", "out_pert_gauss", "--accuracy-first", "1,2", "--target", "0.5"]
    assert main(["choose", "survival", "--dataset", "heart", *first, *words]) == 2
    assert says in capsys.readouterr().err


def test_options_of_a_search_need_one(capsys):
    words = ["choose", "survival", "--dataset", "heart", "--methods", "dp_newton"]
    assert main([*words, "--target", "0.5"]) == 2
    assert "target: expected --accuracy-first with it" in capsys.readouterr().err
