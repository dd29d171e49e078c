"""A section of the page on deep belief networks: accuracy by the degree of the polynomial."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from engine.core.spec import Knob, knobs
from engine.runs.job import Job, request
from pages.ui.charts import lines as drawing
from pages.ui.charts.lines import Line
from pages.ui.jobs import live
from pages.ui.jobs import submit as asking
from pages.ui.jobs.live import BUDGET, Watched
from pages.ui.kit.chart import chart
from pages.ui.paper.panels import RAW
from pages.ui.paper.series import SPREAD, look
from pages.ui.paper.view import View
from pages.ui.papers.pcdbn.sections import EXACT, OWN
from pages.ui.words import number


def orders(job: Job) -> tuple[int, ...]:
    """The degrees at which a method is compared."""
    degree = knobs(type(job.spec()))["degree"]
    assert isinstance(degree, Knob)
    return tuple(int(order) for order in degree.grid)


def beside(jobs: Mapping[str, Job]) -> dict[str, Job]:
    """The jobs of pCDBN and of its noise-free twin at every degree but the page's own."""
    requests = {}
    for method in (OWN, EXACT):
        job = jobs[method]
        for order in orders(job):
            if order != job.values["degree"]:
                requests[f"{method}/{order}"] = request(
                    job.paper, method, job.dataset, {**job.values, "degree": order}, job.axes,
                    job.seeds,
                )  # fmt: skip
    return requests


def degrees(view: View) -> None:
    """Figure 6: accuracy by degree, for the degrees that have been trained."""
    own = {name: view.watched[name].job for name in (OWN, EXACT)}
    every = {**{f"{name}/{job.values['degree']}": job for name, job in own.items()}, **beside(own)}
    watched = live.watch(every, {name: view.watched[name.split("/")[0]].label for name in every})
    lines = [line for name in (OWN, EXACT) if (line := _line(view, name, watched)) is not None]
    if lines:
        _draw(view, lines)
    _ask(view, {name: one for name, one in watched.items() if name not in _shown(watched)})
    st.caption(
        "A higher degree follows the activation closer but needs more sums, each with its own "
        "noise. With proof, L = 3 releases all fourth moments; L = 2, 5 and 7 release theirs "
        "along six directions. The paper finds no gain beyond L = 3. "
        f"{SPREAD} {RAW}"
    )


def _draw(view: View, lines: list[Line]) -> None:
    ends = "; ".join(
        f"{line.label} "
        + ", ".join(f"{y:.0f} % at L = {x:g}" for x, y in zip(line.x, line.middle, strict=True))
        for line in lines
    )
    said = f"Test accuracy by degree at ε = {view.budget:g}: {ends}."
    figure = drawing.lines(
        lines, ("Degree L", "Test accuracy [%]"), f"degrees/{view.watched[OWN].job.id}", height=380
    )
    figure.layout["xaxis"] |= {"tickvals": [1, 2, 3, 5, 7], "range": [0.6, 7.4]}
    chart("pcdbn.degrees", figure, said, drawing.rows(lines, "Degree"), view.budget)


def _line(view: View, method: str, watched: Mapping[str, Watched]) -> Line | None:
    """A method's accuracy at the degrees that have been measured."""
    by_degree = {}
    for name, one in watched.items():
        if name.startswith(f"{method}/") and one.results is not None:
            at = {BUDGET: view.budget} if BUDGET in one.job.axes else {}
            values = one.results.values("accuracy", **at)
            if np.isfinite(values).any():
                by_degree[int(name.split("/")[1])] = 100.0 * values
    if not by_degree:
        return None
    at_degree = np.array(sorted(by_degree), np.float64)
    values = np.stack([by_degree[int(order)] for order in at_degree])
    label = view.watched[method].label
    style = replace(look(view, method), marker="diamond" if method == EXACT else "circle")
    return drawing.line(label, style, at_degree, values)


def _shown(watched: Mapping[str, Watched]) -> list[str]:
    """The names of what needs no asking for: it is complete, or under way."""
    return [
        name
        for name, one in watched.items()
        if one.run is not None and one.run.state in ("completed", "queued", "running")
    ]


def _ask(view: View, missing: Mapping[str, Watched]) -> None:
    """What is not trained yet, and the button that does it."""
    if not missing:
        return
    orders = sorted({int(name.split("/")[1]) for name in missing})
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Train these degrees", icon=":material/play_arrow:", key="pcdbn.train_degrees",
            on_click=asking.restart,
            args=([one.job for one in missing.values()], {BUDGET: view.budget}),
        )  # fmt: skip
        st.caption(f"Not trained yet: L = {', '.join(map(number, orders))}.")
