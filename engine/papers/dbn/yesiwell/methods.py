"""The networks: one class, with or without noise, with a proof or as printed.

They differ in what the first layer sees, in how states are read, in whether noise is added and
in what the output layer minimises.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import Generator, Tensor

from datasets.base import Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.dbn.yesiwell import answers, measure, network, output, rigorous
from engine.papers.dbn.yesiwell.network import Plan
from engine.papers.dbn.yesiwell.rbm import Shape
from engine.papers.dbn.yesiwell.spec import Behaviour, YesiwellSpec
from engine.papers.dbn.yesiwell.windows import Part, panel
from engine.training import activations
from engine.training.activations import Activation

SPAN, UPPER = (12, 4), (6, 2)
"""Attributes and times that a basis of the first and of the second layer spans (Section 4.1)."""
RESTRICTED = 40
"""Hidden units of SctRBM."""
State = network.State | rigorous.State


def stacked(spec: YesiwellSpec, attributes: int) -> tuple[Shape, Shape]:
    """Two convolutions whose states are pooled by 2."""
    first = Shape(1, spec.bases, (min(SPAN[0], attributes), min(SPAN[1], spec.window)))
    tall, wide = (attributes + 1) // 2, (spec.window + 1) // 2
    return first, Shape(spec.bases, spec.bases, (min(UPPER[0], tall), min(UPPER[1], wide)))


def conditional(spec: YesiwellSpec, attributes: int) -> tuple[Shape]:
    """One layer that sees all attributes of the present time."""
    return (Shape(1, RESTRICTED, (attributes, 1), same=False, pool=1),)


def window(part: Part) -> tuple[Tensor, Tensor]:
    """The whole window; dynamic biases from the last time's attributes and the friends' term."""
    return part.v[:, None], torch.cat([part.v[:, :, -1], part.social[:, None]], 1)


def present(part: Part) -> tuple[Tensor, Tensor]:
    """The last time; dynamic biases from the times before it and the friends' term."""
    past = part.v[:, :, :-1].flatten(1)
    return part.v[:, None, :, -1:], torch.cat([past, part.social[:, None]], 1)


@final
@dataclass(frozen=True)
class Networked:
    """Layers one after the other, then the output layer; one step is one epoch of the latter.

    Attributes:
        plan: What is trained, and with what noise as the text has it.
        provable: Whether the rigorous calibration exists.

    Guarantees:
        In the rigorous calibration those of `rigorous`; otherwise none, see `guarantees`.
    """

    plan: Plan
    provable: bool = False

    def init(self, batch: Batch[YesiwellSpec], data: Table, rng: Generator) -> State:
        """All releases at once, or fresh weights."""
        if self.provable and batch.spec.calibration == "rigorous":
            shapes = stacked(batch.spec, panel(data, batch.spec).x.shape[2])
            return rigorous.init(batch, data, rng, shapes, self.plan.activation)
        return network.init(batch, data, rng, self.plan)

    def step(
        self, batch: Batch[YesiwellSpec], data: Table, state: State, rng: Generator
    ) -> tuple[State, Behaviour | None]:
        """One step of pre-training or one epoch of the output layer."""
        if isinstance(state, rigorous.State):
            state, before = rigorous.step(state), 0
        else:
            state = network.step(batch, data, state, rng, self.plan)
            layers = len(self.plan.shapes(batch.spec, 1))
            before = layers * batch.spec.pretraining
        done = state.taken - before
        if done < 1 or not measure.due(done, batch.spec.epochs):
            return state, None
        return state, measure.gauges(self.scored(batch, state))

    def products(self, batch: Batch[YesiwellSpec], data: Table, state: State) -> Arrays:
        """Filters, weights, calibration, accuracy by friends, predictions on the network."""
        if isinstance(state, rigorous.State):
            own = answers.products(state)
        else:
            own = network.products(state)
        arrays = measure.products(self.scored(batch, state), panel(data, batch.spec))
        return {**arrays, **{name: np.asarray(part.cpu()) for name, part in own.items()}}

    def scored(self, batch: Batch[YesiwellSpec], state: State) -> measure.Scored:
        """The replicas' test scores."""
        if isinstance(state, rigorous.State):
            return answers.scored(batch, state)
        return output.scored(state.groups)


def _expansion(spec: YesiwellSpec) -> Activation:
    return activations.expansion(spec.polynomial, spec.degree)


def _private(activation: Callable[[YesiwellSpec], Activation]) -> Networked:
    return Networked(Plan(stacked, window, activation, quadratic=True, noise=True), provable=True)


PCDBN = _private(_expansion)
PCDBN_TE = _private(lambda spec: activations.taylor())
PCDBN_PW = _private(lambda spec: activations.line())
TCDBN = Networked(Plan(stacked, window, _expansion, quadratic=True, noise=False))
CDBN = Networked(
    Plan(stacked, window, lambda spec: activations.exact(), quadratic=False, noise=False)
)
SCTRBM = Networked(
    Plan(conditional, present, lambda spec: activations.exact(), quadratic=False, noise=False)
)
