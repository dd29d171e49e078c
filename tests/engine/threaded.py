"""A run of every method of every paper, told bit by bit; `test_threads` compares processes."""

import hashlib
import json
import sys

import numpy as np
import torch

from datasets import catalog as data
from engine.catalog import catalog
from engine.cli.main import main
from engine.core.errors import DatasetError
from engine.core.spec import knobs
from engine.runs.driver import drive
from engine.runs.events import Measured
from engine.runs.job import Job, request
from engine.service.job_runner import set_threads

SHORT = {"intervals": 20, "steps": 5, "samples": 50, "sampler_epochs": 0.01} | {
    "epochs": 2,
    "sgd_epochs": 2,
    "pretraining": 2,
}
"""Values that make a run short and leave its records, batches and layers as large as they are."""
OTHERS = (
    ("lvq", "gmlvq_sgd", "mnist", {"epochs": 1}),
    ("lvq", "gmlvq_dp", "mnist", {"epochs": 1}),
    ("pcdbn", "pcdbn", "digits", {"epochs": 1, "calibration": "paper"}),
    ("pcdbn", "pcdbn", "digits", {"epochs": 1, "calibration": "released"}),
    ("yesiwell", "pcdbn", "yesiwell", {"calibration": "paper"}),
    ("yesiwell", "dpah", "yesiwell", {"calibration": "paper"}),
    ("enadpp", "psgd", "digits", {"epochs": 1, "network": "cnn"}),
)
"""Ways through the methods that their usual settings do not take."""
ATTACK = ("audit", "lvq", "glvq_dp", "--dataset", "digits", "--replicas", "50", "--json")
"""Before any run, since the first product of a process decides how sums are added up in it."""


def jobs(slug: str) -> dict[str, Job]:
    """A job for each method, on its paper's first data set that needs no file, and the others."""
    paper = catalog()[slug]
    short = {field: value for field, value in SHORT.items() if field in knobs(paper.spec)}
    dataset = next(name for name in paper.datasets if data.card(name).embedded)
    made = {}
    for entry in paper.methods:
        axes = {"epsilon": (0.5, 2.0)} if "epsilon" in entry.uses else {}
        made[entry.name] = request(slug, entry.name, dataset, short, axes, seeds=(0, 1))
    for of, name, place, values in OTHERS:
        if of == slug:
            made[f"{name} on {place}, {values}"] = request(of, name, place, short | values)
    return made


def told(job: Job) -> dict[str, str]:
    """What a run measures and keeps, each as a hash of its bits."""
    kept: dict[str, np.ndarray] = {}

    def keep(name, arrays):
        kept.update({f"{name} {key}": np.asarray(part) for key, part in arrays.items()})
        return name

    events = list(drive(job, data.load(job.dataset), keep))
    measured = [event for event in events if isinstance(event, Measured)]
    bits = {key: part.tobytes() for key, part in kept.items()}
    bits["measures"] = repr([(e.step, e.replicas, e.values) for e in measured]).encode()
    return {key: hashlib.sha256(value).hexdigest() for key, value in bits.items()}


def everything(paper: str, threads: int) -> dict[str, dict[str, str]]:
    """What all runs of a paper give; those whose file is not there are left out."""
    set_threads()
    sys.stdout, out = sys.stderr, sys.stdout
    assert main(list(ATTACK)) == 0
    sys.stdout = out
    torch.set_num_threads(threads)
    found = {}
    for name, job in jobs(paper).items():
        try:
            found[name] = told(job)
        except DatasetError as error:
            assert "expected it, or its .gz" in str(error)
    assert torch.get_num_threads() == threads
    return found


if __name__ == "__main__":
    print(json.dumps(everything(sys.argv[1], int(sys.argv[2]))))
