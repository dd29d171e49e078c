"""A widget for each setting, drawn from its declaration alone."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.core.spec import Knob, Setting
from pages.ui.kit import address
from pages.ui.kit.glossary import linked
from pages.ui.kit.lock import locked
from pages.ui.kit.offers import Offer

LETTERS = {
    r"\varepsilon": "ε", r"\delta": "δ", r"\Lambda": "Λ", r"\lambda": "λ", r"\gamma": "γ",
    r"\alpha": "α", r"\rho": "ρ", r"\eta": "η", r"\sigma": "σ", r"\Omega": "Ω", r"\omega": "ω",
    r"\Delta": "Δ", r"\min": "min", r"\max": "max", r"\ell": "ℓ", r"\tau": "τ", r"\beta": "β",
    r"\theta": "θ", r"\kappa": "κ", r"\varphi": "φ", r"\mu": "μ", r"\iota": "ι", r"\hat": "",
    r"\tilde": "", r"\bar": "", r"\epsilon": "ϵ",
}  # fmt: skip
"""How the Greek letters of declarations are written."""
SIDE_BY_SIDE = 4
"""Up to so many short names are shown side by side; more go into a list."""


def widget(
    slug: str,
    offer: Offer,
    setting: Setting,
    idle: str = "",
    then: Callable[[], None] | None = None,
) -> str:
    """Draws the widget of a knob or a choice and returns the chosen text.

    The address holds that text under `slug.field`. Where there is only one, the widget is grey.

    Args:
        slug: What the name in the address begins with.
        offer: What can be chosen.
        setting: The knob or choice.
        idle: Why it changes nothing now, in a few words; it is then grey.
        then: Called once a slider has moved, before anything is drawn.
    """
    draw, key, said = st.container(), f"{slug}.{offer.field}", explain(setting)
    name = f"{label(setting)} ({idle})" if idle else label(setting)
    off = bool(idle) or locked(key)
    if len(offer.texts) == 1:
        return pick(slug, offer, name, said, draw.selectbox, off=True)
    if isinstance(setting, Knob):
        kind: Callable[..., Any] = partial(draw.select_slider, value=offer.default, on_change=then)
    elif len(offer.texts) <= SIDE_BY_SIDE and sum(map(len, offer.texts)) <= 32:
        kind = partial(draw.segmented_control, default=offer.default, required=True)
    else:
        return pick(slug, offer, name, said, draw.selectbox, off=off)
    return str(kind(name, offer.texts, key=key, help=said, bind="query-params", disabled=off))


def pick(
    slug: str, offer: Offer, title: str, help: str, draw: Callable[..., Any], *, off: bool = False
) -> str:
    """A list to choose one of the offered texts from, drawn as a select box or as radio buttons."""
    index, key = offer.texts.index(offer.default), f"{slug}.{offer.field}"
    return str(
        draw(
            title, offer.texts, index, key=key, help=linked(help), bind="query-params",
            disabled=off or locked(key),
        )
    )  # fmt: skip


def menu(slug: str, offer: Offer, title: str, help: str, icon: str) -> None:
    """A button that names what is chosen, and opens the list of the others on request."""
    key = f"{slug}.{offer.field}"
    kept = str(offer.text(address.value(slug, offer)))
    _place(key).menu_button(
        f"{title}: {kept}", offer.texts, key=f"{key}.menu", help=help, icon=icon, type="tertiary",
        format_func=lambda text: f"**{text}**" if text == kept else text,
        on_click=lambda: address.put(slug, offer, str(st.session_state[f"{key}.menu"])),
        disabled=locked(key),
    )  # fmt: skip


def either(slug: str, offer: Offer, names: Mapping[str, str], help: str, icon: str) -> None:
    """A button that chooses the other one of two texts.

    Args:
        slug: What the name in the address begins with.
        offer: The two texts.
        names: What the button says to choose each of them.
        help: What they mean.
        icon: The icon on the button.
    """
    key = f"{slug}.{offer.field}"
    kept = offer.text(address.value(slug, offer))
    other = next(text for text in offer.texts if text != kept)
    _place(key).button(
        names[other], key=f"{key}.other", help=help, icon=icon, type="tertiary",
        on_click=address.put, args=(slug, offer, other), disabled=locked(key),
    )  # fmt: skip


def _place(key: str) -> DeltaGenerator:
    """A place by whose name a lesson hides what it holds."""
    return st.container(key=key, width="content")


def label(setting: Setting) -> str:
    """The setting's name and, where it has one, its symbol."""
    symbol = f" {plain(setting.symbol)}" if setting.symbol else ""
    unit = f" [{setting.unit}]" if isinstance(setting, Knob) and setting.unit else ""
    return f"{setting.label}{symbol}{unit}"


def plain(symbol: str) -> str:
    r"""A symbol without LaTeX, so that it is read aloud as a letter.

    >>> plain(r"\varepsilon_1/\varepsilon"), plain(r"\alpha_{\min}"), plain("q")
    ('ε1/ε', 'α min', 'q')
    """
    for name, letter in LETTERS.items():
        symbol = symbol.replace(name, letter)
    symbol = re.sub(r"_\{\s*([^}]*)\}", r" \1", symbol)
    return " ".join(re.sub(r"[{}_\\$]|mathrm|mathbf|lvert|rvert", "", symbol).split())


def explain(setting: Setting) -> str:
    """What grows when it grows, the formula in which it acts, and where that stands."""
    parts = [linked(setting.help)]
    if isinstance(setting, Knob) and setting.equation:
        parts.append(f"$${setting.equation}$$")
    if setting.source:
        parts.append(f"*{setting.source}*")
    return "\n\n".join(part for part in parts if part)
