"""The guarantee card: what is claimed, what is proved, for whom, and why."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from datasets.base import Card
from engine.core.spec import Spec
from engine.method import Entry
from engine.privacy.guarantee import RELATIONS, STATUSES, Guarantee, Status
from engine.runs.job import refusal
from pages.ui import words
from pages.ui.kit.glossary import linked
from pages.ui.kit.late import DESK, Asked

ICONS: dict[Status, str] = {
    "proved": ":material/verified:",
    "proved_under_assumption": ":material/rule:",
    "heuristic": ":material/science:",
    "not_private": ":material/lock_open:",
}
COLOURS: dict[Status, str] = {
    "proved": "green",
    "proved_under_assumption": "blue",
    "heuristic": "violet",
    "not_private": "gray",
}
MEANING: dict[Status, str] = {
    "proved": "The bound holds as it stands.",
    "proved_under_assumption": "The bound holds if what is listed below holds.",
    "heuristic": "An argument, not a proof. Do not rely on it for real data.",
    "not_private": "For comparison only. Not private.",
}


REASONS = "Why this status"
_CARDS: dict[Asked, Guarantee] = {}
"""Kept because an accountant may take seconds; shared by all sessions, since no data are read."""
MOST = 4096


def guarantee(entry: Entry[Any], spec: Spec, data: Card) -> Guarantee:
    """A method's card; the first answer may take an accountant seconds, in another process."""
    card = known(entry, spec, data)
    if card is None:
        DESK.wait((entry, spec, data), lambda: known(entry, spec, data) is not None)
        card = known(entry, spec, data)
    if card is None:  # nobody can be asked, or the answer is an error
        card = _CARDS[entry, spec, data] = _promised(entry, spec, data)
    return card


def known(entry: Entry[Any], spec: Spec, data: Card) -> Guarantee | None:
    """A method's card if it takes no time; None if an accountant would have to be asked."""
    from engine.privacy.answers import UnansweredError, at_once

    key = (entry, spec, data)
    if len(_CARDS) >= MOST:
        _CARDS.clear()
    if key not in _CARDS:
        with suppress(UnansweredError), at_once():
            _CARDS[key] = _promised(entry, spec, data)
    return _CARDS.get(key)


def _promised(entry: Entry[Any], spec: Spec, data: Card) -> Guarantee:
    """A method's card; nothing is proved where its run refuses the data set."""
    card, said = entry.promise(spec, data), refusal(entry, data.name).partition(": ")[2]
    if not said:
        return card
    reason = f"{said[0].upper()}{said[1:]}."
    return replace(card, status="heuristic", epsilon_proved=None, reasons=(reason, *card.reasons))


def show(title: str, card: Guarantee, right: float | None = None) -> None:
    """Draws the whole card of one method.

    Args:
        title: The method.
        card: Its card.
        right: The largest share of right guesses, where more is known than ε and δ.
    """
    with st.container(border=True):
        st.markdown("\n\n".join([f"#### {title}", *told(card, right)]))
        st.table(dict(facts(card)), border="horizontal")
        if text := reasons(card):
            with st.expander(REASONS, icon=":material/menu_book:"):
                st.markdown(text)


def told(card: Guarantee, right: float | None = None) -> list[str]:
    """What a card says in sentences; arguments as those of `show`."""
    said = [badge(card), MEANING[card.status]]
    if card.status != "not_private":
        known = card.epsilon_proved, card.delta, card.relation, card.unit
        said.append(words.odds(*known, right))
    if card.failure and card.epsilon_proved is not None:
        said.append(f"δ is {card.failure}.")
    if excess := less(card):
        said.append(excess)
    return said


def reasons(card: Guarantee) -> str:
    """Why a card has its status, and the claim, as Markdown; empty where there is no reason."""
    if not card.reasons:
        return ""
    claim = f"\n\nThe claim: {card.claim}" if card.claim else ""
    return "\n".join(f"- {reason}" for reason in (*card.reasons, *card.limits)) + claim


def less(card: Guarantee) -> str:
    """In red words, that more is spent than is claimed; empty where it is not."""
    claimed, proved = card.epsilon_claimed, card.epsilon_proved
    if claimed is None or proved is None or proved <= claimed * (1 + 1e-6):
        return ""
    return (
        f":red[:material/gpp_bad: **Protects less than claimed**: ε = {words.number(proved)} "
        f"instead of {words.number(claimed)}.]"
    )


def badge(card: Guarantee) -> str:
    """The status in words, with its icon and colour, as Markdown."""
    return f":{COLOURS[card.status]}-badge[{ICONS[card.status]} {STATUSES[card.status]}]"


def lines(labels: Sequence[str], cards: Sequence[Guarantee]) -> dict[str, list[str]]:
    """Several methods' cards in a line each, as the columns of a table."""
    return {
        "Method": list(labels),
        "Claimed ε": [_epsilon(card.epsilon_claimed) for card in cards],
        "Proved ε": [f"{_epsilon(card.epsilon_proved)}{bracket(card)}" for card in cards],
        "Status": [
            f":{COLOURS[card.status]}[{ICONS[card.status]} {STATUSES[card.status]}]"
            for card in cards  # a badge would not break its line on a narrow screen
        ],
    }


def chance(card: Guarantee) -> str:
    """The δ of a card, what is added to its bound; empty where it is zero."""
    return "unknown" if card.failure else words.number(card.delta) if card.delta else ""


def bracket(card: Guarantee) -> str:
    """The δ of a card behind its proved budget, with a space before it.

    Empty where δ is zero, and where nothing is proved.
    """
    if card.epsilon_proved is None or not chance(card):
        return ""
    return f" (δ\u00a0{'is' if card.failure else '='}\u00a0{chance(card)})"


def _epsilon(value: float | None) -> str:
    return "none" if value is None else words.number(value)


def line(card: Guarantee) -> str:
    """The card in one line, for captions and lists."""
    if card.epsilon_proved is None:
        return f"{STATUSES[card.status].lower()}: no proof"
    delta = f", δ {'=' if card.delta else 'is'} {chance(card)}" if chance(card) else ""
    proved = f"ε = {words.number(card.epsilon_proved)}{delta}"
    return f"{STATUSES[card.status].lower()}: {proved}, {RELATIONS[card.relation]}"


def facts(card: Guarantee) -> list[tuple[str, str]]:
    """What the card states, by heading; what it leaves open is left out."""
    claimed = "" if card.epsilon_claimed is None else f"ε = {words.number(card.epsilon_claimed)}"
    proved = (
        "no proof" if card.epsilon_proved is None else f"ε = {words.number(card.epsilon_proved)}"
    )
    facts = [
        (card.claimant, claimed),
        ("Can be proved", proved),
        ("Failure probability δ", card.failure or chance(card) or "0"),
        ("Protects", f"{card.unit}: {RELATIONS[card.relation]}"),
        ("Noise", card.mechanism),
        ("What is published", ", ".join(card.released)),
        ("Computed by", card.accountant),
        ("Sampling", card.sampling),
    ]
    if card.status == "not_private":
        facts = [fact for fact in facts if fact[0] in ("Noise", "What is published")]
    return [(linked(name), text) for name, text in facts if text]
