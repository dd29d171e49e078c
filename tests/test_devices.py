"""Every method trains on any device: nothing is made on, or read from, the wrong one.

The device of `tests.elsewhere` needs no graphics card, refuses what a card would refuse and
draws the processor's numbers, so a whole run there must tell the processor's story.
"""

import json
import math

import numpy as np
import pytest
import torch

from datasets import catalog as data
from engine.cli.main import main
from engine.core.errors import RequestError
from engine.papers.enadpp import price
from engine.privacy import descent
from engine.runs.checkpoint import Checkpoints
from engine.runs.driver import drive
from engine.runs.events import Event, Finished, Measured, Produced, Spent, Started
from engine.runs.executor.local import resolve_device
from engine.runs.job import Job, request
from engine.service import presence
from engine.service.claim import take
from engine.service.client import Client
from engine.service.job_runner import perform
from engine.service.process import here
from engine.training import sampling
from tests import elsewhere
from tests.test_conformance import PAIRS, small

SHORT = {"sample_rate": 0.2, "epochs": 1}
PRINTED = {"calibration": "paper", "epsilon": 1.0, **SHORT}
OTHERS = {
    "pairs": request("enadpp", "enadpp", "adni", PRINTED),
    "convolutions": request(
        "enadpp", "adppl", "digits", {**PRINTED, "network": "cnn", "relevance_rule": "epsilon"}
    ),
    "pixels": request("enadpp", "dpsgd", "digits", {**SHORT, "representation": "pixels"}),
    "printed": request("pcdbn", "pcdbn", "digits", {"calibration": "paper", "epochs": 1}),
}
"""Ways through the methods that their shortest run does not take."""


JOBS = {f"{paper.slug}-{entry.name}": small(paper, entry) for paper, entry in PAIRS} | OTHERS
FIRST = {
    f"{paper.slug}-{entry.name}"
    for paper, entry in PAIRS
    if entry == paper.methods[0] and paper.slug in ("mean", "lvq")  # the others take seconds each
}
"""One method of the two quickest papers."""
each = pytest.mark.parametrize(
    "name",
    [name if name in FIRST else pytest.param(name, marks=pytest.mark.slow) for name in JOBS],
)
card = pytest.mark.skipif(not torch.cuda.is_available(), reason="no graphics card with CUDA here")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """A multiplier in place of seconds of accounting: no price depends on the device."""
    for search in ("_gaussian", "_stairs", "_laplace"):
        monkeypatch.setattr(price, search, lambda *plan: 1.5)
    monkeypatch.setattr(descent, "multiplier", lambda *plan: 1.5)


@pytest.fixture(autouse=True)
def one_kernel(monkeypatch):
    """oneDNN's layout exists on a processor alone; its products differ in the last place."""
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)


@pytest.fixture(autouse=True)
def one_way_to_draw(monkeypatch):
    """A card's batches are drawn on the processor, another way: `tests.training` compares both.

    On a device that stands in for a card they are drawn as here, so that the numbers are equal; a
    real card keeps its own way.
    """
    monkeypatch.setattr(sampling, "apart", lambda rng: rng.device.type == "cuda")


