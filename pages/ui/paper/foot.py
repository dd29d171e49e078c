"""The foot of a paper's page, in sight of every chart: the budget, its guarantee, its odds."""

import math

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.core.spec import knobs
from engine.privacy.guarantee import Guarantee
from pages.ui import words
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.knobs import explain, label
from pages.ui.kit.late import DESK
from pages.ui.kit.lock import locked
from pages.ui.kit.offers import Offer
from pages.ui.kit.style import sheet
from pages.ui.messages import figures, tr
from pages.ui.paper import attack, ceiling, ruler
from pages.ui.paper.view import Page, View

TYPED = "typed"
"""Ends the key of the field that takes a budget by its figures; no part of the address."""
TOLD = "told"
"""Ends the name of what that field has to say: what it calls may not draw."""
LONGEST = 20
"""Characters that fit into that field."""
STYLE = sheet(__file__)
"""A small window spends its room on the chart; Streamlit has no settings for these."""
BELOW_LOGO = """<style>@media (max-width: 768px) {
  [data-testid=stMainBlockContainer] { padding-top: 4rem } }</style>"""
"""On a phone a title that has no button beside it begins below the logo."""
WEAK = 0.95
"""From this share of right guesses on, protection is called weak."""


def budget(page: Page) -> float:
    """The budget slider, and a field to type the budget in; returns the budget."""
    with _row():
        chosen = slider(page)
        _typed(page)
    return chosen


def beside(page: Page) -> DeltaGenerator:
    """The field to type the budget in; returns the place of the slider beside it."""
    with _row():
        place = st.container()
        _typed(page)
    return place


def _row() -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="bottom", wrap=False)


def slider(page: Page) -> float:
    """The budget slider; returns the budget."""
    offer, key = page.offers.knobs[BUDGET], f"{page.prefix}.{BUDGET}"
    knob = knobs(page.paper.spec)[BUDGET]
    chosen = st.select_slider(
        tr(label(knob)), offer.texts, offer.default, key=key, help=explain(knob),
        bind="query-params", disabled=locked(key),
    )  # fmt: skip
    return float(offer.value(chosen))


def _typed(page: Page) -> None:
    """The field to type a budget in."""
    offer, key = page.offers.knobs[BUDGET], f"{page.prefix}.{BUDGET}"
    said = tr("From {low} to {high}; the nearest trained budget is shown.")
    st.text_input(
        tr("Type ε"), key=f"{key}.{TYPED}", placeholder="ε", width=84, max_chars=LONGEST,
        autocomplete="off", label_visibility="collapsed", on_change=_take, args=(page, key),
        disabled=locked(key), help=said.format(**_ends(offer)),
    )  # fmt: skip
    if told := st.session_state.pop(f"{key}.{TOLD}", ""):
        st.toast(told)


def _ends(offer: Offer) -> dict[str, str]:
    """The smallest and the largest budget as this language writes them."""
    return {name: figures(offer.texts[at]) for name, at in (("low", 0), ("high", -1))}


def _take(page: Page, key: str) -> None:
    """Moves the slider to the trained budget that is nearest to what was typed, or refuses it."""
    typed = str(st.session_state[f"{key}.{TYPED}"]).strip()
    st.session_state[f"{key}.{TYPED}"] = ""
    if not typed:
        return
    offer, value = page.offers.knobs[BUDGET], read(typed)
    if not float(offer.values[0]) <= value <= float(offer.values[-1]):
        said = tr("ε: expected a number from {low} to {high}, got {typed}.")
        told = words.escaped(said.format(**_ends(offer), typed=typed))
        st.session_state[f"{key}.{TOLD}"] = told
        return
    text = offer.text(min(offer.values, key=lambda one: abs(math.log(float(one) / value))))
    st.session_state[key] = text
    if not math.isclose(float(offer.value(text)), value):
        said = tr("ε = {typed} is not trained here; the nearest is {nearest}.")
        told = said.format(typed=figures(f"{value:g}"), nearest=figures(text))
        st.session_state[f"{key}.{TOLD}"] = told


def read(typed: str) -> float:
    """A number with a decimal point or a decimal comma; not a number where it is none.

    >>> read("0.5"), read("0,5"), read("1.000,5")
    (0.5, 0.5, nan)
    """
    try:
        return float(typed.replace(",", "."))
    except ValueError:
        return math.nan


WORKING = ":material/rule: Working out what is proved at this budget…"


def place() -> DeltaGenerator:
    """Where the slider and its meaning go, at the foot of the window."""
    with st.bottom:
        st.html(STYLE)
        return st.container()


def halves() -> list[DeltaGenerator]:
    """The places of the slider and of its meaning, side by side."""
    return st.columns([5, 6], gap="medium", vertical_alignment="center")


def meaning(view: View) -> None:
    """The guarantee of the method that is looked at: its ruler, its marks in words, and the odds.

    An accountant may take seconds: what it works out now is drawn when it is there.
    """
    guarantee = view.known(view.method, view.budget)
    if guarantee is None and DESK.ask([view.asked(view.method, view.budget)], urgent=True):
        st.markdown(WORKING)
        return
    drawn, told, odds = marks(view, guarantee or view.guarantee())
    st.html(drawn)
    st.markdown(f"{told}  \n{odds}")


def marks(view: View, guarantee: Guarantee) -> tuple[str, str, str]:
    """The ruler of the method that is looked at as HTML, and its marks and odds in Markdown."""
    found = attack.attacked(view)
    known = ruler.marks(guarantee, None if found is None else found.bound)
    shown = attack.NOT_YET if found is None else found.said
    right = ceiling.share(view)
    told = ruler.told(view.watched[view.method].label, guarantee, known, shown)
    beaten = any(one.kind == "proved" and one.broken for one in known)
    return ruler.drawn(known), told, chances(guarantee, right, beaten=beaten)


def chances(guarantee: Guarantee, right: float | None, *, beaten: bool = False) -> str:
    """The odds in one sentence; weak where the guess is nearly always right.

    Args:
        guarantee: The card.
        right: The largest share of right guesses; None where nothing limits it.
        beaten: Whether an attack passes what is proved.
    """
    if right is None:
        return words.odds(None, 0.0, guarantee.relation, guarantee.unit)
    if beaten:
        return (
            f"The attack guesses correctly whether {guarantee.unit} is in the data more often than "
            f"the **{words.out_of_100(right)} times out of 100** that the proof allows."
        )
    weak = " This is weak protection." if right >= WEAK else ""
    return (
        f"A guess about whether {guarantee.unit} is in the data is right at most "
        f"**{words.out_of_100(right)} times out of 100** (blind guessing: 50).{weak}"
    )
