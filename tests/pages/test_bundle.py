"""What can be taken along: its files, its numbers, its scripts, and what is not there."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from html import unescape
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet

from engine.cli.main import main
from engine.runs import shipped
from engine.runs.job import Job
from engine.service.client import Client
from pages.ui.bundle import collect, printed, report, sections, write
from pages.ui.bundle.drawn import Figure
from pages.ui.charts.measured import BANDS
from pages.ui.kit import shell
from pages.ui.kit.markdown import html
from pages.ui.paper import defaults
from tests.pages.conftest import ROOT, papers
from tests.pages.played import play

SHIPPED = ROOT / "reference" / "defaults"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of the mean's default view, from what ships."""
    folder = tmp_path_factory.mktemp("packed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER_HOME", str(folder))
        patch.setattr(shipped, "FOLDER", SHIPPED)
        assert main(["bundle", "--to", str(folder / "b.zip"), "--paper", "mean"]) == 0
    return folder / "b.zip"


@pytest.fixture
def bundle(home: Path, packed: Path) -> Path:
    """The same, unpacked."""
    with zipfile.ZipFile(packed) as file:
        file.extractall(home / "bundle")
    return home / "bundle"


def opening(slug: str, monkeypatch: pytest.MonkeyPatch) -> collect.Taken:
    """What a bundle takes of a page, from what ships."""
    monkeypatch.setattr(shipped, "FOLDER", SHIPPED)
    taken = collect.take(slug)
    assert taken is not None
    return taken


def test_it_holds_what_the_contract_names(bundle: Path):
    names = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    assert {"index.html", "reproduce.py", "README.md", "explore.ipynb"} <= names
    for folder, end in (("cards", ".json"), ("data", ".csv"), ("specs", ".json")):
        assert any(name.startswith(f"{folder}/") and name.endswith(end) for name in names)


def test_every_number_of_a_figure_is_in_its_table(home: Path, monkeypatch: pytest.MonkeyPatch):
    taken = opening("mean", monkeypatch)
    measures = [one for one in taken.drawn if not one.said]
    assert measures
    for drawn in measures:
        medians = {float(f"{row['Median']:.4g}") for row in drawn.rows}
        lines = [one for one in drawn.base["data"] if one["mode"] == "lines+markers"]
        assert lines
        for line in lines:
            assert {float(value) for value in line["y"]} <= medians


def test_the_band_of_a_figure_is_in_its_table(home: Path, monkeypatch: pytest.MonkeyPatch):
    taken = opening("mean", monkeypatch)
    drawn = next(one for one in taken.drawn if not one.said)
    ends = ("Median at least", "Median at most")
    held = {float(f"{row[end]:.4g}") for row in drawn.rows if row["ε"] for end in ends}
    bands = [one for one in drawn.base["data"] if one.get("fill") and len(one["y"])]
    assert len(bands) == 3
    for band in bands:
        assert {float(value) for value in band["y"]} <= held


def test_numbers_of_the_charts_of_formulas_are_numbers(home: Path, monkeypatch: pytest.MonkeyPatch):
    taken = opening("pcdbn", monkeypatch)
    tables = {one.name.removeprefix("chart-"): one.rows for one in taken.drawn}
    for name in ("bounds", "delta-L", "delta-K", "delta-N"):
        assert all(isinstance(cell, float | int) for row in tables[name] for cell in row.values())
    assert all(isinstance(row["Largest error"], float) for row in tables["polynomials"])
    for row in tables["pays"]:
        assert row["95 % from"] <= row["Loss [points]"] <= row["95 % to"]


@pytest.mark.thorough
def test_what_moves_completes_each_figure(home: Path, monkeypatch: pytest.MonkeyPatch):
    taken = opening("mean", monkeypatch)
    assert {bool(one.said) for one in taken.drawn} == {False, True}  # measures and sections
    for drawn in taken.drawn:
        assert len(drawn.frames) == len(taken.budgets) == len(taken.findings)
        for at, budget in enumerate(taken.budgets):
            made = go.Figure(drawn.whole(at))
            if not drawn.said:  # a measure's curve, with a rule and a mark at the budget
                assert made.layout.shapes[0].x0 == pytest.approx(budget)
                ring = next(one for one in made.layout.shapes if one.name == "ring")
                assert ring.xanchor == pytest.approx(budget, rel=1e-3)


