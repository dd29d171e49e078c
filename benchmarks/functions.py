"""Training functions as people write them: twenty that keep their claim and twenty that do not.

Each takes records and a generator and returns arrays, as `ee.audit_function` calls it. The faults
are those that reviews of private code find again and again. `FUNCTIONS` says of each what is
claimed.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float64]
Output = Mapping[str, Any]
Fit = Callable[[Any, np.random.Generator], Output]
RECORDS, COLUMNS, STEPS, EXPECTED = 60, 4, 10, 60.0
"""Size of the example, steps of descent, and the public number that sums are divided by."""
MU = 1.0
"""Claimed of the descents: their noise is MU's for all steps together."""


def example(people: bool = False) -> "Any":
    """Records to train on: four columns from -1 to 1, a label, and on request whose row it is."""
    import pandas as pd

    rng = np.random.default_rng(5)
    x = rng.uniform(-1.0, 1.0, (RECORDS, COLUMNS))
    frame = pd.DataFrame(x, columns=[f"x{i + 1}" for i in range(COLUMNS)])
    frame["label"] = (x @ np.array([2.0, -1.0, 0.5, 0.0]) + rng.normal(0, 0.3, RECORDS) > 0) * 1.0
    if people:
        frame["person"] = np.arange(RECORDS) // 4
    return frame


@dataclass(frozen=True)
class Named:
    """A function with what is claimed of it.

    Attributes:
        fit: The function.
        claim: As `ee.audit_function` takes it.
        holds: Whether it keeps the claim.
        what: What is right or wrong about it.
        people: Whether a person has several rows, all of which the witness has.
    """

    fit: Fit
    claim: str
    holds: bool
    what: str
    people: bool = False


FUNCTIONS: dict[str, Named] = {}


def claimed(claim: str, holds: bool, what: str, people: bool = False) -> Callable[[Fit], Fit]:
    """Lists a function."""

    def listed(fit: Fit) -> Fit:
        FUNCTIONS[fit.__name__] = Named(fit, claim, holds, what, people)
        return fit

    return listed


# Descents: logistic regression, the gradient of each record clipped to 1.


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Private gradient descent, right as it stands; each field is a place to go wrong."""

    noise: float = math.sqrt(STEPS) / MU
    rate: float = 1.0
    momentum: float = 0.0
    decay: float = 0.0
    clip: str = "each"
    noised: int = COLUMNS + 1
    twice: bool = False
    before: bool = False
    seed: bool = False
    until: float = 0.0
    learning: float = 0.2

    def fit(self, records: Any, rng: np.random.Generator) -> dict[str, Any]:
        """Weights, their course, and what a careless author would print beside them."""
        x, y = features(records)
        torch.manual_seed(int(rng.integers(2**62)))
        weights = speed = torch.zeros(COLUMNS + 1, dtype=torch.float64)
        course, norms = [], []
        for _ in range(STEPS):
            if self.seed:
                torch.manual_seed(0)
            chosen = torch.rand(len(x)) < self.rate
            gradients = (torch.sigmoid(x @ weights) - y)[:, None] * x
            norms.append(float(torch.linalg.vector_norm(gradients, dim=1).mean()))
            noisy = self._noisy(gradients[chosen])
            speed = self.momentum * speed + noisy / EXPECTED
            weights = weights - self.learning * (speed + self.decay * weights)
            course.append(weights)
            if self.until and float(loss(weights, x, y)) < self.until:
                break
        final = course[-1]
        right = float(((x @ final > 0) == (y > 0.5)).double().mean())
        return {
            "weights": final, "course": torch.stack(course), "norms": norms,
            "loss": loss(final, x, y), "accuracy": right, "steps": len(course),
        }  # fmt: skip

    def _noisy(self, gradients: Tensor) -> Tensor:
        """The sum of a step's gradients with its noise."""
        noise = self.noise * torch.randn(COLUMNS + 1, dtype=torch.float64)
        noise[self.noised :] = 0.0
        if self.before:
            return clipped((gradients.sum(dim=0) + noise)[None], 60.0)[0]
        match self.clip:
            case "each":
                total = clipped(gradients).sum(dim=0)
            case "batch":
                total = clipped(gradients.sum(dim=0)[None], EXPECTED)[0]
            case "weights":
                total = torch.cat([clipped(gradients[:, :-1]), gradients[:, -1:]], dim=1).sum(dim=0)
            case _:
                total = gradients.sum(dim=0)
        return (2.0 if self.twice else 1.0) * total + noise


