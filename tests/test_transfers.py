"""How often a step waits for a graphics card: `tests.elsewhere` stands in and counts reads.

A step that measures reads its measures. Any other keeps the card waiting with everything that it
reads: a number, a tensor, or how large a result is that depends on values.
"""

from collections import Counter
from typing import Any

import pytest
import torch

from engine.catalog import catalog
from engine.core.batch import Batch
from engine.core.spec import knobs
from engine.papers.enadpp import price
from engine.papers.yesiwell import rigorous
from engine.privacy import descent
from tests import elsewhere
from tests.conformance import play

LONG = {"epochs": 200, "steps": 400, "sgd_epochs": 200, "pretraining": 200}
"""Runs of so many steps that few of them measure; five are taken."""
TAKEN = 3
BATCH = {"number": 1, "size": 1}
"""A sampled batch is as large as its coins say: its size, and the places of its records."""
CLIPPED = {"number": 2, "size": 1}
"""Besides, whether any gradient overflowed, so that it is left out of the sum."""
GAPS = {"number": 2}
"""A batch drawn by the gaps between its records: whether they reach the end, and its size."""
WINDOWS = {"number": 2}
"""How many of the windows of a batch of persons there are, and the most of one."""
READS: dict[str, dict[str, int]] = {
    "enadpp.enadpp": {"number": 5, "size": 1, "tensor": 2},
    "enadpp.adppl": {"number": 5, "size": 1, "tensor": 2},
    **dict.fromkeys(("enadpp.appdl", "enadpp.psgd", "enadpp.dpsgd", "pcdbn.psgd"), CLIPPED),
    "enadpp.non_private": BATCH,
    "enadpp.dp_ftrl": {"number": 1},
    **dict.fromkeys(("lvq.glvq_dp", "lvq.gmlvq_dp", "lvq.glvq_sgd", "lvq.gmlvq_sgd"), GAPS),
    **dict.fromkeys(("yesiwell.dpah", "yesiwell.tcdbn", "yesiwell.cdbn"), WINDOWS),
    "yesiwell.sctrbm": WINDOWS,
    "yesiwell.dpsgd": {"number": 2, "size": 2, "tensor": 2},
}
"""What a step that measures nothing reads, at most; nothing where a method is not named."""
WHOLE = {"lvq.glvq_bfgs", "lvq.gmlvq_bfgs", "pcdbn.pcdbn"}
"""Methods whose one step is the whole run with its measures, as all of `mean` and most of
`survival`, whose others measure at every step."""
PAIRS = [(paper, entry) for paper in catalog().values() for entry in paper.methods]


def named(paper: Any, entry: Any) -> str:
    return f"{paper.slug}.{entry.name}"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A multiplier in place of seconds of accounting, and one thread, where the device is."""
    for search in ("_gaussian", "_stairs", "_laplace"):
        monkeypatch.setattr(price, search, lambda *plan: 1.5)
    monkeypatch.setattr(descent, "multiplier", lambda *plan: 1.5)
    monkeypatch.setattr(rigorous, "spread", lambda work, parts: [work(part) for part in parts])


def quiet(paper: Any, entry: Any, monkeypatch: pytest.MonkeyPatch) -> list[Counter[str]]:
    """What the first steps read that measure nothing."""
    case = play.case(paper, entry)
    spec = case.base.replace(
        **{k: v for k, v in LONG.items() if k in knobs(paper.spec) and k in entry.uses}
    )
    batch, method = Batch(spec, (spec,) * 2, (0, 1)), entry.load()
    steps = min(TAKEN, entry.steps(spec, case.n))
    reads: list[Counter[str]] = []
    with elsewhere.device(monkeypatch) as there, torch.no_grad():
        rng = torch.Generator(there).manual_seed(1)
        state = method.init(batch, case.table, rng)
        for _ in range(steps):
            elsewhere.READS.clear()
            state, info = method.step(batch, case.table, state, rng)
            if info is None:
                reads.append(Counter(elsewhere.READS))
    return reads


@pytest.mark.parametrize(
    ("paper", "entry"),
    [(p, e) for p, e in PAIRS if p.slug not in ("mean", "survival") and named(p, e) not in WHOLE],
    ids=lambda one: getattr(one, "slug", getattr(one, "name", "")),
)
def test_a_step_that_measures_nothing_reads_no_more_than_it_is_said_to(
    paper: Any, entry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = quiet(paper, entry, monkeypatch)
    assert reads, "no step without a measure: name the method in WHOLE"
    most = Counter(READS.get(named(paper, entry), {}))
    for one in reads:
        assert one <= most, f"read {dict(one)}, said {dict(most)}"
    assert any(one == most for one in reads), f"reads less than is said: {dict(reads[-1])}"


def test_every_method_that_is_named_exists() -> None:
    assert {*READS, *WHOLE} <= {named(*pair) for pair in PAIRS}


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