def test_it_holds_the_charts_of_the_sections_with_their_tables(bundle: Path):
    """The mean's page draws a histogram and the parts of the error below its curve."""
    for name, column in (("histogram", "Published"), ("parts", "Median [mg/dL]")):
        text = (bundle / "data" / f"mean-chart-{name}.csv").read_text()
        rows = list(csv.DictReader(io.StringIO(text)))
        assert len({row["Privacy budget ε"] for row in rows}) > 10
        assert all(row[column] for row in rows)


def test_every_chart_of_a_section_has_its_caption(home: Path, monkeypatch: pytest.MonkeyPatch):
    """The raw mark of EnADPP's two training curves stands below the second one on the page."""
    taken = opening("enadpp", monkeypatch)
    for name in ("chart-accuracy", "chart-loss"):
        drawn = next(one for one in taken.drawn if one.name == name)
        assert "Not private." in drawn.caption


def test_what_a_caption_says_of_the_page_alone_is_left_out():
    said = "It grows. Change *q* in the sidebar. See the *Proof* tab. It shrinks."
    assert sections.here(said) == "It grows. It shrinks."


def test_a_spec_is_the_job_that_was_run(bundle: Path):
    wanted = {job.id for job in defaults.opening("mean").values()}
    specs = [json.loads(path.read_text()) for path in (bundle / "specs").glob("*.json")]
    assert {Job.read(json.dumps(one["job"])).id for one in specs} == wanted
    assert {one["run"] for one in specs} == wanted


def again(bundle: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(bundle / "reproduce.py"), "mean"], cwd=ROOT, capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.mark.slow
def test_the_numbers_come_out_again_and_a_changed_one_is_found(bundle: Path):
    done = again(bundle)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mean-laplace: " in done.stdout
    path = bundle / "data" / "mean-error.csv"
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    rows[0]["Median"] = str(float(rows[0]["Median"]) * 1.01)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    done = again(bundle)
    assert done.returncode == 1
    assert "1 differ" in done.stdout


def test_the_notebook_reads_every_table(bundle: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(bundle)
    book = json.loads((bundle / "explore.ipynb").read_text())
    names: dict[str, object] = {}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            exec(cell["source"], names)
    tables = names["tables"]
    assert isinstance(tables, dict)
    assert all(isinstance(one, pd.DataFrame) and len(one) for one in tables.values())
    assert len(tables) == len(list((bundle / "data").glob("*.csv")))
    assert (write.HERE / "explore.ipynb").read_text() == (bundle / "explore.ipynb").read_text()


def test_a_paper_without_runs_is_named(home: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["bundle", "--to", str(home / "b.zip"), "--paper", "mean"]) == 0
    told = capsys.readouterr()
    assert told.err == f"mean: {collect.NOTHING}\n"
    with zipfile.ZipFile(home / "b.zip") as file:
        assert '"papers": []' in file.read("index.html").decode()


@pytest.mark.thorough
def test_a_run_that_was_deleted_is_left_out_with_a_sentence(
    home: Path, capsys: pytest.CaptureFixture[str]
):
    jobs = defaults.opening("mean")
    for job in jobs.values():
        play(home, job)
    Client(home, workers=False).delete(jobs["gaussian"].id)
    taken = collect.take("mean")
    assert taken is not None
    assert "gaussian" not in taken.jobs
    assert "laplace" in taken.jobs
    assert main(["bundle", "--to", str(home / "b.zip"), "--paper", "mean"]) == 0
    said = "mean: left out, because their runs were deleted or never trained: Gaussian, with proof"
    assert said in capsys.readouterr().err
    with zipfile.ZipFile(home / "b.zip") as file:
        assert not any("gaussian" in name and "paper" not in name for name in file.namelist())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--to", "x.zip", "--paper", "nothing"], "--paper: expected one of"),
        (["--to", "/nowhere/at/all/x.zip"], "--to: expected a file that can be written"),
    ],
)
def test_a_wrong_request_is_one_sentence(
    arguments: list[str], expected: str, home: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["bundle", *arguments]) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("slug", list(shell.papers()))
