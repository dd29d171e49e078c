"""Tables and figures of Nguyen and Hui (2017) beside ours.

The paper prints the curves of its figures as images without numbers, so no point of them has a
published value.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import NormalDist

import numpy as np

from datasets import catalog
from engine.core.spec import Value
from engine.papers.survival import chains
from engine.runs.exhibit import (
    SIMULATED,
    Curve,
    MethodRow,
    Point,
    alone,
    along,
    formula,
    over,
    sheet,
)
from engine.runs.job import Job, request
from engine.runs.results import Results

DATASETS = {"FL": "flchain", "TB": "third_births", "WT": "wichert", "SB": "second_births"}
REGULARISATIONS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
SIZES = ("size", "uncensored", "explanatory variables")
SCALE = 1
"""The coefficient, spacing, whose ratio in the first row is taken for the unknown scale."""
KNOTS = chains.KNOTS
GRID: dict[str, Value] = {"intervals": 200, "knots": KNOTS}
UNREGULARISED = 1e-9
"""The smallest regularisation that a run admits; it moves no printed digit."""
LINKS: dict[str, Callable[[float], float]] = {
    "logit": lambda x: math.log(x / (1.0 - x)),
    "cloglog": lambda x: math.log(-math.log1p(-x)),
    "probit": NormalDist().inv_cdf,
}
"""The links g of Section 3.1, as functions of a hazard rate."""
EDGE = 4.0
"""The vertical axis of Figure 1 ends at plus and minus this."""
BENT: dict[str, Callable[[float], float]] = {
    "y = C₂₀(x)": lambda x: 20.0 * math.tanh(x / 20.0),
    "y = x": lambda x: x,
}
BUDGETS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
THREE = (0.4, 1.6, 6.4)
BEST = {"FL": 1e-1, "TB": 1e-2, "WT": 1e-2, "SB": 1e-3}
"""The regularisation with the least error in the paper's Table 2."""
METHODS = {
    "out_pert": "output perturbation",
    "obj_pert": "objective perturbation",
    "exact": "sanitised posterior",
    "psgld": "sanitised posterior, pSGLD",
    "dp_gd": "private gradient descent",
}
VARIANTS = {"paper": "as printed", "rigorous": "rigorous"}
DRAWN_AS_PRINTED = ("out_pert", "obj_pert", "psgld")
"""Methods that are drawn as printed too."""
CHAINS = {"FL": 1.0, "TB": 0.5, "WT": 0.5}
"""Epochs of the chains in Figure 5; chains on SB would take as long as all others together."""
EPOCHS = 250.0
"""Epochs of Figures 3 and 4, the paper's: about 25 minutes of a core for a chain, 40 for nine."""
SHEET = sheet(__file__)
MRE = over("mre")


def label(name: str) -> str:
    """The paper's name of a data set, marked where its records are simulated."""
    return f"{name} {SIMULATED}" if catalog.card(DATASETS[name]).simulated else name


def table1(full: bool) -> list[Point]:
    """Sizes from the cards of the data sets."""
    points = []
    for name, printed in SHEET.printed["table1"].items():
        card = catalog.card(DATASETS[name])
        ours = (card.records, card.events or 0, len(card.features))
        points += [
            Point(label(name), column, "", float(theirs), (), formula(partial(float, mine)))
            for column, theirs, mine in zip(SIZES, printed, ours, strict=True)
        ]
    return points


def table2(full: bool) -> list[Point]:
    """Output perturbation at the paper's budget: one row per data set and calibration."""
    points: list[Point] = []
    for name, printed in SHEET.printed["table2"].items():
        for calibration, variant in VARIANTS.items():
            line = MethodRow(
                label(name), variant, "survival", "out_pert", {"calibration": calibration}
            )
            axes, seeds = {"regularisation": REGULARISATIONS}, range(400 if full else 20)
            job = line.job(DATASETS[name], {**GRID, "epsilon": 6.4}, axes, seeds)
            points += along(
                "regularisation", REGULARISATIONS, (job,), MRE, row=line.row, variant=variant,
                printed=printed, label=_power,
            )  # fmt: skip
    return points


def _power(weight: Value) -> str:
    """A regularisation as the paper writes it: 1e-5, 1."""
    return f"{weight:.0e}".replace("e-0", "e-").replace("1e+00", "1")


def _unregularised(name: str) -> Job:
    """The fit of a data set in Table 3."""
    values = {**GRID, "calibration": "paper", "regularisation": UNREGULARISED}
    return request("survival", "non_private", DATASETS[name], values)


def table3(full: bool) -> list[Point]:
    """The unregularised fit, one row per data set."""
    read = alone(over("cox_error", 100.0))
    return [
        Point(
            label(name), "relative error (%)", "as printed", printed, (_unregularised(name),), read
        )
        for name, printed in SHEET.printed["table3"].items()
    ]


def coefficients(full: bool) -> list[Point]:
    """Two rows of three coefficients, as they come and with one factor on all six."""
    names, job = catalog.card(DATASETS["TB"]).features, _unregularised("TB")
    return [
        Point(
            row, name, variant, printed[i], (job,), partial(_coefficient, place, i, scaled=scaled)
        )
        for place, (row, printed) in enumerate(SHEET.printed["coefficients"].items())
        for variant, scaled in (("as printed", False), ("with one factor", True))
        for i, name in enumerate(names)
    ]


