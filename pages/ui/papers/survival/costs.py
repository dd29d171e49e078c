"""A section on survival regression that trains nothing: what q and e do to noise and budget."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from engine.core.spec import Knob, knobs
from engine.papers.survival import guarantees
from engine.papers.survival.price import sensitivity
from engine.papers.survival.spec import SurvivalSpec
from pages.ui.charts.figure import by_row
from pages.ui.charts.size import against
from pages.ui.charts.theme import axis
from pages.ui.paper.parts import Abreast, Chart, Fold, Part, Table, Widgets
from pages.ui.paper.said import Named
from pages.ui.paper.view import Page, View
from pages.ui.words import number

TRY = {"intervals": "survival.try_q", "knots": "survival.try_e"}
"""Where the sliders to try with keep what they say, by the knob that each stands for."""
WAYS = {"as printed": "paper", "as proved": "rigorous"}
ECHO = 3.0
"""Seconds for which a browser may still report where such a slider stood before it followed."""
OVER, UNTRAINED = "Output perturbation: noise over the optimum", "not known"
"""A row of the table, and what it says where q, e or a calibration is not the page's."""


def try_out(page: Page) -> None:
    """Two sliders to try q and e with, in the sidebar; a button trains with them."""
    st.caption("These change the table *Cost before training* at once. Nothing is trained.")
    for field, title in (("intervals", "Time intervals q"), ("knots", "Spline knots e")):
        offer = page.offers.knobs[field]
        moved = _moved(TRY[field], offer.text(page.chosen.values[field]))
        st.select_slider(
            title, offer.texts, offer.default, key=TRY[field],
            bind="query-params" if moved else None, on_change=_move, args=(page, TRY[field]),
        )  # fmt: skip
    st.button(
        "Train with these", icon=":material/play_arrow:", key="survival.try", on_click=_take,
        help="Uses these q and e for the whole page and trains with them.",
    )  # fmt: skip


def _moved(key: str, now: str) -> bool:
    """Whether a slider to try with was moved by itself; else it follows the page's own.

    Only then does the address hold it. Else the app would write the whole address each time that
    the page's own slider moves, and could put back what that slider said a moment before.
    """
    own = st.session_state.get(f"{key}.own", now)
    if own != now:
        st.session_state[f"{key}.moved"] = False
        st.session_state.setdefault(f"{key}.left", {})[own] = time.monotonic()
    moved = bool(st.session_state.setdefault(f"{key}.moved", key in st.query_params))
    if not moved:
        st.session_state[key] = now
    st.session_state[f"{key}.own"] = now
    return moved


def _move(page: Page, key: str) -> None:
    """Notes that a slider to try with has been moved, and puts it into the address.

    What it said before it followed the page's own slider is no move: a browser that has not been
    told of the new place sends it along with whatever it asks for next.
    """
    left = st.session_state.get(f"{key}.left", {})
    if time.monotonic() - left.get(st.session_state[key], -ECHO) < ECHO:
        st.session_state[key] = st.session_state[f"{key}.own"]
        return
    st.session_state[f"{key}.moved"] = True
    st.session_state[key] = st.session_state[key]
    page.redraw()


def _take() -> None:
    """Moves the page's own sliders to what is tried."""
    for field, key in TRY.items():
        st.session_state[f"survival.{field}"] = st.session_state[key]
    st.rerun()  # all of the page, whose own sliders stand elsewhere now


@dataclass(frozen=True)
class Cost:
    """What a number of intervals and of knots costs under one calibration.

    Attributes:
        bound: t, how far one record moves the gradient.
        extra: Regularisation that objective perturbation adds.
        left: ε′, what objective perturbation has left for its noise.
        length: Mean length of output perturbation's noise.
        spent: What the noise of objective and of output perturbation really proves, ε.
    """

    bound: float
    extra: float
    left: float
    length: float
    spent: tuple[float, float]


def cost(own: SurvivalSpec, n: int, features: int) -> Cost:
    """The cost of a setting on n records, from formulas alone."""
    d = own.knots + features
    objective, output = (
        sensitivity.objective_noise(own, n, d),
        sensitivity.output_noise(own, n, d),
    )
    bound = sensitivity.gradient_bound(own.intervals, own.knots, own.calibration)
    spent = (sum(objective.parts), output.epsilon)
    return Cost(bound, objective.extra, objective.epsilon, output.scale * d, spent)


