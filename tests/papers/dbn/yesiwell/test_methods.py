"""What the methods compute: windows, friends' term, layers, output layers, accuracies."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.stats import ttest_rel

from datasets import catalog as data
from engine.core.errors import RequestError, SpecError
from engine.core.spec import knobs
from engine.papers.dbn import pcdbn
from engine.papers.dbn.price import RELATION
from engine.papers.dbn.yesiwell import (
    PAPER,
    exhibits,
    methods,
    output,
    rbm,
    windows,
)
from engine.papers.dbn.yesiwell.layout import layout
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.runs.driver import drive
from engine.runs.events import Measured
from engine.runs.job import request
from engine.runs.results import collect
from engine.training import activations

SPEC = YesiwellSpec()


@pytest.fixture(scope="module")
def weekly():
    return data.load("yesiwell_weekly")


def run(table, method, axes=None, seeds=(0,), **values):
    """The last measurement of a run by gauge, and its arrays."""
    job = request("yesiwell", method, "yesiwell_weekly", values, axes or {}, seeds)
    kept, last = {}, None
    for event in drive(job, table, lambda name, arrays: kept.update(arrays) or name):
        last = event if isinstance(event, Measured) else last
    return {name: np.array(column, float) for name, column in last.values.items()}, kept


def test_windows_are_as_many_as_the_paper_counts(weekly):
    sampled = windows.sample(weekly, SPEC.replace(history=10), 0, "cpu")
    assert len(sampled.whole) == 254 * 7 == 1_778
    assert sampled.whole.v.shape == (1_778, 30, 4)


def test_a_window_is_what_the_panel_holds(weekly):
    sampled = windows.sample(weekly, SPEC, 3, "cpu")
    first, _ = windows._stretch(38, 12, 3, True)
    low, high = weekly.bounds
    user, place = 17, 2
    row = user * 9 + place
    times = slice(first + place, first + place + 4)
    share = (weekly.x[user, times, 1] - low[1]) / (high[1] - low[1]) - 0.5
    np.testing.assert_allclose(sampled.whole.v[row, 1].numpy(), share, atol=1e-6)
    assert int(sampled.whole.y[row]) == weekly.y[user, first + place + 4]
    assert not set(sampled.test.best.tolist()) <= {0.0, 1.0}


def test_the_friends_term_by_hand(weekly):
    mean, capped = windows._influence(weekly, 30)
    user, t = 5, 9
    ends = weekly.friends
    friends = [int(v) for u, v in ends if u == user] + [int(u) for u, v in ends if v == user]
    terms = []
    for v in friends:
        alike = [s for s in range(t - 1) if weekly.y[v, s] == weekly.y[v, t]]
        hits = sum(weekly.y[user, s + 1] for s in alike)
        terms.append(2 * (hits + 1) / (len(alike) + 2) - 1)
    assert mean[user, t] == pytest.approx(np.mean(terms), abs=1e-6)
    assert capped[user, t] == pytest.approx(np.sum(terms) / 30, abs=1e-6)


def test_the_friends_term_does_not_know_the_label(weekly):
    changed = weekly.y.copy()
    changed[:, 20] = 1 - changed[:, 20]
    other = type(weekly)(weekly.card, weekly.x, changed, weekly.friends, weekly.bounds)
    before, after = (windows._influence(t, 30)[0] for t in (weekly, other))
    assert np.array_equal(before[:, :20], after[:, :20])
    own = changed.copy()
    own[:] = weekly.y
    own[0, 20] = 1 - own[0, 20]  # one's own label at t does not enter one's own term at t
    alone = type(weekly)(weekly.card, weekly.x, own, weekly.friends, weekly.bounds)
    assert windows._influence(alone, 30)[0][0, 20] == before[0, 20]


def test_divergence_has_the_gradient_of_cd_1(weekly):
    shape = methods.stacked(SPEC, 30)[0]
    part = windows.sample(weekly, SPEC, 0, "cpu").whole.take(torch.arange(5))
    v, own = methods.window(part)
    layer = shape.fresh([torch.Generator().manual_seed(0)], 31, torch.device("cpu"))
    how = methods.CDBN.plan.activation(SPEC)
    free = tuple(p.clone().requires_grad_() for p in layer)
    slopes = torch.autograd.grad(rbm.divergence(v, free, own, how, shape), free)
    h = torch.sigmoid(rbm.responses(v, layer, own, shape))
    dream = rbm.reconstruction(h, layer, own, shape)
    again = torch.sigmoid(rbm.responses(dream, layer, own, shape))
    count = 5 * 30 * 4
    bias = (again - h).sum((0, 3, 4)) / count
    torch.testing.assert_close(slopes[1], bias)
    dynamic = torch.einsum("mq,mek->ekq", own, (again - h).sum((3, 4))) / count
    torch.testing.assert_close(slopes[2], dynamic, atol=1e-5, rtol=1e-4)
    visible = -(v.sum((1, 2, 3)) - dream.sum((1, 2, 3))) @ own / count
    torch.testing.assert_close(slopes[4][0], visible, atol=1e-5, rtol=1e-4)


@pytest.mark.thorough
def test_descent_reaches_the_minimum_and_trimming_bounds_it():
    rng = torch.Generator().manual_seed(0)
    p = torch.rand(200, 1, 6, generator=rng, dtype=torch.float64)
    y = (p[:, 0, 0] > 0.5).long()
    a, b = output.sums(p, y)
    a, b = a / 200, b / 200
    none = torch.zeros_like(a), torch.zeros_like(b)
    spec = SPEC.replace(dropout=0.0, lasso=0.0)
    actual = output.descend(output.bounded(a, b, none, torch.zeros(1)), spec, 20_000)
    torch.testing.assert_close(actual.weight[0], torch.linalg.solve(a[0] / 4, b[0]), rtol=1e-3,
                               atol=1e-3)  # fmt: skip
    noise = torch.randn(1, 6, 6, generator=rng, dtype=torch.float64)
    noise = noise + noise.mT  # an indefinite matrix: without trimming the descent diverges
    wild = output.descend(output.bounded(a, b, (noise, none[1]), torch.zeros(1)), spec, 20_000)
    assert float(torch.linalg.eigvalsh(a + noise).min()) < 0
    assert bool(wild.weight.isfinite().all())


def test_balanced_batches_have_as_many_of_each_class():
    y = torch.tensor([1] * 90 + [0] * 10)
    for rows in output.balanced(y, 20, torch.Generator().manual_seed(0)):
        assert int(y[rows].sum()) == 10


@pytest.mark.thorough
def test_without_noise_the_network_comes_near_the_best_possible(weekly):
    values = {"history": 24, "epochs": 40, "pretraining": 20}
    actual, _ = run(weekly, "cdbn", seeds=(0, 1), **values)
    # 254 x 7 test windows a repetition: deviation of the mean of two below 0.5 / sqrt(3556)
    margin = 4 * 0.5 / math.sqrt(2 * 254 * 7)
    gap = (actual["best_possible"] - actual["accuracy"]).mean()
    assert gap < 0.03 + margin
    assert (actual["accuracy"] - actual["majority"]).mean() > 0.1


@pytest.mark.thorough
def test_with_proof_a_user_is_protected_and_the_majority_is_beaten(weekly):
    actual, kept = run(weekly, "pcdbn", {"epsilon": (0.01, 8.0)}, (0, 1), epochs=30)
    low, high = actual["accuracy"].reshape(2, 2).mean(1)
    majority = actual["majority"].mean()
    assert high > majority + 0.02 + 0.05  # 2 points are asked for; it is over 10
    assert low < high - 0.05  # the noise is there: at ε = 0.01 it hides almost all
    noise = actual["noise_to_signal"].reshape(2, 2).mean(1)
    assert noise[0] > 50 * noise[1]
    assert kept["course"].shape[:1] == (4,)
    assert kept["calibration"].shape == (4, 10, 3)


@pytest.mark.thorough
@pytest.mark.parametrize("method", [entry.name for entry in PAPER.methods])
def test_replicas_do_not_change_each_other(weekly, method):
    """Without noise, a replica's numbers are those of a run by itself."""
    if PAPER.entry(method).role != "reference":
        return
    values = {"epochs": 2, "pretraining": 2}
    both, _ = run(weekly, method, seeds=(0, 1), **values)
    assert both["accuracy"].shape == (2,)
    assert both["best_possible"][0] != both["best_possible"][1]  # other stretches of the panel


