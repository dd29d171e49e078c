"""An export says which times a seed trains on: the words, taken at their word, give the windows."""

import re

import numpy as np
import pytest

from datasets import catalog
from engine.catalog import paper
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.papers.dbn.yesiwell.windows import panel, sample


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("task", ["prediction", "classification"])
def test_the_split_of_an_export_is_the_one_that_is_trained_on(task, seed):
    spec, table = YesiwellSpec(task=task), catalog.load("yesiwell")
    told = paper("yesiwell").model(spec, table.card)
    times, history = panel(table, spec).y.shape[1], told["history"]
    terms = re.search(r"whole part of (.*), where spare is (.*?)\. ", told["split"])
    assert terms is not None
    spare = eval(terms[2], {"min": min, "max": max, "times": times, "history": history})
    share = float(re.search(r"0\.5 \+ ([0-9.]+) s", terms[1])[1])
    first = int((0.5 + share * seed) % 1.0 * (times - history - spare + 1))
    windows = sample(table, spec, seed, "cpu")
    part = windows.whole
    ends = range(first + spec.window - 1, first + history)
    assert len(part) == windows.users * len(ends)
    if task == "classification":
        tested = np.random.default_rng(seed).random(len(part)) < 0.1
        assert windows.kept.tolist() == (~tested).tolist()
    else:
        assert windows.times == min(28, times - 1 - (first + history))
