"""Sections of the page on learned prototypes: clipping, memory, and the printed noise."""

import functools
import math

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.core.spec import Value
from engine.papers.lvq import price, readings
from engine.papers.lvq.spec import PRINTED, LvqSpec
from pages.ui import words
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.chart import chart
from pages.ui.paper.panels import RAW
from pages.ui.paper.view import Page, View
from pages.ui.papers.lvq import space
from pages.ui.papers.lvq.sections import free, kept, missing, named, revision

Floats = NDArray[np.float64]

BREAKS: tuple[dict[str, Value], ...] = ({"epsilon": 2.5, "sample_rate": 0.0005}, {"epsilon": 8.0})
"""Where the printed rule under-protects, at the paper's other settings."""


def _spec(view: View) -> LvqSpec:
    """The settings of the method that is looked at, its own knobs included."""
    spec = view.watched[view.method].job.spec().replace(**{BUDGET: view.budget})
    assert isinstance(spec, LvqSpec)
    return spec


def clipping(view: View) -> None:
    """How long gradients are, and what the bound cuts."""
    kept_share = kept(view, view.method)
    if kept_share is None:
        st.markdown(missing(view, view.method))
        return
    spec = _spec(view)
    counts = kept_share["histogram"].astype(np.float64).sum(axis=0)
    matrix = bool(counts[1].sum())
    parts = [("prototypes", counts[0])] + ([("matrix", counts[1])] if matrix else [])
    bounds = [("bound C", spec.clip)]
    if matrix and spec.split > 0:
        whole, part = spec.clip, spec.split
        bounds = [("bound of the prototypes", whole * math.sqrt(1 - part)),
                  ("bound of the matrix", whole * math.sqrt(part))]  # fmt: skip
    edges = np.asarray(kept_share["edges"][0], np.float64)
    said = _cut(view, matrix)
    st.markdown(said)
    chart(
        "lvq.clipping.chart",
        space.norms(parts, edges, bounds, revision(view, "norms")),
        f"Lengths of the gradients of {view.entry.label} beside the clipping bound. {said}",
        [
            {"From": float(edges[i]), "To": float(edges[i + 1]),
             **{f"Records, {name}": int(values[i]) for name, values in parts},
             **{f"Clipped by this bound, {name} [%]": round(float(space.longer(values)[i]), 1)
                for name, values in parts}}
            for i in range(len(edges) - 1) if counts[:, i].any()
        ],
        view.budget,
    )  # fmt: skip
    st.caption(
        "Each record's gradient is clipped to the bound, and the noise grows with the bound. If "
        "nothing is clipped, the bound could be smaller; if everything is clipped, only directions "
        "are left. Dotted: the share that another bound would clip. Measured at the end of "
        f"training. {RAW}"
    )


def _cut(view: View, matrix: bool) -> str:
    """How much was cut in the last step, in a sentence."""
    results = view.watched[view.method].results
    if results is None:
        return ""
    at = {BUDGET: view.budget}
    first = results.mean("clipped", **at)
    text = (
        f"At ε = {view.budget:g}, {100 * first:.0f}\u00a0% of the sampled records' gradients for "
        "the prototypes are clipped"
    )
    if matrix and "clipped_omega" in results.gauges:
        text += f", {100 * results.mean('clipped_omega', **at):.0f}\u00a0% of those for the matrix"
    return f"{text}." if math.isfinite(first) else ""


def memory(view: View) -> None:
    """How near prototypes lie to single training records, with and without noise."""
    private, exact = kept(view, view.method), kept(view, free(view.method))
    if private is None:
        st.markdown(missing(view, view.method))
        return
    ours = np.median(np.asarray(private["distance"], np.float64), axis=0)
    theirs = None if exact is None else np.asarray(exact["distance"][0], np.float64)
    typical = np.asarray((exact or private)["typical"][0], np.float64)
    members = private["members"][0].astype(int)
    labels = named(private["labels"][0].astype(int).tolist())
    called = [f"{name}, {count:,} records" for name, count in zip(labels, members, strict=True)]
    said = _nearness(called, ours, theirs, typical)
    st.markdown(said)
    chart(
        "lvq.memory.chart",
        space.memory(called, ours, theirs, typical, revision(view, "memory")),
        said,
        [
            {
                "Prototype": name,
                "Nearest, with noise": float(ours[k]),
                "Nearest, without noise": None if theirs is None else float(theirs[k]),
                "Typical record": float(typical[k]),
                "Records": int(members[k]),
            }
            for k, name in enumerate(called)
        ],
        view.budget,
    )
    st.caption(
        f"{view.entry.label}. A prototype that equals a training record reveals it; this is more "
        "likely in a class of few records. Grey mark: the usual distance of the class's records "
        f"from the prototype without noise. With noise: median over the repetitions. {RAW}"
    )


def _nearness(called: list[str], ours: Floats, theirs: Floats | None, typical: Floats) -> str:
    """Which prototype lies nearest to a record, in a sentence."""
    ratio = ours / np.maximum(typical, 1e-12)
    k = int(np.argmin(ratio))
    text = (
        f"With noise, {called[k].split(',')[0]} comes nearest to a record: at "
        f"{words.number(float(ratio[k]), 2)} times the usual distance of its class."
    )
    if theirs is None:
        return text
    least = float((theirs / np.maximum(typical, 1e-12)).min())
    return f"{text} Without noise, the smallest is {words.number(least, 2)} times."


@functools.lru_cache(maxsize=512)
def rule(spec: LvqSpec) -> tuple[float, float, float]:
    """The printed rule at some settings: its sigma, what it asks for, what the steps cost."""
    printed = spec.replace(calibration="paper")
    nominal = (1.0 - spec.share) * spec.epsilon
    return price.printed_multiplier(printed), nominal, price.steps_epsilon(printed)


def price_text(nominal: float, spent: float) -> str:
    """Whether the printed noise keeps its word: in red words where it does not."""
    if spent > nominal:
        return (
            f":red[:material/gpp_bad: **The printed noise is too small**: it spends "
            f"ε = {words.number(spent)} instead of {words.number(nominal)}.]"
        )
    return (
        f":material/gpp_good: The printed noise is enough here: it spends "
        f"ε = {words.number(spent)} of {words.number(nominal)}."
    )


def printed(view: View) -> None:
    """What the paper's rule for the noise really costs at these settings."""
    spec = _spec(view)
    sigma, nominal, spent = rule(spec)
    st.markdown(price_text(nominal, spent))
    st.table(
        {
            "Budget for the training steps": f"ε = {words.number(nominal)}, "
            f"{100 * (1 - spec.share):.0f} % of {view.budget:g}",
            "Noise by the printed rule": f"{words.number(sigma)} times C in each of "
            f"{words.plural(price.steps(spec, 0), 'training step')}",
            "Budget that it spends": f"ε = {words.number(spent)} (PLD accountant)",
            "Noise in use": f"{words.number(price.multiplier(spec))} times C",
        },
        border="horizontal",
    )
    st.caption(
        "The paper's rule for the noise, σ = 2q·√(T·log(1/δ))/ε₂, holds only in the limit. An "
        "accountant that adds up all training steps shows what it spends. Too much noise loses "
        "accuracy; too little breaks the guarantee."
    )
    more = st.expander("Where the printed rule fails", key="lvq.breaks", on_change="rerun",
                       icon=":material/gpp_bad:")  # fmt: skip
    if more.open:
        more.markdown("\n".join(f"- {_break(one)}" for one in BREAKS))


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
            "As printed", icon=":material/menu_book:", key="lvq.printed", on_click=_set,
            args=(page, theirs),
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
