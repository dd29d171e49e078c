"""How a labelled table is split, in words and rows, and what the tested rows tell. No torch."""

from collections.abc import Mapping
from typing import Any

from datasets.base import Card
from engine.core.spec import Spec
from engine.intervals import Estimate, tested
from engine.method import Arrays, Entry
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


def estimates(
    entry: Entry[Any], spec: Any, card: Card, arrays: Arrays, gauges: Mapping[str, float]
) -> tuple[Estimate, ...]:
    """How often the published model is right on new records, from those that it is tested on.

    They are not trained on, so noise is not in the count: whoever publishes the model knows how
    often it is right on them, and who was tested is all that is left to chance.

    Args:
        entry: The method.
        spec: Its settings.
        card: The data set's.
        arrays: `test_predictions`, one for each tested record.
        gauges: Of them `accuracy`.
    """
    if "test_predictions" not in arrays:
        return ()
    return (tested(gauges["accuracy"], arrays["test_predictions"].shape[-1]),)
