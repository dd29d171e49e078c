"""Figure 2 on the page: accuracy by how many times a run is trained on."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

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
from pages.ui.words import number

OWN, EXACT = "pcdbn", "cdbn"
TIMES = {"yesiwell": (6, 12, 28, 54), "yesiwell_weekly": (6, 12, 18, 24)}
"""Values of M by data set; the page's own is added."""


def beside(jobs: Mapping[str, Job]) -> dict[str, Job]:
    """The jobs of pCDBN and of CDBN at every M but the page's own."""
    requests = {}
    for method in (OWN, EXACT):
        job = jobs[method]
        least = int(job.values["window"])
        for times in TIMES.get(job.dataset, ()):
            if times != job.values["history"] and times >= least:
                requests[f"{method}/{times}"] = request(
                    job.paper, method, job.dataset, {**job.values, "history": times}, job.axes,
                    job.seeds,
                )  # fmt: skip
    return requests


def amounts(view: View) -> None:
    """Accuracy by M, for the values that have been trained."""
    own = {name: view.watched[name].job for name in (OWN, EXACT)}
    every = {f"{name}/{job.values['history']}": job for name, job in own.items()} | beside(own)
    watched = live.watch(every, {name: view.watched[name.split("/")[0]].label for name in every})
    lines = [one for name in (OWN, EXACT) if (one := _line(view, name, watched)) is not None]
    amounts_of = {float(x) for one in lines for x in one.x}
    if len(lines) == 2 and len(amounts_of) > 1:  # else there is nothing to be compared with
        said = f"Test accuracy by M at ε = {view.budget:g}: " + "; ".join(
            f"{one.label} "
            + ", ".join(f"{y:.0f} % at {x:g}" for x, y in zip(one.x, one.middle, strict=True))
            for one in lines
        )
        figure = drawing.lines(
            lines, ("Training times M", "Test accuracy [%]"),
            f"amounts/{view.watched[OWN].job.id}", height=380,
        )  # fmt: skip
        chart("yesiwell.amounts", figure, f"{said}.", drawing.rows(lines, "M"), view.budget)
    elif amounts_of:
        ready = " and ".join(f"{one.label} {one.middle[0]:.1f} %" for one in lines)
        st.markdown(f"So far, only M = {min(amounts_of):g} is trained: {ready}.")
    missing = {
        name: one for name, one in watched.items()
        if one.run is None or one.run.state not in ("completed", "queued", "running")
    }  # fmt: skip
    if missing:
        _ask(view, missing)
    st.caption(
        "More training times give more windows, and a user's share of each sum stays the same: "
        f"the noise grows with M as the sums do. {SPREAD} {RAW}"
    )


def _line(view: View, method: str, watched: Mapping[str, Watched]) -> Line | None:
    """A method's accuracy at the values that have been measured."""
    by_amount = {}
    for name, one in watched.items():
        if name.startswith(f"{method}/") and one.results is not None:
            at = {BUDGET: view.budget} if BUDGET in one.job.axes else {}
            values = one.results.values("accuracy", **at)
            if np.isfinite(values).any():
                by_amount[int(name.split("/")[1])] = 100.0 * values
    if not by_amount:
        return None
    times = np.array(sorted(by_amount), np.float64)
    values = np.stack([by_amount[int(at)] for at in times])
    return drawing.line(view.watched[method].label, look(view, method), times, values)


def _ask(view: View, missing: Mapping[str, Watched]) -> None:
    """What is not trained yet, and the button that does it."""
    times = sorted({int(name.split("/")[1]) for name in missing})
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Train these too", icon=":material/play_arrow:", key="yesiwell.train_amounts",
            on_click=asking.restart,
            args=([one.job for one in missing.values()], {BUDGET: view.budget}),
        )  # fmt: skip
        st.caption(f"Not trained yet: M = {', '.join(map(number, times))}.")
