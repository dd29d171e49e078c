"""What sections of every paper's page read from the runs they watch: looks, rows, arrays, lines."""

import numpy as np
from numpy.typing import NDArray

from pages.ui.charts import proof
from pages.ui.charts.figure import Floats
from pages.ui.charts.lines import Line, line
from pages.ui.charts.theme import Style, reference_style
from pages.ui.jobs import live
from pages.ui.jobs.live import BUDGET
from pages.ui.paper import cast
from pages.ui.paper.view import View

SOON = ":material/hourglass_empty: Appears as soon as the first settings are trained."
LEFT_OUT = (
    ":material/inventory_2: What this chart shows does not ship with the app. "
    "Press *Run again* on the *Cost* tab to compute it."
)
SLOW = (
    ":material/hourglass_empty: These samplers take minutes. Press *Train these too* on the *Cost* "
    "tab to start them."
)
DIVERGED = ":material/trending_up: Training diverged at this ε in every repetition."
UNTRAINED = (SOON, LEFT_OUT, SLOW)
"""What is said where something has to be trained."""
SPREAD = "Bands: the middle 80 % of the repetitions."


class NotYetError(Exception):
    """Why a section has nothing to draw yet, in a sentence."""


def waiting(view: View, method: str = "") -> str:
    """Why there is nothing to draw of a method; of the one that is looked at, if none is named."""
    run = view.watched[method or view.method].run
    shipped = run is not None and run.state == "completed" and run.shipped is not None
    return LEFT_OUT if shipped else SOON


def look(view: View, method: str) -> Style:
    """How a method looks on every chart of the page: its colour, and the line of its status."""
    if not view.spends(method):
        return reference_style([n for n in view.watched if not view.spends(n)].index(method))
    card = view.known(method, view.budget)
    own = cast.look(view.paper, view.watched[method].job)
    return proof.look(own, None if card is None else card.status)


def chosen(view: View, method: str) -> NDArray[np.int64]:
    """Rows of a method's run that belong to the budget under the slider."""
    results = view.watched[method].results
    if results is None:
        return np.zeros(0, np.int64)
    at = {BUDGET: view.budget} if view.spends(method) else {}
    return np.flatnonzero(results.rows(**at))


def kept(view: View, method: str, name: str) -> Floats | None:
    """An array of a method's run at this budget, one row for each repetition; None before any."""
    array = view.watched[method].arrays.get(name)
    if array is None:
        return None
    rows = np.asarray(array[chosen(view, method)], np.float64)
    return rows if len(rows) else None


def product(view: View, method: str, name: str) -> Floats | None:
    """The same, finite rows only; None before the first."""
    rows = kept(view, method, name)
    if rows is None:
        return None
    rows = rows[np.isfinite(rows).reshape(len(rows), -1).all(axis=1)]
    return rows if len(rows) else None


def needed(view: View, method: str, *names: str) -> list[Floats]:
    """Some arrays of a method's run at this budget.

    Raises:
        NotYetError: One of them is not there.
    """
    found = [one for name in names if (one := product(view, method, name)) is not None]
    if len(found) < len(names):
        raise NotYetError(waiting(view))
    return found


def drawn(view: View, method: str, x: Floats, values: Floats) -> Line | None:
    """A line of a method in its own look, from values (k, r); None where nothing is finite."""
    return line(view.watched[method].label, look(view, method), x, values)


def history(view: View, method: str, gauge: str) -> tuple[Floats, Floats]:
    """How a gauge of a method went at this budget: steps (k,) and values (k, r); k may be 0."""
    steps, values = live.history(view.watched[method], gauge)
    return steps.astype(np.float64), values[:, chosen(view, method)]


def course(view: View, method: str, gauge: str) -> Line | None:
    """The same as a line."""
    return drawn(view, method, *history(view, method, gauge))
