"""Tables 1 and 3 and Figure 1 of Zhang et al. (2023) beside ours.

The quick look trains on scikit-learn's digits, the full size on MNIST, as published.
Table 2 rests on records that need a signed agreement (ADNI), and is not computed.
"""

from collections.abc import Mapping

import numpy as np

from engine.exhibit import Cell, Exhibit
from engine.job import Job, request
from engine.papers.enadpp import ratios
from engine.results import Results
from engine.spec import Value

EPSILONS = (0.2, 0.4, 0.8, 1.0, 2.0, 4.0, 8.0)
TABLE1: dict[str, tuple[float, ...]] = {
    "psgd": (62.33, 70.91, 73.51, 75.79, 83.68, 89.08, 91.66),
    "appdl": (91.52, 91.89, 92.06, 92.29, 92.77, 93.09, 93.12),
    "adppl": (84.10, 86.14, 88.12, 90.11, 92.22, 93.06, 93.24),
    "enadpp": (93.03, 94.04, 94.21, 94.95, 95.16, 95.68, 95.89),
}
LABELS = {
    "psgd": "pSGD",
    "appdl": "APPDL",
    "adppl": "ADPPL",
    "enadpp": "EnADPP",
    "dpsgd": "DP-SGD today",
}
PRINTED = ("adppl", "enadpp")
"""The methods whose printed noise is known; the others' is calibrated to the same total."""
FIGURE1 = (0.02, 0.03, 0.05, 0.06, 0.08, 0.10, 0.12, 0.15, 0.18, 0.21)
"""Ten relevances with the rising trend of the printed figure, which gives no numbers."""
MNIST: dict[str, Value] = {"sample_rate": 0.01, "epochs": 40, "learning_rate": 0.1}
DIGITS: dict[str, Value] = {"sample_rate": 0.1, "epochs": 20, "learning_rate": 0.5}
BOUNDS: dict[bool, dict[str, Value]] = {
    True: {"clip_l1": 300.0, "clip": 1.0},
    False: {"clip_l1": 30.0, "clip": 1.0},
}
BEST: dict[bool, dict[str, Value]] = {
    True: {"sample_rate": 0.1, "epochs": 15, "learning_rate": 2.0, "momentum": 0.9},
    False: {**DIGITS, "momentum": 0.5},
}
"""What DP-SGD of today is run with, in full size and in the quick look."""


def _values(method: str, full: bool) -> dict[str, Value]:
    """The settings that the paper does not print, found on the public data."""
    if method == "dpsgd":
        return BEST[full]
    return {**(MNIST if full else DIGITS), **BOUNDS[full]}


def _variants(method: str) -> dict[str, dict[str, Value]]:
    """The calibrations of a method by the name of the variant."""
    rigorous: dict[str, Value] = {"calibration": "rigorous", "noise": "gaussian"}
    if method not in PRINTED:
        return {"rigorous": {}}
    printed: dict[str, Value] = {"calibration": "paper", "noise_reading": "A"}
    return {"as printed": printed, "rigorous": rigorous}


def _table1_jobs(full: bool) -> dict[str, Job]:
    """Each method in each variant, all budgets and three seeds in one run."""
    return {
        f"{method}/{variant}": request(
            "enadpp",
            method,
            "mnist" if full else "digits",
            {**_values(method, full), **values},
            {"epsilon": EPSILONS},
            seeds=range(3),
        )
        for method in LABELS
        for variant, values in _variants(method).items()
    }


def _table1_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per method and variant, one column per budget, in per cent."""
    return tuple(
        Cell(
            row=LABELS[method],
            column=f"{epsilon:g}",
            variant=variant,
            published=TABLE1[method][i] if method in TABLE1 else None,
            ours=_percent(results[key].mean("accuracy", epsilon=epsilon)),
            spread=_percent(results[key].spread("accuracy", epsilon=epsilon)),
            run=results[key].run,
        )
        for method in LABELS
        for variant in _variants(method)
        if (key := f"{method}/{variant}") in results
        for i, epsilon in enumerate(EPSILONS)
    )


def _percent(share: float) -> float | None:
    """A share in per cent; None where every replica has diverged."""
    return 100.0 * share if np.isfinite(share) else None


def _table3_jobs(full: bool) -> dict[str, Job]:
    """Plain training."""
    values: dict[str, Value] = {**(MNIST if full else DIGITS), "learning_rate": 0.3}
    dataset = "mnist" if full else "digits"
    return {"non_private": request("enadpp", "non_private", dataset, values, seeds=range(3))}


def _table3_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One cell."""
    found = results["non_private"]
    ours, spread = _percent(found.mean("accuracy")), _percent(found.spread("accuracy"))
    return (Cell("No privacy", "MNIST", "as printed", 97.60, ours, spread, found.run),)


def _figure1_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Both ratios of the ten relevances; a formula, so there is no run."""
    curves = ratios.figure(np.array(FIGURE1))
    return tuple(
        Cell(name, f"{i + 1}", "as printed", None, float(value), None, "")
        for name in ("ADPPL", "EnADPP")
        for i, value in enumerate(curves[name])
    )


EXHIBITS = (
    Exhibit(
        name="table1",
        title="Table 1",
        caption="Printed numbers are for MNIST; a quick look shows scikit-learn's digits instead. "
        "As printed, the budget is per lot and the noise that of reading A, which really spends "
        "hundreds of times as much; rigorous, the budget is that of the whole training at delta = "
        "1e-5, with the Gaussian twin. pSGD and APPDL print no noise scale and are calibrated to "
        "the same total, where they do not reach the small-budget numbers.",
        quantity="Test accuracy in per cent",
        better="up",
        digits=2,
        jobs=_table1_jobs,
        cells=_table1_cells,
    ),
    Exhibit(
        name="table3",
        title="Table 3",
        caption="Accuracy without privacy; a quick look shows scikit-learn's digits. The other "
        "printed number, 67.57 on ADNI, rests on records that need a signed agreement.",
        quantity="Test accuracy in per cent",
        better="up",
        digits=2,
        jobs=_table3_jobs,
        cells=_table3_cells,
    ),
    Exhibit(
        name="figure1",
        title="Figure 1",
        caption="Budget ratios of ten relevances; the printed figure gives no numbers, so ten "
        "rising relevances are taken. Both methods rank alike and differ in contrast.",
        quantity="Budget ratio",
        better="neither",
        axis="Feature",
        jobs=lambda full: {},
        cells=_figure1_cells,
    ),
)