@pytest.mark.parametrize("degree", [1, 2, 3, 5, 7])
def test_every_degree_trains_with_proof(weekly, degree):
    actual, _ = run(weekly, "pcdbn", epsilon=4.0, degree=degree, epochs=10, history=6)
    assert actual["accuracy"][0] > actual["majority"][0]


def test_the_layout_draws_every_friendship_of_a_small_network(weekly):
    drawn = layout(weekly)
    assert drawn.places.shape == (254, 2)
    assert np.abs(drawn.places).max() <= 1.0
    assert len(drawn.links) == len(weekly.friends)


def test_exhibits_ask_for_what_there_is():
    for exhibit in exhibits.EXHIBITS:
        for full in (False, True):
            jobs = exhibit.jobs(full)
            assert jobs
            assert all(job.paper == "yesiwell" and job.simulated for job in jobs.values())
        assert "imulated" in exhibit.caption


def test_captions_say_where_they_have_less_than_the_papers_figures():
    """Figure 2: two M a curve, by days below a rate of 0.2. Figure 4: two epochs, no fits."""
    captions = {one.name: one.caption for one in exhibits.EXHIBITS}
    days, weeks = (exhibits.TIMES[kind][1][True] for kind in ("daily", "weekly"))
    assert (
        f"{days[0]} and {days[1]} of 300 days, {weeks[0]} and {weeks[1]} of 38 weeks"
        in (captions["figure2"])
    )
    assert max(days) / 300 < 0.2 < min(weeks) / 38
    assert "By days the rate stays below 0.2 here" in captions["figure2"]
    first, last = exhibits.EPOCHS[True]
    assert f"after {first} and after {last} epochs, without fits" in captions["figure4"]


