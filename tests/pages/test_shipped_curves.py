"""What the pages open with: enough repetitions, and curves that are what they seem."""

from collections.abc import Iterator

import numpy as np
import pytest

from datasets import catalog as data_catalog
from engine import catalog
from engine.core.gauges import Gauge
from engine.runs import shipped
from engine.runs.reference import FOLDER
from engine.runs.results import collect
from pages.ui.charts import measured
from pages.ui.charts.measured import Curve
from pages.ui.jobs.live import BUDGET
from pages.ui.paper import choice, defaults
from pages.ui.paper.cast import HELD, lead

MOST = 8_000_000
"""Bytes of everything that ships."""
MANY, FEW = 200, 5
"""Repetitions of what is cheap, and the fewest of a curve that is looked at here."""


def proved(slug: str) -> Iterator[tuple[str, Curve, Gauge]]:
    """The opening line of each method of a page of which a finite budget is proved."""
    paper, layout = catalog.paper(slug), defaults.layout(slug)
    gauge = layout.gauge or paper.gauge
    for name, job in defaults.opening(slug).items():
        one = shipped.find(job.id, FOLDER / "defaults")
        if one is None or BUDGET not in job.axes or job.entry().role == "reference":
            continue
        results = collect(job, one.events())
        if gauge not in results.gauges:
            continue  # the Kaplan-Meier curve ranks nobody
        curve = measured.curve(results, gauge, name, 0)
        spec = job.spec().replace(epsilon=job.axes[BUDGET][-1])
        card = job.entry().promise(spec, data_catalog.card(job.dataset))
        if card.status in HELD and min(curve.count) >= FEW:
            yield name, curve, choice.measures(paper)[gauge]


def worse(one: Curve, gauge: Gauge) -> list[float]:
    """Budgets at which a curve is worse than at a smaller one by more than both intervals."""
    sign = 1.0 if gauge.better == "down" else -1.0
    low, high = (np.sort(sign * np.array([one.sure_low, one.sure_high]), axis=0)[i] for i in (0, 1))
    best = np.minimum.accumulate(high)
    return [
        b for b, now, before in zip(one.epsilon[1:], low[1:], best, strict=False) if now > before
    ]


@pytest.mark.parametrize("slug", sorted(catalog.catalog()))
def test_no_shipped_curve_gets_worse_as_epsilon_grows_by_more_than_its_interval(slug: str):
    assert {
        name: budgets for name, one, gauge in proved(slug) if (budgets := worse(one, gauge))
    } == {}


def test_a_curve_that_gets_worse_is_seen():
    up = Gauge("Accuracy", "up")
    bent = Curve(
        "One", None, (1.0, 2.0, 4.0), (0.5, 0.9, 0.6), (), (), (9,) * 3,  # type: ignore[arg-type]
        sure_low=(0.4, 0.85, 0.55), sure_high=(0.6, 0.95, 0.65),
    )  # fmt: skip
    assert worse(bent, up) == [4.0]


@pytest.mark.parametrize("slug", ["survival", "mean", "lvq"])
def test_quick_methods_ship_many_repetitions(slug: str):
    layout, jobs = defaults.layout(slug), defaults.opening(slug)
    often = {name for name, job in jobs.items() if job.method in layout.quick} | {*layout.opens}
    assert lead(catalog.paper(slug)).name in often
    counts = {name: len(jobs[name].seeds) for name in often}
    assert min(counts.values()) >= MANY, counts
    for name, one, _ in proved(slug):
        if name in often:
            assert min(one.count) >= 0.95 * MANY, name  # of those that did not diverge


def test_what_ships_is_small():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) <= MOST
