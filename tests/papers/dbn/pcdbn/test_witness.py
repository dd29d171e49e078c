"""The record that an attack looks for: what it reaches, and how alike both of its worlds are."""

import math

import numpy as np
import pytest
import torch

from datasets import catalog
from engine.audit import limits, statistics
from engine.audit.training import Setting, batch_of, seed_of, stages_of, trainings
from engine.core.gauges import unmeasured
from engine.papers.dbn.pcdbn import witness
from engine.runs.job import request

PAIRS = 12


@pytest.fixture(scope="module")
def setting() -> Setting:
    job = request("pcdbn", "pcdbn", "digits", {"epsilon": 1.0})
    return Setting.of(job.entry(), job.batch().spec, catalog.load("digits"))


def heard(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """How far each release lies apart, in sensitivities, and both worlds' log likelihood ratios."""
    batch, far, ratios = batch_of(setting, PAIRS), [], []
    for world in (0, 1):
        runs, sums = trainings(setting, batch, world, seed_of(setting, 0, world))[:2], []
        with unmeasured(), torch.no_grad():
            for _, released, (others,) in stages_of(setting, runs):
                for one, other in zip(released, others, strict=True):
                    far.append(float(statistics.apart(one, other)))
                    pair = (one, other) if world == 0 else (other, one)
                    without, present = (statistics.joined(part, heard=part is one) for part in pair)
                    added = statistics.gain(without, present)
                    said = without if world == 0 else present
                    sums.append(float(statistics.likelihood(said, without.values, added, 1.0)))
        ratios.append(np.reshape(sums, (PAIRS, -1)).sum(1))
    return np.reshape(far, (2 * PAIRS, -1)).mean(0), np.array(ratios)


@pytest.mark.thorough
def test_a_faint_dot_reaches_nearly_all_and_leaves_both_worlds_alike(setting):
    far, ratios = heard(setting)
    declared = [release.mechanism.multiplier for release in setting.declared]
    reached = math.sqrt(sum((a / m) ** 2 for a, m in zip(far, declared, strict=True)))
    assert reached > 0.98 * limits.gaussian_mu(setting.declared)
    assert far[:3].tolist() == [0.0, 0.0, 0.0]  # the moments that make the filters
    assert (far[-2:] > 0.999).all()
    assert np.corrcoef(ratios)[0, 1] > 0.95


def test_pixels_of_whole_numbers_are_white(setting):
    class Whole:
        x, bounds = np.zeros((3, 64), np.uint8), (np.array(0.0), np.array(255.0))

    assert (witness._faintest(Whole) == 255.0).all()