@pytest.mark.parametrize("exhibit", exhibits.EXHIBITS, ids=lambda e: e.name)
def test_captions_say_that_fewer_coefficients_get_noise_than_in_the_text(exhibit):
    said = "As printed is our reading of pCDBN: one coefficient per order and convolution"
    assert said in exhibit.caption


@pytest.mark.parametrize("name", ["pcdbn", "pcdbn_te", "pcdbn_pw", "dpah"])
def test_a_card_as_printed_says_which_coefficients_get_noise(name):
    """One per order and unit of pCDBN, all of dPAH: both have the same table of reasons."""
    spec = SPEC.replace(calibration="paper")
    (said,) = [
        one for one in PAPER.entry(name).guarantee(spec, 254, "a user").reasons if "reading" in one
    ]
    assert "the text gives it to every coefficient, here one per order and unit" in said
    assert "In dPAH every coefficient gets noise." in said
    assert "At L = 7 a unit of the first layer has more than a billion" in said
    height, width = methods.SPAN
    assert math.comb(height * width + 1 + 8, 8) > 1e9  # monomials of weights and bias, degree 8


LARGER = (
    "not divided by a map's positions", "counts that are raised by half of their range",
    "second layer's noise has the first layer's sensitivity",
)  # fmt: skip


@pytest.mark.parametrize(("name", "there"), [("pcdbn", True), ("pcdbn_te", True), ("dpah", False)])
def test_a_card_as_printed_says_where_our_noise_is_not_the_texts(name: str, there: bool):
    """DPAH has no layer of a polynomial energy."""
    card = PAPER.entry(name).guarantee(SPEC.replace(calibration="paper"), 254, "a user")
    assert all((said in " ".join(card.reasons)) == there for said in LARGER)


@pytest.mark.parametrize("name", ["pcdbn", "dpah"])
def test_a_card_with_secret_friendships_says_what_the_check_of_them_tells(name: str):
    """`check_friends` names the largest number of friends: no proof covers where it stops."""
    secret = PAPER.entry(name).guarantee(SPEC.replace(unit="user_and_graph"), 254, "a user")
    public = PAPER.entry(name).guarantee(SPEC, 254, "a user")
    said = "its message names the largest number of friends: no ε covers that"
    assert [said in " ".join(card.reasons) for card in (secret, public)] == [True, False]
    assert (secret.status, public.status) == ("proved_under_assumption", "proved")


def test_times_of_a_quick_look_stand_beside_none_of_the_papers():
    quick, full = (exhibits.time(size) for size in (False, True))
    assert {(one.column, one.published) for one in quick} == {("60 epochs", None)}
    assert [one.published for one in full] == [2910.0, 2141.0, None, None, None]
    for points, epochs in ((quick, 60), (full, 600)):
        jobs = [job for one in points for job in one.jobs if job.method != "dpsgd"]
        assert {job.spec().epochs for job in jobs} == {epochs}


def test_pairs_of_the_t_tests_are_at_the_same_points_and_gain_where_pcdbn_is_ahead():
    points = exhibits.tests(False)
    for point in points:
        pairs = list(zip(point.jobs[::2], point.jobs[1::2], strict=True))
        assert all((a.axes, a.seeds) == (b.axes, b.seeds) for a, b in pairs)
        assert {a.method for a, _ in pairs} == {"pcdbn"} != {b.method for _, b in pairs}
    mine, theirs = np.array([0.9, 0.7, 0.8]), np.array([0.6, 0.6, 0.6])
    results = [SimpleNamespace(gauges={"accuracy": one}) for one in (mine, theirs) * 2]
    p, gain = (point.read(results)[0] for point in points[:2])
    assert gain == pytest.approx(0.2)
    assert p == pytest.approx(ttest_rel([*mine, *mine], [*theirs, *theirs]).pvalue)


