"""The training loop that all methods share; what differs is read from the price.

A step draws a batch of its own for each replica, sums the clipped gradients, adds the noise
of `price.mechanism` and descends. Curves are measured some twenty times in a run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import LabelledTable, Table
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.core.gauges import measuring
from engine.method import Arrays
from engine.papers.enadpp import clipping, descent, models, price, ratios
from engine.papers.enadpp.added import Added, Past, noise, noisy
from engine.papers.enadpp.pictures import Clipping, pictures
from engine.papers.enadpp.spec import EnadppSpec, Training
from engine.papers.enadpp.variants import Variant
from engine.papers.enadpp.whitening import Whitened, whitened
from engine.privacy.mechanisms import Laplace
from engine.privacy.releases import Batches
from engine.training import ghost, steps
from engine.training.evaluate import evaluate
from engine.training.layer_arrays import layer_arrays
from engine.training.network import Network, Parameters
from engine.training.records import Records
from engine.training.relevance import neuron_shares
from engine.training.siamese import Siamese

MEASURES = 20
"""Measurements in a run."""
SAMPLE = 2000
"""Test records that are looked at along the way; the last measurement looks at all."""
RELEVANT = 1024
"""Records in a relevance batch, in the calibration of the paper."""
LEAST_SIGNAL = 1e-12
"""Below this, relative to C, a batch's sum counts as this: an empty batch has no signal."""


@dataclass(frozen=True, eq=False)
class State:
    """What a step hands to the next.

    Attributes:
        parameters: Weights, changed in place.
        velocity: Last direction or AdamW's moments, changed in place; None without momentum.
        mean: Mean of the weights so far, changed in place, which is what is measured
            and released; None where the last weights are.
        ratios: Per layer the budget ratios (R, outputs); None where all are one.
        taken: Steps taken.
        layers: Noise to signal of each layer with weights, (R, layers) per measurement.
        order: Order of the records in this epoch, (R, N), where batches are cut from one.
        past: Clipped sums and noisy gradients of the last steps, the last first, where steps
            share noise.
        bound: Clipping bounds of the next step, (R,), where they follow the gradients.
        white: What the released moments say, where features are whitened.
    """

    parameters: Parameters
    velocity: Parameters | descent.Moments | None
    mean: Parameters | None
    ratios: ghost.Ratios | None
    taken: int
    layers: tuple[Tensor, ...]
    order: Tensor | None = None
    past: Past = ()
    bound: Tensor | None = None
    white: Whitened | None = None

    @property
    def trained(self) -> Parameters:
        """The weights that the run ends with, on features as they are trained on."""
        return self.parameters if self.mean is None else self.mean

    @property
    def released(self) -> Parameters:
        """The weights that the run ends with, on features before they are whitened."""
        return self.trained if self.white is None else self.white.folded(self.trained)


def init(variant: Variant, batch: Batch[EnadppSpec], data: Table, rng: Generator) -> State:
    """Fresh weights, equal for equal seeds.

    Raises:
        RequestError: A table without class labels.
    """
    table = _labelled(data)
    records = models.inputs(variant, batch.spec, table, str(rng.device))
    network = models.network(variant, batch.spec, table, records.x[0].numel())
    parameters = network.init(batch.seeds, rng.device)
    white = whitened(variant, batch, records, rng)
    if white is not None:  # weights that no record moves stay at zero
        parameters = tuple(tuple(map(torch.zeros_like, own)) for own in parameters)
    velocity = descent.memory(variant, batch.spec, parameters)
    mean = tuple(tuple(map(torch.clone, own)) for own in parameters) if variant.modern else None
    bound = clipping.start(variant, batch, rng.device)
    return State(parameters, velocity, mean, None, 0, (), bound=bound, white=white)


def _labelled(data: Table) -> LabelledTable:
    if not isinstance(data, LabelledTable):
        raise RequestError(f"dataset: expected labelled records, got {data.card.name}")
    return data


