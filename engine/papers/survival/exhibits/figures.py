"""The figures of Nguyen and Hui (2017) that come from runs, and the list of all exhibits.

The paper prints its curves as images without numbers, so no point has a published value.
"""

import math
from collections.abc import Mapping
from statistics import NormalDist

import numpy as np

from engine.method import Arrays
from engine.papers.survival.evaluation.curves import Scale
from engine.papers.survival.exhibits.formulas import FORMULAS, TABLE
from engine.papers.survival.exhibits.tables import DATASETS, label
from engine.papers.survival.exhibits.tables import EXHIBITS as TABLES
from engine.runs.exhibit import Cell, Exhibit
from engine.runs.job import Job, request
from engine.runs.results import Results

BUDGETS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
THREE = (0.4, 1.6, 6.4)
BEST = {"FL": 1e-1, "TB": 1e-2, "WT": 1e-2, "SB": 1e-3}
"""The regularisation with the least error in the paper's Table 2."""
GRID = {"intervals": 200, "knots": 3}
METHODS = {
    "out_pert": "output perturbation",
    "obj_pert": "objective perturbation",
    "exact": "sanitised posterior",
    "psgld": "sanitised posterior, pSGLD",
    "dp_gd": "private gradient descent",
}
PRINTED = ("out_pert", "obj_pert", "psgld")
"""Methods that are drawn as printed too."""
CHAINS = {"FL": 1.0, "TB": 0.5, "WT": 0.5}
"""Epochs of the chains in Figure 5; chains on SB would take as long as all others together."""
EPOCHS = 250.0
"""Epochs of Figures 3 and 4, the paper's: about 25 minutes of a core for a chain, 40 for nine."""
POINTS = 41
"""Points of a density."""
CURVES = ("β(1)", "β(2)")


def _figure3_jobs(full: bool) -> dict[str, Job]:
    """Chains of the printed and the mended sampler, and corrected ones, at the paper's budget."""
    values = {**GRID, "epsilon": 6.4}
    chains = {"sampler_epochs": EPOCHS if full else 1.0, "step_scale": 1e-3}
    return {
        "pSGLD as printed": request(
            "survival", "psgld", "flchain", {**values, **chains, "calibration": "paper"}
        ),
        "pSGLD, half the drift": request(
            "survival", "psgld", "flchain", {**values, **chains, "calibration": "rigorous"}
        ),
        "exact": request("survival", "exact", "flchain", {**values, "samples": 1000}),
    }


