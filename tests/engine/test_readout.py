"""A release is read by people who do not have this program: by its names, units and signs."""

import io
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from lifelines import CoxPHFitter

from datasets import catalog as data_catalog
from datasets import own
from engine.cli import readout, release_files, shared
from engine.cli.main import main
from engine.papers.lvq.predicted import scores
from engine.runs.job import request

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
[columns.mass]
low = 40
high = 140
fill = 70
"""


def persons() -> pd.DataFrame:
    """Made-up persons: age raises the hazard, the drug lowers it."""
    rng = np.random.default_rng(3)
    age, drug = rng.integers(20, 81, ROWS), rng.integers(0, 2, ROWS)
    life = rng.exponential(150 / np.exp(0.03 * (age - 50) - 0.7 * drug))
    return pd.DataFrame({
        "days": np.minimum(life, 400).round(3) + 0.001, "event": (life < 400).astype(int),
        "age": age, "arm": np.where(drug, "drug", "control"), "mass": rng.uniform(40, 140, ROWS),
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


@pytest.mark.thorough
def test_effects_of_a_logit_are_odds_ratios(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    name = own.keep("study.csv", persons().to_csv(index=False).encode(), SETTINGS)
    asked = ["run", "survival", "dp_newton", "--dataset", name, "--set", "epsilon=10"]
    assert main([*asked, "--release", "--to", str(tmp_path / "out")]) == 0
    table = pd.read_csv(tmp_path / "out" / "coefficients.csv").set_index("covariate")
    effects = table.loc[["age", "arm drug"]]
    assert set(effects.ratio_is) == {"odds ratio within an interval"}
    assert effects.ratio.to_numpy() == pytest.approx(np.exp(effects.estimate.to_numpy()))
    assert effects.estimate["age"] > 0 > effects.estimate["arm drug"]


@pytest.mark.thorough
def test_the_reader_predicts_without_this_program(released, tmp_path):
    people = tmp_path / "people.csv"
    text = "age,arm drug,mass\n50,0,70\n50,1,70\n500,0,70\n80,0,70\n,, NA \n50,0,70\n"
    people.write_text(text, encoding="utf-8-sig")  # as Excel writes it
    done = subprocess.run(
        [sys.executable, "-I", str(released / "predict.py"), str(people)],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    times, *curves = [np.array(line.split(","), float) for line in done.stdout.splitlines()]
    control, drug, beyond, oldest, blank, filled = curves
    np.testing.assert_array_equal(blank, filled)  # the middle of the bounds, the reference, 70
    np.testing.assert_array_equal(beyond, oldest)  # moved to its bound
    assert (drug > control).all()
    expected = np.exp(-times / 150)
    assert np.abs(control - expected).max() < 0.05
    assert len(readout.programs("programs")["predict.py"].splitlines()) < 45


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "age,arm drug\n50,0\n",
            "column mass: expected a number in every row, got no column of this name",
        ),
        (
            "age,arm drug,mass\n50,m,70\n",
            "column arm drug: expected a number in every row, got m",
        ),
    ],
)
def test_the_reader_says_what_it_lacks(text, said, released, tmp_path):
    (tmp_path / "people.csv").write_text(text)
    command = [sys.executable, "-I", str(released / "predict.py"), str(tmp_path / "people.csv")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"{said}\n")


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="no R here")
def test_the_reader_in_r_predicts_and_refuses_as_that_in_python(released, tmp_path):
    people, told = tmp_path / "people.csv", []
    for text in ("age,arm drug,mass\n50,1,70\n500,#N/A,None\n,0,nan\n", "age,arm drug\n50,0\n",
                 "age,arm drug,mass\n50,m,70\n"):  # fmt: skip
        people.write_text(text)
        for command in ([sys.executable, "-I", "predict.py"], ["Rscript", "predict.R"]):
            command[-1] = str(released / command[-1])
            done = subprocess.run([*command, str(people)], capture_output=True, text=True)
            told.append(done.stderr or np.genfromtxt(done.stdout.splitlines()[1:], delimiter=","))
    np.testing.assert_allclose(told[1], told[0], rtol=1e-9)
    for ours, theirs in (told[2:4], told[4:6]):
        assert ours.startswith("column ")
        assert ours.strip() in theirs


@pytest.mark.thorough
def test_the_reader_takes_a_file_of_windows(released, tmp_path):
    text = "name,age,arm drug,mass\nJürgen,50,0,70\n"
    told = []
    for code in ("utf-8", "cp1252"):
        (tmp_path / "people.csv").write_text(text, encoding=code)
        command = [sys.executable, "-I", str(released / "predict.py"), str(tmp_path / "people.csv")]
        told.append(subprocess.run(command, capture_output=True, check=True).stdout)
    assert told[0] == told[1]


FOREIGN = """
[columns.tage]
role = "time"
high = 400
[columns.ereignis]
role = "event"
["columns"."größe [cm]"]
low = 100
high = 220
["columns"."=alter"]
low = 20
high = 80
"""


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """A release of a table with signs and capitals in its names, and the first rows of its file."""
    place, table = tmp_path_factory.mktemp("foreign"), persons()
    kept = pd.DataFrame({
        "Größe [cm]": (table.mass + 80).round(2), "=Alter": table.age,
        "Raucher": np.where(table.arm == "drug", "Yes", "no"), "Tage": table.days,
        "Ereignis": table.event,
    })  # fmt: skip
    text = kept.to_csv(index=False, sep=";", decimal=",")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER_HOME", str(place / "home"))
        name = own.keep("study.csv", text.encode("cp1252"), FOREIGN)
        asked = ["run", "survival", "cox_dp", "--dataset", name, "--set", "epsilon=10"]
        assert main([*asked, "--release", "--to", str(place / "out")]) == 0
    return place / "out", text.splitlines()[:9], kept.head(8)


def curves(folder, program, file, **more):
    """What a reader predicts for the rows of a file."""
    command = [sys.executable, "-I"] if program.endswith("py") else ["Rscript"]
    done = subprocess.run(
        [*command, str(folder / program), str(file)], capture_output=True, text=True, **more
    )
    assert done.returncode == 0, done.stderr
    return pd.read_csv(io.StringIO(done.stdout))


def by_names(kept):
    """The same rows as coefficients.csv names its numbers."""
    names = ["größe cm", "alter", "raucher"]
    rows = kept.iloc[:, :3].set_axis(names, axis=1)
    return rows.assign(raucher=(kept.Raucher == "Yes").astype(int))


@pytest.mark.thorough
def test_the_reader_takes_the_file_that_the_table_came_from(foreign, tmp_path):
    out, lines, kept = foreign
    (tmp_path / "table.csv").write_text("\n".join(lines), encoding="cp1252")
    by_names(kept).to_csv(tmp_path / "names.csv", index=False)
    table, named = (
        curves(out, "predict.py", tmp_path / f"{one}.csv") for one in ("table", "names")
    )
    assert table.shape[0] == 8
    pd.testing.assert_frame_equal(table, named)
    assert len(set(table.iloc[:, -1])) == 8
    model = json.loads((out / "model.json").read_text("utf-8"))
    about = [[one[key] for key in ("name", "column", "unit")] for one in model["covariates"]]
    assert about == [["größe cm", "größe [cm]", ""], ["alter", "=alter", ""],
                     ["raucher", "raucher", "1 = yes"]]  # fmt: skip
    effects = pd.read_csv(out / "coefficients.csv", keep_default_na=False)
    assert effects[["category", "reference"]].values[2].tolist() == ["yes", "all others"]
    assert "yes and true count as 1, no and false as 0" in (out / "README.md").read_text("utf-8")


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="no R here")
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_the_reader_in_r_reads_what_that_in_python_reads(foreign, locale, tmp_path):
    out, lines, kept = foreign
    names = by_names(kept).to_csv(index=False)
    files = {
        "table": "\n".join(lines).encode("cp1252"), "names": names.encode(),
        "mark": names.encode("utf-8-sig"), "windows": names.encode("cp1252"),
        "empty": names.splitlines()[0].encode(), "tabs": names.replace(",", "\t").encode(),
    }  # fmt: skip
    for name, content in files.items():
        file = tmp_path / f"{name}.csv"
        file.write_bytes(content)
        ours = curves(out, "predict.py", file)
        theirs = curves(out, "predict.R", file, env={**os.environ, "LC_ALL": locale})
        assert theirs.shape == ours.shape == (0 if name == "empty" else 8, ours.shape[1])
        np.testing.assert_allclose(theirs.astype(float), ours.astype(float), rtol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("program", ["predict.py", "predict.R"])
def test_a_reader_takes_no_thousands_for_decimals(released, program, tmp_path):
    """Where semicolons separate values, 55,5 is 55.5, and 1,500 could be 1500."""
    if program.endswith("R") and shutil.which("Rscript") is None:
        pytest.skip("no R here")
    head, row = "age;arm drug;mass", "55,5;0;70,25"
    (tmp_path / "a.csv").write_text(f"{head}\n{row}\n")
    (tmp_path / "b.csv").write_text(f"{head.replace(';', ',')}\n55.5,0,70.25\n")
    pd.testing.assert_frame_equal(*(curves(released, program, tmp_path / f"{n}.csv") for n in "ab"))
    (tmp_path / "c.csv").write_text(f"{head}\n1,500;0;70\n")
    run = ["Rscript"] if program.endswith("R") else [sys.executable]
    done = subprocess.run(
        [*run, released / program, tmp_path / "c.csv"], capture_output=True, text=True
    )
    assert done.returncode
    assert "column age: expected a number in every row, got 1,500" in done.stderr


def test_a_reader_never_takes_one_column_for_another(tmp_path, monkeypatch):
    """Of columns =age and age, the second is called age 2: age could be both."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    table = persons()[:40].rename(columns={"age": "=age", "mass": "age"}).drop(columns="arm")
    name = own.keep("a.csv", table.to_csv(index=False).encode(), accept=True)
    assert own.card(name).features == ("age", "age 2")
    assert readout.columns(own.card(name)) == ("=age", "age 2")


