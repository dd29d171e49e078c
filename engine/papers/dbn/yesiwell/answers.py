"""What the provable networks answer: test scores, and the released layers."""

import torch
from torch import Tensor

from engine.core.batch import Batch
from engine.papers.dbn.yesiwell.measure import Scored
from engine.papers.dbn.yesiwell.rigorous import Replica, State
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.training import least_squares
from engine.training.threads import single_thread

STEPS = 20
"""Steps of descent in an epoch: about as many batches of 111 as 12 days of 254 users give."""


def scored(batch: Batch[YesiwellSpec], state: State) -> Scored:
    """Test scores of all replicas: four times the descent's z, as the quadratic's minimiser is."""
    steps = state.taken * STEPS
    scores = [one.test.double() @ _weights(one, steps) for one in state.replicas]
    ratios = tuple(one.ratio for one in state.replicas)
    samples = tuple(one.windows for one in state.replicas)
    return Scored(tuple(scores), samples, ratios)


def products(state: State) -> dict[str, Tensor]:
    """What is released, by name: filters of both layers and the output layer's weights."""
    steps = state.taken * STEPS
    return {
        "filters": torch.stack([one.filters[0] for one in state.replicas]),
        "filters_second": torch.stack([one.filters[1] for one in state.replicas]),
        "weights_output": torch.stack([_weights(one, steps) for one in state.replicas]),
    }


@single_thread()
def _weights(one: Replica, steps: int) -> Tensor:
    """The output layer's weights, four times the descent's."""
    return 4.0 * least_squares.weights(one.quadratic, steps)[:, 0]
