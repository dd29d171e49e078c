"""Figures 5a, 5b and 6 and the computation times of Phan et al. (2017) beside ours.

The curves are images; only the numbers in the text can be set beside ours. The full size is
MNIST and 162 epochs, but the networks have 16 and 32 maps in place of 32 and 64, one
repetition, one epoch of pre-training a layer and fewer budgets: each run takes minutes.
"""

import math
from collections.abc import Mapping
from typing import Any

from engine.runs.exhibit import Cell, Exhibit
from engine.runs.job import Job, request
from engine.runs.results import Results

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
FEW = (0.1, 0.5, 2.0, 4.0)
EPOCHS = (1, 9, 18, 54, 162)
SGD_EPOCHS = (3, 9, 18)
DEGREES = (1, 2, 3, 5, 7)
PUBLISHED_PCDBN, PUBLISHED_PSGD = 0.9171, 0.8875
SECONDS_PCDBN, SECONDS_PSGD = 761.0, 86.0
CURVES: dict[str, tuple[str, dict[str, Any], str]] = {
    "rigorous": ("pcdbn", {"calibration": "rigorous"}, "rigorous"),
    "released": ("pcdbn", {"calibration": "released", "degree": 7}, "as released"),
    "paper": ("pcdbn", {"calibration": "paper", "degree": 7}, "as printed"),
    "psgd": ("psgd", {}, "rigorous"),
}
ROWS = {"psgd": "pSGD", "dpsgd": "DP-SGD on wavelets"}
FIRST_ORDER: dict[str, Any] = {"representation": "wavelets"}
TODAY: dict[bool, dict[str, Any]] = {
    True: {"sample_rate": 0.1, "epochs": 40, "learning_rate": 1.0, "momentum": 0.9, **FIRST_ORDER},
    False: {"sample_rate": 0.1, "epochs": 20, "learning_rate": 0.5, "momentum": 0.5, **FIRST_ORDER},
}
"""What DP-SGD of today is run with: the best that is found under the paper on it."""


def _size(full: bool, key: str) -> tuple[str, dict[str, Any]]:
    """MNIST with the paper's 32 maps, 16 for what trains in minutes, or digits with few."""
    if full:
        return "mnist", {"pretraining": 1, **({} if key == "rigorous" else {"filters": 16})}
    return "digits", {"filters": 8, "epochs": 60}


def _job(full: bool, key: str, seeds: int = 1, **values: Any) -> Job:
    name, own, _ = CURVES[key]
    dataset, size = _size(full, key)
    return request("pcdbn", name, dataset, {**size, **own, **values}, {}, range(seeds))


def _swept(full: bool, paper: str, method: str, values: Mapping[str, Any], seeds: int) -> Job:
    dataset = "mnist" if full else "digits"
    return request(paper, method, dataset, values, {"epsilon": EPSILONS}, range(seeds))


def _figure5a_jobs(full: bool) -> dict[str, Job]:
    """One job for a curve that trains in seconds, and one for each point of a network's."""
    own = {**_size(full, "rigorous")[1], **CURVES["rigorous"][1]}
    jobs = {
        "rigorous": _swept(full, "pcdbn", "pcdbn", own, 3),
        "dpsgd": _swept(full, "enadpp", "dpsgd", TODAY[full], 1),
    }
    networks = [key for key in CURVES if key != "rigorous"]
    return jobs | {f"{key}/{e:g}": _job(full, key, epsilon=e) for key in networks for e in FEW}


def _figure5a_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per curve, one column per budget."""
    cells = []
    for key, result in results.items():
        curve, _, point = key.partition("/")
        budgets = (float(point),) if point else EPSILONS
        for epsilon in budgets:
            at = {} if point else {"epsilon": epsilon}
            cells.append(_cell(curve, f"{epsilon:g}", _published(curve, epsilon), result, at))
    return tuple(cells)


def _published(curve: str, epsilon: float) -> float | None:
    """The two accuracies of the text, which are those of ε = 0.5."""
    if epsilon != 0.5 or curve == "dpsgd":
        return None
    return PUBLISHED_PSGD if curve == "psgd" else PUBLISHED_PCDBN


def _known(value: float) -> float | None:
    return value if value == value else None


def _figure5b_jobs(full: bool) -> dict[str, Job]:
    """Descent on the released quadratic by epochs, the published program, and pSGD."""
    jobs = {
        f"rigorous/{epochs}": _job(full, "rigorous", 3, solver="descent", epochs=epochs)
        for epochs in EPOCHS
    }
    jobs |= {f"released/{e}": _job(full, "released", epochs=e) for e in (18, 162)}
    return jobs | {f"psgd/{e}": _job(full, "psgd", sgd_epochs=e) for e in SGD_EPOCHS}


def _figure5b_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per method, one column per number of epochs."""
    published = {
        ("psgd", 18): PUBLISHED_PSGD,
        ("rigorous", 162): PUBLISHED_PCDBN,
        ("released", 162): PUBLISHED_PCDBN,
    }
    cells = []
    for key, result in results.items():
        curve, epochs = key.split("/")
        cells.append(_cell(curve, epochs, published.get((curve, int(epochs))), result))
    return tuple(cells)


