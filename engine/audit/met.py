r"""A realistic attacker: sees only what is published, and guesses who was in the data.

An attacker who sees every step and chooses the data checks the proof. Here the attacker sees the
published arrays and measures alone, and the data are real: each training is on a random half of the
records, and the attacker guesses of each record whether it was in that half (membership inference;
Carlini et al. 2022). From trainings of their own they know the published numbers' mean with and
without each record; the score of a record is the likelihood ratio of normal numbers with these
means, for which only the products of trainings with each other are needed.

Such an attack is told by its success on those who are exposed most, not on average (Aerni, Zhang
and Tramer 2024): the records whose means lie farthest apart in the attacker's own trainings are
judged in further ones.

Guarantees:
    Each record is in a half by its own fair coin, so that a half with it and one without it (or
    with its place empty, where the number of records is public) are neighbours. Where persons of a
    survival table are neighbours by being replaced, they are drawn in two halves of one size: a
    half with a person and one with another in the place are neighbours. Either way a guess about
    one record is right with probability at most (e^\varepsilon + \delta) / (1 + e^\varepsilon).
    Trainings that are judged are independent of each other and of what was learned, so the share of
    right guesses in a training has the same mean in all, which `bounds.mean_bound` bounds. Guesses
    within a training may depend on each other.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from datasets.base import Booleans, Floats, LabelledTable, PanelTable, SurvivalTable, Table
from engine.audit.bounds import epsilon_bound, epsilon_of_errors, mean_bound
from engine.audit.neighbours import relation_of
from engine.audit.outside import published, seen
from engine.audit.training import Setting
from engine.core.errors import RequestError
from engine.core.kept import Declared

EXPOSED = 100
"""Records that are judged: those that the attacker's own trainings separate best."""
LEAST, MOST = 40, 400
"""Trainings on halves at least and at most; the attacker learns from the first half of them."""
HALF_THE_RISK = 0.975
"""Confidence of each of two bounds, which hold together with 95 %."""
TINY = 1e-12


@dataclass(frozen=True, kw_only=True)
class Met:
    """What an attacker who sees the published numbers has shown.

    Attributes:
        epsilon: At least so much is spent: the larger of both bounds, 95 % confidence.
        epsilon_worst: By the worst record, on data that the attacker chose.
        statistic: The published numbers that gave it away.
        trainings_worst: Trainings with the worst record, and as many without.
        epsilon_real: By real records.
        right: Share of right guesses about the most exposed real records.
        least: At least so large is its mean, 97.5 % confidence.
        records: How many they are.
        trainings: Trainings on halves that were judged; as many were learned from.
    """

    epsilon: float
    epsilon_worst: float
    statistic: str
    trainings_worst: int
    epsilon_real: float
    right: float
    least: float
    records: int
    trainings: int


def meet(
    setting: Setting, data: Table, kept: Declared, *, worst: int, delta: float, seconds: float
) -> Met:
    """Attacks a method as somebody could who has its published model.

    Args:
        setting: What is attacked, with its worst record.
        data: The real records.
        kept: What the arrays of its paper are.
        worst: Trainings with the worst record, and as many without.
        delta: Of the card.
        seconds: After about so many no further half is trained on, from `LEAST` on.

    Raises:
        RequestError: The method publishes no number.
    """
    extreme = epsilon_bound(published(setting, kept, worst).scores, delta, HALF_THE_RISK)
    members, numbers = _halves(setting, data, kept, seconds)
    values = exposed(members, numbers)
    least = mean_bound(values.mean(1), 1.0 - HALF_THE_RISK)
    real = epsilon_of_errors(1.0 - least, delta)
    return Met(
        epsilon=max(extreme.epsilon, real),
        epsilon_worst=extreme.epsilon,
        statistic=extreme.statistic,
        trainings_worst=worst,
        epsilon_real=real,
        right=float(values.mean()),
        least=least,
        records=values.shape[1],
        trainings=len(values),
    )


