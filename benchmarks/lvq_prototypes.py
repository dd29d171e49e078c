"""Private GLVQ with several prototypes in a class against one, on folds that no exhibit reports.

python -m benchmarks lvq_prototypes
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.row import Row
from datasets import catalog
from engine.papers.lvq.folds import fold, joined
from engine.papers.lvq.readings import RIGOROUS, settings
from engine.runs.driver import drive
from engine.runs.job import request
from engine.runs.results import collect

BUDGETS = (0.5, 1.0, 2.0, 3.0, 8.0)
SEVERAL = 5
SEEDS = range(25, 50)
"""Repeats 5 to 9, on which settings were chosen too."""
DATA = "digits"
GAINS = 3.0
"""From this budget on, several should be better than one; below, groups are mostly noise."""


def rows() -> list[Row]:
    """The mean error at each budget, and logistic regression's without privacy."""
    free = _logistic(SEEDS[:5])
    lines = []
    for model in ("glvq", "gmlvq"):
        one, several = (_errors(model, prototypes) for prototypes in (1, SEVERAL))
        for budget, ours, peer in zip(BUDGETS, several, one, strict=True):
            target = "below the peer" if model == "glvq" and budget >= GAINS else ""
            what = f"error of private {model.upper()}, {SEVERAL} prototypes, {DATA}, ε = {budget:g}"
            lines.append(
                Row(
                    what,
                    float(ours.mean()),
                    float(peer.mean()),
                    "share",
                    target,
                    bool(ours.mean() < peer.mean()) if target else None,
                    f"peer: one prototype; ± {_error(ours - peer):.4f} on the difference over "
                    f"{len(SEEDS)} folds; logistic regression without privacy: {free:.3f}",
                )
            )
    return lines


def _errors(model: str, prototypes: int) -> NDArray[np.float64]:
    """Test errors, shape (budgets, folds)."""
    values = {**settings(DATA, model, RIGOROUS), "prototypes": prototypes}
    job = request("lvq", f"{model}_dp", DATA, values, {"epsilon": BUDGETS}, SEEDS)
    table = collect(job, drive(job, catalog.load(DATA), lambda name, arrays: name))
    return np.array([table.values("error", epsilon=budget) for budget in BUDGETS])


def _error(differences: NDArray[np.float64]) -> float:
    """The standard error of a mean; folds share records, so it is rather too small."""
    return float(differences.std(ddof=1) / len(differences) ** 0.5)


def _logistic(seeds: Sequence[int]) -> float:
    """The mean test error of scikit-learn's logistic regression on the same folds."""
    from sklearn.linear_model import LogisticRegression

    table = catalog.load(DATA)
    x, y = joined(table)
    x = np.asarray(x, np.float64) / 16.0
    wrong = []
    for seed in seeds:
        train, test = fold(table, seed)
        fitted = LogisticRegression(max_iter=1_000).fit(x[train], y[train])
        wrong.append(1.0 - fitted.score(x[test], y[test]))
    return float(np.mean(wrong))


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["lvq_prototypes"])
