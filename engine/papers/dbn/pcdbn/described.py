"""What the arrays of a deep belief network mean, for use elsewhere. No torch."""

from typing import Any

from datasets.base import Card
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.training import described


def model(spec: PcdbnSpec, card: Card) -> dict[str, Any]:
    """The split, what the numbers of each layer stand for, and how a class is predicted.

    Args:
        spec: The settings that all replicas share.
        card: The data set's.
    """
    return described.model(spec, card) | {
        "activation": spec.activation,
        "parameters": {
            "weights_1": "filters of the first layer: filter, channel, row, column",
            "weights_2": "filters of the second layer: filter, map of the first layer, row, column",
            "weights_3": "with proof: whitened feature, class, zero beyond the first `dimensions`; "
            "else: map and position, hidden unit",
            "weights_4": "hidden unit, class",
            "bias_*": "one number for each filter or unit",
            "visible_*": "visible bias of the layer, which training alone uses",
            "whitening_mean": "map of the second layer, position",
            "whitening_order": "place of each whitened feature among maps x positions",
        },
        "meaning": "With proof: each map's positive and negative part, averaged over squares; the "
        "roots of the second layer's, scaled to length 1, less whitening_mean, scaled to length 1, "
        "turned by whitening_channels (left, transposed) and whitening_positions (right), taken "
        "in whitening_order, multiplied by whitening_scale, cut to the first `dimensions` "
        "and scaled to length 1, times weights_3: the largest of the sums is the predicted class.",
    }