def _tried(view: View) -> tuple[SurvivalSpec, SurvivalSpec]:
    """The page's setting, and the same with q and e as tried."""
    own = view.setting("obj_pert")
    values = {
        field: int(st.session_state.get(key) or vars(own)[field]) for field, key in TRY.items()
    }
    return own, own.replace(**values)


def before(view: View) -> list[Part]:
    """What the tried q and e cost beside the page's own, and once asked for all of it against q.

    The charts wait to be opened: they would add a third to what every other move redraws.
    """
    own, tried = _tried(view)
    size = _size(view)
    facts = {
        "regularisation": own.regularisation,
        "least": Named("UNKNOWN" if size is None else "KNOWN"),
    }
    return [
        Table(_table(view, own, tried, size), facts),
        Widgets(_general),
        Fold("show_chart", lambda: Abreast(_against(view, tried), gap="medium")),
    ]


def _general() -> None:
    st.caption(guarantees.GENERAL.replace("It barely", "Objective perturbation barely", 1))


def _against(view: View, tried: SurvivalSpec) -> list[Chart]:
    """Sensitivity, remaining budget and length of the noise against q, at the e that is tried."""
    parts: tuple[tuple[str, str, Callable[[Cost], float]], ...] = (
        ("bound", "Sensitivity t", lambda one: one.bound),
        ("left", "ε′ left for the noise", lambda one: one.left),
        ("length", "Mean length of the noise", lambda one: one.length),
    )
    knob = knobs(SurvivalSpec)["intervals"]
    assert isinstance(knob, Knob)
    grid = sorted({*map(int, knob.grid), tried.intervals})
    prices = {name: [_cost(view, tried, way, q) for q in grid] for name, way in WAYS.items()}
    return [
        _chart(tried, key, title, grid,
               {name: [read(one) for one in costs] for name, costs in prices.items()})
        for key, title, read in parts
    ]  # fmt: skip


def _chart(
    tried: SurvivalSpec, key: str, title: str, grid: list[int], lines: dict[str, list[float]]
) -> Chart:
    """One of them."""
    here = grid.index(tried.intervals)
    titles = ("Time intervals q", title)
    figure = against(grid, lines, titles, tried.intervals, height=340, log=True)
    if key == "left":
        figure.layout["yaxis"] = axis(title, rangemode="tozero")
    rows = by_row({"q": grid, **lines})
    facts = {
        "place": key, "title": title, "intervals": tried.intervals, "knots": tried.knots,
        "costs": ", ".join(f"{number(values[here])} {name}" for name, values in lines.items()),
    }  # fmt: skip
    return Chart(figure, rows, facts, "against")


def _cost(view: View, tried: SurvivalSpec, way: str, q: int | None = None) -> Cost:
    own = tried.replace(calibration=way, intervals=q or tried.intervals)
    return cost(own, view.data.records, len(view.data.features))


def _size(view: View) -> float | None:
    """Length of the optimum without privacy, once it is known here."""
    best = view.watched["non_private"].arrays.get("optimum")
    length = float(np.linalg.norm(best[0])) if best is not None else float("nan")
    return length if np.isfinite(length) and length > 0 else None


def _table(
    view: View, own: SurvivalSpec, tried: SurvivalSpec, size: float | None
) -> dict[str, list[str]]:
    """The page's setting beside the tried one, under both calibrations.

    The length of the optimum grows with q and e, and depends on whose ranges scale the records, so
    it is told for the page's own setting alone.
    """
    both = {"As trained": own} | ({"As tried": tried} if tried != own else {})
    columns = {
        f"{title}, {name}: q = {setting.intervals}, e = {setting.knots}": _told(
            _cost(view, setting, way), size, trained=setting is own and way == own.calibration
        )
        for title, setting in both.items()
        for name, way in WAYS.items()
    }
    return {"": list(next(iter(columns.values())))} | {
        head: list(told.values()) for head, told in columns.items()
    }


def _told(one: Cost, size: float | None, *, trained: bool) -> dict[str, str]:
    """What a setting costs, by what each number is; `size` is that of the trained optimum."""
    over = {} if size is None else {OVER: number(one.length / size) if trained else UNTRAINED}
    return {
        "Sensitivity t of the gradient": number(one.bound),
        "Objective perturbation: regularisation Δ to add": number(one.extra),
        "Objective perturbation: ε′ left for its noise": number(one.left),
        "Objective perturbation: proved ε": number(one.spent[0]),
        "Output perturbation: mean length of the noise": number(one.length),
        **over,
        "Output perturbation: proved ε": number(one.spent[1]),
    }