def _figure3(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Densities over one axis for each of the first two coefficients, all on the printed scale."""
    arrays = _on_one_scale({name: results[name].arrays() for name in results})
    cells = []
    for place, curve in enumerate(CURVES):
        column = GRID["knots"] + place
        axis = _axis(arrays.get("exact", {}), column)
        for name in results:
            density = _density(arrays[name].get("draws"), column, axis)
            cells += _points(f"{curve}, {name}", axis, density, results[name].run)
        if "exact" in results:
            normal = _normal(arrays["exact"], column, axis)
            cells += _points(f"{curve}, Laplace", axis, normal, results["exact"].run)
    return tuple(cells)


def _on_one_scale(by_name: dict[str, Arrays]) -> dict[str, dict[str, np.ndarray]]:
    """Coefficients of every run on the scale of the first: they are per unit times scale."""
    scales = {name: Scale.read(arrays) for name, arrays in by_name.items() if "span" in arrays}
    units = [scale.span * scale.norm for scale in scales.values()]
    moved: dict[str, dict[str, np.ndarray]] = {}
    for name, arrays in by_name.items():
        moved[name] = {key: np.asarray(values) for key, values in arrays.items()}
        for key in ("draws", "mode", "laplace"):
            if name in scales and key in arrays:
                values = moved[name][key].astype(np.float64)
                values[..., GRID["knots"] :] *= units[0] / (scales[name].span * scales[name].norm)
                moved[name][key] = values
    return moved


def _axis(arrays: Mapping[str, np.ndarray], column: int) -> np.ndarray:
    """Four standard deviations around the mode; around zero while nothing is known."""
    if "mode" not in arrays:
        return np.linspace(-4.0, 4.0, POINTS)
    mode, spread = float(arrays["mode"][0, column]), float(arrays["laplace"][0, column])
    return np.linspace(mode - 4.0 * spread, mode + 4.0 * spread, POINTS)


def _density(draws: np.ndarray | None, column: int, axis: np.ndarray) -> np.ndarray | None:
    """A kernel estimate (normal kernel, Silverman's rule) of one coefficient's draws."""
    if draws is None:
        return None
    values = draws[0, :, column]
    values = values[np.isfinite(values)]
    width = 1.06 * values.std() * max(len(values), 1) ** -0.2 if len(values) else 0.0
    width = max(width, 0.25 * (axis[1] - axis[0]))
    kernel = np.exp(-0.5 * ((axis[:, None] - values) / width) ** 2)
    return np.asarray(kernel.sum(1) / (max(len(values), 1) * width * math.sqrt(2.0 * math.pi)))


def _normal(arrays: Mapping[str, np.ndarray], column: int, axis: np.ndarray) -> np.ndarray | None:
    """The Laplace approximation's density."""
    if "mode" not in arrays:
        return None
    law = NormalDist(float(arrays["mode"][0, column]), float(arrays["laplace"][0, column]))
    return np.array([law.pdf(float(x)) for x in axis])


def _points(row: str, axis: np.ndarray, values: np.ndarray | None, run: str) -> list[Cell]:
    """One curve's cells."""
    ours = [None] * len(axis) if values is None else [float(v) for v in values]
    return [Cell(row, f"{x:.6g}", "", None, y, None, run) for x, y in zip(axis, ours, strict=True)]


def _figure4_jobs(full: bool) -> dict[str, Job]:
    """Chains at three budgets: as printed, mended, and the corrected sampler for comparison."""
    axes, seeds = {"epsilon": THREE}, range(3 if full else 2)
    alone = range(1) if full else seeds  # far from the data a step costs three times as much
    epochs = {"sampler_epochs": EPOCHS if full else 1.0}
    printed = {**GRID, **epochs, "calibration": "paper", "step_scale": 1.0, "burn_in": 10_000}
    mended = {**GRID, **epochs, "calibration": "rigorous", "step_scale": 1e-3}
    exact = {**GRID, "samples": 500}
    return {
        "as printed": request("survival", "psgld", "flchain", printed, axes, alone),
        "rigorous": request("survival", "psgld", "flchain", mended, axes, seeds),
        "exact": request("survival", "exact", "flchain", exact, axes, (0,)),
    }


def _figure4(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Mean relative error by epoch; the corrected sampler's as a level line."""
    cells = []
    for name, result in results.items():
        arrays = result.arrays()
        epochs = np.asarray(arrays["epochs"][0]) if "epochs" in arrays else np.linspace(0.1, 1, 10)
        epochs = _reference(results) if name == "exact" else epochs
        for budget in THREE:
            rows = result.rows(epsilon=budget)
            if name == "exact":
                values = np.full(len(epochs), result.mean("mre", epsilon=budget))
            elif "trace" in arrays:
                values = np.asarray(arrays["trace"])[rows].mean(0)
            else:
                values = np.full(len(epochs), np.nan)
            known = values if np.isfinite(values).any() else None
            reading = "heuristic" if name == "rigorous" else name
            cells += [
                Cell(c.row, c.column, reading, None, c.ours, None, result.run)
                for c in _points(f"ε = {budget:g}", epochs, known, result.run)
            ]
    return tuple(cells)


def _reference(results: Mapping[str, Results]) -> np.ndarray:
    """Where the level line starts and ends."""
    for name in ("rigorous", "as printed"):
        arrays = results[name].arrays() if name in results else {}
        if "epochs" in arrays:
            return np.asarray(arrays["epochs"])[0, [0, -1]]
    return np.array([0.1, 1.0])


def _curves() -> tuple[tuple[str, str, str], ...]:
    """Data set, method and calibration of each curve of Figure 5."""
    return tuple(
        (name, method, calibration)
        for name in DATASETS
        for method in METHODS
        for calibration in ("rigorous", "paper")
        if (calibration == "rigorous" or method in PRINTED)
        and (method != "psgld" or name in CHAINS)
    )


def _key(name: str, method: str, calibration: str) -> str:
    return f"{name}/{method}" + ("/printed" if calibration == "paper" else "")


def _figure5_jobs(full: bool) -> dict[str, Job]:
    """Five methods on four data sets over seven budgets, three of them as printed too."""
    return {
        _key(name, method, way): request(
            "survival",
            method,
            DATASETS[name],
            {**GRID, **_settings(name, method, way), "calibration": way},
            {"epsilon": BUDGETS},
            seeds=range(_repeats(name, method) if full else 3),
        )
        for name, method, way in _curves()
    }


def _repeats(name: str, method: str) -> int:
    """Repetitions at full size."""
    if method == "psgld":
        return 3
    return 5 if name == "SB" else 20


def _settings(name: str, method: str, calibration: str) -> dict[str, float | int]:
    """The paper's regularisation where there is one; short chains where seeds are averaged."""
    if method in ("out_pert", "obj_pert"):
        return {"regularisation": BEST[name]}
    if method == "psgld":
        scale = 1.0 if calibration == "paper" else 1e-3
        return {"sampler_epochs": CHAINS[name], "step_scale": scale}
    return {"samples": 25} if method == "exact" else {}


def _figure5(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One curve per data set, method and calibration."""
    return tuple(
        Cell(
            row=f"{label(name)}, {METHODS[method]}",
            column=f"{budget:g}",
            variant=_variant(method, way),
            published=None,
            ours=results[key].mean("mre", epsilon=budget),
            spread=results[key].spread("mre", epsilon=budget),
            run=results[key].run,
        )
        for name, method, way in _curves()
        if (key := _key(name, method, way)) in results
        for budget in BUDGETS
    )


def _variant(method: str, calibration: str) -> str:
    """What stands behind a curve."""
    if calibration == "paper":
        return "as printed"
    return {"dp_gd": "(ε, δ)", "psgld": "heuristic"}.get(method, "rigorous")


FIGURES = (
    Exhibit(
        name="figure3",
        title="Figure 3",
        caption="Densities of the first two coefficients on FL at ε = 6.4. The printed drift "
        "targets the square of the density, so its curves are narrower than they should be: their "
        "standard deviations are 0.38 and 0.14, where the corrected sampler has 0.50 and 0.20 and "
        "half the drift 0.52 and 0.20. Laplace's curves are an approximation to the target. Both "
        f"chains run with step scale 0.001, which the paper does not give, for its {EPOCHS:g} "
        "epochs. "
        "Coefficients are on the printed scale, whichever scale a sampler works on.",
        quantity="Density",
        better="",
        jobs=_figure3_jobs,
        cells=_figure3,
        axis="Coefficient",
    ),
    Exhibit(
        name="figure4",
        title="Figure 4",
        caption="Error by epoch on FL, the mean over three chains for each budget (as printed, one "
        f"chain), over the paper's {EPOCHS:g} epochs. The printed algorithm does not behave as the "
        "paper says: with no step scale its first step moves every coefficient by about 10 n, and "
        "its error does not settle near the target's: after all epochs it is 5 to 7, and still "
        "falls. With half the drift and step scale 0.001 it does. The level line is the corrected "
        "sampler.",
        quantity="Mean relative error of all parameters",
        better="down",
        jobs=_figure4_jobs,
        cells=_figure4,
        proved=("exact",),
        axis="Epochs",
        log=(False, True),
    ),
    Exhibit(
        name="figure5",
        title="Figure 5",
        caption="Error by budget, each perturbation at the regularisation that Table 2 favours. "
        "Means over 20 repetitions, over 5 on SB. The sanitised posterior is sampled by corrected "
        "chains, and on FL, TB and WT by three pSGLD chains of 8,000 to 11,000 steps: with half "
        "the drift and step scale 0.001, and as printed, which does not settle. As printed, "
        "records are scaled by their own ranges, so those errors are relative to another optimum. "
        "Private gradient descent is (ε, δ)-private with δ = 10⁻⁵, which is weaker than the pure ε "
        "of the others. On TB and WT it has the least error at every ε. On FL it stays at 0.65, "
        "since it stops before it has moved along a nearly constant covariate, and the posterior "
        "is better from ε = 1.6. SB is simulated unless its file is at hand.",
        quantity="Mean relative error of all parameters",
        better="down",
        jobs=_figure5_jobs,
        cells=_figure5,
        proved=("rigorous", "(ε, δ)"),
        axis="Privacy budget ε",
        log=(True, True),
    ),
)
EXHIBITS = (*TABLE, *TABLES, *FORMULAS, *FIGURES)
