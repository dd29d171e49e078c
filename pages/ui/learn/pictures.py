"""What each screen of Learn shows at a stop of its control, and what its question's answer is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.papers.mean.spec import MeanSpec
from engine.privacy.mechanisms import Laplace
from engine.runs import audits
from engine.runs.results import Results
from pages.ui import words
from pages.ui.charts import attack as attack_charts
from pages.ui.charts.dots import dots
from pages.ui.charts.figure import Figure
from pages.ui.charts.measured import curve
from pages.ui.kit import shell
from pages.ui.kit.labels import label
from pages.ui.learn import figures, maths
from pages.ui.learn.declared import SCREENS, WORDS, Screen, filled, option
from pages.ui.messages import SOURCE, numbered, spoken, tr
from pages.ui.paper import sketches
from pages.ui.paper.said import Named
from pages.ui.papers.mean.sections import lowered

LEARNED = ("survival", 0.1)
"""Paper and budget of the question where a curve falls."""


@dataclass(frozen=True)
class Shown:
    """A screen at one stop.

    Attributes:
        facts: What its sentences name.
        figure: Its chart; None for none.
        rows: The chart's numbers.
        budget: The chart's budget.
        image: A picture that is no chart, as SVG; empty for none.
        more: What follows, in Markdown.
        leads: The page that it leads to; empty for none.
    """

    facts: Mapping[str, object]
    figure: Figure | None = None
    rows: Sequence[dict[str, Any]] = ()
    budget: float = 0.0
    image: str = ""
    more: str = ""
    leads: str = ""


def _count(screen: Screen, text: str, results: Results | None) -> Shown:
    """Two overlapping densities."""
    epsilon = float(text)
    found = maths.densities(epsilon)
    names = {key: screen.says(key) for key in ("without", "present", "overlap", "x", "y")}
    pairs = zip(found.x[::20], found.without[::20], found.present[::20], strict=True)
    rows = [
        {names["x"]: float(x), names["without"]: float(a), names["present"]: float(b)}
        for x, a, b in pairs
    ]
    off = Laplace(1.0, epsilon).scale
    facts = {
        "epsilon": epsilon, "off": off, "shared": found.overlap,
        "people": Named("person" if words.number(off, 2) == "1" else "people"),
        "right": _out_of_100(maths.guesses(found.overlap)),
    }  # fmt: skip
    return Shown(facts, figures.overlap(found, epsilon, names), rows, epsilon)


def _out_of_100(chance: float) -> str:
    """A chance out of 100, in whole numbers; no budget gives certainty."""
    count = f"{100 * chance:.0f}"
    return numbered(f"{100 * chance:.1f}") if count == "100" else count


def _caught(epsilon: float) -> int:
    """How many of 100 guesses from one count are right."""
    return round(100 * maths.guesses(maths.densities(epsilon).overlap))


def _attacker(screen: Screen, text: str, results: Results | None) -> Shown:
    """The game: its chart is drawn round by round."""
    right = maths.guesses(maths.densities(float(text)).overlap)
    return Shown({"epsilon": float(text), "most": numbered(f"{100 * right:.3g}")})


def _odds(screen: Screen, text: str, results: Results | None) -> Shown:
    """One hundred dots."""
    chance = words.best_guess(float(text))
    count = words.filled(chance)
    return Shown({"right": words.out_of_100(chance), "dots": count}, image=dots(count))


def _clipping(screen: Screen, text: str, results: Results | None) -> Shown:
    """Bias against noise; the bias comes from a run on real records."""
    bound, noise = float(text), maths.deviations()
    names = {key: screen.says(key) for key in ("noise", "bias", "both", "x", "y")}
    bias, expected = (
        None if results is None else curve(results, name, name, 0, "bound")
        for name in ("bias", "expected")
    )
    if bias is not None:
        bias = replace(bias, middle=tuple(map(lowered, bias.middle, bias.epsilon)))
    places = [None if bias is None else bias.at(one) for one in maths.BOUNDS]
    known = [None if at is None or bias is None else bias.middle[at] for at in places]
    rows = [
        {names["x"]: b, names["noise"]: n, names["bias"]: k}
        for b, n, k in zip(maths.BOUNDS, noise, known, strict=True)
    ]
    at = maths.BOUNDS.index(bound)
    facts = {
        "noise": noise[at], "known": known[at] is not None, "bias": known[at] or 0.0,
        "waiting": known[at] is None, "epsilon": MeanSpec.epsilon,
    }  # fmt: skip
    drawn = figures.clipping(maths.BOUNDS, noise, bias, expected, bound, names)
    return Shown(facts | {"bound": bound}, drawn, rows, bound)


def _answers(screen: Screen, text: str, results: Results | None) -> Shown:
    """Budgets of many answers add up."""
    count, total = int(text), maths.total(int(text))
    names = {key: screen.says(key) for key in ("most", "chosen", "x", "y")}
    facts = {
        "answers": count, "total": total, "off": maths.average_off(count),
        "SINGLE": count == 1, "SEVERAL": count > 1,
        "right": words.out_of_100(words.best_guess(total)),
    }  # fmt: skip
    rows = [
        {names["x"]: n, "ε": maths.total(n), names["y"]: words.best_guess(maths.total(n))}
        for n in map(int, options(screen))
    ]
    return Shown(facts, figures.answers(count, names), rows, total)


def _attacks() -> dict[str, audits.Row]:
    """Every attack that ships, by the method's name, its noise and its paper, in English."""
    with spoken(SOURCE):
        return {_named(row): row for row in audits.rows() if row.epsilon_attacked is not None}


