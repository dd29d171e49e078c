"""What a page keeps of a run: its measurements and its arrays, once and only the latest."""

from pathlib import Path

import numpy as np
import pytest

from engine.runs.events import Advanced, Produced, Started
from engine.runs.job import request
from engine.service.client import Client
from pages.ui.jobs import record
from tests.pages.played import begin

pytestmark = pytest.mark.usefixtures("home")


def job():
    return request("survival", "out_pert", "flchain", {}, {"epsilon": [1.0]}, [0, 1, 2, 3])


def test_arrays_are_read_again_only_when_there_are_more(home: Path):
    claim = begin(home, job())
    client = Client(home, workers=False)

    def left():
        return record.arrays(client.run(job().id))

    def keep(part: int, rows: tuple[int, ...]) -> None:
        digest = claim.keep(f"final-{part:04d}", {"noise": np.full((len(rows), 2), part + 1.0)})
        claim.append([Produced(1, f"final-{part:04d}", digest, rows)])

    assert left() == {}
    keep(0, (0, 1))
    first = left()
    claim.append([Advanced(2, 2, 4)])
    assert left() is first  # progress alone brings no new arrays
    assert np.isnan(first["noise"][2:]).all()
    keep(1, (2, 3))
    second = left()
    assert second is not first
    assert second["noise"][:, 0].tolist() == [1.0, 1.0, 2.0, 2.0]
    assert left() is second


def test_measurements_begin_again_with_a_repeated_run(home: Path):
    claim = begin(home, job())
    run = Client(home, workers=False).run(job().id)
    assert len(record.measurements(run)) == 1
    assert len(record.measurements(run)) == 1
    claim.append([Started(0, 4, 4)])
    assert record.measurements(Client(home, workers=False).run(job().id)) == []
