"""Small values: events, batches, results, guarantees."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.batch import Batch
from engine.core.errors import RequestError, SpecError
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.guarantee import Guarantee
from engine.runs.events import (
    KINDS,
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
from engine.runs.results import Results

EVENTS = [
    Started(0, 10, 4),
    Measured(3, (0, 2), {"mre": (0.5, None), "brier": (0.1, 0.2)}),
    Spent(3, (0, 2), (1.0, None), (1e-5, 0.0)),
    Advanced(3, 30, 100),
    Produced(10, "final-0000", "ab" * 32, (0, 2)),
    Finished(10, "completed", (2,)),
    Failed(4, "expected this, got that"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: type(e).__name__)
def test_an_event_survives_json(event):
    assert decode(json.loads(json.dumps(encode(event), allow_nan=False))) == event


def test_every_kind_of_event_is_tried():
    assert {type(event) for event in EVENTS} == set(KINDS.values())


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_what_is_not_finite_becomes_null(value):
    body = json.dumps(encode(Spent(1, (0,), (value,), (0.0,))), allow_nan=False)
    assert decode(json.loads(body)).epsilon == ((value if math.isfinite(value) else None),)


def test_a_grid_runs_through_seeds_first():
    batch = Batch.grid(
        SurvivalSpec(), {"epsilon": (0.1, 1.0), "regularisation": (1e-3, 1e-2)}, (7, 8)
    )
    assert len(batch) == 8
    assert batch.column("epsilon").tolist() == [0.1] * 4 + [1.0] * 4
    assert batch.column("regularisation").tolist() == [1e-3, 1e-3, 1e-2, 1e-2] * 2
    assert batch.seeds == (7, 8) * 4
    part = batch.take((5, 0))
    assert part.specs == (batch.specs[5], batch.specs[0])
    assert part.seeds == (8, 7)


def test_a_batch_checks_every_replica():
    with pytest.raises(SpecError, match="epsilon"):
        Batch.grid(SurvivalSpec(), {"epsilon": (1.0, -1.0)}, (0,))


def results() -> Results:
    return Results(
        run="0" * 12,
        step=np.ones(4, np.int64),
        seeds=np.array([0, 1, 0, 1]),
        axes={"epsilon": np.array([0.1, 0.1, 1.0, 1.0])},
        gauges={"mre": np.array([3.0, 5.0, 1.0, np.nan])},
        epsilon=np.array([0.1, 0.1, 1.0, 1.0]),
    )


def test_results_are_read_by_axis():
    table = results()
    assert table.mean("mre", epsilon=0.1) == 4.0
    assert table.spread("mre", epsilon=0.1) == pytest.approx(math.sqrt(2.0))
    assert table.mean("mre", epsilon=1.0) == 1.0  # the diverged replica is left out
    assert math.isnan(table.spread("mre", epsilon=1.0))
    assert math.isnan(table.mean("mre", epsilon=2.0))
    with pytest.raises(RequestError, match="knots: expected an axis of run"):
        table.rows(knots=3)


def test_a_guarantee_is_json():
    card = Guarantee(
        mechanism="Laplace",
        status="proved",
        epsilon_claimed=1.0,
        epsilon_proved=None,
        delta=0.0,
        relation="replace_one",
        unit="a person",
    )
    body = json.loads(json.dumps(card.json()))
    assert body["status"] == "proved"
    assert body["epsilon_proved"] is None
    assert {"delta", "relation", "unit", "reasons", "epsilon_claimed"} <= set(body)
    assert any("seed" in limit for limit in body["limits"])
    assert any("Real arithmetic" in limit for limit in body["limits"])
    assert not dataclasses.replace(card, status="not_private").limits
