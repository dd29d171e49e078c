"""What killed processes leave is whole; `make bench` kills at every point and a thousand times."""

from contextlib import contextmanager

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

    @contextmanager
    def hasty(self):
        with self.database.writing() as connection:
            yield connection
            for row in connection.execute("SELECT digest FROM loose").fetchall():
                artifacts.place(self.artifacts, row["digest"]).unlink(missing_ok=True)

    monkeypatch.setattr(Store, "changing", hasty)
    assert any("missing" in one or "no file" in one for one in at_every_point(every=2)[1])
