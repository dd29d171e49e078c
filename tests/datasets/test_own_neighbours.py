"""Tables of one's own that differ in one record, drawn at random: the others are read alike.

Else one record would change all others, and no bound on what a record can change would hold.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from datasets import catalog, own
from engine.core.errors import ExplorerError

Draw = Callable[[random.Random], str]


def among(words: str) -> Draw:
    """One of some words."""
    return lambda rng: rng.choice(words.split())


FORMS: dict[str, Draw] = {
    "digits": lambda rng: str(rng.randint(0, 9)),
    "numbers": lambda rng: str(rng.randint(0, 99)),
    "decimals": lambda rng: f"{9 * rng.random():.2f}",
    "whole decimals": lambda rng: f"{rng.randint(0, 3)}.0",
    "leading zeros": lambda rng: f"0{rng.randint(0, 3)}",
    "decimal commas": lambda rng: f"{rng.randint(0, 9)},{rng.randint(0, 99)}",
    "thousands": lambda rng: f"{rng.randint(1, 9)},{rng.randint(100, 999)}",
    "millions": lambda rng: f"{rng.randint(1, 9)},{rng.randint(100, 999)},000",
    "powers": lambda rng: f"{rng.randint(1, 9)}e{rng.randint(0, 3)}",
    "negative": lambda rng: str(-rng.randint(0, 9)),
    "year first": lambda rng: f"2020-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
    "month or day": lambda rng: f"0{rng.randint(1, 9)}/0{rng.randint(1, 9)}/2020",
    "day first": lambda rng: f"{rng.randint(13, 28)}/0{rng.randint(1, 9)}/2020",
    "points": lambda rng: f"1{rng.randint(0, 9)}.0{rng.randint(1, 9)}.2020",
    "0 or 1": among("0 1"), "1 or 2": among("1 2"), "-1 or 1": among("-1 1"), "1": among("1"),
    "yes": among("yes no"), "true": among("true false"), "dead": among("dead alive"),
    "events": among("event censored"), "sexes": among("female male"), "letters": among("a b m"),
    "words": among("x1 x2 x3"), "blanks": among("NA ? none"), "about": among("ca_5 ca_60"),
    "many words": lambda rng: f"w{rng.randint(0, 999)}",
}  # fmt: skip
PLAIN = ("digits", "numbers", "decimals", "whole decimals", "0 or 1", "year first", "thousands",
         "decimal commas", "month or day")  # fmt: skip
NAMES = ("age", "sex", "weeks", "status", "died", "x", "dose", "year", "bmi", "event", "index",
         "class", "start", "group", "enrolled", "t", "month", "treatment", "name")  # fmt: skip
CATEGORIES = ('["0", "1", "2", "3"]', '["yes", "no"]', '["a", "b", "m"]', '["01", "1", "2"]')
ROWS = 30


def said(rng: random.Random, kind: str, columns: dict[str, str]) -> str:
    """Settings that state most of the columns."""
    lines = [f'kind = "{kind}"']
    lines += [f'decimal = "{rng.choice(",.")}"'] if rng.random() < 0.25 else []
    for key, form in columns.items():
        if key in ("days", "fustat", "label") or rng.random() < 0.1:
            continue
        lines.append(f"[columns.{key}]")
        if rng.random() < (0.9 if form in PLAIN else 0.3):
            lines.append(f"low = {rng.choice((0, -5))}\nhigh = {rng.choice((10, 100, 20_000))}")
        elif rng.random() < 0.6:
            lines.append(f'role = "categories"\ncategories = {rng.choice(CATEGORIES)}')
        else:
            lines.append('role = "left out"')
    return "\n".join(lines) + '\n[columns.days]\nrole = "time"\nhigh = 1000' * (kind == "survival")


def pair(seed: int) -> tuple[str, tuple[str, str]]:
    """Settings, and two files that differ in the last row."""
    rng = random.Random(seed)
    kind, mark = rng.choice(("survival", "classes")), rng.choice(",,;\t")
    forms = [*FORMS] if rng.random() < 0.5 else [*PLAIN]
    columns = {key: rng.choice(forms) for key in rng.sample(NAMES, rng.randint(1, 4))}
    two = ("0 or 1", "1 or 2", "yes", "dead", "1", "-1 or 1", "true", "events")
    if kind == "survival":
        columns = {"days": "numbers", "fustat": rng.choice(two)} | columns
    else:
        columns |= {"label": rng.choice(("0 or 1", "yes", "true", "1 or 2", "sexes"))}

    def row(odd: float) -> list[str]:
        some = [rng.choice([*FORMS]) if rng.random() < odd else one for one in columns.values()]
        return [FORMS[form](rng) for form in some]

    rows = [row(0.0) for _ in range(ROWS)]
    if rng.random() < 0.3:
        rows[rng.randrange(ROWS)] = row(0.5)
    settings, usual, odd = said(rng, kind, columns), row(0.0), row(0.5)
    ends = usual, [rng.choice(cells) for cells in zip(usual, odd, strict=True)]
    typed = (
        "\n".join(
            mark.join(f'"{cell}"' if mark in cell else cell for cell in line)
            for line in ([*columns], *rows, end)
        )
        for end in ends
    )
    one, two_ = typed
    return settings, (one, two_)


def released(text: str, settings: str) -> Any:
    """The table; None where it cannot be read, or where nothing is released of it."""
    try:
        name = own.keep("a.csv", text.encode(), settings, accept=True)
    except ExplorerError:
        return None
    table = catalog.load(name)
    own.remove(name)
    return None if table.card.taken else table


def compared(seed: int) -> bool:
    """Whether both tables of a pair may be released; then all but their last rows are equal."""
    settings, texts = pair(seed)
    one, two = (released(text, settings) for text in texts)
    if one is None or two is None:
        return False
    for part in ("features", "units", "public", "summary", "bounds", "classes"):
        assert getattr(one.card, part) == getattr(two.card, part), (seed, part)
    for part in ("x", "y", "time", "event"):
        if hasattr(one, part):
            first, second = getattr(one, part)[:ROWS], getattr(two, part)[:ROWS]
            np.testing.assert_array_equal(first, second, f"seed {seed}, {part}")
    return True


@pytest.mark.parametrize(
    ("seeds", "least"),
    [(range(400), 10), pytest.param(range(400, 3400), 100, marks=pytest.mark.thorough)],
)
def test_of_two_random_neighbours_the_other_records_are_read_alike(
    seeds: range, least: int, tmp_path, monkeypatch
):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    assert sum(map(compared, seeds)) >= least  # else the pairs would show nothing
