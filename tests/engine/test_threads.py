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
LEFT_OUT = ("MKL_CBWR", "EXPLORER_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Variables of other tests, of those with a cluster too, that would decide what is tested here."""
END = "=== end of a run ==="
ATTACK = ("audit", "lvq", "glvq_dp", "--dataset", "digits", "--replicas", "50", "--json")
"""Before any run, since the first product of a process decides how sums are added up in it."""
PROGRAM = f"""
import json, os, sys
from engine.cli.main import main
assert main({ATTACK!r}) == 0
print({END!r})
for words in json.loads(sys.argv[1]).values():
    assert main(["run", *words, "--json"]) == 0, words
    print({END!r})
import torch
assert torch.get_num_threads() == int(os.environ["OMP_NUM_THREADS"])
"""


def gauges(home: Path, threads: int) -> dict[str, list[dict[str, float]]]:
    """What a fresh process measures on so many threads, one run after the other."""
    place = {"EXPLORER_HOME": str(home), "OMP_NUM_THREADS": str(threads)}
    inherited = {name: text for name, text in os.environ.items() if name not in LEFT_OUT}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(RUNS)],
        cwd=ROOT, env={**inherited, **place}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    bodies = map(json.loads, filter(str.strip, done.stdout.split(END)))
    next(bodies)  # of the attack
    return {
        name: [replica["gauges"] for replica in body["replicas"]]
        for name, body in zip(RUNS, bodies, strict=True)
    }


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, list[dict[str, float]]]]:
    """All runs on one thread and on two: two processes, since each takes seconds to load torch."""
    return [gauges(tmp_path_factory.mktemp("threads"), threads) for threads in (1, 2)]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_the_number_of_threads_changes_no_bit(both, name):
    one, two = (measured[name] for measured in both)
    assert one
    assert one == two
