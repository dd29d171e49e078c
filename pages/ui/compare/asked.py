"""Questions that are asked of private records, each for a price that is known beforehand.

A curve of runs on one's own table is made of looks. What is read off it may be kept, but
publishing it costs what all the looks cost. Here the records are asked once instead: by a search
at rising ε, or by a private choice among methods.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from datasets import catalog as data_catalog
from engine.core.gauges import gauges
from engine.core.spec import Value, knobs
from engine.method import Entry, Paper
from engine.runs import ledger
from pages.ui.compare import candidates
from pages.ui.compare.candidates import Candidate, Trained
from pages.ui.kit import visitors
from pages.ui.kit.offers import figure
from pages.ui.paper import buying, spent
from pages.ui.paper.buying import Question
from pages.ui.words import escaped, listed, number

BUDGETS = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
"""Budgets that are offered."""
STOPS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Where a search may stop at first."""
PRICED = (
    "The records of **{title}** are private, so this answer has a price. A search begins with the "
    "noise of the smallest ε and takes noise away until the result is good enough. It costs the ε "
    "at which it stops, not the sum."
)
CHOICE = (
    "The records of **{title}** are private, so choosing the best method has a price. A private "
    "choice draws methods at random, scores each with noise, and publishes the best alone. It has "
    "one price for all of it."
)
LOOKS = (
    "The lines above are looks at private records. If you publish what you read off them, you have "
    "spent what the looks cost: ε = {looks} so far."
)
UNLIKE = (
    "The runs of these methods differ in {}, and a private choice sets each setting once. "
    "Choose methods whose runs have the same settings."
)
DESCRIBED = (
    "How well the model describes a record: 1 for one that it expects, 0 for one with a loss of 10 "
    "nats or more. The mean is measured with noise at each ε, and its lower 95 % limit must reach "
    "this value. A larger value needs a larger ε."
)
WIDE = (
    "How wide the published 95 % interval of the median survival may be, in the unit of the times. "
    "A smaller width needs a larger ε."
)


def need(prefix: str, table: str, runs: Iterable[Candidate]) -> None:
    """Which ε is enough, asked by a search."""
    st.markdown(PRICED.format(title=escaped(data_catalog.card(table).title)))
    trained = _trained(table, runs)
    drawn = {one.entry.name for one in trained}
    able = {
        entry.label: (one.paper, entry)
        for one in trained
        for entry in sorted(one.paper.methods, key=lambda entry: entry.name not in drawn)
        if entry.refines
    }
    if able:
        places = st.columns(3)
        name = places[0].selectbox("Method to search with", list(able), key=f"{prefix}.method")
        paper, entry = able[name]
        option, value = _aim(prefix, paper, entry, places[1])
        stops = places[2].multiselect(
            "ε at which it may stop", BUDGETS, STOPS, format_func=figure, key=f"{prefix}.stops"
        )
        if stops:
            own = next((_fixed(one) for one in trained if one.entry.name == entry.name), {})
            words = (
                "choose", paper.slug, "--dataset", table, "--methods", entry.name,
                *_options(own), "--accuracy-first", ",".join(map(str, sorted(stops))),
                option, str(value),
            )  # fmt: skip
            label = f"Search, for ε = {figure(max(stops))} at most"
            _ask(Question(prefix, table, words, label))
    _answers(table)


def best(prefix: str, table: str, runs: Iterable[Candidate]) -> None:
    """Which method is best, asked by a private choice."""
    st.markdown(CHOICE.format(title=escaped(data_catalog.card(table).title)))
    able = {
        one.label: one
        for one in _trained(table, runs)
        if one.spends and one.paper.judge and one.paper.gauge in gauges(one.entry.info)
        and one.guarantee(1.0).status == "proved"
    }  # fmt: skip
    if able:
        left, right = st.columns([2, 1])
        names = left.multiselect("Methods to choose from", list(able), list(able),
                                 key=f"{prefix}.methods")  # fmt: skip
        budget = right.select_slider(
            "ε of the whole choice", BUDGETS, 1.0, format_func=figure, key=f"{prefix}.budget"
        )
        chosen = [able[name] for name in names]
        if unlike := _unlike(chosen):
            st.info(UNLIKE.format(listed(unlike)), icon=":material/tune:")
        elif chosen:
            told = (
                "choose", chosen[0].job.paper, "--dataset", table,
                "--methods", ",".join(one.job.method for one in chosen), *_options(_shared(chosen)),
                "--set", f"epsilon={budget}",
            )  # fmt: skip
            label = f"Choose, for ε = {figure(budget)}"
            _ask(Question(prefix, table, told, label))
    _answers(table)


