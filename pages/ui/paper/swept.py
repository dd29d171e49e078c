"""A section that a paper declares: accuracy by one setting, for a method and its noise-free twin.

The page trains one value of the setting; the others are trained by a button.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from engine.runs.job import Job, request
from pages.ui.charts import lines as drawing
from pages.ui.charts.lines import Line
from pages.ui.jobs import live
from pages.ui.jobs import submit as asking
from pages.ui.jobs.live import BUDGET, Watched
from pages.ui.paper.parts import Lines, Part, Widgets
from pages.ui.paper.series import look
from pages.ui.paper.view import View
from pages.ui.words import number

GOING = ("completed", "queued", "running")
"""States of a run that nobody has to ask for."""


@dataclass(frozen=True, kw_only=True)
class Swept:
    """Accuracy by one setting.

    Attributes:
        key: Names the button on the page.
        field: The setting.
        methods: The method, and its twin without noise.
        values: Those to compare at, from a job; the page's own is added.
        symbol: What a value is called in a sentence.
        button: Label of the button that trains the other values.
        alone: Whether one value alone is drawn; else a sentence says what it came to.
    """

    key: str
    field: str
    methods: tuple[str, str]
    values: Callable[[Job], Sequence[int]]
    symbol: str
    button: str
    alone: bool = False

    def beside(self, jobs: Mapping[str, Job]) -> dict[str, Job]:
        """The jobs of both methods at every value but the page's own."""
        requests = {}
        for method in self.methods:
            job = jobs[method]
            for value in self.values(job):
                if value != job.values[self.field]:
                    moved = {**job.values, self.field: value}
                    requests[f"{method}/{value}"] = request(
                        job.paper, method, job.dataset, moved, job.axes, job.seeds
                    )
        return requests

    def section(self, view: View) -> list[Part]:
        """The lines of what has been trained, and the button for the rest."""
        own = {name: view.whole[name].job for name in self.methods}
        every = self.beside(own)
        labels = {name: view.watched[name.split("/")[0]].label for name in every}
        watched = live.watch(every, labels)
        watched |= {f"{name}/{own[name].values[self.field]}": view.watched[name] for name in own}
        lines = [line for name in self.methods if (line := self._line(view, name, watched))]
        known = {float(x) for line in lines for x in line.x}
        parts: list[Part] = []
        if len(known) > (0 if self.alone else 1):
            parts.append(self._drawn(lines))
        elif known:  # there is nothing to be compared with
            ready = " and ".join(f"{line.label} {line.middle[0]:.1f} %" for line in lines)
            parts.append(f"So far, only {self.symbol} = {min(known):g} is trained: {ready}.")
        missing = {
            name: one.job
            for name, one in watched.items()
            if one.run is None or one.run.state not in GOING
        }
        return [*parts, Widgets(lambda: self._ask(view, missing))]

    def _drawn(self, lines: Sequence[Line]) -> Lines:
        told = "; ".join(
            f"{line.label} "
            + ", ".join(
                f"{y:.0f} % at {self.symbol} = {x:g}"
                for x, y in zip(line.x, line.middle, strict=True)
            )
            for line in lines
        )
        return Lines(lines, {"told": told})

    def _line(self, view: View, method: str, watched: Mapping[str, Watched]) -> Line | None:
        """A method's accuracy at the values that are trained: what still trains is no result."""
        measured = {}
        for name, one in watched.items():
            if name.startswith(f"{method}/") and (over := one.over) is not None:
                at = {BUDGET: view.budget} if BUDGET in one.job.axes else {}
                values = over.values("accuracy", **at)
                if np.isfinite(values).any():
                    measured[int(name.split("/")[1])] = 100.0 * values
        if not measured:
            return None
        places = np.array(sorted(measured), np.float64)
        twin = method == self.methods[1]
        style = replace(look(view, method), marker="diamond" if twin else "circle")
        values = np.full((len(places), max(map(len, measured.values()))), np.nan)
        for row, place in zip(values, places, strict=True):
            row[: len(measured[int(place)])] = measured[int(place)]
        return drawing.line(view.watched[method].label, style, places, values)

    def _ask(self, view: View, missing: Mapping[str, Job]) -> None:
        """What is not trained yet, and the button that does it."""
        if not missing:
            return
        values = sorted({int(name.split("/")[1]) for name in missing})
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                self.button, icon=":material/play_arrow:", key=f"{self.key}.train",
                on_click=asking.restart, args=(list(missing.values()), {BUDGET: view.budget}),
            )  # fmt: skip
            st.caption(f"Not trained yet: {self.symbol} = {', '.join(map(number, values))}.")
