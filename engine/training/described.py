"""How a labelled table is split, in words and rows, for use elsewhere. No torch."""

from typing import Any

from datasets.base import Card
from engine.core.spec import Spec
from engine.training.split import held_out_rows


def model(spec: Spec, card: Card) -> dict[str, Any]:
    """The split that every repetition shares.

    Args:
        spec: The settings, none of which changes the split.
        card: The data set's, whose number of records decides alone.
    """
    return {
        "split": "Rows count from 0 in the order of the published file. `tested_rows` are held out "
        "and all other rows are trained on. A publisher's test part is tested on too. Where there "
        "are `test_predictions`, they are those of the publisher's test part and behind it of "
        "`tested_rows`, in this order.",
        "tested_rows": held_out_rows(card.records).tolist(),
    }
