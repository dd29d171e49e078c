"""Table 1, Figure 1 and the two studies of Section 4, beside what the paper prints. No torch here.

Ours come in three readings: `as printed` (Laplace noise for d-dimensional sums and the paper's
sigma), `sensitivity 1` (the same with the noise that would explain the printed numbers, which
proves a larger epsilon) and `rigorous`; see `engine.papers.lvq.readings`.
"""

import math
from collections.abc import Sequence
from functools import partial
from itertools import product

from engine.core.spec import Value
from engine.papers.lvq.readings import (
    BUDGETS,
    CURVED,
    EARLY,
    FREE,
    MODELS,
    PAPERS,
    READINGS,
    RIGOROUS,
    available,
    private,
    reference,
    settings,
    tables,
)
from engine.runs.exhibit import Point, along, over, sheet
from engine.runs.job import Job, request
from engine.runs.results import Results

SHEET = sheet(__file__)
TABLE1, DEVIATIONS = SHEET.printed["table1"], SHEET.printed["deviations"]
ERROR = over("error")
TABLES = ("mnist", "har", "segment")
"""The data sets of Table 1."""
NAMES = {"mnist": "MNIST", "har": "Motion", "segment": "Segment", "digits": "Digits"}
STUDIED = {"clip": (0.05, 2.0, 10), "epochs": (10.0, 100.0, 10), "sample_rate": (0.0005, 0.1, 20)}
"""Least and largest C, E and q that the paper tries, and how many."""


def _row(dataset: str, model: str) -> str:
    return f"{NAMES[dataset]}, {model.upper()}"


def table1(full: bool) -> list[Point]:
    """One row per data set and model; a quick look takes Segment alone, in one repeat."""
    points: list[Point] = []
    for dataset, model in product(TABLES, MODELS):
        there = dataset in (tables() if full else ["segment"])
        row = partial(Point, _row(dataset, model))
        printed, deviations = TABLE1[dataset][model], DEVIATIONS[dataset][model]
        *budgets, sgd, bfgs = zip(printed, deviations, strict=True)
        for reading in READINGS:
            jobs = private(dataset, model, reading, full) if there else ()
            points += [
                row(f"ε = {e:g}", reading, theirs, jobs, ERROR, 0, {"epsilon": e}, deviation)
                for e, (theirs, deviation) in zip(BUDGETS, budgets, strict=True)
            ]
        for kind, (theirs, deviation) in (("sgd", sgd), ("bfgs", bfgs)):
            jobs = (reference(dataset, model, kind, full),) if there else ()
            points.append(row(kind.upper(), FREE, theirs, jobs, ERROR, 0, {}, deviation))
        if full and there and (dataset, model) == ("mnist", "gmlvq"):
            jobs = (reference(dataset, model, EARLY, full),)
            points.append(row("SGD", EARLY, sgd[0], jobs, ERROR, 0, {}, sgd[1]))
    return points


def figure1(full: bool) -> list[Point]:
    """Curves over ε, and the lines without privacy; no numbers are printed beside Table 1's.

    Of a table that is not at hand there are the printed numbers alone.
    """
    points: list[Point] = []
    for dataset, model in product(TABLES if full else ("digits",), MODELS):
        row, there = _row(dataset, model), not full or dataset in tables()
        printed = TABLE1.get(dataset, {}).get(model, (None,) * 5)
        for reading in (PAPERS, RIGOROUS):
            jobs = private(dataset, model, reading, full, curve=True) if there else ()
            points += along(
                "epsilon", jobs[0].axes["epsilon"] if jobs else BUDGETS, jobs, ERROR, row=row,
                variant=reading, printed=dict(zip(BUDGETS, printed, strict=False)),
            )  # fmt: skip
        line = (reference(dataset, model, "sgd", full),) if there else ()
        points.append(Point(row, "inf", FREE, printed[3], line, ERROR))
    return points


