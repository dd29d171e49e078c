"""Who pays for privacy: what each group loses, with intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.intervals import LEVEL, normal, student
from engine.method import Groups
from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.marks import dots, upright
from pages.ui.charts.theme import MUTED, Style, axis, brief, figure
from pages.ui.words import number

FEW = 5
"""With fewer repetitions, the spread is that of all groups together."""
NOTHING = "nothing"


@dataclass(frozen=True)
class Loss:
    """What one group loses.

    Attributes:
        name: Of the group.
        value: The mean loss over the repetitions, in the unit of `Groups.cost`.
        reach: Half the width of its interval; None where one repetition tells of no spread.
        wide: The same where this group is picked out of all because of what it loses.
        private: The measure with privacy, in the same unit.
        plain: The same without.
        records: Of the group.
    """

    name: str
    value: float
    reach: float | None
    wide: float | None
    private: float
    plain: float
    records: int


def losses(groups: Groups, names: Sequence[str], private: Floats, plain: Floats) -> list[Loss]:
    """What each group loses, in its own order; groups without a measure are left out.

    An interval counts the draws of the noise, for these very records: the mean over R repetitions
    has Student's distribution. Repetitions without privacy count where there are several. With one
    repetition it counts which records happened to be tested, where the measure is a share of them.

    Args:
        groups: What is measured.
        names: Of the g groups.
        private: Measure and records, shape (R, g, 2).
        plain: The same without privacy, shape (S, g, 2).
    """
    sign = groups.scale * (1.0 if groups.better == "up" else -1.0)
    spreads = [_spread(part[:, :, 0]) for part in (private, plain)]
    pairs = max(1, math.comb(len(names), 2))
    levels = LEVEL, 1.0 - (1.0 - LEVEL) / pairs  # by Bonferroni, of any pair of groups
    far = [student(spreads[0][1], at) if spreads[0] else normal(at) for at in levels]
    found = []
    for i, name in enumerate(names):
        with_it, without = (float(part[:, i, 0].mean()) for part in (private, plain))
        if not math.isfinite(with_it + without) or private[0, i, 1] < 1:
            continue
        count, square = float(private[:, i, 1].mean()), None
        if spreads[0] is not None:
            square = sum(error[i] ** 2 for error, _ in filter(None, spreads))
        elif groups.counted:
            square = sum(_binomial(share, count / groups.each) for share in (with_it, without))
        reach, wide = (
            None if square is None else groups.scale * t * math.sqrt(square) for t in far
        )
        loss, ends = sign * (without - with_it), (groups.scale * with_it, groups.scale * without)
        found.append(Loss(name, loss, reach, wide, *ends, round(count)))
    return found


def _binomial(share: float, count: float) -> float:
    """Variance of a share of so many records; one right and one wrong more, so that it is not 0."""
    around = (share * count + 1.0) / (count + 2.0)
    return around * (1.0 - around) / count


def _spread(values: Floats) -> tuple[Floats, int] | None:
    """Standard error of the mean of each column, and degrees of freedom; None of one row."""
    count = len(values)
    if count < 2:
        return None
    variance = values.var(axis=0, ddof=1)
    if count >= FEW:
        return np.sqrt(variance / count), count - 1
    kept = variance[np.isfinite(variance)]
    return np.full(len(variance), math.sqrt(kept.mean() / count)), len(kept) * (count - 1)


def sentence(found: Sequence[Loss], groups: Groups, budget: float) -> str:
    """Who loses most and who least, and whether chance may be why; else what all lose alike.

    The pair is picked because of what it loses, so its intervals hold for every pair at once.
    """
    most, least = max(found, key=lambda one: one.value), min(found, key=lambda one: one.value)
    ends = [_said(one, groups) for one in (most, least)]
    if most is least or ends == [NOTHING] * 2:
        who = _named(most) if len(found) == 1 else "every group"
        return f"At ε = {budget:g} privacy costs **{ends[0]}** for {who}."
    said = (
        f"At ε = {budget:g} privacy costs most for {_named(most)}, **{ends[0]}**, and "
        f"least for {_named(least)}, {ends[1]}."
    )
    if most.wide is None or least.wide is None:
        return said
    apart = most.value - least.value > math.hypot(most.wide, least.wide)
    return said if apart else f"{said} Chance may explain the difference."


def _named(one: Loss) -> str:
    """A group within a sentence: a third of several has an article."""
    return f"the {one.name}" if " third " in one.name else one.name


def _said(one: Loss, groups: Groups) -> str:
    if abs(one.value) < 0.05 or (one.value < 0.0 and (one.reach is None or -one.value < one.reach)):
        return NOTHING
    value = number(abs(one.value), 2)
    return f"{'a gain of ' * (one.value < 0.0)}{value} {groups.cost[int(value != '1')]}"


def pays(found: Sequence[Loss], groups: Groups, look: Style) -> Figure:
    """A dot for each group, the largest loss on top, with its interval.

    Args:
        found: What the groups lose.
        groups: What is measured.
        look: Of the method.
    """
    rows = sorted(found, key=lambda one: one.value)
    hover = (
        f"<b>%{{y}}</b><br>loses %{{x:.3g}} {groups.cost[1]}<br>%{{customdata[0]}}"
        " with privacy, %{customdata[1]} without<br>%{customdata[2]:,} records"
    )
    losses = dots(
        "", brief(one.value for one in rows), [one.name for one in rows], look.colour, look.marker,
        hover, size=11, showlegend=False,
        error_x={"type": "data", "array": brief(one.reach or 0.0 for one in rows),
                 "color": look.colour, "thickness": 2, "width": 5},
        customdata=[[f"{one.private:.3g}", f"{one.plain:.3g}", one.records] for one in rows],
    )  # fmt: skip
    return figure(
        [losses],
        height=80 + 30 * len(rows),
        margin={"l": 8, "r": 16, "t": 16, "b": 8},
        xaxis=axis(f"Loss to privacy [{groups.cost[1]}]", zeroline=True, showgrid=True),
        yaxis=axis("", showgrid=False),
        shapes=[upright(0, MUTED, dash=None, width=1.2)],
    )


def table(found: Sequence[Loss], groups: Groups) -> list[dict[str, object]]:
    """The same as rows."""
    return [
        {
            "Group": one.name,
            "Records": one.records,
            f"Loss [{groups.cost[1]}]": round(one.value, 3),
            "95 % from": None if one.reach is None else round(one.value - one.reach, 3),
            "95 % to": None if one.reach is None else round(one.value + one.reach, 3),
            f"{groups.measure} with privacy": round(one.private, 3),
            "Without": round(one.plain, 3),
        }
        for one in found
    ]  # fmt: skip
