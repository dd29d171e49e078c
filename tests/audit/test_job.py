"""Audits are ordinary jobs: they have an id, events, arrays and an end."""

import numpy as np
import pytest

from datasets import catalog as data
from engine.audit.measures import STEPS
from engine.audit.report import audit
from engine.core.errors import RequestError
from engine.runs.driver import drive
from engine.runs.events import Advanced, Finished, Measured, Produced
from engine.runs.job import Job, request

TRAININGS = 60


def job(**options) -> Job:
    values = {"epsilon": 8.0, "intervals": 10}
    return request("survival", "out_pert", "flchain", values, seeds=range(TRAININGS), **options)


def test_an_audit_has_an_id_of_its_own_and_is_read_again():
    attack, run = job(audit=True), job()
    assert attack.id != run.id
    assert "audit" not in run.identity()
    assert Job.read(attack.text()) == attack
    assert attack.entry().label == "Attack on Output perturbation"


def test_an_audit_runs_like_any_job():
    kept = {}
    attack = job(audit=True)
    events = list(drive(attack, data.load(attack.dataset), lambda name, own: kept.update(own)))
    assert isinstance(events[-1], Finished)
    assert sum(isinstance(event, Advanced) for event in events) == STEPS
    assert [event for event in events if isinstance(event, Produced)]
    measured = [event for event in events if isinstance(event, Measured)]
    assert measured[-1].values["trainings"][0] == TRAININGS
    assert kept["present"].shape == (TRAININGS,)
    assert (np.diff(kept["misses"][0]) <= 0).all()  # fewer misses where more alarms are allowed
    assert (kept["misses_low"] <= kept["misses"]).all()
    assert (kept["misses_high"] >= kept["misses"]).all()


def test_what_cannot_be_audited_fails_with_a_sentence():
    attack = request("survival", "non_private", "flchain", seeds=range(20), audit=True)
    with pytest.raises(RequestError, match="expected one with a witness"):
        list(drive(attack, data.load(attack.dataset), lambda name, own: name))


def test_an_audit_without_a_job_counts_the_same_trainings():
    entry, spec = job().entry(), job().spec()
    *_, (attacks, _) = audit(entry, spec, data.load("flchain"), TRAININGS)
    assert attacks.replicas == TRAININGS
    assert not attacks.broken
