r"""pCDBN made provable: moments, filters, moments, filters, one quadratic.

Everything that looks at records is a Gaussian release of `releases`; filters, the
whitening and the classifier are post-processing, for any number of epochs.

What each idea gave on MNIST when it was first tried, at \varepsilon = 0.5, 1 and 3, in percent:
    one layer, 512 raw features, ridge alone            88.3  91.5  94.3
    centred, Kronecker-whitened, 200 dimensions, ridge  94.6  95.1  96.1
    eigenvalues shrunk by the noise's known law         95.4  95.9  96.4
    a second layer, 64 maps, d by the noise             95.5  96.7  97.3
What did not help: \sum p y' alone without A (86), max-pooling in place of means (94.4 at
0.5), square roots after the first layer (-0.2), a 7 x 7 grid (-0.4), 96 maps, moments of
the maps at 25 positions in place of 16 (nothing) or at 9 (-0.2).

Guarantees:
    The releases are adaptive (a later one uses filters made from an earlier one), each of
    sensitivity 1 given what came before; their composition is priced as one Gaussian.
    Replicas are alternatives, of which a user publishes one: those of one seed and one
    moment noise share the draws of the moments, and each keeps the price of its own.
    The number of records n is public and enters as a constant (noise floor, d, means):
    neighbours have the same n, and one of them lacks a record's terms in every sum.
    Nothing else is read off the records without noise, but for gauges and pictures.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.core.gauges import Column, measuring
from engine.papers.dbn.pcdbn import course, filters, maps, moments, sketch
from engine.papers.dbn.pcdbn.images import Images, images
from engine.papers.dbn.pcdbn.price import SKETCH, Releases, dimensions, releases
from engine.papers.dbn.pcdbn.spec import Digits, PcdbnSpec
from engine.papers.dbn.pcdbn.whitening import Whitening, centre, whitened, whitening
from engine.training import least_squares, polynomials

MOMENT_STRIDE = 3
"""Positions of the first layer's maps at which patches are taken: side by side."""


@dataclass(frozen=True, eq=False)
class Stack:
    """The two layers of some replicas, and what they say of the records.

    Attributes:
        weights: Filters of both layers.
        counts: Maps of both layers, both signs counted.
        how: The map from the second layer's states to whitened features.
        train: Whitened features, shape (n, most).
        test: The same of the test images, shape (m, most).
        ratios: Noise over signal of every release before the classifier.
    """

    weights: tuple[Tensor, Tensor]
    counts: tuple[int, int]
    how: Whitening
    train: Tensor
    test: Tensor
    ratios: dict[str, float]


@dataclass(frozen=True, eq=False)
class Answer:
    """One replica: its released quadratic and where it is tested."""

    quadratic: least_squares.Quadratic
    test: Tensor
    ratios: dict[str, float]
    weights: tuple[Tensor, Tensor]
    counts: tuple[int, int]
    how: Whitening


@dataclass(frozen=True, eq=False)
class State:
    """What a step hands to the next: releases only, beside the test images' features.

    Attributes:
        answers: The replicas.
        taken: Steps taken.
        course: Epochs and accuracies as they were measured, shape (k, 1 + R).
    """

    answers: tuple[Answer, ...]
    taken: int
    course: Tensor


def init(batch: Batch[PcdbnSpec], data: Table, rng: Generator) -> State:
    """Makes all releases of all replicas; the data are read once for each group of them.

    Raises:
        SpecError: A polynomial that is not printed, or a filter that does not fit.
        RequestError: A table of something else than square images.
    """
    made = [releases(spec, len(data)) for spec in batch.specs]
    pictures = images(data, batch.spec, str(rng.device))
    groups: dict[tuple[int, float], list[int]] = {}
    for row, seed in enumerate(batch.seeds):
        groups.setdefault((seed, made[row].patches.multiplier), []).append(row)
    answers: dict[int, Answer] = {}
    for rows in groups.values():
        stack = build(
            batch.specs[rows[0]],
            pictures,
            made[rows[0]],
            len(data),
            rng,
            [batch.specs[row] for row in rows],
        )
        answers |= _answers(batch, rows, pictures, made, stack, len(data), rng)
    return State(tuple(answers[row] for row in range(len(batch))), 0, course.none(len(batch)))


def build(
    spec: PcdbnSpec,
    pictures: Images,
    made: Releases,
    n: int,
    rng: Generator,
    users: Sequence[PcdbnSpec] = (),
) -> Stack:
    """Both layers and the whitening: five releases of moments or more, and two passes."""
    ratios: dict[str, float] = {}
    first, counts = _first(spec, pictures, made, rng, ratios)
    second = _second(pictures, first, counts, made, rng, ratios)
    weights = (first, second)
    train = maps.features(pictures.x, weights, counts)
    how = whitening(train, pictures.count, made, rng)
    shown = pictures.test_x if measuring() else pictures.test_x[:1]
    test = centre(maps.features(shown, weights, counts), how.mean)
    most = max(dimensions(user, n, len(how.order)) for user in (users or (spec,)))
    sizes = (
        (made.mean, how.mean.numel()),
        (made.channels, len(how.channels)),
        (made.positions, len(how.positions)),
    )
    for name, (mechanism, size), signal in zip(
        ("mean", "channels", "positions"), sizes, how.signals, strict=True
    ):
        numbers = size if name == "mean" else size * (size + 1) // 2
        ratios[name] = mechanism.scale * math.sqrt(numbers) / max(signal, 1e-300)
    features = whitened(train, how, most), whitened(test, how, most)
    return Stack(weights, counts, how, *features, ratios)


