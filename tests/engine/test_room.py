"""A limit on memory that is too low is one sentence at the start, and no crash in the middle."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from engine.core import room
from engine.service.client import Client

ROOT = Path(__file__).parents[2]


def limited(home: Path, megabytes: int, *words: str) -> subprocess.CompletedProcess[str]:
    """A program of this project under a limit of its memory."""
    limit = megabytes * 1_000_000
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, text=True, capture_output=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)), timeout=300,
        env={**os.environ, "EXPLORER_HOME": str(home)},
    )  # fmt: skip


def sentence(needed: int, got: int) -> str:
    return (
        f"memory: expected a limit of at least {needed:,} MB for this process, got {got:,} MB: "
        "raise it (`ulimit -v unlimited`) and start again"
    )


TRAIN = {
    "run": ("engine", "run", "mean", "laplace"),
    "worker": ("engine.service.worker",),
    "server": ("streamlit", "run", "app.py", "--server.port", "0"),
}
READ = {
    "price": ("engine", "price", "mean", "laplace"),
    "bundle": ("engine", "bundle", "--paper", "mean", "--to", "b.zip"),
}


@pytest.mark.parametrize("program", [*TRAIN, *READ])
@pytest.mark.parametrize(
    "megabytes",
    [300, *(pytest.param(one, marks=pytest.mark.slow) for one in (400, 600, 998))],
)
@pytest.mark.thorough
def test_a_low_limit_is_one_sentence(tmp_path: Path, program: str, megabytes: int):
    needed = room.NEEDED if program in TRAIN else room.READS
    done = limited(tmp_path, megabytes, *{**TRAIN, **READ}[program])
    assert done.returncode == 1
    assert done.stderr.strip() == sentence(needed, megabytes)


@pytest.mark.slow
@pytest.mark.parametrize("program", READ)
def test_what_trains_nothing_needs_no_more_than_it_says(tmp_path: Path, program: str):
    words = [*READ[program][:-1], str(tmp_path / "b.zip")] if program == "bundle" else READ[program]
    done = limited(tmp_path, room.READS, *words)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_page_says_it_before_it_starts_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resource, "getrlimit", lambda which: (600_000_000, -1))
    with pytest.raises(room.MemoryLimitError, match="expected a limit of at least 2,000 MB"):
        Client(tmp_path).ensure_worker()