@pytest.mark.thorough
def test_a_bundle_is_written_whichever_run_is_missing(
    home: Path, monkeypatch: pytest.MonkeyPatch, slug: str
):
    """Sections ask for runs of other methods too; those that are not there leave no chart."""
    monkeypatch.setattr(shipped, "FOLDER", SHIPPED)
    gone = defaults.opening(slug)[defaults.addressed(slug, {}).chosen.method].id
    found = collect.look
    monkeypatch.setattr(collect, "look", lambda job: None if job.id == gone else found(job))
    taken = collect.take(slug)
    assert taken is not None, slug
    assert taken.absent
    assert gone not in {job.id for job in taken.jobs.values()}


def test_texts_cannot_end_the_script():
    assert html("**x** <script>") == "<strong>x</strong> &lt;script&gt;"


@pytest.mark.thorough
def test_a_report_says_result_guarantee_assumptions_and_source(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    taken = opening("mean", monkeypatch)
    text = " ".join(one.text for one in (*report.above(taken), *report.below(taken)))
    card = taken.cards[taken.looked][taken.first]
    assert unescape(re.sub("<[^>]+>", "", taken.findings[taken.first])) in text
    assert "times out of 100" in text
    assert BANDS in text
    assert all(reason in text for reason in (*card.reasons, *card.limits))
    assert all(job.id in text for job in taken.jobs.values())


@pytest.mark.thorough
@pytest.mark.filterwarnings("error:Glyph")
@pytest.mark.parametrize("slug", papers("mean", "survival", "pcdbn"))
def test_a_report_is_one_page_that_holds_every_line_without_a_browser(
    home: Path, monkeypatch: pytest.MonkeyPatch, slug: str
):
    monkeypatch.setattr(shipped, "FOLDER", SHIPPED)
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    sheets: list[Sheet] = []
    made = report.Figure
    monkeypatch.setattr(report, "Figure", lambda **kw: sheets.append(made(**kw)) or sheets[-1])
    assert main(["report", slug, "--to", str(home / "r.pdf")]) == 0
    content = (home / "r.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", content)) == 1
    assert len(content) < 200_000
    sheet = next(one for one in sheets if one.axes)
    page = sheet.bbox
    drawn = [*sheet.texts, *sheet.axes[0].get_legend().get_texts()]
    for one in drawn:
        box = one.get_window_extent()
        assert page.x0 <= box.x0 <= box.x1 <= page.x1, one.get_text()
        assert page.y0 <= box.y0 <= box.y1 <= page.y1, one.get_text()
    taken = collect.take(slug)
    assert taken is not None
    whole = taken.drawn[0].whole(taken.first)["data"]
    wanted = {tuple(one["y"]) for one in whole if one.get("name") and one["y"]}
    lines = {tuple(one.get_ydata()) for one in sheet.axes[0].lines}
    assert wanted <= lines


@pytest.mark.thorough
def test_a_dollar_sign_in_a_report_is_a_letter(home: Path, monkeypatch: pytest.MonkeyPatch):
    taken = opening("mean", monkeypatch)
    name, shown = r"$\nothing{$", []
    draw = printed.draw

    def renamed(axes: Axes, figure: Figure) -> None:
        named = [{**one, "name": name} for one in figure["data"]]
        draw(axes, {**figure, "data": named})
        shown.extend(one.get_text() for one in axes.get_legend().get_texts())

    monkeypatch.setattr(printed, "draw", renamed)
    report.page(taken)
    assert set(shown) == {name}


def test_a_report_of_nothing_is_one_sentence(home: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["report", "mean", "--to", str(home / "r.pdf")]) == 2
    assert capsys.readouterr().err == f"mean: {collect.NOTHING}\n"
