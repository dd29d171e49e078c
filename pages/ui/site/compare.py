"""Compare without a server: the runs that ship, on every data set by every measure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from engine.core.gauges import Gauge
from pages.ui.bundle.collect import quiet
from pages.ui.bundle.drawn import split
from pages.ui.compare import candidates, shown
from pages.ui.compare.candidates import Candidate
from pages.ui.kit.access import client
from pages.ui.kit.markdown import html
from pages.ui.kit.source import MAIN
from pages.ui.paper import kinds
from pages.ui.site.frame import choice, embed, slider, table
from pages.ui.site.states import apart

ELSEWHERE = (
    "Runs that ship with the app, by the measures that papers show first. The app compares any "
    "runs, by every measure."
)
READ = f" {shown.INTERVAL} {shown.APART}"
HEADS = ("Run", "Median", "Guarantee")


@cache
def _shipped() -> tuple[Candidate, ...]:
    """The runs that ship, of all papers."""
    quiet()
    return tuple(candidates.listed(client().at_hand(0)))


@cache
def data() -> dict[str, Any]:
    """What the page's script moves: by data set and measure, every budget."""
    runs = _shipped()
    gauges, offer = candidates.gauges(runs), shown.data(runs)
    found: dict[str, dict[str, Any]] = {}
    for text, dataset in list(zip(offer.texts, offer.values, strict=True))[:-1]:  # all together
        here = [one for one in runs if one.dataset == dataset]
        measured = {n: g for n, g in gauges.items() if any(n in o.gauges for o in here)}
        found[text] = {
            gauges[name].label: _state(here, str(dataset), text, name, gauges[name])
            for name in map(str, shown.measures(measured).values[: shown.PUBLISHED])
        }
    return {"slug": "compare", "data": found}


def figures() -> Iterator[dict[str, Any]]:
    """All figures, in their parts."""
    for measured in data()["data"].values():
        for one in measured.values():
            yield from apart(one["base"], one["frames"])


def _state(
    here: Sequence[Candidate], dataset: str, text: str, name: str, gauge: Gauge
) -> dict[str, Any]:
    """One data set by one measure, at every budget of its runs."""
    able = shown.able(here, name, dataset)
    first = candidates.first(able, name, shown.FIRST)
    runs = candidates.shortened({one: able[one] for one in first})
    offer = shown.budgets(list(runs.values()))
    best = shown.ranked(runs, candidates.drawn(runs, name, shown.USUAL)[0], gauge)
    figures, findings, alts, cards, captions = [], [], [], [], []
    for budget in map(float, offer.values):
        lines, levels = candidates.drawn(runs, name, budget)
        told, names = shown.finding(runs, best, gauge, budget)
        focused = shown.focused(runs, lines, names)
        drawn = shown.drawn(runs, focused, levels, name, gauge, budget, by_proof=True)
        figures.append(json.loads(drawn.text))
        alts.append(drawn.alt)
        findings.append(html(told))
        captions.append(html(_caption(gauge, runs, budget)))
        cards.append([_cells(row) for row in shown.guarantees(runs, name, gauge, budget)])
    base, frames = split(figures)
    rows = shown.frontier(best, gauge)
    return {
        "question": shown.QUESTION.format(text), "budgets": list(offer.texts),
        "first": offer.texts.index(offer.default), "base": base, "frames": frames,
        "findings": findings, "alts": alts, "cards": cards, "best": [_cells(row) for row in rows],
        "heads": list(rows[0]) if rows else [], "captions": captions,
        "note": html(f"{shown.best(runs, best, gauge)}{READ * bool(best)}"),
    }  # fmt: skip


def _caption(gauge: Gauge, runs: Mapping[str, Candidate], epsilon: float) -> str:
    """How to read the chart, and what its guarantees do not share."""
    cards = shown.cards(runs, epsilon)
    said = (shown.caption(gauge), kinds.SHARED * kinds.mixed(cards), shown.differ(cards))
    return " ".join(filter(None, said))


def _cells(row: dict[str, str]) -> list[str]:
    """The cells of a row as HTML; a line of a cell ends with two spaces."""
    return [html(cell) for cell in row.values()]


def body() -> str:
    """The page before its script has run."""
    offer = shown.data(_shipped())
    tables = "".join(
        f"<h2>{title}</h2>{table(title, heads).replace('<table>', f'<table id={key}>')}"
        f'<p class="small" id="{key}-note">{html(note)}</p>'
        for key, title, heads, note in (
            ("cards", "Guarantees", HEADS, shown.INTERVAL),
            ("best", "Best proved", (), ""),
        )
    )
    return (
        '<h1>Compare</h1><h2 class="question"></h2><p class="finding" aria-live="polite"></p>'
        f'<div class="chart main"></div>{slider("epsilon", "Privacy budget ε")}'
        f"{choice('data', 'Data set', offer.texts[:-1])}{choice('gauge', 'Measured by', ())}"
        f'<p class="small caption"></p><p class="small">{ELSEWHERE}</p>{embed(MAIN)}{tables}'
    )
