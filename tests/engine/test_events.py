"""What a run tells is JSON values in the store, and the same events when it is read again."""

import json
import math

import pytest

from engine.runs.events import (
    Advanced,
    Failed,
    Finished,
    Measured,
    Produced,
    Spent,
    Started,
    decode,
    encode,
)

EVENTS = (
    Started(0, 4, 2),
    Measured(1, (0, 1), {"accuracy": (0.5, None)}),
    Spent(1, (0, 1), (1.0, 2.0), (0.0, 1e-5)),
    Advanced(1, 2, 4),
    Produced(2, "final-0000", "0" * 64, (0, 1)),
    Finished(3, "completed", (1,)),
    Failed(4, "ValueError: no"),
)


@pytest.mark.parametrize("event", EVENTS, ids=lambda one: type(one).__name__)
def test_an_event_comes_back_from_json(event):
    assert decode(json.loads(json.dumps(encode(event), allow_nan=False))) == event


def test_a_number_that_is_not_finite_is_null():
    told = Measured(1, (0, 1, 2, 3), {"loss": (math.nan, math.inf, -math.inf, 2.0)})
    body = encode(told)
    assert body["values"] == {"loss": [None, None, None, 2.0]}
    json.dumps(body, allow_nan=False)
    assert told.values["loss"][1] == math.inf  # the event itself stays
