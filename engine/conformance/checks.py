"""What every private method promises, as functions of a case that raise AssertionError.

They are plain functions so that they can be tested themselves: `test_mutants` breaks a small
method on purpose, one promise at a time, and expects the check of that promise to fail.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import torch
from scipy import stats

from engine.audit import statistics
from engine.audit.published import verify
from engine.conformance.neighbours import neighbours
from engine.conformance.play import Case, nudged, play, settings
from engine.core.errors import ExplorerError
from engine.core.gauges import gauges
from engine.core.spec import Spec, knobs
from engine.privacy import accounting
from engine.privacy.mechanisms import (
    Exponential,
    GammaSphere,
    Gaussian,
    GaussianObjective,
    Laplace,
    Mechanism,
)
from engine.privacy.recording import Recorded, Recorder
from engine.privacy.releases import cost

CLOSE = 1e-9
"""What two ways of adding up the same price may differ by."""
REPLICAS, ENOUGH = 30, 500
"""Replicas whose noise is compared; two where a release has so many numbers."""
LEVEL = 1e-4
"""A right method fails a distribution test so often at a fresh seed; the seeds are fixed."""
ROUNDED = 1e-4
"""Clipped sums are in single precision: thousands of terms, rounded to 24 bits each."""


def card_is_not_below_the_accountant(case: Case) -> None:
    """No card states less than an accountant finds for the releases that are declared."""
    for spec in settings(case):
        for n in (case.n, 2_000):
            card = case.entry.guarantee(spec, n, "a person")
            if card.epsilon_proved is None:
                continue
            event = cost(case.entry.releases(spec, n))
            spent = accounting.epsilon(event, card.delta, card.relation)
            if card.epsilon_proved < spent * (1.0 - CLOSE):  # the other accountant may know better
                spent = accounting.epsilon(event, card.delta, card.relation, tight=True)
            assert card.epsilon_proved >= spent * (1.0 - CLOSE), (
                f"the card says {card.epsilon_proved:g}, the accountant {spent:g} at {spec}"
            )


def draws_what_it_declares(case: Case) -> None:
    """A run uses the declared mechanisms, as often as declared, and no others."""
    if _exponential(case):
        return
    cards = ((spec, case.entry.guarantee(spec, case.n, "a person")) for spec in settings(case))
    proved = (spec for spec, card in cards if card.epsilon_proved is not None)
    for spec in islice(proved, 3):
        declared: Counter[tuple[str, float]] = Counter()
        for release in case.entry.releases(spec, case.n):
            if not isinstance(release.mechanism, Exponential):
                declared[_price(release.mechanism)] += release.times
        drawn: Counter[tuple[str, float]] = Counter()
        seen = play(case, spec).seen
        for mechanisms in [one.mechanisms for one in seen.releases] + [m for m, _ in seen.drawn]:
            drawn[_price(mechanisms[0])] += 1
        for mechanisms, _ in seen.drawn:  # noise inside an objective has no value to be added to
            inside = isinstance(mechanisms[0], GammaSphere | GaussianObjective)
            assert inside, "noise is drawn and not released"
        assert drawn == declared, f"declared {declared}, drawn {drawn} at {spec}"


def _price(mechanism: Mechanism) -> tuple[str, float]:
    """What identifies a mechanism, whatever the width of the data: its kind and its price."""
    match mechanism:
        case Gaussian():
            return "gaussian", float(f"{mechanism.multiplier:.9g}")
        case Laplace():
            return "laplace", float(f"{mechanism.epsilon:.9g}")
        case GammaSphere():
            return "gamma sphere", float(f"{mechanism.epsilon + mechanism.ratio:.9g}")
        case GaussianObjective():
            return "gaussian objective", float(f"{mechanism.multiplier + mechanism.ratio:.9g}")
    raise TypeError(mechanism)


def used_fields_change_numbers(case: Case) -> None:
    """Every field in `uses` changes what a run says, at some setting."""
    left = set(case.entry.uses)
    for spec in settings(case):
        if not left:
            break
        before = play(case, spec).numbers()
        for field in sorted(left):
            if any(_acts(case, before, other) for other in nudged(case, spec, field)):
                left.discard(field)
    assert not left, f"declared in uses and without effect: {', '.join(sorted(left))}"


def _acts(case: Case, before: Sequence[np.ndarray], spec: Spec) -> bool:
    """Whether a run says other numbers at this setting; a refusal says nothing."""
    try:
        return _differ(before, play(case, spec).numbers())
    except ExplorerError:
        return False


def other_fields_change_nothing(case: Case) -> None:
    """No field outside `uses` changes what a run says or what it costs."""
    before = play(case, case.base).numbers()
    for field in knobs(case.paper.spec).keys() - set(case.entry.uses):
        for spec in islice(nudged(case, case.base, field), 1):
            assert not _differ(before, play(case, spec).numbers()), f"{field} is left out of uses"
            priced = [case.entry.releases(s, case.n) for s in (case.base, spec)]
            assert priced[0] == priced[1], f"{field} changes the price and is left out of uses"


def _differ(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> bool:
    return len(first) != len(second) or not all(
        a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(first, second, strict=True)
    )


def noise_has_the_priced_scale(case: Case) -> None:
    r"""What two seeds release differs by the noise of the mechanisms that are priced.

    Before any noise two seeds hold the same value, so the first release of replica r under one
    seed less that under the other is a difference of two draws. Over scale, the mean square of N
    such differences is 2 E z^2, with a standard error of \sqrt{(k - 1)/N} of itself, k their
    kurtosis: 3 for Gaussian, 4.5 for Laplace noise. Five are admitted. Every other release is
    compared with the distribution itself (Kolmogorov and Smirnov).
    """
    if _exponential(case):
        return  # a draw of the answer itself: there is no noise
    replicas = REPLICAS if _width(play(case, case.base).seen) < ENOUGH else 2
    runs = [play(case, case.base, seed=seed, replicas=replicas).seen for seed in (3, 4)]
    assert all(run.releases or run.drawn for run in runs), "it adds no noise"
    for one in runs[0].releases:
        whole = statistics.joined(one)
        _follows(one.mechanisms[0], statistics.weighted(whole, (_noise(one),))[0])
    for mechanisms, drawn in runs[0].drawn:
        _follows(mechanisms[0], drawn)
    if runs[0].releases:
        _differences(runs[0].releases[0], runs[1].releases[0])


def _width(seen: Recorder) -> int:
    """Numbers in the smallest release."""
    sizes = [sum(part[0].numel() for part in one.values) for one in seen.releases]
    return min(sizes + [noise.shape[1] for _, noise in seen.drawn], default=0)


def _differences(one: Recorded, other: Recorded) -> None:
    mechanism = one.mechanisms[0]
    if isinstance(mechanism, GammaSphere):
        return  # its coordinates depend on each other: the distribution above says it all
    whole, second = statistics.joined(one), statistics.joined(other)
    between = (whole.outputs[0] - second.outputs[0],)
    apart = statistics.weighted(whole, between)[0].flatten()
    square = float((apart / mechanism.scale).square().mean())
    variance, kurtosis = (4.0, 4.5) if isinstance(mechanism, Laplace) else (2.0, 3.0)
    allowed = 5.0 * math.sqrt((kurtosis - 1.0) / len(apart))
    assert abs(square / variance - 1.0) < allowed, (
        f"two seeds differ by {math.sqrt(square / variance):g} of the priced scale"
    )


def _follows(mechanism: Mechanism, noise: torch.Tensor) -> None:
    """Noise of shape (R, d) has the mechanism's distribution."""
    law: Any
    match mechanism:
        case Gaussian() | GaussianObjective():
            law, draws = stats.norm(scale=mechanism.scale), noise.flatten()
        case Laplace():
            law, draws = stats.laplace(scale=mechanism.scale), noise.flatten()
        case GammaSphere():
            law = stats.gamma(mechanism.dimension, scale=mechanism.scale)
            draws = noise.norm(dim=1)
    actual = draws[:20_000].numpy()
    assert stats.kstest(actual, law.cdf).pvalue > LEVEL, f"noise does not follow {mechanism}"


