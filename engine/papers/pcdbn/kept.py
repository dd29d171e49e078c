"""What a provable run keeps: its layers, and the pictures of a few test images."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.pcdbn import course, maps
from engine.papers.pcdbn.images import SHOWN_MAPS, images
from engine.papers.pcdbn.rigorous import State
from engine.papers.pcdbn.spec import PcdbnSpec
from engine.training import least_squares


def products(batch: Batch[PcdbnSpec], data: Table, state: State) -> Arrays:
    """Filters of both layers, maps of a few test images, noise over signal of each release."""
    answers = state.answers
    pictures = images(data, batch.spec, str(answers[0].test.device))
    seen = [maps.first(pictures.shown, a.weights[0], a.counts[0])[:, :SHOWN_MAPS] for a in answers]
    ratios = {
        f"noise_{name}": np.array([a.ratios[name] for a in answers]) for name in answers[0].ratios
    }
    return {
        "filters": _stacked([a.weights[0][:, 0] for a in answers]),
        "filters_second": _stacked([a.weights[1].norm(dim=1)[:SHOWN_MAPS] for a in answers]),
        "maps": _stacked(seen),
        "learning": course.array(state.course),
        "dimensions": np.array([float(len(a.quadratic.values)) for a in answers]),
        **ratios,
        **_layers(batch, state),
    }


def _layers(batch: Batch[PcdbnSpec], state: State) -> Arrays:
    """The filters of both layers and the classifier on their features."""
    epochs = state.taken if batch.spec.solver == "descent" else None
    solved = [least_squares.weights(a.quadratic, epochs) for a in state.answers]
    layers = (*zip(*(a.weights for a in state.answers), strict=True), solved)
    return {f"weights_{i}": _stacked(layer) for i, layer in enumerate(layers, 1)}


def _stacked(parts: Sequence[Tensor]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Same-shaped arrays with the replicas first; sizes may differ where K is swept."""
    sizes = np.max([tuple(part.shape) for part in parts], axis=0)
    stacked = np.zeros((len(parts), *sizes), dtype=np.float32)
    for row, part in enumerate(parts):
        place = tuple(slice(0, side) for side in part.shape)
        stacked[row][place] = part.cpu().numpy()
    return stacked
