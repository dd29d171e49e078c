"""Figures 5a, 5b and 6 of Phan et al. (2017) beside ours.

The curves are images; only the numbers in the text can be set beside ours. Seconds are
measured by the benchmarks, since a run's results hold none.
"""

from collections.abc import Mapping
from typing import Any

from engine.exhibit import Cell, Exhibit
from engine.job import Job, request
from engine.results import Results

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
FEW = (0.5, 2.0)
EPOCHS = (1, 3, 9, 18, 54, 162)
SGD_EPOCHS = (3, 9, 18)
DEGREES = (1, 2, 3, 5, 7)
PUBLISHED_PCDBN, PUBLISHED_PSGD = 0.9171, 0.8875
CURVES: dict[str, tuple[str, dict[str, Any], str]] = {
    "rigorous": ("pcdbn", {"calibration": "rigorous"}, "rigorous"),
    "released": ("pcdbn", {"calibration": "released", "degree": 7}, "as released"),
    "paper": ("pcdbn", {"calibration": "paper", "degree": 7}, "as printed"),
    "psgd": ("psgd", {}, "rigorous"),
}


def _size(full: bool) -> tuple[str, dict[str, Any]]:
    """MNIST with the paper's 32 maps, or the small digits with few."""
    if full:
        return "mnist", {"pretraining": 1}
    return "digits", {"filters": 8, "epochs": 60}


def _job(full: bool, key: str, axes: Mapping[str, Any], seeds: int, **values: Any) -> Job:
    name, own, _ = CURVES[key]
    dataset, size = _size(full)
    return request("pcdbn", name, dataset, {**size, **own, **values}, axes, range(seeds))


def _figure5a_jobs(full: bool) -> dict[str, Job]:
    """One job a curve; networks are trained at fewer budgets, since each takes minutes."""
    return {
        key: _job(
            full,
            key,
            {"epsilon": EPSILONS if key == "rigorous" else FEW},
            3 if key == "rigorous" else 1,
        )
        for key in CURVES
    }


def _figure5a_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per curve, one column per budget."""
    cells = []
    for key, found in results.items():
        name, _, variant = CURVES[key]
        printed = PUBLISHED_PSGD if name == "psgd" else PUBLISHED_PCDBN
        for epsilon in sorted(set(found.axes["epsilon"])):
            cells.append(
                Cell(
                    row="pSGD" if name == "psgd" else "pCDBN",
                    column=f"{epsilon:g}",
                    variant=variant,
                    published=printed if epsilon == 0.5 else None,
                    ours=_known(found.mean("accuracy", epsilon=float(epsilon))),
                    spread=_known(found.spread("accuracy", epsilon=float(epsilon))),
                    run=found.run,
                )
            )
    return tuple(cells)


def _known(value: float) -> float | None:
    return value if value == value else None


def _figure5b_jobs(full: bool) -> dict[str, Job]:
    """Descent on the released quadratic by epochs, the published program, and pSGD."""
    jobs = {
        f"rigorous/{epochs}": _job(full, "rigorous", {}, 3, solver="descent", epochs=epochs)
        for epochs in EPOCHS
    }
    jobs |= {f"released/{e}": _job(full, "released", {}, 1, epochs=e) for e in (18, 162)}
    return jobs | {f"psgd/{e}": _job(full, "psgd", {}, 1, sgd_epochs=e) for e in SGD_EPOCHS}


def _figure5b_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per method, one column per number of epochs."""
    published = {
        ("psgd", 18): PUBLISHED_PSGD,
        ("rigorous", 162): PUBLISHED_PCDBN,
        ("released", 162): PUBLISHED_PCDBN,
    }
    cells = []
    for key, found in results.items():
        curve, epochs = key.split("/")
        cells.append(_cell(curve, epochs, published.get((curve, int(epochs))), found))
    return tuple(cells)


def _cell(curve: str, column: str, published: float | None, found: Results) -> Cell:
    return Cell(
        row="pSGD" if curve == "psgd" else "pCDBN",
        column=column,
        variant=CURVES[curve][2],
        published=published,
        ours=_known(found.mean("accuracy")),
        spread=_known(found.spread("accuracy")),
        run=found.run,
    )


def _figure6_jobs(full: bool) -> dict[str, Job]:
    """The degrees that each calibration can have."""
    jobs = {f"rigorous/{d}": _job(full, "rigorous", {}, 3, degree=d) for d in (1, 3)}
    degrees = (3, 7) if full else DEGREES
    return jobs | {f"released/{d}": _job(full, "released", {}, 1, degree=d) for d in degrees}


def _figure6_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per calibration, one column per degree; the paper prints no number."""
    return tuple(
        _cell(key.split("/")[0], key.split("/")[1], None, found) for key, found in results.items()
    )


EXHIBITS = (
    Exhibit(
        name="figure5a",
        title="Figure 5a",
        caption="Accuracy on MNIST against ε. The text gives 91.71 % for pCDBN and 88.75 % for "
        "pSGD at ε = 0.5. The rigorous version and pSGD are (ε, 1e-5)-private; the published "
        "program is not private at any ε, which is why its curve is almost flat.",
        quantity="Test accuracy",
        better="up",
        jobs=_figure5a_jobs,
        cells=_figure5a_cells,
        axis="ε",
        log=(True, False),
    ),
    Exhibit(
        name="figure5b",
        title="Figure 5b",
        caption="Accuracy on MNIST against epochs at ε = 0.5. One release serves any number of "
        "epochs of descent; pSGD adds noise for each number of epochs anew, such that the budget "
        "runs out with the last.",
        quantity="Test accuracy",
        better="up",
        jobs=_figure5b_jobs,
        cells=_figure5b_cells,
        axis="Epochs",
        log=(True, False),
    ),
    Exhibit(
        name="figure6",
        title="Figure 6",
        caption="Accuracy on MNIST by degree L at ε = 0.5. The paper finds no difference beyond "
        "L = 3 and prints no number; the rigorous version has the degrees whose moments it "
        "releases.",
        quantity="Test accuracy",
        better="up",
        jobs=_figure6_jobs,
        cells=_figure6_cells,
        axis="L",
    ),
)
