"""Sections of the page on noise in training: what it spends, by step and as printed."""

import functools
import math
from typing import Any

import numpy as np
import streamlit as st

from engine.papers.enadpp import guarantees, price
from engine.papers.enadpp.variants import VARIANTS
from engine.privacy.mechanisms import Laplace
from pages.ui.charts import lines as drawing
from pages.ui.charts.theme import style
from pages.ui.paper.parts import Chart, Lines
from pages.ui.paper.said import Named
from pages.ui.paper.view import View
from pages.ui.papers.enadpp import figures
from pages.ui.words import number

PLAIN, RENYI, PLD = "plain sum (δ = 0)", "Rényi", "privacy loss distribution"
COINS = "if priced as Poisson batches"
NAMES = (PLAIN, RENYI, PLD, COINS)
POINTS = 5
"""An accountant is asked at so many steps."""


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


def reads(method: str, spec: Any, n: int) -> dict[str, bool]:
    """Which sentences say what the accountants' lines mean, and why one may be missing."""
    variant, shuffled = VARIANTS[method], _shuffled(method, spec)
    laplace = isinstance(price.mechanism(variant, spec, n), Laplace)
    return {
        "MOMENTS": variant.whitens(spec.representation),
        "RATIOS": price.unaccounted(variant, spec),
        "FIXED": variant.correlated,
        "SHUFFLED": shuffled,
        "LAPLACE": not shuffled and laplace,
        "INEXACT": not exact(method, spec, n),
        "DELTA": bool(spec.delta) and not price.unaccounted(variant, spec),
    }


def spent(view: View) -> Lines:
    """The budget spent by step, as each accountant counts it."""
    n = view.data.records
    with st.spinner("Working out the budget of every step"):
        steps, ways = counted(view.method, view.spec, n)
    drawn = [
        drawing.line(name, style(NAMES.index(name)), np.array(steps), np.array(values)[:, None])
        for name, values in ways.items()
    ]
    facts = reads(view.method, view.spec, n) | {"delta": view.spec.delta}
    return Lines(drawn, facts, more={"rule": (view.budget, f"chosen: {view.budget:g}")})


def ledger(view: View) -> Chart:
    """What the printed noise spends under each reading: one batch, an epoch, all, as drawn here."""
    spec, n = view.spec, view.data.records
    ledgers = guarantees.ledger(spec, n)
    parts = {
        "one batch": {row.reading: row.batch for row in ledgers},
        "all epochs": {row.reading: row.epochs for row in ledgers},
        "drawn here": {row.reading: row.sampled for row in ledgers},
    }
    table = [
        {
            "Reading": row.reading, "One batch": number(row.batch),
            "One epoch": number(row.batch), "All epochs": number(row.epochs),
            "Drawn here": number(row.sampled),
        }
        for row in ledgers
    ]  # fmt: skip
    batches = (f"{number(row.batch)} in reading {row.reading}" for row in ledgers)
    facts = {
        "size": price.batch_size(spec, n),
        "first": ledgers[0].batch,
        "batches": ", ".join(batches),
        "reading": spec.noise_reading,
        "now": Named("PRINTED" if spec.calibration == "paper" else "PROVED"),
    }
    return Chart(figures.ledger(parts, view.budget), table, facts)