def _cell(
    curve: str,
    column: str,
    published: float | None,
    result: Results,
    at: Mapping[str, float] | None = None,
) -> Cell:
    return Cell(
        row=ROWS.get(curve, "pCDBN"),
        column=column,
        variant="rigorous" if curve == "dpsgd" else CURVES[curve][2],
        published=published,
        ours=_known(result.mean("accuracy", **(at or {}))),
        spread=_known(result.spread("accuracy", **(at or {}))),
        run=result.run,
    )


def _figure6_jobs(full: bool) -> dict[str, Job]:
    """The degrees that each calibration can have."""
    jobs = {f"rigorous/{d}": _job(full, "rigorous", 3, degree=d) for d in (1, 3)}
    degrees = (3, 7) if full else DEGREES
    return jobs | {f"released/{d}": _job(full, "released", degree=d) for d in degrees}


def _figure6_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """One row per calibration, one column per degree; the paper prints no number."""
    return tuple(
        _cell(key.split("/")[0], key.split("/")[1], None, result) for key, result in results.items()
    )


def _time_jobs(full: bool) -> dict[str, Job]:
    """One run each of what Figure 5b trains to the end."""
    return {
        "rigorous": _job(full, "rigorous", solver="descent"),
        "released": _job(full, "released"),
        "psgd": _job(full, "psgd"),
    }


def _time_cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Seconds on the clock; the paper's are of one GTX TITAN X."""
    cells = []
    for key, result in results.items():
        seconds = result.seconds() if math.isfinite(result.mean("accuracy")) else math.nan
        cells.append(
            Cell(
                row=ROWS.get(key, "pCDBN"),
                column="18 epochs" if key == "psgd" else "162 epochs",
                variant=CURVES[key][2],
                published=SECONDS_PSGD if key == "psgd" else SECONDS_PCDBN,
                ours=_known(seconds),
                spread=None,
                run=result.run,
            )
        )
    return tuple(cells)


GUESS = 0.1
"""Accuracy of blind guessing among MNIST's ten digits."""
EXHIBITS = (
    Exhibit(
        name="figure5a",
        title="Figure 5a",
        caption="Accuracy on MNIST against ε. The text gives 91.71 % for pCDBN and 88.75 % for "
        "pSGD at ε = 0.5. The rigorous version and pSGD are (ε, 1e-5)-private; the published "
        "program is not private at any ε, which is why its curve is almost flat from ε = 0.5 "
        "on. DP-SGD on wavelets is the best that DP-SGD does here at the same ε, even where one "
        "record is replaced, which asks for more than one record added or removed. Networks: 16 "
        "and 32 maps, one seed, four budgets.",
        quantity="Test accuracy",
        whole=1.0,
        guess=lambda cell: GUESS,
        better="up",
        jobs=_figure5a_jobs,
        cells=_figure5a_cells,
        axis="Privacy budget ε",
        log=(True, False),
    ),
    Exhibit(
        name="figure5b",
        title="Figure 5b",
        caption="Accuracy on MNIST against epochs at ε = 0.5. One release serves any number of "
        "epochs of descent; pSGD adds noise for each number of epochs again, such that the budget "
        "runs out with the last. Rigorous: three seeds; networks: 16 and 32 maps, one seed, "
        "one epoch of pre-training for each layer and Adam at 0.005, where the published program "
        "takes ten epochs and 0.0002.",
        quantity="Test accuracy",
        whole=1.0,
        guess=lambda cell: GUESS,
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
        "releases. Rigorous: three seeds; networks: 16 and 32 maps, one seed.",
        quantity="Test accuracy",
        whole=1.0,
        guess=lambda cell: GUESS,
        better="up",
        jobs=_figure6_jobs,
        cells=_figure6_cells,
        axis="L",
    ),
    Exhibit(
        name="time",
        title="Computation times",
        caption="Seconds for one private run on MNIST, ε = 0.5. The paper's are of one GTX TITAN "
        "X, ours of one processor core that other work may share; networks have 16 and 32 "
        "maps. The paper's 2,910 s on YesiWell has no counterpart, since those records are not "
        "public.",
        quantity="Seconds",
        proved=(),
        better="down",
        digits=0,
        jobs=_time_jobs,
        cells=_time_cells,
    ),
)
