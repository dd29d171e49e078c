"""Knob and gauges of the private comparison of two groups. No torch."""

from dataclasses import dataclass

from engine.core.gauges import Column, Info
from engine.papers.survival.spec import SurvivalSpec


@dataclass(frozen=True, kw_only=True)
class GroupedSpec(SurvivalSpec):
    """The settings of all methods, and which two groups are compared."""

    group: int = 2


@dataclass(frozen=True)
class Compared(Info):
    """What a private log-rank test found."""

    p_value: Column
    statistic: Column
    statistic_gap: Column