def _named(row: audits.Row) -> str:
    paper = shell.papers().get(row.paper)
    label = row.method if paper is None else paper.entry(row.method).label
    noise = SCREENS["attack"].says(row.calibration)
    return f"{label}{noise} ({row.paper if paper is None else paper.title.partition(' (')[0]})"


def _attack(screen: Screen, text: str, results: Results | None) -> Shown:
    """Claimed, proved and attacked budget of one method."""
    row = _attacks()[text]
    bounded = not row.broken and row.epsilon_proved is not None
    facts = {
        "shown": row.epsilon_attacked or 0.0, "proved": row.epsilon_proved or 0.0,
        "broken": row.broken, "open": not row.broken and row.epsilon_proved is None,
        "between": bounded and not row.assumed, "assumed": bounded and row.assumed,
        "replicas": row.replicas, "data": words.short(row.dataset), "declared": row.by_curve,
    }  # fmt: skip
    drawn = attack_charts.ruler(row.epsilon_claimed, row.epsilon_proved, row.epsilon_attacked)
    rows = [{tr("Claimed ε"): row.epsilon_claimed, tr("Proved ε"): row.epsilon_proved,
             tr("Attacked ε, at least"): row.epsilon_attacked}]  # fmt: skip
    return Shown(facts, drawn, rows)


def _papers(screen: Screen, text: str, results: Results | None) -> Shown:
    """Where a paper puts its noise."""
    one = _titled()[text]
    private = [entry for entry in one.methods if entry.role != "reference"]
    listed = "\n".join(f"- **{label(entry.label)}**: {tr(entry.summary)}" for entry in private)
    return Shown({"claim": tr(one.claim)}, more=f"{listed}\n\n{one.citation}.", leads=one.slug)


def _titled() -> dict[str, Any]:
    return {one.title.partition(" (")[0]: one for one in shell.papers().values()}


DRAWN: dict[str, Callable[[Screen, str, Results | None], Shown]] = {
    "attacker": _attacker, "count": _count, "odds": _odds, "clipping": _clipping,
    "answers": _answers, "attack": _attack, "papers": _papers,
}  # fmt: skip
"""What draws each screen: from itself, its control's text, and the run where it has one."""


def options(screen: Screen) -> tuple[str, ...]:
    """The stops of a screen's control; none where this copy has nothing to choose from."""
    listed: dict[str, Callable[[], Sequence[str]]] = {
        "clipping": lambda: [f"{bound:g}" for bound in maths.BOUNDS],
        "attack": lambda: list(_attacks()),
        "papers": lambda: list(_titled()),
    }
    return screen.control.options or tuple(listed[screen.name]())


def first(screen: Screen) -> str:
    """Where a control stands first; among attacks at one that shows a broken claim."""
    stops = options(screen)
    if screen.name == "attack":
        return next((name for name, row in _attacks().items() if row.broken), stops[0])
    return screen.control.default or stops[0]


def asked(screen: Screen) -> tuple[str, ...]:
    """What may be answered to a screen's question."""
    return screen.ask.texts or options(screen)


def named(screen: Screen) -> dict[str, object]:
    """What a screen's question names besides the numbers of all texts."""
    if screen.name == "attack":
        return {"claimed": next((r.epsilon_claimed for r in _broken()), 1.0)}
    if screen.name == "papers":
        one = sketches.read().get(LEARNED[0])
        return {"none": 0 if one is None else _ranked(one.none or 0.5)}
    return {}


def _broken() -> list[audits.Row]:
    return [row for row in _attacks().values() if row.broken and row.epsilon_claimed is not None]


def _ranked(error: float) -> int:
    """Pairs out of 100 that are ranked correctly."""
    return round(100 * (1.0 - error))


def _fallen() -> int | None:
    """Pairs out of 100 that the paper's own private method ranks correctly."""
    one = sketches.read().get(LEARNED[0])
    points = {} if one is None else {epsilon: error for epsilon, error in one.own}
    return _ranked(points[LEARNED[1]]) if LEARNED[1] in points else None


def _least(results: Results | None) -> str | None:
    """The bound of the smallest expected error; None before the run has measured it."""
    found = None if results is None else curve(results, "expected", "expected", 0, "bound")
    if found is None or len(found.middle) < len(maths.BOUNDS):
        return None
    return f"{found.epsilon[int(np.argmin(found.middle))]:g}"


def truth(screen: Screen, results: Results | None = None) -> int | None:
    """Position of the right answer among `asked`; None where nothing here knows it."""
    told = asked(screen)
    known: dict[str, Callable[[], str | int | None]] = {
        "attacker": lambda: max(told, key=lambda t: (_caught(float(t)) < maths.LOST, float(t))),
        "count": lambda: _caught(float(screen.control.default)),
        "odds": lambda: told[0 if words.best_guess(2.0) > words.best_guess(0.5) else 1],
        "clipping": lambda: _least(results),
        "answers": lambda: f"{maths.total(maths.MOST):g}",
        "attack": lambda: told[1] if _broken() else None,
        "papers": _fallen,
    }
    found = known[screen.name]()
    return told.index(str(found)) if str(found) in told else None


def verdict(screen: Screen, answer: int, right: int | None) -> str:
    """What is said of an answer: the truth, and the distance from it."""
    told = list(map(option, asked(screen)))
    if right is None:
        return filled(WORDS["later"])
    facts = {
        "said": told[answer], "truth": told[right], "distance": abs(answer - right),
        "unit": filled(screen.ask.unit),
    }  # fmt: skip
    near = ("exact", "off") if screen.ask.slider else ("right", "wrong")
    return filled(WORDS[near[answer != right]], facts)
