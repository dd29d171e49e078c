"""Learn as data: `screens.toml` holds the words, the controls and the questions of every screen."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.declared import fixed, read
from pages.ui.learn import maths
from pages.ui.messages import numbered, tr
from pages.ui.paper.said import say

MINUTES = 10
"""Minutes that the page takes to read."""
FACTS: Mapping[str, object] = {
    "minutes": MINUTES, "few": maths.FEW, "others": maths.FEW - 1, "bound": maths.COUNTS,
    "count": maths.COUNT, "present": maths.COUNT + 1, "each": maths.EACH, "lost": maths.LOST,
    "unit": maths.UNIT,
}  # fmt: skip
"""Numbers that any text may name."""


@dataclass(frozen=True)
class Control:
    """What a visitor moves.

    Attributes:
        name: In the address, after "learn.".
        label: What it says.
        help: What happens when it grows.
        options: Its stops; empty where `pictures` lists them.
        default: Where it stands first; empty for the first option.
        lists: Whether its stops are names in a list, and no slider.
    """

    name: str
    label: str
    help: str
    options: tuple[str, ...] = ()
    default: str = ""
    lists: bool = False

    @property
    def key(self) -> str:
        """Its name in the address."""
        return f"learn.{self.name}"


@dataclass(frozen=True)
class Ask:
    """What a visitor predicts before a screen shows anything.

    Attributes:
        text: The question.
        options: What may be answered.
        slider: Whether the options lie on a slider, so that an answer can be near.
        span: The lowest and the highest whole number, in the place of options.
        unit: What one step between two options is.
    """

    text: str
    options: tuple[str, ...] = ()
    slider: bool = False
    span: tuple[int, ...] = ()
    unit: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """What may be answered, in order."""
        return tuple(map(str, range(self.span[0], self.span[1] + 1))) if self.span else self.options


@dataclass(frozen=True)
class Screen:
    """One idea.

    Attributes:
        name: In the address.
        title: What the idea says.
        text: Two or three sentences.
        formula: What is behind it, in Markdown with LaTeX.
        control: What moves its picture.
        ask: What is predicted first.
        said: Its sentences by name; "finding" says what the picture shows.
        plays: Whether its picture is a game.
    """

    name: str
    title: str
    text: str
    formula: str
    control: Control
    ask: Ask
    said: Mapping[str, str]
    plays: bool = False

    def says(self, name: str, facts: Mapping[str, object] | None = None) -> str:
        """A sentence of its own, with its facts and the numbers of all texts."""
        return say(self.said, name, {**FACTS, **(facts or {})})


@dataclass(frozen=True)
class Question:
    """One of the questions that are asked before and after.

    Attributes:
        text: The question.
        options: What may be answered.
        answer: Position of the right option, from 1.
        why: Why it is right.
    """

    text: str
    options: tuple[str, ...]
    answer: int
    why: str


def filled(text: str, facts: Mapping[str, object] | None = None) -> str:
    """A text with the numbers in its braces."""
    return say({"": text}, "", {**FACTS, **(facts or {})})


def option(text: str) -> str:
    """An answer as it may be chosen: translated, or its number as this language writes it."""
    return numbered(text) if tr(text) == text else tr(text)


def _screen(raw: Mapping[str, Any]) -> Screen:
    return Screen(**{**raw, "control": Control(**raw["control"]), "ask": Ask(**raw["ask"])})


RAW = fixed(read(Path(__file__).with_name("screens.toml")))
WORDS: Mapping[str, str] = RAW["words"]
QUIZ: Mapping[str, str] = RAW["quiz"]
SCREENS = {raw["name"]: _screen(raw) for raw in RAW["screens"]}
QUESTIONS = tuple(Question(**raw) for raw in RAW["questions"])
ONLY, FORMULAS = "learn.screen", "learn.formulas"
"""Which screen is shown alone, and whether formulas are shown."""
CONTROLS: dict[str, tuple[str, ...]] = {
    ONLY: tuple(SCREENS),
    FORMULAS: ("true", "false"),
    **{one.control.key: one.control.options for one in SCREENS.values() if one.control.options},
    "learn.bound": tuple(f"{bound:g}" for bound in maths.BOUNDS),
}
"""The controls by their names in the address, with the texts that each may take."""