def step(
    variant: Variant, batch: Batch[EnadppSpec], data: Table, state: State, rng: Generator
) -> tuple[State, Training | None]:
    """One batch: sample, clip, add noise, descend."""
    table, spec = _labelled(data), batch.spec
    records = models.inputs(variant, spec, table, str(rng.device))
    network = models.network(variant, spec, table, records.x[0].numel())
    if _refreshes(variant, spec, len(data), state.taken):
        state = replace(state, ratios=budget_ratios(variant, batch, table, state, network, rng))
    how = (
        price.batches(spec, variant)
        if variant.private
        else Batches(price.plain_rate(spec, len(data)))
    )
    index, present, order = records.batch(how, len(batch), state.taken, state.order, rng)
    x, y = records.take(index) if state.white is None else state.white.take(records, index)
    added = noise(variant, batch, len(data), state.taken, rng.device, state.bound)
    clipped = _clipped(variant, batch, network, state, x, y, present, added)
    total = (price.plain_steps if not variant.private else price.steps)(spec, len(data))
    last = state.taken + 1 == total
    measures = measuring() and _measures(total, state.taken)
    info = None
    signal = steps.lengths(clipped.sums) if measures else None
    sums, bound = clipped.sums, state.bound
    if bound is not None:
        sums = clipping.packed(batch, clipped, present, bound)
    gradient, past = noisy(variant, spec, state.past, state.ratios, sums, added, rng)
    if bound is not None:
        size = clipping.gradients(descent.size(variant, spec, len(data)), records)
        gradient, bound = clipping.unpacked(batch, gradient, bound, size)
    descent.descend(
        variant, batch, len(data), state.parameters, state.velocity, gradient, added, state.taken
    )
    if state.mean is not None:
        steps.average(state.mean, state.parameters, state.taken)
    state = replace(state, taken=state.taken + 1, order=order, past=past, bound=bound)
    if signal is not None:
        layers = _layers(clipped, added, signal, state.ratios)
        state = replace(state, layers=(*state.layers, layers))
        info = _info(network, state, records, clipped, present, added, signal, last)
    return state, info


