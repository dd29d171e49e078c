"""Knobs and gauges of the private mean of a column."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.gauges import Column, Gauge, Info
from engine.core.spec import Choice, Knob, Spec
from engine.core.vocabulary import Calibration, Delta, Epsilon

COLUMNS = ("kappa", "lambda", "creatinine")
UNIT = "mg/dL"


@dataclass(frozen=True, kw_only=True)
class MeanSpec(Spec):
    """What a user may choose."""

    epsilon: Epsilon = 1.0
    calibration: Calibration = "rigorous"
    column: Annotated[
        str,
        Choice(
            label="Column",
            options=COLUMNS,
            labels=("Free light chains, kappa", "Free light chains, lambda", "Creatinine"),
            help="The blood value whose mean and histogram are published.",
        ),
    ] = "kappa"
    bound: Annotated[
        float,
        Knob(
            label="Clipping bound",
            symbol="B",
            bounds=(1e-3, 1e6),
            range=(0.5, 30.0),
            scale="log",
            unit=UNIT,
            axis=True,
            help="Larger values are cut to B. A small B makes the mean too small (bias); a large B "
            "needs more noise (variance).",
            equation=r"\hat\mu = \tfrac1m\sum_i \min(x_i, B) + \mathrm{noise}, \quad "
            r"\Delta = B/m",
            source="Dwork et al. 2006, Section 3",
        ),
    ] = 5.0
    records: Annotated[
        int,
        Knob(
            label="Records used",
            symbol="m",
            bounds=(2, 1_000_000),
            range=(20, 5000),
            grid=(20, 50, 100, 200, 500, 1000, 2000, 5000),
            help="More records need less noise for the mean. Each repetition draws its own.",
        ),
    ] = 500
    share: Annotated[
        float,
        Knob(
            label="Share of the histogram",
            symbol=r"\varepsilon_h/\varepsilon",
            bounds=(0.01, 0.99),
            range=(0.1, 0.9),
            step=0.1,
            help="Part of the privacy budget that the histogram spends; the mean spends the rest.",
        ),
    ] = 0.5
    delta: Delta = 1e-5


@dataclass(frozen=True)
class Estimates(Info):
    """What one answer is worth."""

    error: Annotated[
        Column,
        Gauge(
            "Error of the mean",
            "down",
            unit=UNIT,
            scale="log",
            help="Absolute difference between the published mean and the mean of the same records "
            "without clipping and noise.",
        ),
    ]
    bias: Annotated[
        Column,
        Gauge(
            "Bias by clipping",
            "down",
            unit=UNIT,
            help="How much clipping alone lowers the mean.",
        ),
    ]
    deviation: Annotated[
        Column,
        Gauge(
            "Standard deviation of the noise",
            "down",
            released=True,
            unit=UNIT,
            scale="log",
            help="Square root of the variance of the noise on the mean. It depends on no record.",
        ),
    ]
    expected: Annotated[
        Column,
        Gauge(
            "Expected error",
            "down",
            unit=UNIT,
            scale="log",
            help="Root mean square error over the noise: the root of bias² + variance.",
        ),
    ]
    clipped: Annotated[
        Column,
        Gauge("Share of records clipped", "neither", help="Share of the values above B."),
    ]
    histogram_error: Annotated[
        Column,
        Gauge(
            "Error of the histogram",
            "down",
            help="Sum of the absolute errors of all counts, over twice the number of records.",
        ),
    ]
    mean: Annotated[
        Column,
        Gauge("Published mean", "neither", released=True, unit=UNIT, help="The private answer."),
    ]
