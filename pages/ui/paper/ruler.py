"""The ruler of a page's foot: claimed, proved and attacked on one line, for the lay reader."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.privacy.guarantee import Guarantee
from pages.ui import words
from pages.ui.kit import card, glossary
from pages.ui.kit.style import sheet

SLACK = 1e-6
"""A claim is broken by more than this part of it."""
UNBROKEN = "\u00a0"
SIGNS = {"claimed": "◆", "proved": "■", "attacked": "▲"}
STYLE = sheet(__file__)


@dataclass(frozen=True)
class Mark:
    """A mark of the ruler.

    Attributes:
        kind: What it stands for, one of SIGNS.
        epsilon: The budget; infinite where nothing limits it.
        broken: Whether it does not hold: an attack passes it, or the proof of a claim says more.
    """

    kind: str
    epsilon: float
    broken: bool = False

    @property
    def place(self) -> float:
        """Where it stands: how much better than guessing blindly a guess can be, from 0 to 1."""
        return 2.0 * words.best_guess(self.epsilon) - 1.0


def marks(guarantee: Guarantee, attacked: float | None) -> list[Mark]:
    """The marks of a card, and of an attack where there is one."""
    claimed, proved = guarantee.epsilon_claimed, guarantee.epsilon_proved
    known = [value for value in (proved, attacked) if value is not None]
    passed = attacked is not None and proved is not None and attacked > proved * (1.0 + SLACK)
    found = [Mark("proved", math.inf if proved is None else proved, passed)]
    if claimed is not None:
        over = any(value > claimed * (1.0 + SLACK) for value in known)
        found.insert(0, Mark("claimed", claimed, over))
    if attacked is not None:
        found.append(Mark("attacked", attacked))
    return found


def drawn(known: Sequence[Mark]) -> str:
    """The ruler as HTML."""
    signs = "".join(
        f'<b class="{one.kind}{" broken" * one.broken}" style="left: {100 * one.place:.1f}%">'
        f"{SIGNS[one.kind]}</b>"
        for one in known
        if math.isfinite(one.epsilon)
    )
    said = ", ".join(f"{one.kind} {words.number(one.epsilon)}" for one in known)
    return (
        f'{STYLE}<div class="ruler" role="img" aria-label="From nothing leaks to everything leaks: '
        f'privacy budget ε {said}"><span>nothing leaks</span><div><hr>{signs}</div>'
        "<span>everything leaks</span></div>"
    )


def told(name: str, guarantee: Guarantee, known: Sequence[Mark], shown: str) -> str:
    """The marks in words, in Markdown; what an attack passes is red.

    Args:
        name: The method.
        guarantee: Its card.
        known: The marks.
        shown: What an attack has shown, in words.
    """
    parts = []
    for one in known:
        term, sign = glossary.link(one.kind.capitalize(), one.kind), f"{SIGNS[one.kind]}{UNBROKEN}"
        value = words.number(one.epsilon)
        if one.kind == "attacked":
            value = shown
        elif not math.isfinite(one.epsilon):
            parts.append(f"{sign}:red[**no proof**]")
            continue
        text = f"{value}{card.bracket(guarantee)}" if one.kind == "proved" else value
        assumed = one.kind == "proved" and guarantee.status == "proved_under_assumption"
        how = "under an assumption that the attack breaks" if assumed else "broken"
        broken = f":red[{sign}{one.kind} **{text}**, {how}]"
        parts.append(broken if one.broken else f"{sign}{term} **{text}**")
    if not any(one.kind == "attacked" for one in known):
        parts.append(
            f"{SIGNS['attacked']}{UNBROKEN}{glossary.link('Attacked', 'attacked')} **{shown}**"
        )
    return f"**{name}** · {' · '.join(parts)}"
