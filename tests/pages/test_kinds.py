"""Pages on which pure and other guarantees share the axis: a note, and a measure that all have."""

from pathlib import Path

import pytest

from datasets import catalog as data
from engine import catalog
from engine.runs import shipped
from engine.runs.common import LABELS, common
from pages.ui.paper import defaults, kinds
from tests.pages.conftest import Open
from tests.pages.drawn import charts, texts

SHIPPED = shipped.FOLDER


@pytest.fixture
def ships(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store, with what ships."""
    monkeypatch.setattr(shipped, "FOLDER", SHIPPED)
    return home


def curve(page) -> dict:
    """The cost curve."""
    return next(one for one in charts(page) if "range" in one["layout"].get("xaxis", {}))


@pytest.mark.parametrize("slug", catalog.catalog())
@pytest.mark.thorough
def test_every_page_offers_a_measure_and_those_of_two_kinds_say_why(slug, visit: Open, ships: Path):
    """The mean, survival and users have a method of pure ε beside others."""
    page = visit(slug)
    assert not page.exception
    mixed = slug in ("mean", "survival", "yesiwell")
    assert any(kinds.KINDS in one.value for one in page.caption) is mixed
    assert tuple(page.selectbox(key=f"{slug}.measure").options) == kinds.OFFERED


@pytest.mark.parametrize("how", kinds.NAMES)
def test_points_stand_at_the_measure(how, visit: Open, ships: Path):
    page = visit("mean", **{"mean.measure": how})
    assert not page.exception
    assert not any(kinds.KINDS in one.value for one in page.caption)
    drawn, label = curve(page), LABELS[kinds.NAMES[how]]
    assert label in drawn["layout"]["xaxis"]["title"]["text"]
    assert f"{label} of the points at ε = 1" in texts([page])
    assert not [one for one in drawn["layout"].get("shapes", ()) if one["type"] == "line"]
    paper = catalog.paper("mean")
    for job in defaults.opening("mean").values():
        entry = paper.entry(job.method)
        if entry.role == "reference":
            continue
        own = [t for t in drawn["data"] if t.get("name", "").startswith(entry.label)]
        wanted = [
            getattr(
                common(entry, job.spec().replace(epsilon=at), data.card(job.dataset), kinds.DELTA),
                kinds.NAMES[how],
            )
            for at in job.axes["epsilon"]
        ]
        assert any(one["x"] == pytest.approx(wanted, rel=1e-3) for one in own), entry.name


@pytest.mark.thorough
def test_what_is_not_proved_stands_in_the_column(visit: Open, ships: Path):
    """The oracle's noise is of the data's own size, so no measure of it is finite."""
    page = visit("survival", **{"survival.measure": "μ", "survival.lines": "All methods"})
    assert not page.exception
    drawn = curve(page)
    oracle = catalog.paper("survival").entry("oracle").label
    (line,) = [t for t in drawn["data"] if t.get("legendgroup") == oracle and t.get("customdata")]
    (place,) = set(line["x"])
    assert place < 10.0 ** drawn["layout"]["xaxis"]["range"][1]
    every = [t for t in drawn["data"] if t.get("legendgroup") == "Private Newton"]
    assert max(x for one in every for x in one["x"]) < place
