"""A limit on memory that is too low is one sentence at the start, and no crash in the middle."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from engine.core import room
from engine.service.client import Client

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "megabytes",
    [300, *(pytest.param(one, marks=pytest.mark.slow) for one in (400, 600, 1_000))],
)
def test_a_low_limit_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, megabytes: int
):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    limit = megabytes * 1_000_000
    done = subprocess.run(
        [sys.executable, "-m", "engine", "run", "mean", "laplace"], cwd=ROOT, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"memory: expected a limit of at least {room.NEEDED:,} MB for this process, got "
        f"{megabytes:,} MB: raise it (`ulimit -v unlimited`) and start again\n"
    )


def test_a_page_says_it_before_it_starts_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resource, "getrlimit", lambda which: (600_000_000, -1))
    with pytest.raises(room.MemoryLimitError, match="expected a limit of at least 2,000 MB"):
        Client(tmp_path).ensure_worker()
