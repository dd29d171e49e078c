"""The two studies of Section 4: error over C, E and q, and under a perturbed matrix. No torch."""

from collections.abc import Mapping, Sequence
from itertools import product

from engine.papers.lvq.published import NAMES, PERTURBED, PUBLISHED, SPREADS
from engine.papers.lvq.readings import (
    FREE,
    READINGS,
    available,
    cell,
    reference,
    settings,
    tables,
)
from engine.runs.exhibit import Cell
from engine.runs.job import Job, request
from engine.runs.results import Results


def _spaced(low: float, high: float, count: int) -> tuple[float, ...]:
    """Numbers from low to high, evenly spaced on a logarithmic scale."""
    return tuple(low * (high / low) ** (i / (count - 1)) for i in range(count))


def _studies(full: bool) -> dict[str, tuple[float, ...]]:
    """The values of C, E and q that the paper tries; a quick look takes three of each."""
    sizes = (10, 10, 20) if full else (3, 3, 3)
    ranges = {"clip": (0.05, 2.0), "epochs": (10.0, 100.0), "sample_rate": (0.0005, 0.1)}
    return {
        field: _spaced(*limits, size)
        for (field, limits), size in zip(ranges.items(), sizes, strict=True)
    }


def study_jobs(full: bool) -> dict[str, Job]:
    """GLVQ in every reading, with one setting moved; C is an axis, E and q are not."""
    dataset = "har" if available("har") else "digits"
    axes, seeds = {"epsilon": (0.75, 1.0, 2.5)}, range(5 if full else 2)
    jobs = {}
    for reading, (field, values) in product(READINGS, _studies(full).items()):
        base = settings(dataset, "glvq", reading)
        fixed = {name: value for name, value in base.items() if name != field}
        if field == "clip":
            swept = {**axes, "clip": values}
            jobs[f"{reading}|clip"] = request("lvq", "glvq_dp", dataset, fixed, swept, seeds)
            continue
        for value in values if full else values[-2:]:
            moved = {**fixed, field: value}
            name = f"{reading}|{field}|{value:.6g}"
            jobs[name] = request("lvq", "glvq_dp", dataset, moved, axes, seeds)
    return jobs


def study_cells(by_name: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Standard deviation of the mean error over the values tried."""
    cells = []
    for ((field, budget), theirs), reading in product(SPREADS.items(), READINGS):
        means, run = [], ""
        for name, results in by_name.items():
            if name.split("|")[:2] != [reading, field]:
                continue
            run = results.run
            for value in dict.fromkeys(results.axes.get("clip", [None])):
                at = {"epsilon": budget} if value is None else {"epsilon": budget, "clip": value}
                means.append(results.mean("error", **at))
        whole = _deviation(means)
        cells.append(Cell(f"ε = {budget:g}", field, reading, theirs, whole, None, run))
    return tuple(cells)


def _deviation(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = sum(values) / len(values)
    return float((sum((v - mean) ** 2 for v in values) / (len(values) - 1)) ** 0.5)


def perturbation_jobs(full: bool) -> dict[str, Job]:
    """The optimum of GMLVQ without privacy, Table 1's, whose matrix is then shaken."""
    names = tables() if full else ["segment"]
    return {name: reference(name, "gmlvq", "bfgs", full) for name in names}


def perturbation_cells(by_name: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Rise of the error, and the two errors that it is the difference of."""
    cells = []
    for name, results in by_name.items():
        row = NAMES[name]
        plain, shaken = results.mean("error"), results.mean("perturbed")
        before, rise = PUBLISHED[name, "gmlvq"][4], PERTURBED.get(name)
        after = None if rise is None else round(before + rise, 4)
        cells.append(cell(row, "before", FREE, before, [results], None))
        cells.append(cell(row, "after", FREE, after, [results], None, "perturbed"))
        cells.append(Cell(row, "rise", FREE, rise, shaken - plain, None, results.run))
    return tuple(cells)
