"""What killed processes leave is whole; `make bench` kills at every point and a thousand times."""

import pytest

from benchmarks import kills
from benchmarks.kills import at_every_point, at_random
from engine.runs import artifacts
from engine.service.store import Store


@pytest.mark.slow
def test_some_points_of_every_verb():
    number, wrong = at_every_point(every=13)
    assert number > 10
    assert wrong == []


@pytest.mark.slow
def test_some_kills_at_random():
    assert at_random(15, seed=1) == (15, [])


@pytest.mark.slow
def test_files_that_go_before_their_rows_are_noticed(monkeypatch: pytest.MonkeyPatch):
    """The check itself: a store that removes files first leaves rows without them."""
    monkeypatch.setattr(kills, "VERBS", {"delete": kills.VERBS["delete"]})
    drop = Store.drop

    def hasty(self, connection, run, like):
        loose = drop(self, connection, run, like)
        for digest in loose:
            artifacts.place(self.artifacts, digest).unlink(missing_ok=True)
        return loose

    monkeypatch.setattr(Store, "drop", hasty)
    assert any("missing" in one or "no file" in one for one in at_every_point(every=2)[1])
