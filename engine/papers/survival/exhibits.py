"""Every table and figure of Nguyen and Hui (2017): those with printed numbers first."""

from engine.papers.survival.figures import FIGURES, TABLE1
from engine.papers.survival.tables import (
    DATASETS,
    REGULARISATIONS,
    TABLE2,
    TABLE3,
    TABLES,
    label,
)

__all__ = ["DATASETS", "EXHIBITS", "REGULARISATIONS", "TABLE2", "TABLE3", "label"]

EXHIBITS = (*TABLES, TABLE1, *FIGURES)
