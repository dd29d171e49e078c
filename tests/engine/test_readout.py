"""A release is read by people who do not have this program: by its names, units and signs."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from lifelines import CoxPHFitter

from datasets import own
from engine.cli import readout, shared
from engine.cli.main import main

ROWS = 4_000
SETTINGS = """
[columns.days]
role = "time"
high = 400
[columns.age]
low = 20
high = 80
[columns.arm]
categories = ["control", "drug"]
"""


def persons() -> pd.DataFrame:
    """Made-up persons: age raises the hazard, the drug lowers it."""
    rng = np.random.default_rng(3)
    age, drug = rng.integers(20, 81, ROWS), rng.integers(0, 2, ROWS)
    life = rng.exponential(150 / np.exp(0.03 * (age - 50) - 0.7 * drug))
    return pd.DataFrame({
        "days": np.minimum(life, 400).round(3) + 0.001, "event": (life < 400).astype(int),
        "age": age, "arm": np.where(drug, "drug", "control"),
    })  # fmt: skip


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A folder with a release at a large budget, and the persons behind it."""
    place = tmp_path_factory.mktemp("release")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER_HOME", str(place / "home"))
        name = own.keep("study.csv", persons().to_csv(index=False).encode(), SETTINGS)
        asked = ["run", "survival", "cox_dp", "--dataset", name, "--set", "epsilon=10"]
        assert main([*asked, "--release", "--to", str(place / "out")]) == 0
    return place / "out"


@pytest.mark.thorough
def test_pandas_alone_reads_signs_and_sizes_that_lifelines_gives(released):
    table = pd.read_csv(released / "coefficients.csv").set_index("covariate")
    data = persons().assign(drug=lambda one: one.arm == "drug").drop(columns="arm").astype(float)
    peer = CoxPHFitter().fit(data, "days", "event").summary
    for name, its in (("age", "age"), ("arm drug", "drug")):
        assert table.estimate[name] == pytest.approx(peer.coef[its], rel=0.15)
        assert table.ratio[name] == pytest.approx(np.exp(table.estimate[name]))
    assert table.category["arm drug"] == "drug"
    assert set(table.ratio_is) == {"hazard ratio"}


def test_the_reader_predicts_without_this_program(released, tmp_path):
    people = tmp_path / "people.csv"
    text = "age,arm drug\n50,0\n50,1\n500,0\n80,0\n"
    people.write_text(text, encoding="utf-8-sig")  # as Excel writes it
    done = subprocess.run(
        [sys.executable, "-I", str(released / "predict.py"), str(people)],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    times, *curves = [np.array(line.split(","), float) for line in done.stdout.splitlines()]
    control, drug, beyond, oldest = curves
    np.testing.assert_array_equal(beyond, oldest)  # moved to its bound
    assert (drug > control).all()
    expected = np.exp(-times / 150)
    assert np.abs(control - expected).max() < 0.05
    assert len(readout.SHEET["programs"]["predict.py"].splitlines()) < 45


def test_the_readme_says_what_each_file_is_for(released):
    text = (released / "README.md").read_text()
    for file in released.iterdir():
        if file.name != "README.md":
            assert f"`{file.name}`" in text or file.name in text
    model = json.loads((released / "model.json").read_text())
    assert [one["name"] for one in model["covariates"]] == ["age", "arm drug"]


def test_a_name_is_no_formula():
    assert shared.spreadsheet(["a"], [["=1+1"], [-1.5]], "\n") == "a\n'=1+1\n-1.5\n"