def _exponential(case: Case) -> bool:
    releases = case.entry.releases(case.base, case.n)
    return all(isinstance(release.mechanism, Exponential) for release in releases)


def neighbours_stay_within_the_sensitivity(case: Case) -> None:
    """No value before noise moves by more than its sensitivity when a record is changed.

    Both runs hold the same state throughout: the second is handed the first one's releases.
    """
    if _exponential(case):
        return
    moved = 0.0
    for table, other, times in neighbours(case):
        first = play(case, case.base, table=table).seen
        second = play(case, case.base, table=other, script=first).seen
        assert len(first.releases) == len(second.releases), "neighbours release different things"
        for one, two in zip(first.releases, second.releases, strict=True):
            reach = float(statistics.apart(one, two).max())
            assert reach <= times * (1.0 + ROUNDED), (
                f"a neighbour moves a value by {reach:g} sensitivities, {times:g} at most"
            )
            moved = max(moved, reach)
    recorded = case.entry.releases(case.base, case.n)
    if any(isinstance(release.mechanism, Gaussian | Laplace) for release in recorded):
        assert moved > 0.0, "no record moves any value that is released"


def released_gauges_follow_from_releases(case: Case) -> None:
    """Gauges that are marked as released are the same on other records, given the releases."""
    marked = [name for name, gauge in gauges(case.entry.info).items() if gauge.released]
    for table, other, _ in neighbours(case) if marked else ():
        first = play(case, case.base, table=table)
        if first.seen.drawn:
            return  # noise inside an objective: the release is no sum that could be handed on
        second = play(case, case.base, table=other, script=first.seen)
        for name in marked:
            one, two = (getattr(run.info, name) for run in (first, second))
            assert np.array_equal(one, two, equal_nan=True), f"{name} reads records"


