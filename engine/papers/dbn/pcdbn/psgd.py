r"""pSGD: DP-SGD on the same structure (Abadi et al. 2016).

Guarantees:
    The sum of a batch's gradients, each clipped to C, has sensitivity C when a record is
    added or removed; `price.gradient_noise` gives both its noise and the price.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.core.gauges import measuring
from engine.method import Arrays
from engine.papers.dbn import price
from engine.papers.dbn.pcdbn import course, crbm
from engine.papers.dbn.pcdbn.images import SHOWN_MAPS, Images, images
from engine.papers.dbn.pcdbn.spec import Digits, PcdbnSpec
from engine.training import ghost, steps
from engine.training.evaluate import evaluate, predictions
from engine.training.layer_arrays import layer_arrays
from engine.training.layers import Activation, Flatten, Layer, MaxPool
from engine.training.network import Network, Parameters
from engine.training.sampling import packed, poisson
from engine.training.weights import Convolution, Linear


@dataclass(frozen=True, eq=False)
class State:
    """What a step hands to the next.

    Attributes:
        parameters: Weights, changed in place.
        taken: Training steps taken.
        ratio: The latest noise over signal, shape (R,).
        course: Epochs and accuracies as they were measured, shape (k, 1 + R).
    """

    parameters: Parameters
    taken: int
    ratio: Tensor
    course: Tensor


def structure(spec: PcdbnSpec, pictures: Images) -> Network:
    """Two convolutions, each halving its maps, the hidden layer and the output layer."""
    pad, stride = spec.filter_size // 2, crbm.STRIDES[spec.pooling]
    k, rectifier = spec.filters, Activation("relu")
    pool: tuple[Layer, ...] = (MaxPool(),) if stride == 1 else ()
    half = pictures.side // 2 if pool else (pictures.side + 1) // 2
    quarter = half // 2 if pool else (half + 1) // 2
    return Network(
        (
            Convolution(1, k, spec.filter_size, stride, pad), rectifier, *pool,
            Convolution(k, 2 * k, spec.filter_size, stride, pad), rectifier, *pool, Flatten(),
            Linear(2 * k * quarter**2, spec.hidden), rectifier,
            Linear(spec.hidden, pictures.classes),
        )
    )  # fmt: skip


class Psgd:
    """One step is one batch, drawn by a coin per record."""

    def init(self, batch: Batch[PcdbnSpec], data: Table, rng: Generator) -> State:
        """Fresh weights, equal for equal seeds."""
        pictures = images(data, batch.spec, str(rng.device))
        parameters = structure(batch.spec, pictures).init(batch.seeds, rng.device)
        return State(parameters, 0, torch.zeros(len(batch)), course.none(len(batch)))

    def step(
        self, batch: Batch[PcdbnSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Digits | None]:
        """Clips, adds noise and descends; measured once an epoch."""
        spec, device = batch.spec, rng.device
        pictures = images(data, spec, str(device))
        network = structure(spec, pictures)
        index, present = poisson(len(batch), pictures.count, spec.sample_rate, rng)
        if len(pictures.x) < pictures.count:
            index, present = _there(index, present, len(pictures.x))
        rows, y = (pictures.x, pictures.y) if len(pictures.x) else _nobody(pictures)
        x = rows.index_select(0, index.flatten()).view(*index.shape, *rows.shape[1:])
        noises = [price.gradient_noise(s, len(data)) for s in batch.specs]
        clip = torch.tensor([m.sensitivity for m in noises], device=device)
        sums = ghost.clipped_sum(network, state.parameters, x, y[index], present, clip).sums
        signal = steps.lengths(sums).square().sum(1).sqrt().clamp(min=1e-12)
        ratio = steps.noise_lengths(sums, noises).square().sum(1).sqrt() / signal
        steps.add_noise(sums, noises, rng)
        rate = torch.full((len(batch),), spec.gradient_rate, device=device)
        steps.descend(
            state.parameters, None, sums, steps.Descent(rate, spec.sample_rate * len(data))
        )
        state = replace(state, taken=state.taken + 1, ratio=ratio)
        info = self._measure(spec, len(data), pictures, network, state)
        if info is not None:
            epochs = state.taken * spec.sample_rate
            state = replace(state, course=course.later(state.course, epochs, info.accuracy))
        return state, info

    def _measure(
        self, spec: PcdbnSpec, n: int, pictures: Images, network: Network, state: State
    ) -> Digits | None:
        each = max(1, round(1.0 / spec.sample_rate))
        if not measuring() or (state.taken % each and state.taken != price.gradient_steps(spec, n)):
            return None
        scores = evaluate(network, state.parameters, pictures.test_x, pictures.test_y)
        accuracy = np.where(np.isfinite(scores.loss), scores.accuracy, np.nan)
        return Digits(accuracy, state.ratio.double().cpu().numpy())

    def products(self, batch: Batch[PcdbnSpec], data: Table, state: State) -> Arrays:
        """Filters, maps of a few test images, noise over signal, and test predictions."""
        pictures = images(data, batch.spec, str(state.parameters[0][0].device))
        network = structure(batch.spec, pictures)
        layer = network.layers[0]
        seen = pictures.shown.expand(len(batch), *pictures.shown.shape)
        second = [part for part in state.parameters if len(part)][1]
        maps = layer.forward(state.parameters[0], seen).clamp(min=0)[:, :, :SHOWN_MAPS]
        answers = predictions(network, state.parameters, pictures.test_x).argmax(-1)
        return {
            "filters": state.parameters[0][0][:, :, 0].cpu().numpy(),
            "filters_second": second[0][:, :SHOWN_MAPS].norm(dim=2).cpu().numpy(),
            "maps": maps.cpu().numpy(),
            "learning": course.array(state.course),
            "test_predictions": answers.cpu().numpy().astype(np.uint8),
            "noise_gradient": state.ratio.double().cpu().numpy(),
            **layer_arrays(state.parameters),
        }


def _there(index: Tensor, present: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The batch without the last places, which may be left out; of padding one at least."""
    if not bool((index >= count).any()):
        return index, present
    index, present = packed(index, present.bool() & (index < count), present.dtype)
    return index.clamp(max=max(0, count - 1)), present


def _nobody(pictures: Images) -> tuple[Tensor, Tensor]:
    """One place without a record, for batches of padding."""
    return pictures.x.new_zeros(1, *pictures.x.shape[1:]), pictures.y.new_zeros(1)


METHOD = Psgd()
