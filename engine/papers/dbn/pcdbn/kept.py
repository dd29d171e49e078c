"""What a provable run keeps: its layers, pictures of a few test images, and test predictions."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.dbn.pcdbn import course, maps
from engine.papers.dbn.pcdbn.images import SHOWN_MAPS, images
from engine.papers.dbn.pcdbn.rigorous import State
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.papers.dbn.pcdbn.whitening import Whitening
from engine.training import least_squares


def products(batch: Batch[PcdbnSpec], data: Table, state: State) -> Arrays:
    """Filters, maps of a few test images, noise over signal of each release, predictions."""
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
        **_whitenings([a.how for a in answers]),
    }


def _layers(batch: Batch[PcdbnSpec], state: State) -> Arrays:
    """The filters of both layers, the classifier on their features, and what it predicts."""
    epochs = state.taken if batch.spec.solver == "descent" else None
    solved = [least_squares.weights(a.quadratic, epochs) for a in state.answers]
    predicted = [
        (answer.test @ weights.float()).argmax(1)
        for answer, weights in zip(state.answers, solved, strict=True)
    ]
    padded = [
        functional.pad(own, (0, 0, 0, len(answer.how.order) - len(own)))
        for answer, own in zip(state.answers, solved, strict=True)
    ]  # of one size whatever d is, since chunks of a run are put together
    layers = (*zip(*(a.weights for a in state.answers), strict=True), padded)
    return {
        "test_predictions": torch.stack(predicted).cpu().numpy().astype(np.uint8),
        **{f"weights_{i}": _stacked(layer) for i, layer in enumerate(layers, 1)},
    }


def _whitenings(hows: Sequence[Whitening]) -> Arrays:
    """From the second layer's states to the classifier's features, of every replica."""
    return {
        "whitening_mean": _stacked([how.mean for how in hows]),
        "whitening_channels": _stacked([how.channels for how in hows]),
        "whitening_positions": _stacked([how.positions for how in hows]),
        "whitening_order": _stacked([how.order for how in hows]).astype(np.int32),
        "whitening_scale": _stacked([how.scale for how in hows]),
    }


def _stacked(parts: Sequence[Tensor]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Same-shaped arrays with the replicas first; sizes may differ where K is swept."""
    sizes = np.max([tuple(part.shape) for part in parts], axis=0)
    stacked = np.zeros((len(parts), *sizes), dtype=np.float32)
    for row, part in enumerate(parts):
        place = tuple(slice(0, side) for side in part.shape)
        stacked[row][place] = part.cpu().numpy()
    return stacked