@pytest.fixture(autouse=True)
def one_thread():
    """The device that stands in for another is there for the thread that asked for it alone."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def story(job: Job, device: str) -> tuple[list[Event], dict[str, np.ndarray]]:
    """What a run says, apart from where it was and what its files are called; and its arrays."""
    kept = {}
    events = list(
        drive(job, data.load(job.dataset), lambda name, arrays: kept.update(arrays) or name,
              device=device)
    )  # fmt: skip
    assert isinstance(events[0], Started)
    assert events[0].device == device
    return [e for e in events if not isinstance(e, Started | Produced)], kept


@each
def test_a_run_elsewhere_is_the_run_here(name, monkeypatch):
    with elsewhere.device(monkeypatch) as there:
        reported, arrays = story(JOBS[name], there)
    events, kept = story(JOBS[name], "cpu")
    assert reported == events
    assert arrays.keys() == kept.keys()
    for key, value in kept.items():
        np.testing.assert_array_equal(arrays[key], value, key)


@card
@each
def test_a_run_on_a_card_measures_and_costs_what_it_does_here(name):
    """Other draws and another order of sums; but who is measured, when, and the price are equal."""

    def outline(events):
        measured = sorted(
            (e.step, r) for e in events if isinstance(e, Measured) for r in e.replicas
        )
        spent = {r: p for e in events if isinstance(e, Spent)
                 for r, p in zip(e.replicas, e.epsilon, strict=True)}  # fmt: skip
        return measured, spent

    reported, arrays = story(JOBS[name], "cuda")
    events, kept = story(JOBS[name], "cpu")
    assert isinstance(reported[-1], Finished)
    assert outline(reported) == outline(events)
    assert arrays.keys() == kept.keys()


@pytest.mark.parametrize(
    ("says", "wrong"),
    [
        ("on one device", lambda rng: torch.zeros(3) + torch.ones(3, device=rng.device)),
        ("on one device", lambda rng: torch.ones(3, device=rng.device) @ torch.eye(3)),
        ("generator", lambda rng: torch.rand(3, generator=rng)),
        ("generator", lambda rng: torch.rand(3, device=rng.device)
            .normal_(generator=torch.Generator().manual_seed(0))),
        ("numpy", lambda rng: torch.ones(3, device=rng.device).numpy()),
    ],
    ids=["sum", "product", "drawn here", "drawn there", "numpy"],
)  # fmt: skip
def test_elsewhere_refuses_what_a_card_would(says, wrong, monkeypatch):
    with elsewhere.device(monkeypatch) as there:
        rng = torch.Generator(there).manual_seed(0)
        with pytest.raises((RuntimeError, TypeError), match=says):
            wrong(rng)


def test_a_forgotten_device_is_found(monkeypatch):
    """One line of the sampler without its device: the run that passes here fails there."""
    whole = torch.zeros

    def forgetful(*shape, device=None, **how):
        return whole(*shape, **how)

    with elsewhere.device(monkeypatch) as there:
        monkeypatch.setattr(sampling.torch, "zeros", forgetful)
        with pytest.raises(RuntimeError, match="on one device"):
            story(JOBS["enadpp-psgd"], there)


def test_what_is_moved_keeps_its_numbers(monkeypatch):
    with elsewhere.device(monkeypatch) as there:
        rng = torch.Generator(there).manual_seed(5)
        moved = torch.arange(6.0).view(2, 3).to(there)
        moved[0] += torch.rand(3, generator=rng, device=there)
        assert str(moved.device) == there
        assert math.isclose(float(moved.sum()), float(moved.cpu().sum()))
        here = torch.arange(6.0).view(2, 3)
        here[0] += torch.rand(3, generator=torch.Generator().manual_seed(5))
        assert torch.equal(moved.cpu(), here)


def test_the_device_is_found_where_none_is_named(monkeypatch):
    monkeypatch.delenv("EXPLORER_DEVICE", raising=False)
    assert presence.device() == "auto"
    assert resolve_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")
    assert resolve_device("cpu") == "cpu"


def test_a_card_that_is_seen_but_cannot_compute_is_left_alone(monkeypatch):
    """As one that is too old for this torch, or full."""

    def refused(*shape, **how):
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "ones", refused)
    assert resolve_device("auto") == "cpu"


def test_a_device_that_is_named_and_not_there_is_one_sentence():
    with pytest.raises(RequestError, match="expected auto, or one that torch can use here"):
        resolve_device("xpu:7")


def test_a_run_that_was_stopped_on_another_device_begins_again(monkeypatch):
    """Its generator's state would be of no use there, and its numbers of two kinds."""
    values = {"intervals": 8, "samples": 40, "sampler_epochs": 1.0, "minibatch": 10}
    job = request("survival", "psgld", "flchain", values, {"epsilon": (0.5, 5.0)}, (0, 1))
    left = {}
    past = Checkpoints(left.get, lambda kept, going_on: left.update(kept))

    def run(device):
        return drive(job, data.load("flchain"), lambda name, arrays: name,
                     device=device, past=past)  # fmt: skip

    stopped = run("cpu")
    next(event for event in stopped if isinstance(event, Measured))
    stopped.close()
    assert left
    with elsewhere.device(monkeypatch) as there:
        first = next(run(there))
        assert isinstance(first, Started)
        assert first.device == there
    assert not isinstance(next(run("cpu")), Started)  # there it goes on


def test_a_run_says_where_it_was_trained(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    monkeypatch.setenv("EXPLORER_DEVICE", "cpu")
    client, job = Client(workers=False), request("enadpp", "non_private", "digits", {"epochs": 1})
    client.submit(job)
    assert client.store.device(job.id) == ""
    assert perform(take(client.store, here(), job.id), presence.device()) == "completed"
    assert client.store.device(job.id) == "cpu"
    main(["runs", "--json"])
    assert json.loads(capsys.readouterr().out)["runs"][0]["device"] == "cpu"
    main(["export", job.id, "--to", str(tmp_path / "taken")])
    assert "trained on cpu" in (tmp_path / "taken" / "released" / "README.md").read_text()


def test_a_device_that_is_not_there_fails_the_run_in_one_sentence(monkeypatch, tmp_path):
    client, job = Client(tmp_path, workers=False), request("enadpp", "non_private", "digits")
    client.submit(job)
    assert perform(take(client.store, here(), job.id), "xpu:7") == "failed"
    assert client.run(job.id).error == (
        "device: expected auto, or one that torch can use here, got 'xpu:7'"
    )


def test_an_attack_trains_on_the_processor_whatever_the_device(tmp_path):
    client = Client(tmp_path, workers=False)
    job = request("mean", "gaussian", "flchain", {}, seeds=range(20), audit=True)
    client.submit(job)
    assert perform(take(client.store, here(), job.id), "xpu:7") == "completed"
    assert client.store.device(job.id) == "cpu"
