"""The same run on one thread and on two gives the same numbers to the last bit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNS = {
    "survival": ("survival", "dp_gd", "--set", "steps=5"),
    "lvq": ("lvq", "gmlvq_bfgs", "--dataset", "digits"),
    "lvq, private": ("lvq", "gmlvq_dp", "--dataset", "digits", "--set", "epochs=1"),
    "enadpp": ("enadpp", "dpsgd", "--dataset", "digits", "--set", "epochs=1"),
    "yesiwell": ("yesiwell", "pcdbn", "--set", "epochs=5", "--set", "pretraining=5"),
    "yesiwell, descent": ("yesiwell", "dpsgd", "--set", "sgd_epochs=2"),
    "mean": ("mean", "gaussian"),
    "pcdbn": ("pcdbn", "pcdbn", "--dataset", "digits", "--set", "epochs=2"),
}
"""A method of every paper, and another kind of product of relevance learning."""


def gauges(home: Path, words: tuple[str, ...], threads: int) -> list[dict[str, float]]:
    """What a fresh process measures on so many threads."""
    place = {"EXPLORER_HOME": str(home / str(threads)), "OMP_NUM_THREADS": str(threads)}
    inherited = {k: v for k, v in os.environ.items() if k not in ("MKL_CBWR", "EXPLORER_THREADS")}
    done = subprocess.run(
        [sys.executable, "-m", "engine", "run", *words, "--json"],
        cwd=ROOT, env={**inherited, **place}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [replica["gauges"] for replica in json.loads(done.stdout)["replicas"]]


@pytest.mark.parametrize("name", RUNS)
def test_the_number_of_threads_changes_no_bit(tmp_path, name):
    one, two = (gauges(tmp_path, RUNS[name], threads) for threads in (1, 2))
    assert one == two
