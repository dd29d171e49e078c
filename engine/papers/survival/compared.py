"""Knob and gauges of the private comparison of two groups. No torch."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.gauges import Column, Gauge, Info
from engine.core.spec import Knob
from engine.papers.survival.spec import SurvivalSpec


@dataclass(frozen=True, kw_only=True)
class GroupedSpec(SurvivalSpec):
    """The settings of all methods, and which two groups are compared."""

    group: Annotated[
        int,
        Knob(
            label="Covariate of the two groups",
            symbol="k",
            bounds=(1, 1000),
            range=(1, 10),
            step=1,
            help="Number of the covariate that splits the table, 1 for the first. Above the middle "
            "of its public range is one group, all others are the other.",
        ),
    ] = 2


@dataclass(frozen=True)
class Compared(Info):
    """What a private log-rank test found."""

    p_value: Annotated[
        Column,
        Gauge(
            "p-value of the log-rank test",
            "neither",
            released=True,
            scale="log",
            help="Chance of a difference at least as large between groups that do not differ, from "
            "who is in the table and from the noise.",
            may_be_undefined=True,
        ),
    ]
    statistic: Annotated[
        Column,
        Gauge(
            "Log-rank statistic",
            "neither",
            released=True,
            unit="standard errors",
            help="Events of the second group beyond those that are expected, over their standard "
            "error, which counts the noise.",
            may_be_undefined=True,
        ),
    ]
    statistic_gap: Annotated[
        Column,
        Gauge(
            "Distance from the log-rank statistic without privacy",
            "down",
            unit="standard errors",
            help="Absolute difference between the private statistic and that of the raw records.",
            may_be_undefined=True,
        ),
    ]