def test_the_readme_says_what_each_file_is_for(released):
    text = (released / "README.md").read_text()
    for file in released.iterdir():
        if file.name != "README.md":
            assert f"`{file.name}`" in text or file.name in text
    model = json.loads((released / "model.json").read_text())
    about = [[one[key] for key in ("name", "reference", "fill")] for one in model["covariates"]]
    assert about == [["age", "", 50.0], ["arm drug", "control", 0.0], ["mass", "", 70.0]]
    table = pd.read_csv(released / "coefficients.csv", keep_default_na=False).set_index("covariate")
    assert table.reference.to_dict() == {"age": "", "mass": "", "arm drug": "control"}
    assert "- `arm drug` is compared with control.\n" in text
    assert "counts as at risk to its end: predicted survival is too high" in text


def test_a_fill_does_not_tell_whether_there_are_blanks(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    table = persons()[:40]
    blank = table.assign(age=table.age.where(table.index > 0))
    names = [
        own.keep("a.csv", one.to_csv(index=False).encode(), SETTINGS) for one in (table, blank)
    ]
    assert own.words(names[0]) == own.words(names[1])


@pytest.mark.thorough
def test_a_log_rank_release_names_its_groups_and_its_sign(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    name = own.keep("study.csv", persons().to_csv(index=False).encode(), SETTINGS)
    features = own.card(name).features
    said = []
    for feature in ("arm drug", "age"):
        out = tmp_path / feature
        group = f"group={features.index(feature) + 1}"
        asked = ["run", "survival", "log_rank", "--dataset", name, "--set", "epsilon=5"]
        assert main([*asked, "--set", group, "--release", "--to", str(out)]) == 0
        said.append((out / "README.md").read_text())
        score = np.load(out / "release.npz")["log_rank"][0]
        assert score < -5 if feature == "arm drug" else score > 5  # the drug helps, age does not
    for line in (
        "- Group 1: all others. It stands first in `log_rank_counts`.",
        "- Group 2: drug (`arm drug` is 1).",
        "- A `log_rank` above 0 means that events come earlier in group 2 than in group 1.",
    ):
        assert f"{line}\n" in said[0]
    assert "- Group 2: `age` is above 50, the middle of its public bounds.\n" in said[1]


def test_a_name_is_no_formula():
    assert shared.spreadsheet(["a"], [["=1+1"], [-1.5]], "\n") == "a\n'=1+1\n-1.5\n"


FEW = 600
GRADES = """
[columns.size]
low = 0
high = 30
[columns.width]
low = -2
high = 2
[columns.grade]
categories = ["1", "2", "low, treated"]
"""


def graded() -> pd.DataFrame:
    """Made-up rows of three classes, which the size alone tells apart."""
    rng = np.random.default_rng(5)
    grade = rng.integers(0, 3, FEW)
    size = np.clip(rng.normal(5 + 10 * grade, 1.5), 0, 30)
    words = np.array(["1", "2", "Low, treated"])[grade]
    return pd.DataFrame({"size": size, "width": rng.uniform(-2, 2, FEW), "grade": words})


@pytest.fixture
def prototypes(tmp_path, monkeypatch):
    """The job of a release of prototypes, and what stands beside its arrays."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    name = own.keep("grades.csv", graded().to_csv(index=False).encode(), GRADES, "grade")
    job = request("lvq", "gmlvq_dp", name)
    rows = np.array([[[5.0, 0.5], [16.0, -0.4], [25.0, 0.1]]], np.float32)
    arrays = {
        "prototypes": rows, "labels": np.array([[0, 1, 2]], np.int32),
        "relevance": np.array([[0.9, 0.1]]), "omega": np.array([[[0.9, -0.2], [0.1, 0.2]]]),
    }  # fmt: skip
    card = job.entry().promise(job.batch().spec, own.card(name))
    folder = tmp_path / "out"
    folder.mkdir()
    release_files.written(folder, job, card, arrays)
    return job, arrays, folder


def test_prototypes_have_the_words_of_the_table(prototypes):
    _, _, folder = prototypes
    table = pd.read_csv(folder / "prototypes.csv", dtype={"class": str})
    assert table["class"].tolist() == ["1", "2", "low, treated"]
    assert table["size"].tolist() == [5.0, 16.0, 25.0]


@pytest.mark.thorough
@pytest.mark.parametrize("metric", [True, False])
def test_prototypes_predict_without_this_program(metric, prototypes, tmp_path):
    """As this program does: also for values beyond the bounds, and with the metric."""
    job, arrays, folder = prototypes
    if not metric:
        arrays = {name: one for name, one in arrays.items() if name != "omega"}
        arrays["relevance"] = np.full((1, 2), 0.5)
        card = job.entry().promise(job.batch().spec, own.card(job.dataset))
        release_files.written(folder, job, card, arrays)
    rows = graded()[["size", "width"]]
    people = pd.concat([rows, pd.DataFrame({"size": [40, None, 15], "width": [0, 1, None]})])
    people.to_csv(tmp_path / "rows.csv", index=False)
    done = subprocess.run(
        [sys.executable, "-I", str(folder / "predict.py"), str(tmp_path / "rows.csv")],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    found = pd.read_csv(io.StringIO(done.stdout), dtype=str)["class"].tolist()
    expected = scores(job.batch().spec, data_catalog.load(job.dataset), arrays)["predictions"][0]
    words = own.words(job.dataset).classes
    assert found[:FEW] == [words[k] for k in expected]
    assert found[FEW:] == ["low, treated", "2", "2"]
    assert len(set(found[:FEW])) == 3
    said = (folder / "README.md").read_text()
    assert "`predict.py`" in said
    assert "- Arrays have numbers for the classes: 0 is 1; 1 is 2; 2 is low, treated.\n" in said


@pytest.mark.thorough
def test_a_metric_that_is_not_kept_predicts_nothing(prototypes, tmp_path):
    job, arrays, _ = prototypes
    wide = {name: one for name, one in arrays.items() if name != "omega"}
    card = job.entry().promise(job.batch().spec, own.card(job.dataset))
    files = release_files.written(tmp_path, job, card, wide)
    assert [file.name for file in files] == ["card.json", "README.md", "prototypes.csv"]