def _measures(total: int, taken: int) -> bool:
    """Whether this step is measured: some twenty in a run, and the last."""
    return (taken + 1) % max(1, total // MEASURES) == 0 or taken + 1 == total


def _clipped(
    variant: Variant,
    batch: Batch[EnadppSpec],
    network: Network | Siamese,
    state: State,
    x: Tensor,
    y: Tensor,
    present: Tensor,
    added: Added | None,
) -> ghost.Clipped:
    """The clipped sum; as printed, the ratios weigh the noise but not the clipping."""
    loss = models.loss(network)
    if added is None:
        return ghost.clipped_sum(network, state.parameters, x, y, present, None, loss=loss)
    if variant.clipping(batch.spec.clipping) == "automatic":
        return clipping.automatic_sum(network, state.parameters, x, y, present, added.clip, loss)
    weights = None if batch.spec.calibration == "paper" else state.ratios
    return ghost.clipped_sum(
        network, state.parameters, x, y, present, added.clip, added.norm, weights, loss
    )


def _refreshes(variant: Variant, spec: EnadppSpec, n: int, taken: int) -> bool:
    """Whether the budget ratios are computed before this step."""
    every = spec.relevance_every or max(1, round(1.0 / spec.sample_rate))
    return variant.ratios is not None and taken % every == 0


def budget_ratios(
    variant: Variant,
    batch: Batch[EnadppSpec],
    table: LabelledTable,
    state: State,
    network: Network | Siamese,
    rng: Generator,
) -> list[Tensor | None]:
    """Per layer with weights the ratios (R, outputs), floored; the output layer's are one.

    So are those of a Siamese network's code, which is its branches' output, and of what
    comes after it.

    Guarantees:
        In the rigorous calibration the inputs are simulated and the weights have
        been paid for, so the ratios are post-processing. In the calibration of the
        paper they come from records and are in no price.
    """
    spec, device = batch.spec, str(rng.device)
    records = models.inputs(variant, spec, table, device)
    if spec.calibration == "paper":
        rate = min(1.0, RELEVANT / len(records))
        index, _ = records.draw(1, rate, rng)
        x, _ = records.take(index[0])  # of a single replica all are present, or none
    else:
        x = models.simulated(tuple(records.x.shape[1:]), table.image, records.paired, device)
    rule: Literal["z_plus", "epsilon"] = "epsilon" if spec.relevance_rule == "epsilon" else "z_plus"
    shares = neuron_shares(network, state.parameters, x.expand(len(batch), *x.shape), rule)
    formula = ratios.enadpp if variant.ratios == "gains" else ratios.adppl
    floor = torch.tensor(batch.column("alpha_min"), device=rng.device)[:, None]
    by_layer: list[Tensor | None] = [None] * len(network.layers)
    for i, share in list(shares.items())[:-1]:
        alpha = torch.from_numpy(formula(share.cpu().numpy())).to(rng.device)
        by_layer[i] = torch.maximum(alpha, floor).float()
    return by_layer


def _layers(
    clipped: ghost.Clipped, added: Added | None, signal: Tensor, ratios_now: ghost.Ratios | None
) -> Tensor:
    """Noise to signal of each layer, shape (R, layers)."""
    if added is None:
        return torch.zeros_like(signal)
    least = LEAST_SIGNAL * added.clip.double()[:, None]
    return added.lengths(clipped.sums, ratios_now) / torch.maximum(signal, least)


def _info(
    network: Network | Siamese,
    state: State,
    records: Records,
    clipped: ghost.Clipped,
    present: Tensor,
    added: Added | None,
    signal: Tensor,
    last: bool,
) -> Training:
    """What the curves show; a replica whose loss is not finite shows no accuracy either."""
    seen = slice(None) if last else slice(SAMPLE)
    scores = evaluate(network, state.released, records.test_x[seen], records.test_y[seen])
    ratio, cut = torch.zeros(len(present)), torch.zeros(len(present))
    if added is not None:
        length = added.lengths(clipped.sums, state.ratios)
        least = LEAST_SIGNAL * added.clip.double()
        whole = torch.maximum(signal.square().sum(1).sqrt(), least)
        ratio = length.square().sum(1).sqrt() / whole
        long = (clipped.norms > added.clip[:, None]) * present
        cut = long.sum(1) / present.sum(1).clamp(min=1.0)
    return Training(
        accuracy=np.where(np.isfinite(scores.loss), scores.accuracy, np.nan),
        loss=scores.loss,
        fraction_clipped=cut.double().cpu().numpy(),
        noise_to_signal=ratio.double().cpu().numpy(),
    )


def products(variant: Variant, batch: Batch[EnadppSpec], data: Table, state: State) -> Arrays:
    """The trained weights, and what the charts beside the curves need; see `pictures`."""
    table = _labelled(data)
    device = str(state.parameters[0][0].device)
    records = models.inputs(variant, batch.spec, table, device)
    network = models.network(variant, batch.spec, table, records.x[0].numel())
    mechanisms: Sequence[object] = [price.mechanism(variant, s, len(data)) for s in batch.specs]
    l1 = isinstance(mechanisms[0], Laplace)
    bounds = batch.column("clip_l1" if l1 else "clip")
    if state.bound is not None:
        bounds = state.bound.double().cpu().numpy()
    weights = None if batch.spec.calibration == "paper" else state.ratios
    norm: Literal["l1", "l2"] = "l1" if l1 else "l2"
    clipping = Clipping(bounds, norm, weights, state.trained, state.white)
    arrays = pictures(network, state.released, records, clipping, table.image)
    for i, ratio in enumerate(r for r in state.ratios or () if r is not None):
        arrays[f"alpha_{i + 1}"] = ratio.double().cpu().numpy()
    if state.layers:
        arrays["noise_to_signal_layers"] = torch.stack(state.layers, 1).cpu().numpy()
    if state.bound is not None:
        arrays["clipping_bound"] = bounds
    return arrays | layer_arrays(state.released)
