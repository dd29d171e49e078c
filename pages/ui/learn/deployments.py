"""Budgets that organisations have published, each with the text that states it.

They stand in `deployments.yaml`, in the form of the public registry of deployments. What the user
has taken from the registry itself is shown in their place (`engine.yours.registry_list`).
"""

import re
from datetime import date
from pathlib import Path

from babel.dates import format_date

from engine.yours import deployments, registry_list
from pages.ui import words
from pages.ui.messages import language, numbered, tr

UNKNOWN = deployments.UNKNOWN


LIST = deployments.read(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
NOTE = (
    "δ is 0 or not stated where none is given. *Unknown*: the source's summary gives no ε, and "
    "public lists give different ones. Apple's phones add the noise before anything is sent. The "
    "method of the census: [Abowd et al. 2022](https://doi.org/10.1162/99608f92.529e3cb9). More "
    "budgets: [the public registry](https://registry.opendp.org/)."
)
TAKEN = (
    "From [the public registry](https://registry.opendp.org/), taken on {date}. The registry "
    "states no licence, so its entries are not part of this program. *Unknown*: the entry gives "
    "no ε. ρ is the budget of zero-concentrated privacy."
)
LINK = re.compile(r"https?://[^\s()<>\[\]\\]+")
"""An address that is a link as it stands."""


def shown() -> tuple[list[dict[str, str]], str]:
    """A table of the budgets in this language, and the note below it."""
    taken = registry_list.kept()
    if taken is None:
        return [_row(one, own=True) for one in LIST], tr(NOTE)
    day = format_date(date.fromisoformat(taken.date), format="long", locale=language())
    return [_row(one, own=False) for one in taken.entries], tr(TAKEN).format(date=day)


def _row(one: deployments.Deployment, *, own: bool) -> dict[str, str]:
    """An entry of the own list, translated, or one of the registry, whose texts are no Markdown."""

    def said(text: str) -> str:
        return tr(text) if own or text == UNKNOWN else words.escaped(text)

    links = [
        f"[{words.escaped(title)}]({url})" if LINK.fullmatch(url) else words.escaped(title)
        for title, url in one.sources
    ]
    return {
        tr("Organisation"): said(one.who),
        tr("What"): said(one.what),
        "ε": numbered(said(one.epsilon)),
        tr("Protects"): numbered(said(one.unit)) if own else said(one.unit),
        tr("Source"): ", ".join(links),
    }