def all_that_is_published_follows_from_releases(case: Case) -> None:
    """On other records the same releases lead to the same state, arrays and measures, bit by bit.

    It also finds noise that two releases share and values that are released without a price.
    """
    found, _ = verify(case.paper, case.entry, case.base, case.table)
    assert not found.differs, dict(found.reasons)


def nothing_is_kept(case: Case) -> None:
    """A method keeps nothing between calls: neither in itself nor in its class."""
    method = case.entry.load()
    before = _kept(method)
    play(case, case.base)
    assert _kept(method) == before, "the method has changed by running"


def _kept(method: Any) -> str:
    """All that an object and its class hold, as text that changes with any value in it."""
    held = {**vars(type(method)), **(vars(method) if hasattr(method, "__dict__") else {})}
    return repr({name: _text(value) for name, value in held.items() if not callable(value)})


def _text(value: Any) -> str:
    match value:
        case torch.Tensor() | np.ndarray():
            return repr(value.tolist())
        case dict():
            return repr({_text(k): _text(v) for k, v in value.items()})
        case list() | tuple() | set():
            return repr([_text(v) for v in value])
    return repr(value)


def seeds_draw_differently(case: Case) -> None:
    """Another seed, replica or release has other noise; the same seed has the same."""
    one, again, other = (play(case, case.base, seed=s, replicas=2) for s in (5, 5, 6))
    assert not _differ(one.numbers(), again.numbers()), "the same seed gives other numbers"
    noise, others = (
        [*map(_noise, run.seen.releases), *(noise for _, noise in run.seen.drawn)]
        for run in (one, other)
    )
    for first, second in zip(noise, others, strict=True):
        assert not torch.equal(first, second), "two seeds draw the same noise"
    rows = [tuple(row.tolist()) for part in noise for row in part]
    assert len(set(rows)) == len(rows), "the same noise is used twice"
    changed = [
        name
        for name, array in one.products.items()
        if not np.array_equal(array, other.products[name], equal_nan=array.dtype.kind == "f")
    ]
    assert changed, "what is left behind does not depend on the noise"


def _noise(one: Recorded) -> torch.Tensor:
    """The noise of a release, shape (R, d)."""
    whole = statistics.joined(one)
    return whole.outputs[0] - whole.values[0]


ALL = (
    card_is_not_below_the_accountant,
    draws_what_it_declares,
    used_fields_change_numbers,
    other_fields_change_nothing,
    noise_has_the_priced_scale,
    neighbours_stay_within_the_sensitivity,
    released_gauges_follow_from_releases,
    all_that_is_published_follows_from_releases,
    nothing_is_kept,
    seeds_draw_differently,
)
"""Every check of a private method."""
