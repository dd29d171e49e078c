"""Which windows are trained on and which are tested on, in words, for use elsewhere. No torch."""

from typing import Any

from datasets.base import Card
from engine.core import declared
from engine.papers.dbn.yesiwell.spec import YesiwellSpec

GOLDEN = 0.6180339887498949
"""Spreads the stretches of successive seeds evenly over all times."""
TEST = 28
"""Most times that follow the training data and are predicted one by one."""
HELD_OUT = 0.1
"""Share of windows that are tested on in the classification task (Section 4.1.2)."""


def model(spec: YesiwellSpec, card: Card) -> dict[str, Any]:
    """The stretch of time that each seed trains on, what it is tested on, and the parameters."""
    ahead = spec.task == "prediction"
    spare = f"min({TEST}, max(1, (times - history - 1) // 2)) + 1" if ahead else "0"
    tested = (
        f"It is tested on the next {TEST} times, or as many as there are, one by one: a window of "
        f"{spec.window} times says what the time behind it holds."
        if ahead
        else f"Windows of {spec.window} times end within it, in the order of users and times. "
        "It is tested on those where numpy.random.default_rng(s).random(windows) is below "
        f"{HELD_OUT}."
    )
    return {
        "history": spec.history,
        "split": "Times count from 0. Seed s trains on `history` times, the first of which is the "
        f"whole part of ((0.5 + {GOLDEN} s) mod 1) (times - history - spare + 1), where spare is "
        f"{spare}. {tested} `test_predictions` are of the tested windows, user by user and in the "
        "order of time; 255 stands behind the last.",
        "attributes": list(card.features),
        "parameters": dict(declared.kind(__package__, "model")["parameters"]),
    }
