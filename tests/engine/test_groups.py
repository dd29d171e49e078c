"""The measure of each group: worked out from what runs keep, on public data alone."""

from dataclasses import replace

import numpy as np
import pytest

from datasets import catalog, own
from engine.catalog import paper
from engine.cli.work import complete
from engine.papers.survival.evaluation.groups import THIRDS, concordance, members, names
from engine.runs import groups, shipped
from engine.runs.job import request
from engine.service.client import Client
from engine.training.described import by_class
from tests.engine.test_ledger import SETTINGS, TABLE


def test_classes_by_hand():
    found = by_class(np.array([[0, 1, 1, 0], [0, 0, 1, 2]]), np.array([0, 0, 1, 1]), 3)
    np.testing.assert_allclose(found[:, :2, 0], [[0.5, 0.5], [1.0, 0.5]])
    np.testing.assert_array_equal(found[0, :, 1], [2, 2, 0])
    assert np.isnan(found[:, 2, 0]).all()


def test_concordance_is_that_of_lifelines():
    from lifelines.utils import concordance_index

    rng = np.random.default_rng(0)
    time, event = rng.permutation(60).astype(float), rng.random(60) < 0.6
    risk = rng.standard_normal((2, 60))
    found = concordance(time, event.astype(float), risk)
    for one, row in zip(found, risk, strict=True):
        assert one == pytest.approx(concordance_index(time, -row, event))


def test_a_group_of_survival_has_the_persons_that_its_name_says():
    data = catalog.load("flchain")
    ages = []
    for name, persons in zip(names(data.card), members(data), strict=True):
        feature, _, said = name.partition(": ")
        column = data.x[persons, data.card.features.index(feature)]
        if said in THIRDS:
            ages.append(column)
        else:
            assert (column == (said != "others")).all()
    assert len(ages) == 3
    assert ages[0].max() <= ages[1].min() <= ages[1].max() <= ages[2].min()
    assert len(names(data.card)) > len(ages)


@pytest.mark.thorough
def test_every_paper_has_groups_and_its_shipped_runs_their_measure():
    shown = {ship.job.paper: ship for ship in shipped.index(shipped.FOLDER).values()
             if ship.held is None and groups.NAME in ship.arrays()[1]}  # fmt: skip
    assert sorted(shown) == ["enadpp", "lvq", "mean", "pcdbn", "survival", "yesiwell"]
    for slug, ship in shown.items():
        rows, arrays = ship.arrays()
        count = len(paper(slug).groups.names(catalog.card(ship.job.dataset)))
        assert arrays[groups.NAME].shape == (len(rows), count, 2)
        again = groups.grouped(ship.job, catalog.load(ship.job.dataset), arrays, rows)
        np.testing.assert_array_equal(
            again[groups.NAME].astype(np.float32), arrays[groups.NAME], strict=True
        )


@pytest.mark.thorough
def test_a_run_keeps_it_on_public_data_and_not_on_a_table_of_one_s_own(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    mine = own.keep("study.csv", TABLE.encode(), SETTINGS)
    for dataset in ("flchain", mine):
        job = request("survival", "out_pert", dataset, {"intervals": 5}, {"epsilon": (1.0, 9.0)},
                      (0, 1, 2))  # fmt: skip
        client = Client(workers=False)
        run, _ = complete(client, job, lambda done, total: None)
        arrays = client.arrays(run.id)
        assert (groups.NAME in arrays) is (dataset == "flchain")
        if dataset == "flchain":
            data = catalog.load(dataset)
            whole = groups.grouped(job, data, arrays, range(6))  # in chunks or not
            np.testing.assert_array_equal(whole[groups.NAME], arrays[groups.NAME])
    assert names(catalog.card(mine)) == ("age: youngest third", "age: middle third",
                                         "age: oldest third")  # fmt: skip


@pytest.mark.parametrize("groups", [2, 10])
def test_what_chance_alone_explains_is_said_to_be_chance(groups: int):
    """The pair is picked after looking: of ten equal groups, 47 % of pairs seem to differ."""
    from pages.ui.charts.pays import losses, sentence

    told, rng, names = paper("enadpp").groups, np.random.default_rng(1), [*"abcdefghij"[:groups]]
    plain = np.full((1, groups, 2), [0.9, 100.0])
    missed = 0
    for _ in range(200):
        private = np.stack([rng.normal(0.7, 0.05, (10, groups)), np.full((10, groups), 100.0)], 2)
        found = losses(told, names, private, plain)
        missed += "Chance" not in sentence(found, told, 1.0)
    assert missed <= 20  # at 5 % more have a chance below 1 in 1,000
    apart = {2: 1.0, 10: 4.706 / 2.262}  # Student's t of 9 at 97.5 %, and at 1 - 0.025 / 45
    assert found[0].wide == pytest.approx(apart[groups] * found[0].reach, rel=1e-3)


def test_losses_have_intervals_that_count_draws_or_tested_records():
    from pages.ui.charts.pays import losses, sentence, table

    told = replace(paper("enadpp").groups)
    rng = np.random.default_rng(0)
    plain = np.array([[[0.9, 100.0], [0.8, 25.0]]])
    noisy = np.stack([np.stack([rng.normal([0.6, 0.75], 0.05), [100.0, 25.0]], 1)
                      for _ in range(400)])  # fmt: skip
    held = 0
    for part in noisy.reshape(40, 10, 2, 2):
        one, _ = losses(told, ("a", "b"), part, plain)
        held += abs(one.value - 30.0) <= one.reach
    assert held >= 33  # of 40 at 95 %: fewer has a chance below 1 in 1,000
    one, two = losses(told, ("a", "b"), noisy[:1], plain)
    shares = [(one.private + 1) / 102, 91 / 102]  # of 100 records, and one more of both kinds
    expected = 196.0 * np.sqrt(sum(share * (1 - share) for share in shares) / 100)
    assert one.reach == pytest.approx(expected, rel=1e-3)
    assert "**" in sentence((one, two), told, 1.0)
    row, other = table([one, replace(two, reach=None)], told)
    assert (row["95 % from"], row["95 % to"]) == pytest.approx(
        (one.value - one.reach, one.value + one.reach), abs=5e-4
    )
    assert (other["95 % from"], other["95 % to"]) == (None, None)
    gains, chance = (replace(two, value=-3.0, reach=reach) for reach in (1.0, 4.0))
    assert "least for b, a gain of 3 " in sentence((one, gains), told, 1.0)
    assert "least for b, nothing" in sentence((one, chance), told, 1.0)
    assert sentence((two,), told, 1.0).endswith(f"privacy costs **{two.value:.2g} points** for b.")
    assert sentence((two, two), told, 1.0).endswith("points** for every group.")
    assert sentence((chance, chance, replace(chance, value=-2.0)), told, 1.0) == (
        "At ε = 1 privacy costs **nothing** for every group."
    )
