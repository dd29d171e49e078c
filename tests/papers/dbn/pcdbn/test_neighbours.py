"""The whole chain of releases on neighbouring data: each sum moves by at most its sensitivity."""

from dataclasses import replace

import pytest
import torch

from datasets import catalog as data
from engine.papers.dbn.pcdbn import price, rigorous, whitening
from engine.papers.dbn.pcdbn.images import images
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.training import least_squares

SPEC = PcdbnSpec(degree=3, filters=8, filter_size=3, epsilon=3.0)
N = 1797


@pytest.fixture(scope="module")
def digits():
    return images(data.load("digits"), SPEC, "cpu")


def chain(spec, actual, outputs, monkeypatch):
    """All sums of a run, in order; what was released before is told again, or drawn and kept."""
    sums = []

    def reported(real):
        def release(total, mechanism, rng):
            sums.append((total.clone(), mechanism))
            if len(outputs) < len(sums):
                outputs.append(real(total, mechanism, rng))
            return outputs[len(sums) - 1]

        return release

    made, rng = price.releases(spec, N), torch.Generator().manual_seed(0)
    with monkeypatch.context() as patched:
        for name in ("released", "noisy"):
            own = reported(getattr(least_squares, name))
            for module in (whitening, least_squares):
                patched.setattr(module, name, own)
        stack = rigorous.build(spec, actual, made, N, rng)
        d = price.dimensions(spec, N, stack.train.shape[1])
        a, b = least_squares.sums(
            least_squares.shortened(stack.train[:, :d].clone()), actual.y, actual.classes
        )
        least_squares.quadratic(a, b, made.matrix, made.vector, rng)
    return sums


def white(actual):
    """The first image white: every patch alike."""
    return replace(actual, x=torch.cat([torch.ones_like(actual.x[:1]), actual.x[1:]]))


def dot(actual):
    """The first image black but for one faint pixel."""
    x = actual.x.clone()
    x[0] = 0.0
    x[0, 0, 3, 4] = 1e-3
    return replace(actual, x=x)


@pytest.mark.parametrize("degree", [3, 5, 7])
@pytest.mark.parametrize("change", [lambda outputs: outputs, white, dot])
@pytest.mark.thorough
def test_a_record_moves_each_sum_by_at_most_its_sensitivity(digits, change, degree, monkeypatch):
    spec = SPEC.replace(degree=degree)
    whole, outputs = change(digits), []
    less = replace(whole, x=whole.x[1:].contiguous(), y=whole.y[1:])
    one = chain(spec, whole, outputs, monkeypatch)
    other = chain(spec, less, outputs, monkeypatch)
    made = price.releases(spec, N)
    assert [mechanism for _, mechanism in one] == [*made.moments, made.matrix, made.vector]
    moved = [float((a - b).norm()) for (a, _), (b, _) in zip(one, other, strict=True)]
    for distance, (_, mechanism) in zip(moved, one, strict=True):
        assert 1e-3 < distance <= mechanism.sensitivity
