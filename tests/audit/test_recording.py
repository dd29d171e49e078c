"""The seam at which noise meets records: kept as it is, and replayed on neighbouring data."""

import pytest
import torch

from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.noise import release, release_together
from engine.privacy.recording import ReplayError, recording, replaying

TWO = (Gaussian(1.0, 2.0), Gaussian(1.0, 0.5))


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_watching_changes_no_number():
    value = torch.arange(6.0).view(2, 3)
    alone = release(value, TWO, seeded())
    with recording() as seen:
        watched = release(value, TWO, seeded())
    assert torch.equal(alone, watched)
    assert torch.equal(seen.releases[0].values[0], value)
    assert torch.equal(seen.releases[0].outputs[0], watched)


def test_a_replay_answers_with_what_was_released_and_leaves_the_generator_alike():
    first, second = torch.zeros(2, 3), torch.ones(2, 3)
    rng, other = seeded(), seeded()
    with recording() as seen:
        outputs = [release(first, TWO, rng), release(first, TWO, rng)]
    with replaying(seen.releases) as again:
        replayed = [release(second, TWO, other), release(second, TWO, other)]
    assert all(torch.equal(a, b) for a, b in zip(outputs, replayed, strict=True))
    assert torch.equal(rng.get_state(), other.get_state())
    assert torch.equal(again.releases[1].values[0], second)


@pytest.mark.parametrize(
    ("columns", "mechanisms", "times"),
    [(3, (Laplace(1.0, 1.0),) * 2, 1), (4, TWO, 1), (3, TWO, 2)],
    ids=["mechanism", "shape", "number"],
)
def test_a_run_that_releases_something_else_is_no_replay(columns, mechanisms, times):
    with recording() as seen:
        release(torch.zeros(2, 3), TWO, seeded())
    with replaying(seen.releases), pytest.raises(ReplayError):
        [release(torch.zeros(2, columns), mechanisms, seeded()) for _ in range(times)]


def test_noise_is_added_in_double_precision_and_rounded_once():
    values = (torch.ones(2, 3, dtype=torch.float32), torch.zeros(2, 5, dtype=torch.float32))
    single = release_together(values, TWO, seeded())
    double = release_together(tuple(v.double() for v in values), TWO, seeded())
    for narrow, wide in zip(single, double, strict=True):
        assert narrow.dtype == torch.float32
        assert torch.equal(narrow, wide.float())
