"""What the cost curve of a page draws, which lines are in focus, and how to read it."""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from engine.privacy.guarantee import Guarantee
from pages.ui.charts import heights as charts
from pages.ui.charts import measured
from pages.ui.charts.heights import Heights
from pages.ui.charts.measured import Curve, Level
from pages.ui.charts.proof import finite
from pages.ui.charts.theme import Style, reference_style
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.shared import once
from pages.ui.paper import cast as casting
from pages.ui.paper import finding, overlay
from pages.ui.paper.cast import Cast
from pages.ui.paper.choice import PROOF_FIRST, measures
from pages.ui.paper.view import View, known
from pages.ui.words import plural

OTHER = ("hourglass", "star", "pentagon", "bowtie", "hexagon", "star-square")
"""Markers of a method's second line, under the other calibration."""


def drawn(view: View, gauge: str) -> tuple[dict[str, Curve], list[Level]]:
    """What has been measured of one gauge: curves by job, and levels of the references."""
    return once(("drawn", gauge, view.signature), lambda: _measured(view, gauge))


def cast(view: View) -> Cast:
    """The lines that the page is about."""
    key = "cast", view.gauge, view.method, view.signature
    return once(key, lambda: _cast(view, *drawn(view, view.gauge)))


def told(view: View) -> Cast:
    """The same as a sentence compares them.

    While they train, by the repetitions that all of them have: where a seed names the records,
    medians of other repetitions differ by these too.
    """
    whole = cast(view)
    compared = [one for one in view.watched.values() if one.label in whole.labels]
    if not (view.paper.seeds_split and any(one.active for one in compared)):
        return whole
    seeds = functools.reduce(np.intersect1d, (d.seeds for one in compared if (d := one.drawn)))
    if not len(seeds):
        return whole

    key = "told", view.gauge, view.method, view.signature
    return once(key, lambda: _cast(view, *_measured(view, view.gauge, seeds)))


def _cast(view: View, curves: dict[str, Curve], levels: Sequence[Level]) -> Cast:
    jobs = {name: one.job for name, one in view.watched.items()}
    return casting.cast(view.paper, jobs, curves, levels, view.measured, view.method)


def shown(view: View) -> tuple[dict[str, Curve], list[Level]]:
    """The curves and levels of the cost curve; few are in focus, unless all are asked for.

    A method whose new curve is not whole yet is drawn as it was, too.
    """
    curves, levels = drawn(view, view.gauge)
    if not view.every:
        curves, levels = casting.focused(curves, levels, cast(view), view.method)
    former, flat = _former(view)
    return curves | former, levels + flat


def _former(view: View) -> tuple[dict[str, Curve], list[Level]]:
    """The curves and levels that were there before the last move, that of the method first."""
    curves: dict[str, Curve] = {}
    levels: list[Level] = []
    for name in sorted(view.former, key=lambda name: name != view.method):
        one, label = view.former[name], view.watched[name].label
        if view.gauge not in one.results.gauges:
            continue
        if BUDGET not in one.job.axes:
            level = measured.level(one.results, view.gauge, label, 0)
            levels += [] if level is None else [replace(level, focus=False, before=one.setting)]
            continue
        curve = measured.curve(one.results, view.gauge, label, 0)
        cards = [known(one.job, budget, view.data) for budget in curve.epsilon]
        proved = _finite(view, name, cards)
        curves[f"{name} before"] = replace(curve, proved=proved, focus=False, before=one.setting)
    return curves, levels


def heights(view: View, before: Heights | None = None) -> Heights:
    """The vertical axis of the cost curve.

    Args:
        view: What is drawn.
        before: The axis as it was drawn before; None where nothing was.
    """
    curves, levels = shown(view)
    whole = not any(one.active for one in view.watched.values())
    errors, chance = view.how.errors, view.how.guessed(view.data)
    lines = list(curves.values())
    return charts.heights(lines, levels, view.measured, errors, chance, before, whole)