def _trained(table: str, runs: Iterable[Candidate]) -> list[Trained]:
    return [one for one in runs if isinstance(one, Trained) and one.dataset == table]


def _aim(
    prefix: str, paper: Paper[Any], entry: Entry[Any], place: st.delta_generator.DeltaGenerator
) -> tuple[str, float]:
    """What is good enough: an option of the command, and its value."""
    if paper.judge and paper.gauge in gauges(entry.info):
        value = place.number_input(
            "Mean record score, at least", 0.01, 0.99, 0.9, 0.01, key=f"{prefix}.target",
            help=DESCRIBED,
        )  # fmt: skip
        return "--target", value
    value = place.number_input(
        "Interval at most this wide", 1e-6, None, 100.0, key=f"{prefix}.width", help=WIDE
    )
    return "--width", value


def _fixed(one: Trained) -> dict[str, Value]:
    """The settings of a run on the chart."""
    return candidates.fixed(one.job, one.entry)


def _shared(chosen: Iterable[Trained]) -> dict[str, Value]:
    """The settings of several runs, of which one command sets each once for all."""
    return {name: value for one in chosen for name, value in _fixed(one).items()}


def _unlike(chosen: Sequence[Trained]) -> list[str]:
    """Labels of settings that are not the same in all runs that have them, in words."""
    shared = _shared(chosen)
    names = {n for one in chosen for n, value in _fixed(one).items() if value != shared[n]}
    return [knobs(chosen[0].paper.spec)[name].label for name in sorted(names)]


def _options(settings: Mapping[str, Value]) -> list[str]:
    """Settings as options of the command."""
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]


def _ask(question: Question) -> None:
    """The button that spends, and what the last search or choice of this session published."""
    if (answer := buying.ask(question)) is None:
        return
    searched, said = "met" in answer, answer["said"]
    said = said if said.startswith("ε") else said[:1].upper() + said[1:]
    icon = "check_circle" if answer.get("met") else "error"
    st.markdown(f"{f':material/{icon}: ' * searched}**{said}.**")
    card = answer["guarantee"]
    cost = f"It cost ε = {number(card['epsilon_proved'])} at δ = {number(card['delta'])}."
    if searched:
        rows = [
            {"ε": number(level["epsilon"]),
             "Measured": "no interval" if told is None else number(told)}
            for level, told in zip(answer["levels"], answer["told"], strict=False)
        ]  # fmt: skip
        st.table(rows, hide_index=True, border="horizontal", alt="What was read at each level.")
        most = number(answer["beforehand"])
        cost += f" Before it began, at most ε = {most} was promised."
    st.caption(cost)
    _files(answer)


def _files(answer: Mapping[str, Any]) -> None:
    """The release as a file, and where its files are for the person who sits at the machine."""
    if not answer["files"]:
        return
    place = Path(answer["files"][0]).parent
    if visitors.alone():
        st.caption(f"The release may be published. Its files are in `{place}`.")
    st.download_button(
        "Download the release", json.dumps(answer, indent=1), f"{place.name}.json",
        "application/json", icon=":material/download:", on_click="ignore", key=f"{place.name}.file",
    )  # fmt: skip


def _answers(table: str) -> None:
    """What was asked before, the ledger's sum, and what the looks would cost."""
    found = ledger.read(table)
    rows = [
        {
            "When": one.time.replace("T", " ").partition("+")[0],
            "Answer": one.said,
            "Cost": f"ε = {number(one.epsilon)}",
        }
        for one in reversed(found.releases) if one.said
    ]  # fmt: skip
    if rows:
        st.table(rows, hide_index=True, border="horizontal", alt="What was asked of this table.")
    st.caption(f":material/receipt_long: {spent.said(found)}")
    if found.looks:
        st.caption(LOOKS.format(looks=number(ledger.total(found.looks).epsilon)))