def features(records: Any) -> tuple[Tensor, Tensor]:
    """Columns with a constant, (n, d + 1), and labels (n,)."""
    table = np.asarray(records, np.float64)
    x = np.column_stack([table[:, :COLUMNS], np.ones(len(table))])
    return torch.from_numpy(x), torch.from_numpy(table[:, COLUMNS].copy())


def clipped(gradients: Tensor, bound: float = 1.0) -> Tensor:
    """Each row shortened to a norm of at most `bound`."""
    norms = torch.linalg.vector_norm(gradients, dim=1, keepdim=True).clamp(min=1e-12)
    shorter: Tensor = gradients * (bound / norms).clamp(max=1.0)
    return shorter


def loss(weights: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """The mean loss on the records."""
    return torch.nn.functional.binary_cross_entropy_with_logits(x @ weights, y)


def only(output: Output, *names: str) -> Output:
    """Some of what a function could publish."""
    return {name: output[name] for name in names}


DESCENT = f"mu={MU}"


@claimed(DESCENT, True, "each gradient clipped, noise of the whole budget")
def descent(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent().fit(records, rng), "weights")


@claimed(DESCENT, True, "every step's weights are published, which is what is priced")
def descent_course(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent().fit(records, rng), "weights", "course")


@claimed(DESCENT, True, "momentum works on noisy sums only")
def descent_momentum(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent(momentum=0.9).fit(records, rng), "weights")


@claimed(DESCENT, True, "weights shrink towards zero whatever the records")
def descent_decay(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent(decay=0.1).fit(records, rng), "weights")


@claimed(DESCENT, True, "coins choose the batch; the price without them is an upper bound")
def descent_coins(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent(rate=0.5).fit(records, rng), "weights")


@claimed(DESCENT, False, "half the noise")
def noise_halved(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent(noise=0.5 * math.sqrt(STEPS) / MU).fit(records, rng), "weights")


@claimed(DESCENT, False, "the sum of the batch is clipped, not each record")
def clipping_by_batch(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent(clip="batch").fit(records, rng), "weights")


@claimed(DESCENT, False, "noise is added before clipping")
def noise_before_clipping(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent(before=True).fit(records, rng), "weights")


@claimed(DESCENT, False, "every step draws the same noise")
def one_seed(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent(seed=True).fit(records, rng), "weights")


@claimed(DESCENT, False, "the loss on the training records is published")
def loss_published(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent().fit(records, rng), "weights", "loss")


@claimed(DESCENT, False, "the accuracy on the training records is published")
def accuracy_published(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent().fit(records, rng), "weights", "accuracy")


@claimed(DESCENT, False, "the mean norm of the gradients is logged")
def norms_logged(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent().fit(records, rng), "weights", "norms")


@claimed(DESCENT, False, "stops when the loss on the records is small enough")
def early_stopping(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent(until=0.665, learning=1.0).fit(records, rng), "weights", "steps")


@claimed(DESCENT, False, "sums of two micro-batches are scaled twice")
def scaled_twice(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent(twice=True).fit(records, rng), "weights")


@claimed(DESCENT, False, "the bias is not clipped with the weights")
def layer_not_clipped(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent(clip="weights").fit(records, rng), "weights")


@claimed(DESCENT, False, "the bias gets no noise")
def bias_not_noised(records: Any, rng: np.random.Generator) -> Output:
    return only(Descent(noised=COLUMNS).fit(records, rng), "weights")


@claimed("mu=0.3", False, "one shuffled pass, priced as if coins had chosen the batches")
def shuffled_as_poisson(records: Any, rng: np.random.Generator) -> Output:
    """Six batches of ten, each published: a record is in one of them for sure, at noise 1."""
    x, y = features(records)
    order = torch.from_numpy(rng.permutation(len(x)))
    gradients = clipped((0.5 - y)[:, None] * x)
    sums = [gradients[order[i : i + 10]].sum(dim=0) for i in range(0, 60, 10)]
    return {"steps": torch.stack(sums) + torch.from_numpy(rng.normal(size=(6, COLUMNS + 1)))}


# One release.


def column(records: Any, number: int = 0, low: float = 0.0, high: float = 1.0) -> Floats:
    """A column between public bounds."""
    return np.clip(np.asarray(records, np.float64)[:, number], low, high)


@claimed("epsilon=1", True, "Laplace noise on a clipped sum")
def laplace_sum(records: Any, rng: np.random.Generator) -> Output:
    return {"sum": column(records).sum() + rng.laplace(0.0, 1.0)}


@claimed("epsilon=1,delta=1e-5", True, "Gaussian noise of 3.73 deviations on a clipped sum")
def gaussian_sum(records: Any, rng: np.random.Generator) -> Output:
    return {"sum": column(records).sum() + rng.normal(0.0, 3.7306)}


@claimed("epsilon=1", True, "Laplace noise on each count of a histogram with public edges")
def histogram(records: Any, rng: np.random.Generator) -> Output:
    counts = np.histogram(column(records, low=-1.0), bins=8, range=(-1.0, 1.0))[0]
    return {"counts": counts + rng.laplace(0.0, 1.0, 8)}


@claimed("epsilon=1", True, "half of the budget for the sum, half for the count")
def laplace_mean(records: Any, rng: np.random.Generator) -> Output:
    x = column(records)
    total, count = x.sum() + rng.laplace(0.0, 2.0), len(x) + rng.laplace(0.0, 2.0)
    return {"mean": total / max(count, 1.0)}


@claimed("epsilon=1,relation=replace_one", True, "every label tells the truth with e/(1 + e)")
def randomised_response(records: Any, rng: np.random.Generator) -> Output:
    labels = np.asarray(records, np.float64)[:, COLUMNS] > 0.5
    truth = rng.uniform(size=len(labels)) < math.e / (1.0 + math.e)
    return {"labels": np.where(truth, labels, ~labels) * 1.0}


@claimed("epsilon=1", True, "a median by the exponential mechanism on a public grid")
def median(records: Any, rng: np.random.Generator) -> Output:
    x, grid = column(records, low=-1.0), np.linspace(-1.0, 1.0, 41)
    utility = -np.abs((x[:, None] < grid).sum(axis=0) - (x[:, None] > grid).sum(axis=0)) / 2.0
    return {"median": grid[np.argmax(utility + rng.gumbel(0.0, 1.0, 41))]}


@claimed("epsilon=1", True, "the largest of four noisy counts, its name only")
def noisy_maximum(records: Any, rng: np.random.Generator) -> Output:
    counts = (np.asarray(records, np.float64)[:, :COLUMNS] > 0.0).sum(axis=0)
    return {"column": int(np.argmax(counts + rng.laplace(0.0, 2.0, COLUMNS)))}


@claimed("epsilon=1", True, "a whole count with two-sided geometric noise")
def geometric_count(records: Any, rng: np.random.Generator) -> Output:
    parameter = 1.0 - math.exp(-1.0)
    noise = rng.geometric(parameter) - rng.geometric(parameter)
    return {"count": int((column(records, COLUMNS) > 0.5).sum() + noise)}


@claimed("mu=1", True, "linear regression from noisy moments of rows shortened to 1")
def noisy_moments(records: Any, rng: np.random.Generator) -> Output:
    table = np.asarray(records, np.float64)[:, : COLUMNS + 1]
    norms = np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1.0)
    rows = table / norms
    noise = rng.normal(0.0, 1.0, (COLUMNS + 1, COLUMNS + 1))
    moments = rows.T @ rows + np.triu(noise) + np.triu(noise, 1).T
    ridge = moments[:-1, :-1] + 8.0 * np.eye(COLUMNS)
    return {"slopes": np.linalg.solve(ridge, moments[:-1, -1])}