def spaced(low: float, high: float, count: int) -> tuple[float, ...]:
    """Numbers from low to high, evenly spaced on a logarithmic scale."""
    return tuple(low * (high / low) ** (i / (count - 1)) for i in range(count))


def _moved(reading: str, knob: str, full: bool) -> tuple[Job, ...]:
    """GLVQ with one setting moved; C is an axis, E and q are not. A quick look takes few values."""
    low, high, count = STUDIED[knob]
    values = spaced(low, high, count if full else 3)
    dataset = "har" if available("har") else "digits"
    base = settings(dataset, "glvq", reading)
    fixed = {name: value for name, value in base.items() if name != knob}
    axes, seeds = {"epsilon": (0.75, 1.0, 2.5)}, range(5 if full else 2)
    job = partial(request, "lvq", "glvq_dp", dataset)
    if knob == "clip":
        return (job(fixed, {**axes, "clip": values}, seeds),)
    return tuple(
        job({**fixed, knob: value}, axes, seeds) for value in (values if full else values[-2:])
    )


def study(full: bool) -> list[Point]:
    """Standard deviation of the mean error over the values tried."""
    moved = {key: _moved(*key, full) for key in product(READINGS, STUDIED)}
    return [
        Point(f"ε = {at}", knob, reading, theirs, moved[reading, knob], _deviation, -1,
              {"epsilon": float(at)})
        for knob, by_budget in SHEET.printed["spreads"].items()
        for at, theirs in by_budget.items()
        for reading in READINGS
    ]  # fmt: skip


def _deviation(results: Sequence[Results], **at: Value) -> tuple[float, float]:
    """Standard deviation of the mean error over runs, and over the values of C within a run."""
    means = [
        one.mean("error", **at, **({} if clip is None else {"clip": clip}))
        for one in results
        for clip in dict.fromkeys(one.axes.get("clip", [None]))
    ]
    if len(means) < 2:
        return math.nan, math.nan
    mean = sum(means) / len(means)
    return (sum((v - mean) ** 2 for v in means) / (len(means) - 1)) ** 0.5, math.nan


def perturbation(full: bool) -> list[Point]:
    """Rise of the error when the matrix of the optimum is disturbed, and the two errors.

    On MNIST also of the matrix whose training stops early: its error is the printed one.
    """
    points: list[Point] = []
    for dataset in TABLES:
        there = dataset in (tables() if full else ["segment"])
        points += _disturbed(dataset, "bfgs", FREE, full, there=there)
        if full and there and dataset == "mnist":
            points += _disturbed(dataset, EARLY, EARLY, full, there=True)
    return points


def _disturbed(dataset: str, kind: str, variant: str, full: bool, *, there: bool) -> list[Point]:
    """The three points of one matrix; without jobs where its data set is not at hand."""
    jobs = (reference(dataset, "gmlvq", kind, full),) if there else ()
    printed = SHEET.printed["perturbed"].get(dataset, {})
    row = partial(Point, NAMES[dataset])
    return [
        row("before", variant, TABLE1[dataset]["gmlvq"][4], jobs, ERROR),
        row("after", variant, printed.get("after"), jobs, over("perturbed")),
        row("rise", variant, printed.get("rise"), jobs, _rise,
            published_spread=printed.get("deviation")),
    ]  # fmt: skip


def _rise(results: Sequence[Results]) -> tuple[float, float]:
    """Of the one job; nothing where there is none."""
    for one in results:
        return one.mean("perturbed") - one.mean("error"), math.nan
    return math.nan, math.nan


EXHIBITS = (
    SHEET.exhibit(table1),
    SHEET.exhibit(figure1, words=CURVED),
    SHEET.exhibit(
        study, name="settings", graded=available("har"),
        says=lambda cells: "The paper uses Motion and ours are on Digits: no number is compared.",
    ),
    SHEET.exhibit(perturbation),
)  # fmt: skip
"""What `reproduce` offers of this paper."""