def test_dp_sgd_has_rates_on_both_sides_of_the_one_that_it_begins_with():
    low, high = knobs(YesiwellSpec)["gradient_rate"].range
    assert low < SPEC.gradient_rate < high
    names = {knobs(YesiwellSpec)[field].label
             for field in ("pretraining_rate", "learning_rate", "gradient_rate")}  # fmt: skip
    assert len(names) == 3


@pytest.mark.parametrize("exhibit", exhibits.EXHIBITS, ids=lambda e: e.name)
def test_cells_without_results_have_no_numbers_of_ours(exhibit):
    jobs = exhibit.jobs(False)
    cells = exhibit.cells({key: collect(job, []) for key, job in jobs.items()})
    assert all(cell.ours is None and cell.spread is None for cell in cells)
    assert len({(c.row, c.column, c.variant) for c in cells}) == len(cells)


def test_a_paired_test_by_hand():
    mine, theirs = np.array([0.8, 0.9, 0.7]), np.array([0.7, 0.7, 0.65])
    p, gain = exhibits.p_value(mine, theirs)
    gaps = mine - theirs
    t = gaps.mean() / (gaps.std(ddof=1) / 3**0.5)
    # Student's t with two degrees of freedom: P(|T| > t) = 1 - t / sqrt(2 + t^2)
    assert p == pytest.approx(1 - t / math.sqrt(2 + t**2))
    assert gain == pytest.approx(gaps.mean())
    assert math.isnan(exhibits.p_value(mine[:1], theirs[:1])[0])


@pytest.mark.parametrize("degree", [5, 7])
@pytest.mark.parametrize("sides", [(30, 4), (15, 3)])
def test_pooled_states_are_the_largest_of_each_square(degree, sides):
    """Read before or after pooling, at even and odd sides, against the library's pooling."""
    a = 3.0 * torch.randn(4, 2, 5, *sides, generator=torch.Generator().manual_seed(0))
    how = activations.expansion("printed", degree)
    wanted = torch.nn.functional.max_pool2d(rbm.states(a, how).flatten(1, 2), 2, ceil_mode=True)
    torch.testing.assert_close(rbm.passed_on(a, how, rbm.Shape(1, 5, (3, 3))), wanted)


@pytest.mark.parametrize("method", ["pcdbn", "dpah"])
def test_the_objective_as_drawn_may_diverge_and_the_bounded_one_does_not(weekly, method):
    values = {"calibration": "paper", "unit": "window", "pretraining": 2, "epsilon": 0.1}
    bounded, _ = run(weekly, method, epochs=100, **values)
    drawn, _ = run(weekly, method, epochs=100, objective="drawn", **values)
    assert np.isfinite(bounded["accuracy"]).all()
    assert np.isnan(drawn["accuracy"]).all()  # each step lengthens a negative direction


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    ["yesiwell", "yesiwell_weekly", pytest.param("yesiwell_large", marks=pytest.mark.thorough)],
)
def test_the_slider_offers_no_bound_on_friends_that_the_data_break(name: str):
    least = int(knobs(YesiwellSpec)["most_friends"].range[0])
    windows.check_friends(data.load(name), SPEC.replace(most_friends=least))


def test_settings_that_do_not_fit_are_refused_in_one_sentence(weekly):
    with pytest.raises(SpecError, match=r"^history: expected at least as many times as a window "
                       r"has, 4, got 3$"):  # fmt: skip
        YesiwellSpec(history=3)
    with pytest.raises(RequestError, match=r"^history: expected at most 36 of the 38 times"):
        windows.sample(weekly, SPEC.replace(history=37), 0, "cpu")
    with pytest.raises(RequestError, match=r"^most_friends: expected a bound of at least \d+, .* "
                       r"got 2$"):  # fmt: skip
        windows.check_friends(weekly, SPEC.replace(most_friends=2))
    with pytest.raises(RequestError, match="expected a panel with friendships, got digits"):
        windows.panel(data.load("digits"), SPEC)


def test_a_user_without_friends_has_no_influence_to_divide(weekly):
    """Files are refused, but a panel made otherwise must not divide by zero."""
    friends = weekly.friends[(weekly.friends != 7).all(axis=1)]
    alone = dataclasses.replace(weekly, friends=friends)
    mean, capped = windows._influence(alone, 30)
    assert not mean[7].any()
    assert not capped[7].any()
    assert np.isfinite(mean).all()


def test_the_paper_and_its_prices_name_the_same_neighbours():
    assert PAPER.relation == pcdbn.PAPER.relation == RELATION
