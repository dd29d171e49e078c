"""A synthetic table beside one's own: its price, its columns, its file and its card."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from datasets import catalog as data_catalog
from datasets import own, own_names
from engine.core.errors import ExplorerError
from engine.privacy.guarantee import Guarantee
from engine.synthetic import columns
from pages.ui import rights
from pages.ui.charts import shares as charts
from pages.ui.kit import card as cards
from pages.ui.kit import chart
from pages.ui.kit.access import sentence
from pages.ui.kit.offers import figure
from pages.ui.messages import tr
from pages.ui.paper import buying
from pages.ui.words import number

BUDGETS = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 8.0)
"""Budgets that are offered."""
DELTA = 1e-5
"""The δ of a table: what is added to the bound that ε sets."""
CARD = ".card.json"
ENDINGS = (".csv", ".toml", CARD)
"""Of the table, its settings and its card."""


def section(prefix: str, dataset: str) -> None:
    """Draws the section for a table of one's own; nothing for another data set."""
    if not own.mine(dataset):
        return
    st.subheader(tr("Synthetic table"), anchor=False)
    st.markdown(
        tr(
            "A private synthetic table has as many records as yours, drawn from noisy counts of "
            "your columns. Look at it and try models on it before you spend on a model: that costs "
            "nothing more."
        )
    )
    card = data_catalog.card(dataset)
    if card.taken:
        st.caption(
            tr(
                "The bounds of this table were taken from the data, so it cannot be released. Add "
                "it again with bounds that you know without looking."
            )
        )
        return
    budget = st.select_slider(
        tr("ε of the synthetic table"), BUDGETS, 1.0, format_func=figure,
        key=f"{prefix}.synthetic.budget",
        help=tr("A larger ε needs less noise: columns and pairs of columns come closer to yours."),
    )  # fmt: skip
    from engine.synthetic import price  # the accountant loads on the first price

    try:
        cost = price.plan(card, budget, DELTA).guarantee.epsilon_proved or budget
    except ExplorerError as error:
        st.caption(sentence(str(error)))
        return
    # what the ledger will say: more than the budget where a person has several rows
    label = tr("Make a synthetic table, for ε = {epsilon}").format(epsilon=number(cost))
    words = ("synthetic", dataset, "--epsilon", str(budget), "--delta", str(DELTA))
    question = buying.Question(f"{prefix}.synthetic", dataset, words, label, ".csv")
    asked = buying.ask(question)
    answer = _before(prefix, dataset) or asked
    if answer is not None:
        _made(prefix, dataset, answer)


def _before(prefix: str, dataset: str) -> Mapping[str, Any] | None:
    """One of the synthetic tables that were made here, the latest where nobody chooses."""
    made = [
        (f"{at:%Y-%m-%d %H:%M:%S} UTC, ε = {number(one['guarantee']['epsilon_proved'])}", one)
        for at, place in buying.before(dataset, CARD)
        if (one := _kept(place)) is not None
    ]
    if len(made) < 2:
        return made[0][1] if made else None
    at = st.selectbox(
        tr("Made before"), range(len(made)), format_func=[text for text, _ in made].__getitem__,
        key=f"{prefix}.synthetic.before.{len(made)}",
    )  # fmt: skip
    return made[at][1]


def _kept(place: Path) -> Mapping[str, Any] | None:
    """What was answered when a table was made, by its card; None where that cannot be read."""
    try:
        body = json.loads(place.read_bytes())
        _guarantee(body["guarantee"])
        float(body["guarantee"]["epsilon_proved"])
        known = {key: body[key] for key in ("guarantee", "records", "columns", "classes")}
        table = place.name.removesuffix(CARD)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return {**known, "files": [str(place.with_name(f"{table}{end}")) for end in ENDINGS]}


def _guarantee(card: Mapping[str, Any]) -> Guarantee:
    """The guarantee of a card."""
    return Guarantee(**{one.name: card[one.name] for one in dataclasses.fields(Guarantee)})


def _made(prefix: str, dataset: str, answer: Mapping[str, Any]) -> None:
    """What has been made: its price, a column of it, and its files."""
    card = answer["guarantee"]
    said = tr("**{records} synthetic records** cost ε = {epsilon} at δ = {delta}.")
    st.markdown(
        said.format(
            records=f"{answer['records']:,}", epsilon=number(card["epsilon_proved"]),
            delta=number(card["delta"]),
        )
    )  # fmt: skip
    titles = [one["title"] for one in answer["columns"]]
    at = st.selectbox(
        tr("Column"), range(len(titles)), format_func=titles.__getitem__,
        key=f"{prefix}.synthetic.column",
    )  # fmt: skip
    original = None
    if rights.may("spend on a table", dataset) and st.toggle(
        tr("Show the original beside it"), key=f"{prefix}.synthetic.original"
    ):
        original = _original(dataset)[at]
        warning = tr("Computed from the raw data, for comparison only. Not private.")
        st.caption(f":material/lock_open: {warning}")
    words = own_names.names(answer.get("classes") or ()) if at == 0 else ()
    one = {**answer["columns"][at], "words": words}
    chart.chart(
        f"{prefix}.synthetic.chart", charts.shares(one, original),
        tr("The share of synthetic records in each part of {column}.").format(column=one["title"]),
        charts.table(one, original), 0.0,
    )  # fmt: skip
    st.caption(
        tr(
            "Each column and the strongest pairs of columns follow your table; what three columns "
            "do together is not kept. Intervals and tests on it do not count the noise."
        )
    )
    with st.expander(tr("Guarantee"), icon=":material/verified:"):
        cards.show(tr("Synthetic table"), _guarantee(card))
    _files(prefix, answer)


def _original(dataset: str) -> list[list[float]]:
    """The shares of the raw records in the cells of every column."""
    known, values = columns.read(data_catalog.load(dataset))
    return [one.shares(values).tolist() for one in known.columns]


def _files(prefix: str, answer: Mapping[str, Any]) -> None:
    """The table, its settings and its card."""
    labels = (tr("Download the table"), tr("Download its settings"), tr("Download its card"))
    with st.container(horizontal=True):
        for label, name in zip(labels, answer["files"], strict=True):
            place = Path(name)
            with_kind = f"synthetic-{place.name}"
            try:
                content = place.read_bytes()
            except OSError:
                st.caption(tr("The files are no longer where they were written."))
                return
            st.download_button(
                label, content, with_kind, icon=":material/download:", on_click="ignore",
                key=f"{prefix}.synthetic.{place.suffix}",
            )  # fmt: skip
