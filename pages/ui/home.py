"""The words of the first page, which the app and the static pages share."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from datasets import catalog as data_catalog
from engine import catalog
from pages.ui.messages import SOURCE, language, tr
from pages.ui.paper import defaults
from pages.ui.paper.said import say
from pages.ui.paper.sketches import Sketch
from pages.ui.words import best_guess, filled, out_of_100, simulated

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def text(name: str, **facts: object) -> str:
    """One of its texts."""
    return say(WORDS, name, facts)


def found(slug: str, sketch: Sketch) -> str:
    """What was found in a paper, with a mark where it opens with simulated data."""
    card = data_catalog.card(catalog.paper(slug).datasets[0])
    said = sketch.found.get(language(), sketch.found[SOURCE])
    return f"{said}{simulated(card.simulated)}"


def about(slug: str) -> str:
    """What a paper is about: the first sentence of its page, or what the paper claims."""
    words = defaults.layout(slug).words
    return tr(first(words)) if words else catalog.paper(slug).claim


def first(words: str) -> str:
    """The first sentence of a text."""
    return words.partition(". ")[0].rstrip(".") + "."


def stops() -> dict[float, str]:
    """Budgets that the curve names."""
    return {float(epsilon): words for epsilon, words in WORDS["stops"].items()}


def examples() -> Iterator[tuple[float, int, str, str]]:
    """Budgets: each with the dots it fills, how often a guess is right, and what that means."""
    for epsilon, meaning in WORDS["examples"].items():
        chance = best_guess(float(epsilon))
        yield float(epsilon), filled(chance), text("right", most=out_of_100(chance)), tr(meaning)
