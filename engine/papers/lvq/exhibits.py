"""Table 1, Figure 1 and the two sensitivity studies, beside what the paper prints. No torch here.

Ours come in three readings: `as printed` (Laplace noise for d-dimensional sums and the paper's
sigma), `sensitivity 1` (the same with the noise that would explain the printed numbers, which is
not private) and `rigorous`. Settings of the rigorous runs were chosen on folds of repeats 5 to 9,
which no exhibit reports. The learning rates of the other two were not: see `settings`.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

from datasets.fetch import local
from engine.exhibit import Cell, Exhibit
from engine.job import Job, request
from engine.papers.lvq.spec import PRINTED
from engine.results import Results
from engine.spec import Value

BUDGETS = (0.75, 1.5, 2.5)
CURVE = (0.1, 0.2, 0.4, 0.75, 1.0, 1.5, 2.0, 2.5, 4.0, 8.0)
MODELS = ("glvq", "gmlvq")
NAMES = {"mnist": "MNIST", "har": "Motion", "segment": "Segment", "digits": "Digits"}
PUBLISHED: dict[tuple[str, str], tuple[float, ...]] = {
    ("mnist", "glvq"): (0.1893, 0.1871, 0.1871, 0.1857, 0.1853),
    ("mnist", "gmlvq"): (0.2188, 0.1721, 0.1673, 0.1583, 0.1484),
    ("har", "glvq"): (0.1121, 0.1123, 0.1121, 0.1112, 0.1111),
    ("har", "gmlvq"): (0.1116, 0.1048, 0.1038, 0.0914, 0.0897),
    ("segment", "glvq"): (0.4793, 0.1792, 0.1635, 0.1458, 0.1458),
    ("segment", "gmlvq"): (0.2642, 0.1745, 0.1696, 0.0932, 0.0870),
}
SPREADS = {
    ("clip", 0.75): 0.1275, ("clip", 1.0): 0.0412, ("clip", 2.5): 0.0062,
    ("epochs", 0.75): 0.0361, ("epochs", 1.0): 0.0081, ("epochs", 2.5): 0.0060,
    ("sample_rate", 0.75): 0.0899, ("sample_rate", 1.0): 0.0370, ("sample_rate", 2.5): 0.0062,
}  # fmt: skip
"""Standard deviation of the error on Motion over C, E and q (Section 4)."""
PERTURBED = {"mnist": 0.0277, "har": 0.0234}
"""Rise of the error when the relevance matrix is perturbed (Section 4)."""

RATES: dict[str, Value] = {"rate_w": 0.1, "rate_omega": 1.0}
FULL: dict[str, Value] = {"sample_rate": 1.0, "epochs": 20.0, "share": 0.85}
"""Small tables take full steps: a sample of them would save nothing."""
PAPERS, ONE, RIGOROUS = "as printed", "sensitivity 1", "rigorous"
READINGS: dict[str, dict[str, Value]] = {
    PAPERS: PRINTED,
    ONE: {**PRINTED, "initialisation": "sensitivity_1"},
    RIGOROUS: {},
}
FREE, EARLY = "without privacy", "without privacy, stopped early"
REFERENCE: dict[str, Value] = {"sample_rate": 0.05, "epochs": 50.0, "rate_w": 0.03}
SHORTER: dict[str, Value] = {**REFERENCE, "epochs": 5.0, "rate_omega": 0.3}
"""On MNIST, GMLVQ meets the printed error here and leaves it behind when it is trained on."""
FEWER = {
    ("mnist", "glvq", PAPERS): 5,
    ("mnist", "glvq", ONE): 5,
    ("mnist", "glvq", "sgd"): 5,
    ("mnist", "glvq", "bfgs"): 5,
    ("mnist", "gmlvq", PAPERS): 2,
    ("mnist", "gmlvq", ONE): 2,
    ("mnist", "gmlvq", RIGOROUS): 5,
    ("mnist", "gmlvq", "sgd"): 5,
    ("mnist", "gmlvq", "bfgs"): 2,
}
"""How many folds are trained where 25 would take hours on a laptop."""
FOLDS = (
    "Twenty-five folds, except on MNIST: there rigorous GLVQ has 25, GMLVQ by BFGS or with printed "
    "noise has 2 and everything else has 5; ± is the standard deviation over folds."
)


def available(dataset: str) -> bool:
    """Whether the files of a table lie at hand; the motion data cannot be shipped."""
    places = ("har/train/X_train.txt", "har/UCI HAR Dataset/train/X_train.txt")
    archives = (
        "har/UCI HAR Dataset.zip",
        "har/human+activity+recognition+using+smartphones.zip",
    )
    return dataset != "har" or any(local(place) is not None for place in (*places, *archives))


def settings(dataset: str, model: str, reading: str) -> dict[str, Value]:
    """What a reading sets on a data set.

    The paper prints no learning rates. Two pairs were tried for its readings: ours carried over
    from records of norm up to 1 (0.1 d for prototypes, 1/d for the matrix), with which the noise
    of 5,000 steps drives the parameters away, and the smaller pair that is kept.
    """
    d = {"mnist": 784, "har": 561, "segment": 18, "digits": 64}[dataset]
    if reading == RIGOROUS:
        small = FULL if dataset in ("segment", "digits") else {}
        return {**RATES, **small}
    return {**READINGS[reading], "rate_w": 0.1, "rate_omega": 0.01 / d}


def _seeds(dataset: str, model: str, reading: str, full: bool) -> range:
    """The folds; a quick look takes one repeat."""
    return range(FEWER.get((dataset, model, reading), 25) if full else 5)


def _private(dataset: str, model: str, reading: str, full: bool) -> Job:
    """One job for table and figure: the table's budgets are among the curve's."""
    costly = (dataset, model, reading) == ("mnist", "gmlvq", PAPERS)
    grid = CURVE if full and reading != ONE and not costly else BUDGETS
    values = settings(dataset, model, reading)
    seeds = _seeds(dataset, model, reading, full)
    return request("lvq", f"{model}_dp", dataset, values, {"epsilon": grid}, seeds)


def _reference(
    dataset: str, model: str, kind: str, full: bool, values: dict[str, Value] = REFERENCE
) -> Job:
    seeds = _seeds(dataset, model, kind, full)
    return request("lvq", f"{model}_{kind}", dataset, values, seeds=seeds)


def _tables() -> list[str]:
    return [name for name in ("mnist", "har", "segment") if available(name)]


def _table_jobs(full: bool) -> dict[str, Job]:
    """Every cell of Table 1; a quick look takes Segment alone, in one repeat."""
    jobs = {}
    for dataset, model in product(_tables() if full else ["segment"], MODELS):
        for reading in READINGS:
            jobs[f"{dataset} {model} {reading}"] = _private(dataset, model, reading, full)
        for kind in ("sgd", "bfgs"):
            jobs[f"{dataset} {model} {kind}"] = _reference(dataset, model, kind, full)
    if full and "mnist" in _tables():
        jobs["mnist gmlvq early"] = _reference("mnist", "gmlvq", "sgd", full, SHORTER)
    return jobs


def _table_cells(found: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per data set and model, as in the paper."""
    cells = []
    for (dataset, model), printed in PUBLISHED.items():
        row = f"{NAMES[dataset]}, {model.upper()}"
        for reading, (budget, theirs) in product(READINGS, zip(BUDGETS, printed, strict=False)):
            results = found.get(f"{dataset} {model} {reading}")
            cells.append(_cell(row, f"ε = {budget:g}", reading, theirs, results, budget))
        for kind, theirs in zip(("sgd", "bfgs"), printed[3:], strict=True):
            results = found.get(f"{dataset} {model} {kind}")
            cells.append(_cell(row, kind.upper(), FREE, theirs, results, None))
        if early := found.get(f"{dataset} {model} early"):
            cells.append(_cell(row, "SGD", EARLY, printed[3], early, None))
    return tuple(cells)