def _coefficient(
    place: int, i: int, results: Sequence[Results], *, scaled: bool
) -> tuple[float, float]:
    """A coefficient of the discrete-time model (0) or of Cox regression (1)."""
    arrays = results[0].arrays()
    optimum = arrays.get("optimum", np.full((1, KNOTS + 3), np.nan))[:, KNOTS:]
    both = (optimum, arrays.get("cox", np.full((1, 3), np.nan)))
    model, own = (np.asarray(both[row], np.float64)[0] for row in (0, place))
    first = next(iter(SHEET.printed["coefficients"].values()))
    factor = first[SCALE] / model[SCALE] if scaled else 1.0
    return float(factor * own[i]), math.nan


def figure1(full: bool) -> list[Point]:
    """Each link by hazard rate, as far as the paper's axis goes."""
    return [
        Point(name, f"{x:.3g}", "", None, (), formula(partial(link, float(x))))
        for name, link in LINKS.items()
        for x in np.linspace(0.01, 0.99, 99)
        if abs(link(float(x))) <= EDGE
    ]


def figure2(full: bool) -> list[Point]:
    """The sanitiser at v = 20 and the identity."""
    return [
        Point(name, f"{x:g}", "", None, (), formula(partial(curve, float(x))))
        for name, curve in BENT.items()
        for x in range(41)
    ]


def figure3(full: bool) -> list[Curve]:
    """Densities of the first two coefficients: of both samplers' chains and of corrected ones."""
    values: dict[str, Value] = {**GRID, "epsilon": 6.4}
    long: dict[str, Value] = {"sampler_epochs": EPOCHS if full else 1.0, "step_scale": 1e-3}
    printed, mended = (
        request("survival", "psgld", "flchain", {**values, **long, "calibration": calibration})
        for calibration in VARIANTS
    )
    exact = request("survival", "exact", "flchain", {**values, "samples": 1000})
    jobs = (printed, mended, exact)
    rows = ("pSGLD as printed", "pSGLD, half the drift", "exact")
    curves = []
    for place in (1, 2):
        for named, row in enumerate(rows):
            trace = partial(chains.density, place, named)
            curves.append(Curve(f"β({place}), {row}", "", jobs, trace, named))
        curves.append(Curve(f"β({place}), Laplace", "", jobs, partial(chains.normal, place), 2))
    return curves


def figure4(full: bool) -> list[Curve]:
    """Error by epoch at three budgets: as printed, corrected, and the corrected sampler's level."""
    axes, seeds = {"epsilon": THREE}, range(3 if full else 2)
    alone = range(1) if full else seeds  # far from the data a step costs three times as much
    long = {**GRID, "sampler_epochs": EPOCHS if full else 1.0}
    first: dict[str, Value] = {"calibration": "paper", "step_scale": 1.0, "burn_in": 10_000}
    second: dict[str, Value] = {"calibration": "rigorous", "step_scale": 1e-3}
    printed = request("survival", "psgld", "flchain", {**long, **first}, axes, alone)
    mended = request("survival", "psgld", "flchain", {**long, **second}, axes, seeds)
    exact = request("survival", "exact", "flchain", {**GRID, "samples": 500}, axes, (0,))
    drawn = (
        ("as printed", (printed,), chains.course),
        ("heuristic", (mended,), chains.course),
        ("exact", (exact, mended), chains.level),
    )
    return [
        Curve(f"ε = {budget:g}", variant, jobs, trace, at={"epsilon": budget})
        for variant, jobs, trace in drawn
        for budget in THREE
    ]


def _line(name: str, method: str, calibration: str) -> MethodRow:
    """A curve of Figure 5: the paper's regularisation where there is one, and short chains."""
    values: dict[str, Value] = {**GRID, "calibration": calibration}
    variant = "as printed"
    if calibration != "paper":
        variant = {"dp_gd": "(ε, δ)", "psgld": "heuristic"}.get(method, "rigorous")
    if method in ("out_pert", "obj_pert"):
        values["regularisation"] = BEST[name]
    elif method == "psgld":
        scale = 1.0 if calibration == "paper" else 1e-3
        values |= {"sampler_epochs": CHAINS[name], "step_scale": scale}
    elif method == "exact":
        values["samples"] = 25
    return MethodRow(f"{label(name)}, {METHODS[method]}", variant, "survival", method, values)


def figure5(full: bool) -> list[Point]:
    """Five methods on four data sets over seven budgets, three of them as printed too."""
    points: list[Point] = []
    for name, method in ((name, method) for name in DATASETS for method in METHODS):
        if method == "psgld" and name not in CHAINS:
            continue
        repetitions = 3 if method == "psgld" or not full else 5 if name == "SB" else 20
        for calibration in ("rigorous", *(["paper"] if method in DRAWN_AS_PRINTED else [])):
            line = _line(name, method, calibration)
            axes = {"epsilon": BUDGETS}
            job = line.job(DATASETS[name], axes=axes, seeds=range(repetitions))
            points += along("epsilon", BUDGETS, (job,), MRE, row=line.row, variant=line.variant)
    return points


EXHIBITS = (
    *map(SHEET.exhibit, (table1, table2, table3, coefficients, figure1, figure2)),
    SHEET.exhibit(figure3, words={"epochs": EPOCHS}),
    SHEET.exhibit(figure4, words={"epochs": EPOCHS}),
    SHEET.exhibit(figure5),
)