def axis(view: View) -> str:
    """Why the axis is as it is, in a sentence; empty where it is the measure's own."""
    up = view.up or heights(view)
    if not up.turned:
        return ""
    why = " on a logarithmic axis, because a proved method comes close to no privacy" * up.log
    return f"The chart shows the wrong answers{why}. "


def bands(view: View) -> str:
    """What the shading is."""
    curves, _ = shown(view)
    one = curves.get(view.method)
    if one is None or not one.count:
        return ""
    parts = [
        share for one in curves.values() if one.focus
        for share, some in zip(one.failed, one.partly, strict=True) if some
    ]  # fmt: skip
    ring = (
        "Ring: what is proved at the slider's ε."
        if view.by == PROOF_FIRST
        else "Ring: the slider's ε."
    )
    cross = f"Cross: up to {100 * max(parts):.0f}\u00a0% of releases fail there. " if parts else ""
    often = plural(max(one.count), "repetition")
    counts = [count for other in curves.values() if other.focus for count in other.count]
    mixed = len({count < measured.FEWEST for count in counts}) > 1
    if one.few and not mixed:
        return f"{ring} {cross}Band: the range of all releases ({often})."
    median = "Dark band: where the median is, with 95 % confidence."
    single = f" Light band: a single release of {one.label} lies here four times in five ({often})."
    return f"{ring} {cross}{measured.BANDS if mixed else median}{'' if one.few else single}"


def _measured(
    view: View, gauge: str, seeds: Iterable[int] | None = None
) -> tuple[dict[str, Curve], list[Level]]:
    """What has been measured: of some repetitions, or of all."""
    by_method: dict[str, Curve] = {}
    levels: list[Level] = []
    twice = overlay.both(view.watched)
    known = measures(view.paper)[gauge]
    chance = finding.saying(known, view.says, gauge).guessed(view.data)
    best = 1.0 if known.better == "up" else 0.0
    for place, (name, one) in enumerate(view.watched.items()):
        results = one.drawn
        if results is None or gauge not in results.gauges:
            continue
        if seeds is not None:
            results = results.only(np.isin(results.seeds, list(seeds)))
        brief = overlay.label(view.paper, one.job, twice, brief=True)
        if view.spends(name):
            curve = measured.curve(results, gauge, one.label, place)
            look = _look(casting.look(view.paper, one.job), place, name)
            failed = () if chance is None else measured.failing(results, gauge, chance, best)
            curve = replace(curve, style=look, brief=brief, failed=failed)
            by_method[name] = _proved(view, name, curve)
        elif (level := measured.level(results, gauge, one.label, place)) is not None:
            status = view.guarantee(name).status
            look = reference_style(len(levels))
            levels.append(replace(level, style=look, brief=brief, status=status))
    return by_method, levels


def _look(own: Style, place: int, name: str) -> Style:
    """A method's look, with another marker for its line under the other calibration."""
    return own if overlay.SIGN not in name else replace(own, marker=OTHER[place % len(OTHER)])


def _proved(view: View, name: str, one: Curve) -> Curve:
    """A curve with its status and what is proved at each point, as far as that takes no time."""
    cards = [view.known(name, epsilon) for epsilon in one.epsilon]
    status = next((card.status for card in cards if card is not None), None)
    return replace(one, status=status, proved=_finite(view, name, cards))


def _finite(view: View, name: str, cards: Sequence[Guarantee | None]) -> tuple[float | None, ...]:
    """The budgets that are proved; none as long as one of the cards is not known.

    A reference stands at the budget that it is compared at: nothing is proved of it anywhere.
    """
    whole = [card.epsilon_proved for card in cards if card is not None]
    if len(whole) < len(cards) or overlay.entry(view.paper, name).role == "reference":
        return ()
    return tuple(proved if finite(proved) else None for proved in whole)