def _cell(
    row: str,
    column: str,
    variant: str,
    theirs: float | None,
    results: Results | None,
    budget: float | None,
    gauge: str = "error",
) -> Cell:
    """The mean over folds at one budget beside the printed number; empty where nothing ran."""
    if results is None:
        return Cell(row, column, variant, theirs, None, None, "")
    at = {} if budget is None else {"epsilon": budget}
    mean, spread = results.mean(gauge, **at), results.spread(gauge, **at)
    whole = None if spread != spread else spread
    return Cell(row, column, variant, theirs, None if mean != mean else mean, whole, results.run)


def _figure_jobs(full: bool) -> dict[str, Job]:
    """Both models over the budgets, as printed and rigorous, and the lines without privacy."""
    jobs = {}
    for dataset, model in product(_tables() if full else ["digits"], MODELS):
        for reading in (PAPERS, RIGOROUS):
            jobs[f"{dataset} {model} {reading}"] = _private(dataset, model, reading, full)
        jobs[f"{dataset} {model} sgd"] = _reference(dataset, model, "sgd", full)
    return jobs


def _figure_cells(found: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Curves over epsilon; the paper prints no numbers beside those of Table 1."""
    cells = []
    for name, results in found.items():
        dataset, model, reading = name.split(" ", 2)
        row = f"{NAMES[dataset]}, {model.upper()}"
        printed = PUBLISHED.get((dataset, model), (None,) * 5)
        if reading == "sgd":
            cells.append(_cell(row, "inf", FREE, printed[3], results, None))
            continue
        theirs = dict(zip(BUDGETS, printed, strict=False))
        for budget in dict.fromkeys(results.axes["epsilon"].tolist()):
            cells.append(_cell(row, f"{budget:g}", reading, theirs.get(budget), results, budget))
    return tuple(cells)


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


def _study_jobs(full: bool) -> dict[str, Job]:
    """GLVQ with sensitivity 1, the reading that trains at all, with one setting moved."""
    dataset = "har" if available("har") else "digits"
    base = settings(dataset, "glvq", "sensitivity 1")
    axes = {"epsilon": (0.75, 1.0, 2.5)}
    jobs = {}
    for field, values in _studies(full).items():
        if field == "clip":
            whole = {f: v for f, v in base.items() if f != "clip"}
            swept = {**axes, "clip": values}
            jobs["clip"] = request("lvq", "glvq_dp", dataset, whole, swept, range(2))
            continue
        for value in values if full else values[-2:]:
            moved = {**base, field: value}
            name = f"{field} {value:.6g}"
            jobs[name] = request("lvq", "glvq_dp", dataset, moved, axes, range(2))
    return jobs


def _study_cells(found: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Standard deviation of the mean error over the values tried."""
    cells = []
    for (field, budget), theirs in SPREADS.items():
        means, run = [], ""
        for name, results in found.items():
            if name.split(" ")[0] != field:
                continue
            run = results.run
            values = dict.fromkeys(results.axes.get("clip", [None]))
            for value in values:
                at = {"epsilon": budget} if value is None else {"epsilon": budget, "clip": value}
                means.append(results.mean("error", **at))
        cells.append(Cell(f"ε = {budget:g}", field, "sensitivity 1", theirs, _deviation(means),
                          None, run))  # fmt: skip
    return tuple(cells)


def _deviation(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = sum(values) / len(values)
    return float((sum((v - mean) ** 2 for v in values) / (len(values) - 1)) ** 0.5)


def _perturbation_jobs(full: bool) -> dict[str, Job]:
    """The optimum of GMLVQ without privacy, whose matrix is then shaken."""
    names = _tables() if full else ["segment"]
    return {name: _reference(name, "gmlvq", "bfgs", full) for name in names}


def _perturbation_cells(found: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Rise of the error, and the two errors that it is the difference of."""
    cells = []
    for name, results in found.items():
        row = NAMES[name]
        plain, shaken = results.mean("error"), results.mean("perturbed")
        before, rise = PUBLISHED[name, "gmlvq"][4], PERTURBED.get(name)
        after = None if rise is None else round(before + rise, 4)
        cells.append(_cell(row, "before", FREE, before, results, None))
        cells.append(_cell(row, "after", FREE, after, results, None, "perturbed"))
        cells.append(Cell(row, "rise", FREE, rise, shaken - plain, None, results.run))
    return tuple(cells)


_exhibit = partial(Exhibit, better="down", digits=4)
EXHIBITS = (
    _exhibit(
        name="table1",
        title="Table 1: test error",
        caption="Means over five repeats of five folds. As printed, the initialisation has noise "
        "for d-dimensional sums, and training does not recover on wide data: the printed numbers "
        "fit noise for sensitivity 1, which is not private. Rigorous runs prove theirs. SGD on "
        "MNIST is stopped where GMLVQ meets the printed error; trained on, it falls to .12.",
        quantity="Test error",
        jobs=_table_jobs,
        cells=_table_cells,
    ),
    _exhibit(
        name="figure1",
        title="Figure 1: test error against epsilon",
        caption="GLVQ and GMLVQ as printed and rigorous, and both without privacy; published "
        "values are those of Table 1, since the figure prints none.",
        quantity="Test error",
        axis="Privacy budget ε",
        log=(True, False),
        jobs=_figure_jobs,
        cells=_figure_cells,
    ),
    _exhibit(
        name="settings",
        title="Section 4: spread of the error over C, E and q",
        caption="Standard deviation of GLVQ's mean test error over ten C in [0.05, 2], ten E in "
        "[10, 100] and twenty q in [0.0005, 0.1]; the paper's are on Motion. Where its files are "
        "not at hand, ours are on Digits and not comparable.",
        quantity="Standard deviation of the test error",
        jobs=_study_jobs,
        cells=_study_cells,
    ),
    _exhibit(
        name="perturbation",
        title="Section 4: error under a perturbed relevance matrix",
        caption="Noise of standard deviation 0.025 on each element of Omega, scaled to norm "
        "sqrt(d). The paper does not say at which scale, and calls 0.025 a variance.",
        quantity="Test error and its rise",
        jobs=_perturbation_jobs,
        cells=_perturbation_cells,
    ),
)
"""What `reproduce` offers of this paper."""
