"""Sections of the page on noise in training: what it spends, by step and as printed."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from engine.papers.enadpp import guarantees, price
from engine.papers.enadpp.guarantees import Ledger
from engine.papers.enadpp.variants import VARIANTS
from engine.privacy.mechanisms import Laplace
from pages.ui.charts import lines as drawing
from pages.ui.charts.theme import style
from pages.ui.kit.chart import chart
from pages.ui.paper.view import View
from pages.ui.papers.enadpp import figures
from pages.ui.papers.enadpp.sections import STEP
from pages.ui.words import number

PLAIN, RENYI, PLD = "plain sum (δ = 0)", "Rényi", "privacy loss distribution"
COINS = "if priced as Poisson batches"
NAMES = (PLAIN, RENYI, PLD, COINS)
POINTS = 5
"""An accountant is asked at so many steps."""
LOT = (
    "|L| is q times the records that are trained on. If the data set has no test part of its own, "
    "a fixed fifth is used for testing only and is no part of a batch."
)


@functools.lru_cache(maxsize=256)
def counted(method: str, spec: Any, n: int) -> tuple[tuple[int, ...], dict[str, tuple[float, ...]]]:
    """The budget after some steps, by accountant, were the budget ratios public.

    At step 0 that is what was released before the first step.

    Returns:
        The steps, from zero, and for each accountant that can tell its budgets in nats.
    """
    from engine.privacy import accounting
    from engine.privacy.pure import pure

    total = price.steps(spec, n)
    steps = tuple(sorted({round(total * k / POINTS) for k in range(POINTS + 1)}))
    events = [price.noise_cost(VARIANTS[method], spec, n, step) for step in steps]

    def asked(tight: bool) -> tuple[float, ...]:
        return tuple(accounting.epsilon(e, spec.delta, price.RELATION, tight=tight) for e in events)

    sums = tuple(map(pure, events))
    ways = {PLAIN: sums} if math.isfinite(sums[-1]) else {RENYI: asked(False)}
    if exact(method, spec, n):
        ways[PLD] = asked(True)
    if _shuffled(method, spec) and not price.unaccounted(VARIANTS[method], spec):
        ways[COINS] = tuple(guarantees.poisson_price(VARIANTS[method], spec, n, s) for s in steps)
    return steps, ways


def _shuffled(method: str, spec: Any) -> bool:
    """Whether batches are cut from an order that is drawn again in every epoch."""
    drawn = price.batches(spec, VARIANTS[method])
    return drawn.parts > 1 and not drawn.kept


def exact(method: str, spec: Any, n: int) -> bool:
    """Whether the exact accountant can tell in a moment: noise that falls takes it minutes."""
    from engine.privacy import accounting
    from engine.privacy.pure import pure

    sums = pure(price.noise_cost(VARIANTS[method], spec, n, price.steps(spec, n)))
    small = sums <= accounting.LARGEST or math.isinf(sums)
    return not VARIANTS[method].falling and small


def reading(method: str, spec: Any, n: int) -> str:
    """What the accountants' lines mean, and why one may be missing."""
    parts = [
        "Every training step spends budget. An accountant adds up what all steps reveal about one "
        "record that is added or removed. A lower line is a tighter proof for the same noise."
    ]
    if VARIANTS[method].whitens(spec.representation):
        parts.append(
            "The second moments of the features are released before the first step, from all "
            "records: what they cost is spent at step 0."
        )
    if price.unaccounted(VARIANTS[method], spec):
        parts.append(
            "The budget ratios are treated as public, although the printed method computes them "
            "from the records: this is a count, not a proof."
        )
    variant = VARIANTS[method]
    shuffled = _shuffled(method, spec)
    if variant.correlated:
        parts.append(
            "Batches are cut from one fixed order, and steps share noise: a record pays for one "
            "release in each epoch."
        )
    if shuffled:
        parts.append(
            "Each record is in one of an epoch's shuffled batches and pays in full: the price "
            "rises once an epoch. The Poisson price is often stated for shuffled batches; it is "
            "not proved for them."
        )
    if not shuffled and isinstance(price.mechanism(variant, spec, n), Laplace):
        parts.append("The Rényi accountant has no formula for Laplace noise in random batches.")
    if not exact(method, spec, n):
        parts.append(
            "The exact accountant is left out: it would need too much time or memory here."
        )
    if spec.delta and price.unaccounted(VARIANTS[method], spec) is False:
        parts.append(f"Failure probability δ (not for plain sums): {number(spec.delta)}.")
    return " ".join(parts)


def alt(ledgers: Sequence[Ledger]) -> str:
    """The budgets of all readings in one sentence."""
    batches = ", ".join(f"{number(row.batch)} in reading {row.reading}" for row in ledgers)
    return f"What one batch with the printed noise spends: ε = {batches}."


def readings(spec: Any) -> str:
    """What the three readings and the four columns are."""
    now = (
        f"Chosen now: reading {spec.noise_reading}."
        if spec.calibration == "paper"
        else "Noise with proof, chosen now, uses none of them: its ε is the total."
    )
    return (
        "Reading A: noise inside the average, as printed. B: outside it. C: as large as the "
        "sensitivity requires. One batch, one epoch (disjoint batches) and all epochs count one "
        "record replaced, as the paper does. “Drawn here” counts the random batches of this "
        "program with one record added or removed. The budget ratios are treated as public. "
        f"{LOT} {now}"
    )


def spent(view: View) -> None:
    """The budget spent by step, as each accountant counts it."""
    n = view.data.records
    with st.spinner("Working out the budget of every step"):
        steps, ways = counted(view.method, view.spec, n)
    looks = {name: style(i) for i, name in enumerate(NAMES)}
    lines = [
        drawing.line(name, looks[name], np.array(steps), np.array(values)[:, None])
        for name, values in ways.items()
    ]
    drawn = [one for one in lines if one is not None]
    figure = drawing.lines(
        drawn, (STEP, "Spent privacy budget ε"), f"spent/{view.watched[view.method].job.id}",
        height=380, rule=(view.budget, f"chosen: {view.budget:g}"), rangemode="tozero",
    )  # fmt: skip
    ends = ", ".join(f"{one.label} {number(float(one.middle[-1]))}" for one in drawn)
    said = f"Budget spent by {view.entry.label}; at the end: {ends}."
    chart("enadpp.spent", figure, said, drawing.rows(drawn, "Step"), view.budget)
    st.caption(reading(view.method, view.spec, n))


def ledger(view: View) -> None:
    """What the printed noise spends under each reading: one batch, an epoch, all, as drawn here."""
    ledgers = guarantees.ledger(view.spec, view.data.records)  # type: ignore[arg-type]
    size = price.batch_size(view.spec, view.data.records)  # type: ignore[arg-type]
    first = number(ledgers[0].batch)
    st.markdown(
        f"As printed (reading A), one batch of |L| = {size:,.0f} spends ε = **{first}**. The paper "
        f"claims {view.budget:g}."
    )
    parts = {
        "one batch": {row.reading: row.batch for row in ledgers},
        "all epochs": {row.reading: row.epochs for row in ledgers},
        "drawn here": {row.reading: row.sampled for row in ledgers},
    }
    table = [
        {
            "Reading": row.reading, "One batch": number(row.batch),
            "One epoch": number(row.epoch), "All epochs": number(row.epochs),
            "Drawn here": number(row.sampled),
        }
        for row in ledgers
    ]  # fmt: skip
    chart("enadpp.ledger", figures.ledger(parts, view.budget), alt(ledgers), table, view.budget)
    st.caption(readings(view.spec))
