"""Whether two runs can be told apart: against simulation, by hand, and from the command line."""

import json

import numpy as np
import pytest

from engine.cli.main import main
from engine.core.errors import RequestError
from engine.runs.difference import MOST, difference, pairs, power
from engine.service.claim import take
from engine.service.job_runner import perform
from engine.service.process import here


def seeded(values) -> dict[int, float]:
    return dict(enumerate(map(float, values)))


def test_pairs_are_found_where_the_common_part_is_large():
    """Two methods whose repetitions move together: the pairs show what the two samples hide."""
    rng = np.random.default_rng(0)
    common, noise = rng.normal(0.0, 5.0, 10), rng.normal(0.0, 0.1, (2, 10))
    first, second = seeded(common + noise[0]), seeded(common + noise[1] + 0.5)
    paired = difference(first, second, paired=True)
    apart = difference(first, second, paired=False)
    assert paired.apart
    assert not apart.apart
    assert paired.low < -0.5 < paired.high
    assert paired.mean == pytest.approx(apart.mean)
    assert apart.needed > 100 > paired.needed


def test_the_p_value_is_students_by_hand():
    """Differences 1, 2, 3: mean 2, standard deviation 1, t = 2√3 at 2 degrees of freedom.

    For two degrees of freedom the distribution is t / (2√(2 + t²)) + 1/2, so the two-sided
    p-value is 1 − t/√(2 + t²) = 1 − √(12/14).
    """
    actual = difference(seeded((2, 4, 6)), seeded((1, 2, 3)), paired=True)
    assert actual.p == pytest.approx(1 - np.sqrt(12 / 14))
    assert (actual.mean, actual.counts, actual.paired) == (2.0, (3, 3), True)


@pytest.mark.parametrize("paired", [True, False])
def test_power_is_what_simulation_gives(paired):
    """4,000 tests of a true effect: the share found lies within 5 standard errors of the power."""
    from scipy import stats

    rng, count, effect = np.random.default_rng(1), 8, 0.9
    one = rng.normal(effect, 1.0, (4000, count))
    if paired:
        p = stats.ttest_1samp(one, 0.0, axis=1).pvalue
    else:
        p = stats.ttest_ind(one, rng.normal(0.0, 1.0, (4000, count)), axis=1).pvalue
    expected = power(effect, count, paired=paired)
    assert abs(np.mean(p < 0.05) - expected) < 5 * np.sqrt(expected * (1 - expected) / 4000)


@pytest.mark.parametrize("paired", [True, False])
def test_the_wanted_number_is_the_smallest_with_that_power(paired):
    rng = np.random.default_rng(2)
    first, second = rng.normal(0.0, 1.0, 6), rng.normal(0.3, 1.0, 6)
    actual = difference(seeded(first), seeded(second), paired=paired)
    spread = (
        (first - second).std(ddof=1)
        if paired
        else np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
    )
    effect = abs(actual.mean) / spread
    assert power(effect, actual.needed, paired=paired) >= 0.8
    assert power(effect, actual.needed - 1, paired=paired) < 0.8


def test_equal_runs_and_constant_differences():
    same = difference(seeded((1, 2, 3)), seeded((1, 2, 3)), paired=True)
    assert (same.p, same.needed, same.apart) == (1.0, None, False)
    shifted = difference(seeded((1, 2, 3)), seeded((0, 1, 2)), paired=True)
    assert (shifted.p, shifted.low, shifted.high) == (0.0, 1.0, 1.0)
    tiny = difference(seeded((0, 1)), seeded((0, 1 + 1e-9)), paired=False)
    assert tiny.needed is None
    assert power(1e-9, MOST, paired=False) < 0.8


def test_one_repetition_is_not_enough():
    with pytest.raises(RequestError, match="at least 2"):
        difference(seeded((1, 2)), {7: 1.0, 8: 2.0}, paired=True)


def test_seeds_pair_on_the_same_data_of_one_paper(toy):
    assert pairs(toy(seeds=(0, 1)), toy(seeds=(0, 1, 2), scale=2))
    assert not pairs(toy(seeds=(0, 1)), toy(seeds=(1, 2)))
    assert not pairs(toy(seeds=(0, 1)), toy(seeds=(0, 1), dataset="digits"))


def test_the_command_line_says_it_of_two_runs(toy, client, capsys):
    jobs = [toy({"epsilon": (1.0, 2.0)}, seeds=(0, 1, 2), scale=scale) for scale in (1, 2)]
    for job in jobs:
        client.submit(job)
        perform(take(client.store, here(), job.id))
    runs = [job.id for job in jobs]
    assert main(["differ", *runs, "--gauge", "product", "--at", "1", "--json"]) == 0
    actual = json.loads(capsys.readouterr().out)
    assert (actual["mean"], actual["p"], actual["paired"]) == (-3.0, 0.0, True)
    assert main(["differ", *runs, "--gauge", "wrong:product", "--at", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mean"] == 3.0
    assert main(["differ", *runs, "--gauge", "product"]) == 2
    assert "several" in capsys.readouterr().err
    assert main(["differ", *runs, "--gauge", "beauty", "--at", "1"]) == 2


def test_a_sweep_of_another_knob_is_refused(toy, client, capsys):
    """Its repetitions of one seed would stand in each other's place."""
    for job in (jobs := [toy({"scale": (1, 2)}, (0, 1)), toy(seeds=(0, 1))]):
        client.submit(job)
        perform(take(client.store, here()))
    assert main(["differ", *(job.id for job in jobs), "--gauge", "product"]) == 2
    assert "expected one value of scale, got a sweep" in capsys.readouterr().err


def test_an_axis_of_one_value_is_no_sweep(toy, client, capsys):
    for job in (jobs := [toy({"scale": (2,)}, (0, 1)), toy(seeds=(0, 1))]):
        client.submit(job)
        perform(take(client.store, here()))
    runs = [job.id for job in jobs]
    assert main(["differ", *runs, "--gauge", "product", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mean"] == 3.0