@claimed("mu=1", True, "one step of k-means: noisy sums and counts of two groups")
def noisy_means(records: Any, rng: np.random.Generator) -> Output:
    table = np.asarray(records, np.float64)[:, :COLUMNS]
    rows = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1.0)
    group = rows[:, 0] > 0.0
    sums = np.stack([rows[group].sum(axis=0), rows[~group].sum(axis=0)])
    counts = np.array([group.sum(), (~group).sum()])
    scale = math.sqrt(2.0)
    return {
        "sums": sums + rng.normal(0.0, scale, sums.shape),
        "counts": counts + rng.normal(0.0, scale, 2),
    }


@claimed(
    "epsilon=1", True, "naive Bayes from noisy counts, a quarter of the budget for each column"
)
def naive_bayes(records: Any, rng: np.random.Generator) -> Output:
    table = np.asarray(records, np.float64)
    label = table[:, COLUMNS] > 0.5
    counts = [
        [(high & label).sum(), (high & ~label).sum(), (~high & label).sum(), (~high & ~label).sum()]
        for high in (table[:, i] > 0.0 for i in range(COLUMNS))
    ]
    return {"counts": np.array(counts) + rng.laplace(0.0, COLUMNS, (COLUMNS, 4))}


@claimed("epsilon=1", True, "counts in the leaves of a tree whose splits are drawn blindly")
def random_tree(records: Any, rng: np.random.Generator) -> Output:
    table, cuts = np.asarray(records, np.float64), rng.uniform(-1.0, 1.0, 2)
    leaf = 4 * (table[:, 0] > cuts[0]) + 2 * (table[:, 1] > cuts[1]) + (table[:, COLUMNS] > 0.5)
    counts = np.bincount(leaf.astype(np.int64), minlength=8)
    return {"cuts": cuts, "leaves": counts + rng.laplace(0.0, 1.0, 8)}


