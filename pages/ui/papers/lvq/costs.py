"""Sections of the page on learned prototypes: clipping, memory, and the printed noise."""

import functools
import math

import numpy as np
import streamlit as st

from datasets import own
from engine.core.spec import Value
from engine.papers.lvq import price, readings
from engine.papers.lvq.spec import PRINTED, LvqSpec
from pages.ui import words
from pages.ui.charts.figure import by_row
from pages.ui.jobs.live import BUDGET
from pages.ui.paper.parts import Chart, Fold, Part, Table
from pages.ui.paper.said import Named
from pages.ui.paper.view import Page, View
from pages.ui.papers.lvq import figures
from pages.ui.papers.lvq.sections import both, named

BREAKS: tuple[dict[str, Value], ...] = ({"epsilon": 2.5, "sample_rate": 0.0005}, {"epsilon": 8.0})
"""Where the printed rule under-protects, at the paper's other settings."""


def clipping(view: View) -> Chart:
    """How long gradients are, and what the bound cuts."""
    private, _ = both(view, view.method)
    spec = view.spec
    counts = private["histogram"].astype(np.float64).sum(axis=0)
    matrix = bool(counts[1].sum())
    together = matrix and spec.split == 0
    parts = [("prototypes", counts[0])] + ([("matrix", counts[1])] if matrix else [])
    bounds = [("bound C", spec.clip)]
    if matrix and not together:
        shares = {"prototypes": 1 - spec.split, "matrix": spec.split}
        bounds = [(f"bound of the {name}", spec.clip * math.sqrt(part))
                  for name, part in shares.items()]  # fmt: skip
    edges = np.asarray(private["edges"][0], np.float64)
    rows = [
        {"From": float(edges[i]), "To": float(edges[i + 1]),
         **{f"Records, {name}": int(values[i]) for name, values in parts},
         **{f"Clipped by this bound, {name} [%]": round(float(figures.longer(values)[i]), 1)
            for name, values in (() if together else parts)}}
        for i in range(len(edges) - 1) if counts[:, i].any()
    ]  # fmt: skip
    drawn = figures.norms(parts, edges, bounds, together=together)
    return Chart(drawn, rows, _cut(view, matrix, together))


def _cut(view: View, matrix: bool, together: bool) -> dict[str, object]:
    """How much was cut in the last step, and whether that is known."""
    results, at = view.watched[view.method].results, {BUDGET: view.budget}
    assert results is not None
    first = results.mean("clipped", **at)
    two = matrix and "clipped_omega" in results.gauges
    omega = results.mean("clipped_omega", **at) if two else 0.0
    known = math.isfinite(first)
    return {
        "CUT": Named("WHOLE" if together else "CUT") if known else False, "clipped": first,
        "BOTH": two, "omega": omega, "DOTTED": Named("TOGETHER" if together else "DOTTED"),
    }  # fmt: skip


def memory(view: View) -> Chart:
    """How near prototypes lie to single training records, with and without noise."""
    private, exact = both(view, view.method)
    known, there = exact or private, private["members"] > 0
    held = there.any(axis=0) & (known["members"][0] > 0)  # a fold may have no record of a class
    apart = np.where(there, np.asarray(private["distance"], np.float64), np.nan)
    ours = np.nanmedian(apart[:, held], axis=0)
    theirs = None if exact is None else np.asarray(exact["distance"][0], np.float64)[held]
    typical = np.asarray(known["typical"][0], np.float64)[held]
    members = known["members"][0][held].astype(int)
    every = named(private["labels"][0].astype(int).tolist(), own.classes(view.data.name))
    labels = [name for name, kept in zip(every, held, strict=True) if kept]
    called = [f"{name}, {count:,} records" for name, count in zip(labels, members, strict=True)]
    rows = by_row({
        "Prototype": called,
        "Nearest, with noise": ours,
        "Nearest, without noise": [None] * len(called) if theirs is None else theirs,
        "Typical record": typical,
        "Records": members,
    })  # fmt: skip
    usual = np.maximum(typical, 1e-12)
    nearest = int(np.argmin(ours / usual))
    facts = {
        "nearest": labels[nearest],
        "ratio": ours[nearest] / usual[nearest],
        "WITHOUT": theirs is not None,
        "least": 0.0 if theirs is None else (theirs / usual).min(),
        "LEFT": not held.all(),
    }
    return Chart(figures.memory(called, ours, theirs, typical), rows, facts)


@functools.lru_cache(maxsize=512)
def rule(spec: LvqSpec) -> tuple[float, float, float]:
    """The printed rule at some settings: its sigma, what it asks for, what the steps cost."""
    printed = spec.replace(calibration="paper")
    nominal = (1.0 - spec.share) * spec.epsilon
    return price.printed_multiplier(printed), nominal, price.steps_epsilon(printed)


def price_text(nominal: float, spent: float) -> str:
    """Whether the printed noise is enough: in red words where it does not."""
    if spent > nominal:
        return (
            f":red[:material/gpp_bad: **The printed noise is too small**: it spends "
            f"ε = {words.number(spent)} instead of {words.number(nominal)}.]"
        )
    return (
        f":material/gpp_good: The printed noise is enough here: it spends "
        f"ε = {words.number(spent)} of {words.number(nominal)}."
    )


def printed(view: View) -> list[Part]:
    """What the paper's rule for the noise really costs at these settings."""
    spec = view.spec
    sigma, nominal, spent = rule(spec)
    table = {
        "Budget for the training steps": f"ε = {words.number(nominal)}, "
        f"{100 * (1 - spec.share):.0f} % of {view.budget:g}",
        "Noise by the printed rule": f"{words.number(sigma)} times C in each of "
        f"{words.plural(price.steps(spec, 0), 'training step')}",
        "Budget that it spends": f"ε = {words.number(spent)} (PLD accountant)",
        "Noise in use": f"{words.number(price.multiplier(spec))} times C",
    }
    fails = Fold("gpp_bad", lambda: "\n".join(f"- {_break(one)}" for one in BREAKS))
    return [price_text(nominal, spent), Table(table), fails]


def _break(change: dict[str, Value]) -> str:
    """One setting of the paper at which its rule under-protects."""
    spec = LvqSpec(**{**PRINTED, **change})  # type: ignore[arg-type]
    _, nominal, spent = rule(spec)
    return (
        f"ε = {spec.epsilon:g}, q = {spec.sample_rate:g}, {spec.epochs:g} epochs: "
        f"{price_text(nominal, spent)}"
    )


def presets(page: Page) -> None:
    """Buttons that set every knob as the paper prints it, or back to the defaults."""
    dataset = page.chosen.dataset
    theirs = readings.settings(dataset, "gmlvq", "as printed")
    ours = {name: offer.value(offer.default) for name, offer in page.offers.knobs.items()}
    ours.pop(BUDGET)
    with st.container(horizontal=True):
        st.button(
            "As printed", key="lvq.printed", on_click=_set, args=(page, theirs),
            help="Uses the paper's own settings: noise, initialisation, share, C, q and E. It "
            "prints no learning rates; small ones are used, so that training does not diverge. "
            "Training takes 5,000 steps.",
        )  # fmt: skip
        st.button(
            "Defaults", icon=":material/undo:", key="lvq.defaults", on_click=_set,
            args=(page, ours), help="Resets every setting except the budget.",
        )  # fmt: skip


def _set(page: Page, values: dict[str, Value]) -> None:
    """Moves the widgets of the sidebar, and with them the address."""
    for name, value in values.items():
        if name in page.offers.knobs:
            st.session_state[f"{page.prefix}.{name}"] = page.offers.knobs[name].text(value)
