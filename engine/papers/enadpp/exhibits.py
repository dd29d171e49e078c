"""Tables 1 to 3 and Figure 1 of Zhang et al. (2023) beside ours.

The quick look trains on scikit-learn's digits, the full size on MNIST, as published.
Table 2 rests on records that need a signed agreement (ADNI); without them it is
computed on simulated persons, and says so.
"""

from functools import partial

import numpy as np

from engine.core.spec import Value
from engine.papers.enadpp import ratios
from engine.papers.enadpp.claims import CLAIMS
from engine.papers.enadpp.evidence import EVIDENCE
from engine.runs.exhibit import MethodRow, Point, along, formula, over, sheet
from engine.runs.job import Job

EPSILONS = (0.2, 0.4, 0.8, 1.0, 2.0, 4.0, 8.0)
PRINTED, PROVED = "as printed", "rigorous"
FIGURE1 = (0.02, 0.03, 0.05, 0.06, 0.08, 0.10, 0.12, 0.15, 0.18, 0.21)
"""Ten relevances with the rising trend of the printed figure, which gives no numbers."""
MNIST: dict[str, dict[str, Value]] = {
    PRINTED: {"epochs": 20, "learning_rate": 1.0, "clip_l1": 1000.0},
    PROVED: {"epochs": 6, "learning_rate": 3.0},
    "weighted": {"epochs": 6, "learning_rate": 1.5},
}
"""By variant; "weighted" where rigorous noise follows the ratios. Batches are of 3,000: the printed
noise falls with the square of the batch size; with 600 the smallest budget stayed below 90 %."""
DIGITS: dict[str, Value] = {"sample_rate": 0.1, "epochs": 20, "learning_rate": 0.5}
ADNI: dict[str, Value] = {"sample_rate": 0.5, "epochs": 100, "learning_rate": 0.1}
PERSONS: dict[str, Value] = {"sample_rate": 1.0, "epochs": 20, "learning_rate": 0.5}
"""The study is small: few steps with everybody in them suit what is proved."""
FIRST_ORDER: dict[str, Value] = {"representation": "wavelets"}
BEST: dict[bool, dict[str, Value]] = {
    True: {"learning_rate": 1.0, **FIRST_ORDER},
    False: {**DIGITS, **FIRST_ORDER},
}
"""What DP-SGD of today is run with, in full size and in the quick look; else its defaults."""
SEEDS = {"mnist": (2, 2), "digits": (3, 3), "adni": (3, 10)}
"""Repetitions of a data set in a quick look and in full size: MNIST's take long."""
AS_PRINTED: dict[str, Value] = {"calibration": "paper", "noise_reading": "A"}
GAUSSIAN: dict[str, Value] = {"calibration": "rigorous", "noise": "gaussian"}
LINES = (
    MethodRow("pSGD", PROVED, "enadpp", "psgd"),
    MethodRow("APPDL", PROVED, "enadpp", "appdl"),
    MethodRow("ADPPL", PRINTED, "enadpp", "adppl", AS_PRINTED),
    MethodRow("ADPPL", PROVED, "enadpp", "adppl", GAUSSIAN),
    MethodRow("EnADPP", PRINTED, "enadpp", "enadpp", AS_PRINTED),
    MethodRow("EnADPP", PROVED, "enadpp", "enadpp", GAUSSIAN),
    MethodRow("DP-SGD today", PROVED, "enadpp", "dpsgd"),
)
"""Rows of Tables 1 and 2. The printed noise is known of two methods; the others' is calibrated to
the same total."""
SHEET = sheet(__file__)
PERCENT = over("accuracy", 100.0)


def _values(line: MethodRow, dataset: str) -> dict[str, Value]:
    """The settings that the paper does not print, found on the public data."""
    printed = line.variant == PRINTED
    if dataset == "adni":
        # persons are no images: the features change nothing
        own = FIRST_ORDER if line.method == "dpsgd" else {}
        return {**ADNI, "clip_l1": 100.0} if printed else {**PERSONS, **own}
    if line.method == "dpsgd":
        return BEST[dataset == "mnist"]
    if dataset == "digits":
        return {**DIGITS, "clip_l1": 30.0}
    weighted = bool(line.values) and not printed
    return {"sample_rate": 0.05, **MNIST["weighted" if weighted else line.variant]}


def _budgets(line: MethodRow, dataset: str, full: bool) -> tuple[Job, ...]:
    """All budgets in one run; on MNIST a run per repetition."""
    seeds = range(SEEDS[dataset][full])
    groups = [(seed,) for seed in seeds] if dataset == "mnist" else [tuple(seeds)]
    values, axes = _values(line, dataset), {"epsilon": EPSILONS}
    return tuple(line.job(dataset, values, axes, group) for group in groups)


def _table(printed: str, dataset: str, full: bool) -> list[Point]:
    """One row per method and variant, one column per budget, in per cent."""
    points: list[Point] = []
    for line in LINES:
        points += along(
            "epsilon", EPSILONS, _budgets(line, dataset, full), PERCENT, row=line.row,
            variant=line.variant, printed=SHEET.printed[printed].get(line.method, ()),
        )  # fmt: skip
    return points


def table1(full: bool) -> list[Point]:
    """MNIST, or the small digits in a quick look."""
    return _table("table1", "mnist" if full else "digits", full)


def table2(full: bool) -> list[Point]:
    """Pairs of persons; the user's file if there is one, else simulated."""
    return _table("table2", "adni", full)


def table3(full: bool) -> list[Point]:
    """Plain training with its defaults, one cell per data set."""
    line = MethodRow("No privacy", PRINTED, "enadpp", "non_private")
    names = {"MNIST": "mnist" if full else "digits", "ADNI": "adni"}
    short: dict[str, Value] = {"epochs": 4}  # MNIST has learnt by then
    return [
        Point(line.row, column, line.variant, SHEET.printed["table3"][column], (job,), PERCENT)
        for column, name in names.items()
        for job in [line.job(name, short if name == "mnist" else {}, {}, range(SEEDS[name][full]))]
    ]


def figure1(full: bool) -> list[Point]:
    """Both printed ratios of the ten relevances; a formula, so there is no run.

    That of ADPPL is the share itself (Section 6); runs divide it by the largest (`ratios.adppl`).
    """
    curves = ratios.figure(np.array(FIGURE1))
    return [
        Point(name, f"{i + 1}", PRINTED, None, (), formula(partial(float, value)))
        for name, printed in {"ADPPL": "share", "EnADPP": "EnADPP"}.items()
        for i, value in enumerate(curves[printed])
    ]


EXHIBITS = (*map(SHEET.exhibit, (table1, table2, table3, figure1)), EVIDENCE, CLAIMS)
