"""How often a step waits for a graphics card: `tests.elsewhere` stands in and counts reads.

A step that measures reads its measures. Any other keeps the card waiting with everything that it
reads: a number, a tensor, or how large a result is that depends on values.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from engine.catalog import catalog
from engine.conformance import play
from engine.core.batch import Batch
from engine.core.spec import knobs
from engine.papers.enadpp import price
from engine.privacy import descent
from tests import elsewhere

LONG = {"epochs": 200, "steps": 400, "sgd_epochs": 200, "pretraining": 200}
"""Runs of so many steps that few of them measure; five are taken."""
TAKEN = 3
RATIOS = {"number": 3, "tensor": 2}
"""Relevance is read where it sets the noise: the signs of a layer's values, and its shares."""
REFRESHED = dict.fromkeys(("enadpp.enadpp", "enadpp.adppl"), RATIOS)
"""What the first step of an epoch reads where it works out how the noise is shared: no other
step that measures nothing reads anything."""
WHOLE = {"lvq.glvq_bfgs", "lvq.gmlvq_bfgs", "pcdbn.pcdbn"}
"""Methods whose one step is the whole run with its measures, as all of `mean` and most of
`survival`, whose others measure at every step."""
QUICK = {"lvq.glvq_dp", "enadpp.adppl", "enadpp.dpsgd", "pcdbn.pcdbn_te", "yesiwell.dpsgd"}
"""Of each kind of training one, which every run of the tests looks at."""
PAIRS = [(paper, entry) for paper in catalog().values() for entry in paper.methods]


def named(paper: Any, entry: Any) -> str:
    return f"{paper.slug}.{entry.name}"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A multiplier in place of seconds of accounting, and one thread, where the device is."""
    for search in ("_gaussian", "_stairs", "_laplace"):
        monkeypatch.setattr(price, search, lambda *plan: 1.5)
    monkeypatch.setattr(descent, "multiplier", lambda *plan: 1.5)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def quiet(paper: Any, entry: Any, monkeypatch: pytest.MonkeyPatch) -> list[Counter[str] | None]:
    """What the first steps read; None for one that measures."""
    case = play.case(paper, entry)
    spec = case.base.replace(
        **{k: v for k, v in LONG.items() if k in knobs(paper.spec) and k in entry.uses}
    )
    batch, method = Batch(spec, (spec,) * 2, (0, 1)), entry.load()
    steps = min(TAKEN, entry.steps(spec, case.n))
    reads: list[Counter[str] | None] = []
    with elsewhere.device(monkeypatch) as there, torch.no_grad():
        rng = torch.Generator(there).manual_seed(1)
        state = method.init(batch, case.table, rng)
        for _ in range(steps):
            elsewhere.READS.clear()
            state, info = method.step(batch, case.table, state, rng)
            reads.append(Counter(elsewhere.READS) if info is None else None)
    return reads


@pytest.mark.parametrize(
    ("paper", "entry"),
    [
        pytest.param(p, e, id=named(p, e), marks=[pytest.mark.slow] * (named(p, e) not in QUICK))
        for p, e in PAIRS
        if p.slug not in ("mean", "survival") and named(p, e) not in WHOLE
    ],
)
@pytest.mark.thorough
def test_a_step_that_measures_nothing_reads_nothing(
    paper: Any, entry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = [one for one in quiet(paper, entry, monkeypatch) if one is not None]
    assert reads, "no step without a measure: name the method in WHOLE"
    refreshed = REFRESHED.get(named(paper, entry), {})
    assert reads[0] == Counter(refreshed)
    assert all(one in (Counter(), Counter(refreshed)) for one in reads)
    assert Counter() in reads


def test_every_method_that_is_named_exists() -> None:
    assert {*REFRESHED, *WHOLE} <= {named(*pair) for pair in PAIRS}


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        ("number", lambda x: x.sum().item()),
        ("number", lambda x: bool((x > 1).any())),
        ("number", lambda x: float(x[0])),
        ("number", lambda x: int(x.argmax())),
        ("number", lambda x: torch.equal(x, x)),
        ("tensor", lambda x: x.cpu()),
        ("tensor", lambda x: x.cpu().numpy()),
        ("tensor", lambda x: x.to("cpu")),
        ("tensor", lambda x: x.tolist()),
        ("size", lambda x: x[x > 1]),
        ("size", lambda x: x.nonzero()),
        ("size", lambda x: x.masked_select(x > 1)),
        ("size", lambda x: x.unique()),
    ],
)
def test_everything_that_waits_is_counted(
    kind: str, read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with elsewhere.device(monkeypatch) as there:
        x = torch.arange(3.0, device=there)
        elsewhere.READS.clear()
        read(x)
        assert elsewhere.READS[:1] == [kind]


def test_what_stays_there_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    with elsewhere.device(monkeypatch) as there:
        x = torch.arange(6.0).view(2, 3).to(there)
        elsewhere.READS.clear()
        y = torch.where(x > 1, x, -x) @ x.T
        y[0] += x[:, torch.zeros(2, dtype=torch.int64, device=there)].sum()
        assert elsewhere.READS == []
