"""Private selection: its price holds for the worst score, and what is not priced is broken."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from dp_accounting import GaussianDpEvent
from scipy.integrate import quad
from scipy.stats import beta, norm

from benchmarks.crash import Verb, at_every_point
from datasets import catalog, own
from engine.cli.main import main
from engine.core.errors import BudgetError
from engine.privacy import gaussian, selection
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.releases import Release
from engine.privacy.releases import cost as price
from engine.privacy.selection import ORDERED, Tries
from engine.runs import ledger, selecting
from engine.runs.selecting import _poisson
from tests.engine.test_ledger import SETTINGS, TABLE

ALIKE = "replace_one"


def divergence(order, mean, sigma):
    """Of the best of Poisson tries whose score is the noisy answer itself, 1 against 0."""
    none = math.exp(-mean)

    def log_density(y, at):
        return math.log(mean) + norm.logpdf(y, at, sigma) + mean * (norm.cdf(y, at, sigma) - 1.0)

    def part(y):
        return math.exp(order * log_density(y, 1.0) - (order - 1.0) * log_density(y, 0.0))

    total = none + quad(part, -12 * sigma, 12 * sigma + order, limit=400)[0]
    return math.log(total) / (order - 1.0)


@pytest.mark.parametrize("sigma", [1.0, 3.0])
@pytest.mark.parametrize("mean", [1.0, 4.0, 30.0])
def test_the_bound_holds_for_the_worst_score_and_one_try_s_does_not(mean, sigma):
    for order in (2, 4, 16):
        at = math.log1p(1.0 / (order - 1.0))
        fails = norm.cdf(0.5 / sigma - at * sigma) - math.exp(at) * norm.cdf(
            -0.5 / sigma - at * sigma
        )
        bound = order / (2 * sigma**2) + mean * fails + math.log(mean) / (order - 1.0)
        found = divergence(order, mean, sigma)
        assert found <= bound
        if mean > 1:
            assert found > order / (2 * sigma**2)  # what one try costs


def test_the_price_by_hand():
    sigma, delta, mean = 4.0, 1e-5, 6.0
    best = math.inf
    for order in ORDERED:
        at = math.log1p(1.0 / (order - 1.0))
        fails = norm.cdf(0.5 / sigma - at * sigma) - math.exp(at) * norm.cdf(
            -0.5 / sigma - at * sigma
        )
        rho = order / (2 * sigma**2) + mean * fails + math.log(mean) / (order - 1.0)
        best = min(best, rho + math.log1p(-1 / order) - math.log(order * delta) / (order - 1.0))
    found = selection.cost([GaussianDpEvent(sigma)], Tries(mean), delta, ALIKE)
    assert found == pytest.approx(best, rel=1e-12)
    one = gaussian.epsilon(1 / sigma**2, delta)
    assert one < found < 2.2 * one
    worse = selection.cost(
        [GaussianDpEvent(sigma), GaussianDpEvent(2.0)], Tries(mean), delta, ALIKE
    )
    assert worse == selection.cost([GaussianDpEvent(2.0)], Tries(mean), delta, ALIKE)


def test_a_pure_release_with_a_noisy_score_has_a_price():
    event = price((Release(Laplace(1.0, 0.3)), Release(Laplace(1.0, 0.2))))
    curve = selection.rdp(event, ALIKE)
    assert np.all(curve <= 0.5)
    np.testing.assert_allclose(curve[0], 0.5 * ORDERED[0] * 0.25)
    both = price((Release(Laplace(1.0, 0.3)), Release(Gaussian(1.0, 5.0))))
    found = selection.cost([both], Tries(4.0), 1e-6, ALIKE)
    assert 0.3 < found < 3.0


def test_a_budget_that_is_found_costs_no_more_than_asked():
    def make(budget):
        return [GaussianDpEvent(gaussian.multiplier(budget, 1e-5))]

    for target in (0.3, 1.0, 8.0):
        budget = selection.calibrate(make, Tries(8.0), target, 1e-5, ALIKE)
        spent = selection.cost(make(budget), Tries(8.0), 1e-5, ALIKE)
        assert 0.99 * target < spent <= target
        assert budget < target
    with pytest.raises(BudgetError, match="enough for a choice"):
        selection.calibrate(make, Tries(800.0), 1e-4, 1e-5, ALIKE)


def attacked(counts, tries, delta, level=0.01):
    """The largest ε that a threshold on the published number proves, at a level for each bound."""
    best = 0.0
    for cut in np.quantile(counts[0], [0.5, 0.8, 0.9, 0.95, 0.98]):
        hits, alarms = int((counts[1] > cut).sum()), int((counts[0] > cut).sum())
        low = beta.ppf(level / 10, hits, tries - hits + 1)
        high = beta.ppf(1 - level / 10, alarms + 1, tries - alarms)
        best = max(best, math.log(max(low - delta, 1e-300) / high))
    return best


def test_an_attack_breaks_the_best_of_many_at_the_price_of_one_and_not_its_own_price():
    rng, trials, delta, mean, sigma = np.random.default_rng(1), 400_000, 0.05, 40.0, 1.0

    def best(counts):
        """The largest of so many noisy answers, without a record and with it."""
        largest = rng.random((2, trials)) ** (1.0 / np.maximum(counts, 1))
        noise = norm.isf(np.clip(1.0 - largest, 1e-16, 1.0)) * sigma
        return np.where(counts == 0, -math.inf, noise + np.array([[0.0], [1.0]]))

    one = gaussian.epsilon(1.0 / sigma**2, delta)
    whole = selection.cost([GaussianDpEvent(sigma)], Tries(mean), delta, ALIKE)
    naive = attacked(best(np.full((2, trials), int(mean))), trials, delta)
    found = attacked(best(rng.poisson(mean, (2, trials))), trials, delta)
    assert naive > 1.2 * one
    assert 0.3 * one < found < whole


def test_the_number_of_tries_is_poisson():
    from random import Random

    coins = Random(3)
    counts = np.array([_poisson(5.0, coins) for _ in range(20_000)])
    assert abs(counts.mean() - 5.0) < 4 * math.sqrt(5 / 20_000)
    assert abs(counts.var() - 5.0) < 4 * math.sqrt((5 + 2 * 25) / 20_000)


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    return own.keep("study.csv", TABLE.encode(), SETTINGS)


@pytest.mark.thorough
def test_a_choice_has_one_card_and_one_entry(table, tmp_path, capsys):
    words = ["choose", "survival", "--dataset", table, "--methods", "dp_newton,out_pert"]
    words += ["--set", "epsilon=4", "--set", "intervals=5", "--grid", "regularisation=0.01,0.1"]
    assert main([*words, "--tries", "12", "--to", str(tmp_path / "out"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    card = said["guarantee"]
    assert card["status"] == "proved"
    assert 3.9 < card["epsilon_proved"] <= 4.0
    assert len(said["candidates"]) == 3  # Newton's method has no regularisation
    assert said["chosen"]["method"] in {"dp_newton", "out_pert"}
    assert all(one["settings"]["epsilon"] < 4.0 for one in said["candidates"])
    assert np.isfinite(said["released"]["coefficients"]).all()
    body = json.loads((tmp_path / "out" / "card.json").read_text())
    assert body["curves"] is None  # that of one try would promise more than the whole choice keeps
    assert {"release.npz", "card.json"} <= {path.rsplit("/", 1)[1] for path in said["files"]}
    (entry,) = ledger.read(table).entries
    assert entry.epsilon == card["epsilon_proved"]
    assert entry.method == "choose"
    best = said["chosen"]["method"]
    assert entry.said.startswith("Private Newton" if best == "dp_newton" else "Output pert")


@pytest.mark.slow
def test_wherever_a_choice_is_killed_its_winner_is_whole_or_not_there_and_drawn_once(
    tmp_path, monkeypatch, capsys
):
    """What was drawn and kept is written later, with its own method, and not drawn again."""
    log = tmp_path / "draws"
    log.touch()
    monkeypatch.setattr("engine.cli.choose.prove", lambda *_: None)

    def draw(made, *_):
        with log.open("a") as file:
            file.write("x")
        count = len(log.read_text())
        job = made.candidates[count % 2].job
        return selecting.Selected(job, {"coefficients": np.full((1, 6), float(count))})

    monkeypatch.setattr(selecting, "choose", draw)
    words = ["choose", "survival", "--dataset", "heart", "--methods", "dp_newton,out_pert"]
    words += ["--set", "intervals=5"]

    def made(folder):
        with np.load(folder / "release.npz", allow_pickle=False) as arrays:
            drawn = float(arrays["coefficients"][0, 0])
        return json.loads((folder / "card.json").read_text())["method"], drawn

    def wrong(place):
        folder, begun = place / "out", place / ".out.release" / "made" / "release.npz"
        kept, before, there = begun.exists(), len(log.read_text()), folder.exists()
        if kept:  # another choice does not go on from it
            other = [*words, "--tries", "9", "--to", str(folder)]
            assert main(other) == 2
            assert "finish it with `python -m engine choose survival" in capsys.readouterr().err
        code = main([*words, "--to", str(folder)])
        faults = [f"the second call ends with {code}"] * (code != (2 if there else 0))
        draws = len(log.read_text())
        faults += ["drawn again"] * ((kept or there) and draws != before)
        method, count = made(folder)
        own = f"survival/{candidates[int(count) % 2].job.method}"
        faults += [f"{method} with the numbers of {own}"] * (method != own)
        return [*faults, *(path.name for path in place.iterdir() if path != folder)]

    candidates = selecting.plan(
        "survival", ["dp_newton", "out_pert"], catalog.card("heart"), {"intervals": "5"}, [{}]
    ).candidates
    verb = Verb(lambda place: main([*words, "--to", str(place / "out")]), wrong)
    kills, faults = at_every_point("choice", verb)
    assert kills > 20
    assert faults == []


def test_a_choice_that_was_drawn_is_not_published_with_another_card(tmp_path, monkeypatch, capsys):
    drawn = []

    def draw(made, *_):
        drawn.append(made.candidates[0].job)
        return selecting.Selected(drawn[-1], {"coefficients": np.zeros((1, 6))})

    real, command = selecting._card, ["choose", "survival", "--dataset", "heart"]
    command += ["--methods", "dp_newton", "--set", "intervals=5", "--to", str(tmp_path / "out")]
    monkeypatch.setattr("engine.cli.choose.prove", lambda *_: None)
    monkeypatch.setattr(selecting, "choose", draw)
    with monkeypatch.context() as broken:
        broken.setattr("engine.cli.choose.release_files.written", lambda *_, **how: [][0])
        with pytest.raises(IndexError):
            main(command)
    monkeypatch.setattr(selecting, "_card", lambda *about: replace(real(*about), mechanism="other"))
    assert main(command) == 2
    assert "whose noise is drawn, got another by the same command" in capsys.readouterr().err
    assert len(drawn) == 1


def test_the_delta_of_a_choice_counts_where_no_method_uses_it():
    """Its tries are scored with Gaussian noise."""
    made = selecting.plan("survival", ["out_pert"], catalog.card("heart"), {"delta": 1e-3}, [{}])
    assert made.card.delta == 1e-3


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["survival", "--methods", "psgld"], "expected a method whose card is proved"),
        (["survival", "--methods", "dp_newton", "--tries", "0.5"], "tries: expected a number"),
        (["survival", "--methods", "dp_newton", "--grid", "epsilon=1,2"], "grid: expected knobs"),
        (["mean", "--methods", "laplace"], "expected one whose results can be judged"),
        (["survival", "--methods", "nobody"], "nobody"),
        (
            ["survival", "--methods", "dp_newton", "--set", "intervls=5"],
            "intervls: expected a knob",
        ),
        (["survival", "--methods", "dp_newton", "--grid", "pases=1,2"], "pases: expected a knob"),
        (["survival", "--methods", "dp_newton", "--set", "epsilon=abc"], "epsilon: expected"),
        (["survival", "--methods", "dp_newton", "--set", "delta=abc"], "delta: expected"),
    ],
)
def test_what_cannot_be_chosen_is_refused(words, says, capsys):
    assert main(["choose", *words, "--dataset", "heart"]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("link", ["logit", "cloglog"])
def test_a_record_s_share_of_the_score_is_between_0_and_1_and_its_own(link):
    from datasets import catalog
    from engine.papers.survival.evaluation.export import WORST, judged
    from engine.papers.survival.likelihood.logit import losses
    from engine.papers.survival.likelihood.problem import design
    from engine.papers.survival.spec import SurvivalSpec

    data, spec = catalog.load("heart"), SurvivalSpec(intervals=10, link=link)
    model = design(data, 10, 3)
    f = torch.randn(
        2, model.dimension, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    f[:, 0] -= 3.0
    f[1] *= 40.0  # far off: losses are cut
    shares = judged(spec, data, {"coefficients": f.numpy()})
    assert shares.shape == (2, model.records)
    assert shares.min() >= 0.0
    assert shares.max() <= 1.0
    assert shares[1].min() == 0.0
    if link == "logit":
        expected = 1.0 - (losses(model, f) / WORST).clamp(max=1.0)
        np.testing.assert_allclose(shares, expected.numpy(), atol=1e-12)


def test_a_choice_among_nothing_is_one_sentence(capsys):
    words = ("choose", "survival", "--dataset", "heart", "--methods", ",")
    assert main([*words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "methods: expected" in line