def _first(
    spec: PcdbnSpec, pictures: Images, made: Releases, rng: Generator, ratios: dict[str, float]
) -> tuple[Tensor, tuple[int, int]]:
    """The first layer's filters, and how many maps both layers have."""
    size = spec.filter_size
    count = min(spec.filters, 2 * size**2)
    total = moments.pixels(pictures.x, size)
    noisy = least_squares.released(total, made.patches, rng)
    ratios["patches"] = _ratio(total, made.patches.scale)
    most = -(-count // 2)
    if not made.orders:
        rows = filters.directions(noisy, most)
    else:
        alpha = polynomials.coefficients(spec.polynomial, spec.degree, spec.activation)
        forms = _forms(spec, pictures, noisy, made, rng, ratios)
        terms = [
            (float(alpha[order - 1]), form) for order, form in zip(made.orders, forms, strict=True)
        ]
        rows = filters.climbed(noisy, float(alpha[1]), terms, most)
    return filters.kernels(rows, 1, size), (count, min(2 * count, 2 * maps.WINDOW**2 * count))


def _forms(
    spec: PcdbnSpec, pictures: Images, noisy: Tensor, made: Releases, rng: Generator,
    ratios: dict[str, float],
) -> list[filters.Form]:  # fmt: skip
    """The releases of all moments beyond the second: the fourth in full, or all along directions.

    The directions are the strongest of the released second moments, at most as many as there are.
    """
    size = spec.filter_size
    if made.whole:
        fourth = moments.quartic(pictures.x, size)
        ratios["quartic"] = _ratio(fourth, made.higher.scale)
        return [filters.Quartic(least_squares.released(fourth, made.higher, rng))]
    along = filters.directions(noisy, SKETCH)
    forms: list[filters.Form] = []
    totals = sketch.sums(pictures.x, size, along, made.orders)
    for order, total in zip(made.orders, totals, strict=True):
        signal = max(float(total.norm()), 1e-300)
        ratios[f"order_{order}"] = made.higher.scale * math.sqrt(len(total)) / signal
        released = least_squares.noisy(total, made.higher, rng)
        forms.append(sketch.Sketch(order, along, released))
    return forms


def _second(
    pictures: Images,
    first: Tensor,
    counts: tuple[int, int],
    made: Releases,
    rng: Generator,
    ratios: dict[str, float],
) -> Tensor:
    """The second layer's filters, from the moments of the first layer's maps."""
    total = moments.second(
        pictures.x, lambda part: maps.first(part, first, counts[0]), maps.WINDOW, MOMENT_STRIDE
    )
    ratios["maps"] = _ratio(total, made.maps.scale)
    rows = filters.directions(least_squares.released(total, made.maps, rng), -(-counts[1] // 2))
    return filters.kernels(rows, counts[0], maps.WINDOW)


def _ratio(total: Tensor, scale: float) -> float:
    """Root mean square length of a symmetric matrix's noise over the matrix's length."""
    numbers = len(total) * (len(total) + 1) // 2
    return scale * math.sqrt(numbers) / max(float(total.norm()), 1e-300)


def _answers(
    batch: Batch[PcdbnSpec],
    rows: Sequence[int],
    pictures: Images,
    made: Sequence[Releases],
    stack: Stack,
    n: int,
    rng: Generator,
) -> dict[int, Answer]:
    """The releases of the replicas of a group; those of one d differ in their noise alone."""
    sizes = {row: dimensions(batch.specs[row], n, stack.train.shape[1]) for row in rows}
    answers = {}
    for d in sorted(set(sizes.values())):
        a, b = least_squares.sums(
            least_squares.shortened(stack.train[:, :d].clone()), pictures.y, pictures.classes
        )
        test = least_squares.shortened(stack.test[:, :d].clone())
        for row in (row for row in rows if sizes[row] == d):
            answers[row] = _answer(a, b, made[row], stack, test, rng)
    return answers


def _answer(
    a: Tensor, b: Tensor, made: Releases, stack: Stack, test: Tensor, rng: Generator
) -> Answer:
    """The release of one replica's quadratic."""
    ratios = {
        **stack.ratios,
        "matrix": _ratio(a, made.matrix.scale),
        "vector": made.vector.scale * math.sqrt(b.numel()) / max(float(b.norm()), 1e-300),
    }
    released = least_squares.quadratic(a, b, made.matrix, made.vector, rng)
    return Answer(released, test, ratios, stack.weights, stack.counts, stack.how)


def step(
    batch: Batch[PcdbnSpec], data: Table, state: State, rng: Generator
) -> tuple[State, Digits]:
    """Solves the released quadratic, or takes one step of descent on it."""
    pictures = images(data, batch.spec, str(rng.device))
    taken = state.taken + 1
    epochs = taken if batch.spec.solver == "descent" else None
    accuracy = [
        _accuracy(answer, least_squares.weights(answer.quadratic, epochs), pictures.test_y)
        for answer in state.answers
    ]
    info = Digits(np.array(accuracy), _overall(state.answers))
    later = course.later(state.course, taken, info.accuracy)
    return replace(state, taken=taken, course=later), info


def _accuracy(answer: Answer, weights: Tensor, y: Tensor) -> float:
    return float(((answer.test @ weights.float()).argmax(1) == y).double().mean())


def _overall(answers: Sequence[Answer]) -> Column:
    """The classifier's matrix decides: its noise over its length."""
    return np.array([answer.ratios["matrix"] for answer in answers], dtype=np.float64)
