"""Small tables and short settings, on which a run of any private method takes milliseconds."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from datasets import catalog as data
from datasets.base import LabelledTable, PanelTable, SurvivalTable, Table
from engine.audit.witness import Pair
from engine.core.spec import Spec, knobs
from engine.method import Paper

SMALL = {
    "intervals": 10, "epochs": 1, "sample_rate": 0.25, "steps": 4, "samples": 16, "sgd_epochs": 1,
    "bases": 3, "history": 8, "filters": 4, "hidden": 8,
    "pretraining": 1, "epsilon": 4.0, "sampler_epochs": 0.01,
}  # fmt: skip
LABELLED, PEOPLE, USERS = 120, 60, 30


def spec(paper: Paper, **values) -> Spec:
    """A short setting."""
    known = {name: value for name, value in SMALL.items() if name in knobs(paper.spec)}
    return paper.spec(**{**known, **values})


@lru_cache
def digits() -> LabelledTable:
    """The first digits; there are ten of each class at least."""
    whole = data.load("digits")
    card = replace(whole.card, records=LABELLED)
    return replace(whole, card=card, x=whole.x[:LABELLED].astype(float), y=whole.y[:LABELLED])


@lru_cache
def people() -> SurvivalTable:
    """Every hundredth person."""
    whole = data.load("flchain")
    some = np.arange(0, 100 * PEOPLE, 100)
    events = int(whole.event[some].sum())
    card = replace(whole.card, records=PEOPLE, events=events)
    missing = None if whole.missing is None else whole.missing[some]
    return SurvivalTable(card, whole.x[some], whole.time[some], whole.event[some], missing=missing)


@lru_cache
def users() -> PanelTable:
    """The first users and the friendships among them."""
    whole = data.load("yesiwell")
    card = replace(whole.card, records=USERS)
    friends = whole.friends[(whole.friends < USERS).all(1)]
    return PanelTable(card, whole.x[:USERS], whole.y[:USERS], friends, whole.bounds)


def table(paper: Paper) -> Table:
    """A small table of the kind that a paper takes."""
    if paper.datasets[0] == "yesiwell":
        return users()
    return people() if paper.datasets[0] == "flchain" else digits()


def changed(pair: Pair) -> int:
    """The place that is empty in one table of a pair and not in the other; 0 for persons."""
    if isinstance(pair.without, SurvivalTable) or isinstance(pair.present, SurvivalTable):
        return 0
    (place,) = set(pair.without.left_out) - set(pair.present.left_out)
    return place
