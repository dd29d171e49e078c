"""Intervals for the mean and for the shares of the histogram, from what was released. No torch."""

from collections.abc import Mapping

import numpy as np

from datasets.base import Card, Floats
from engine.intervals import LEVEL, SHARE, Estimate, normal, reach, shares
from engine.method import Arrays, Entry
from engine.papers.mean import price
from engine.papers.mean.spec import UNIT, MeanSpec
from engine.privacy.mechanisms import Gaussian, Laplace


def estimates(
    entry: Entry[MeanSpec], spec: MeanSpec, card: Card, arrays: Arrays, gauges: Mapping[str, float]
) -> tuple[Estimate, ...]:
    """The mean of the clipped column and the share of each bin, among all whom records stand for.

    The error of the mean is noise of known scale and sampling, which is normal; its deviation
    comes from the released histogram. Shares have exact intervals (`intervals.shares`).

    Args:
        entry: The method.
        spec: Its settings.
        card: The data set's.
        arrays: `histogram` (k,) and `edges` (k + 1,), as released.
        gauges: Of them `mean`.
    """
    used, mean = price.used(spec, card.records), float(gauges["mean"])
    edges, counts = (np.asarray(arrays[name], np.float64) for name in ("edges", "histogram"))
    if not np.isfinite(counts).all():
        return ()
    noises = [part.mechanism for part in entry.releases(spec, card.records)]
    known = [one if isinstance(one, Laplace | Gaussian) else None for one in noises]
    on_mean, on_counts = known if len(known) == 2 else (None, None)
    first = average(spec, used, (mean, edges, counts), on_mean)
    low, high = shares(counts, used, on_counts)
    return first, *(
        Estimate(
            f"share of {spec.column} from {edges[i]:.3g} to {edges[i + 1]:.3g}", SHARE,
            float(counts[i] / used), float(low[i]), float(high[i]), LEVEL, None,
        )
        for i in range(len(counts))
    )  # fmt: skip


def average(
    spec: MeanSpec, used: int, released: tuple[float, Floats, Floats],
    noise: Laplace | Gaussian | None,
) -> Estimate:  # fmt: skip
    """The mean of the clipped column.

    Args:
        spec: The settings.
        used: How many records it is of.
        released: The mean, the edges of the bins (k + 1,) and their counts (k,).
        noise: On the mean; None without privacy.
    """
    mean, edges, counts = released
    alone = deviation(counts / used, edges, mean) / used**0.5
    half = normal() * alone if noise is None else reach(noise, alone)
    naive = None if noise is None else (mean - normal() * alone, mean + normal() * alone)
    name = f"mean of {spec.column}, cut at {spec.bound:g}"
    return Estimate(name, UNIT, mean, mean - half, mean + half, LEVEL, naive)


def deviation(share: Floats, edges: Floats, mean: float) -> float:
    """Standard deviation of a column from the noisy shares of its bins, shape (k,).

    The second moment around the released mean. Noise adds nothing to it on average; where it
    leaves a number that no column can have, the nearest possible one is taken: that of one bin, or
    of values at both ends (Bhatia and Davis 2000).
    """
    middle, ends = 0.5 * (edges[:-1] + edges[1:]), (float(edges[0]), float(edges[-1]))
    place = min(max(mean, ends[0]), ends[1])
    least = float(edges[1] - edges[0]) ** 2 / 12.0
    most = max(least, (place - ends[0]) * (ends[1] - place))
    square = float((share * (middle - place) ** 2).sum())
    return float(min(max(square, least), most) ** 0.5)