def exposed(members: Booleans, numbers: Floats, most: int = EXPOSED) -> Floats:
    """Right guesses about the most exposed records: trainings that are judged, by records.

    Args:
        members: Which records each training had, shape (T, n).
        numbers: What it published, shape (T, d).
        most: Records that are judged, at most.

    Returns:
        1 for a right guess and 0 for a wrong one, shape (T - T // 2, at most `most`).
    """
    learn = len(numbers) // 2
    own, later = numbers[:learn], numbers[learn:]
    centre, spread = own.mean(0), own.std(0)
    told = spread > TINY * (1.0 + np.abs(centre))
    own, later = ((part[:, told] - centre[told]) / spread[told] for part in (own, later))
    inside = members[:learn].astype(np.float64)
    with_it, count = inside.sum(0), float(learn)
    some = (with_it > 1) & (with_it < count - 1)
    # means with a record less those without it, as weights of the trainings learned from: (T/2, n)
    weights = np.where(inside > 0, 1.0 / np.maximum(with_it, 1), 0.0)
    weights -= np.where(inside > 0, 0.0, 1.0 / np.maximum(count - with_it, 1))
    apart = np.einsum("tn,tn->n", weights, (own @ own.T) @ weights)
    order = np.argsort(-np.where(some, apart, -np.inf), kind="stable")
    chosen = order[: min(most, int(some.sum()))]
    scores = (later @ own.T) @ weights[:, chosen]
    right: Floats = ((scores > 0.0) == members[learn:, chosen]).astype(np.float64)
    return right


def _halves(
    setting: Setting, data: Table, kept: Declared, seconds: float
) -> tuple[Booleans, Floats]:
    """Who was in each training on a random half, and what it published."""
    began, members, numbers = time.monotonic(), [], []
    for number in range(MOST):
        if number >= LEAST and time.monotonic() - began > seconds:
            break
        inside = drawn(setting, data, number)
        told = seen(setting, kept, half(data, inside), 1, f"half/{number}")
        members.append(inside)
        numbers.append(_flat(told))
    wide = max(len(one) for one in numbers)
    if wide == 0:
        raise RequestError(
            f"sees: expected a method that publishes numbers, got {setting.entry.name}"
        )
    return np.stack(members), np.stack([np.resize(one, wide) for one in numbers])


def drawn(setting: Setting, data: Table, number: int) -> Booleans:
    """Which records training number `number` has, shape (n,).

    Where persons are replaced, of an odd number the last is in no half: with it, everybody would be
    out more often than in.
    """
    rng = np.random.default_rng([7, number])
    persons = isinstance(data, SurvivalTable)
    if not (persons and relation_of(setting.entry, setting.spec, data) == "replace_one"):
        return rng.random(len(data)) < 0.5
    pool = min(len(data), 2 * int(getattr(setting.spec, "records", len(data))))
    pool -= pool % 2
    inside = np.zeros(len(data), bool)
    inside[rng.permutation(pool)[: pool // 2]] = True
    return inside


def _flat(told: Mapping[str, Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *(told[name].ravel() for name in sorted(told))])


def half(data: Table, inside: Booleans) -> Table:
    """The table without the others' records; where places are public, these are empty.

    Raises:
        RequestError: Covariates vary in time.
    """
    if isinstance(data, PanelTable):
        return replace(data, again=None, left_out=_places(~inside))
    if isinstance(data, LabelledTable):
        return replace(data, left_out=_places(~inside))
    if data.episodes is not None:
        raise RequestError("sees: expected covariates that do not vary in time, got episodes")
    events = int(data.event[inside].sum())
    return replace(
        data,
        card=replace(data.card, records=int(inside.sum()), events=events),
        x=data.x[inside],
        time=data.time[inside],
        event=data.event[inside],
        missing=None if data.missing is None else data.missing[inside],
    )


def _places(rows: Booleans) -> tuple[int, ...]:
    return tuple(np.flatnonzero(rows).tolist())