@claimed("epsilon=1", True, "nothing of the records is published")
def nothing(records: Any, rng: np.random.Generator) -> Output:
    return {"constant": rng.normal(size=3)}


@claimed("epsilon=1", True, "whether a sum is above a public threshold, with noise")
def threshold(records: Any, rng: np.random.Generator) -> Output:
    return {"above": float(column(records).sum() + rng.laplace(0.0, 1.0) > 15.0)}


@claimed("epsilon=1", True, "a private sum, rounded afterwards")
def rounded(records: Any, rng: np.random.Generator) -> Output:
    return {"sum": round(float(column(records).sum() + rng.laplace(0.0, 1.0)), 1)}


@claimed("epsilon=1", False, "noise for ε = 2")
def laplace_halved(records: Any, rng: np.random.Generator) -> Output:
    return {"sum": column(records).sum() + rng.laplace(0.0, 0.5)}


@claimed("epsilon=1", False, "divided by the largest value in the data")
def own_maximum(records: Any, rng: np.random.Generator) -> Output:
    x = np.asarray(records, np.float64)[:, 0]
    return {"sum": float((x / np.abs(x).max()).sum()) + rng.laplace(0.0, 1.0)}


@claimed("epsilon=1", False, "the exact number of records beside a private sum")
def count_exact(records: Any, rng: np.random.Generator) -> Output:
    return {"sum": column(records).sum() + rng.laplace(0.0, 1.0), "records": len(records)}


@claimed("epsilon=1", False, "one count in four has no noise")
def histogram_in_part(records: Any, rng: np.random.Generator) -> Output:
    counts = np.histogram(column(records, low=-1.0), bins=8, range=(-1.0, 1.0))[0]
    return {"counts": counts + rng.laplace(0.0, 1.0, 8) * (np.arange(8) % 4 > 0)}


@claimed("epsilon=1,delta=1e-5", False, "a record is published once in fifty times")
def delta_too_small(records: Any, rng: np.random.Generator) -> Output:
    lucky = rng.uniform() < 0.02
    shown = np.asarray(records, np.float64)[-1, :COLUMNS] if lucky else np.zeros(COLUMNS)
    return {"sum": column(records).sum() + rng.laplace(0.0, 1.0), "sample": shown}


@claimed("epsilon=1", False, "a person has four rows, and noise is made for one", people=True)
def group_of_rows(records: Any, rng: np.random.Generator) -> Output:
    return {"sum": column(records).sum() + rng.laplace(0.0, 1.0)}


@claimed("epsilon=1", False, "only the rows of a table that somebody has get noise")
def embedding_not_noised(records: Any, rng: np.random.Generator) -> Output:
    words = (np.clip(np.asarray(records, np.float64)[:, 0], -1.0, 2.0) * 10).astype(np.int64) + 10
    counts = np.bincount(words, minlength=32)[:32]
    return {"table": counts + rng.laplace(0.0, 1.0, 32) * (counts > 0)}


@claimed("epsilon=1", False, "the last batch is dropped, so the number of batches tells the count")
def last_batch_dropped(records: Any, rng: np.random.Generator) -> Output:
    x = column(records)
    parts = [x[i : i + 10].sum() for i in range(0, len(x) - len(x) % 10, 10)]
    if len(x) % 10:
        parts.append(0.0)  # an empty place for what was dropped
    return {"batches": np.array(parts) + rng.laplace(0.0, 1.0, len(parts))}
