"""Knobs and gauges of the private mean of a column."""

from dataclasses import dataclass

from engine.core.gauges import Column, Info
from engine.core.spec import Spec
from engine.core.vocabulary import Calibration, Delta, Epsilon

COLUMNS = ("kappa", "lambda", "creatinine")
UNIT = "mg/dL"


@dataclass(frozen=True, kw_only=True)
class MeanSpec(Spec):
    """What a user may choose."""

    epsilon: Epsilon = 1.0
    calibration: Calibration = "rigorous"
    column: str = "kappa"
    bound: float = 5.0
    records: int = 500
    share: float = 0.5
    delta: Delta = 1e-5


@dataclass(frozen=True)
class Estimates(Info):
    """What one answer is worth."""

    error: Column
    bias: Column
    deviation: Column
    expected: Column
    clipped: Column
    histogram_error: Column
    mean: Column
