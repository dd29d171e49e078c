"""What people bring: faults that attacks find, runs of libraries, cards as files, and a notebook.

Each attack that is over is written to the file that YOURS_KEPT names, if any, and not repeated by a
run that finds it there, made by the same code.
"""

import dataclasses
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from dp_accounting import (
    GaussianDpEvent,
    LaplaceDpEvent,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
)
from dp_accounting.pld import PLDAccountant

from benchmarks import functions
from benchmarks.functions import FUNCTIONS, Named, example
from benchmarks.row import Row, at_most, turns
from engine.catalog import catalog
from engine.core.errors import ExplorerError
from engine.runs.job import request
from engine.yours import (
    card_file,
    claim,
    deployments,
    evidence,
    forms,
    function,
    guessing,
    library_run,
    trainings,
    witnesses,
)
from engine.yours.claim import Claim
from engine.yours.function import MOST, Attacked, audit_function

ROOT = Path(__file__).parents[1]
SECONDS = float(os.environ.get("YOURS_SECONDS", "300"))
"""For each attack at most."""
FOUND = 18
"""Faults that must be found at least."""
CODE = (claim, evidence, function, functions, guessing, trainings, witnesses)
"""Modules that an attack's result depends on."""


def attacked(named: Named, seconds: float = SECONDS, pairs: int = MOST) -> Attacked:
    """The attack on one function."""
    data = example()
    witness = None
    if named.people:
        witness = example().iloc[:4].assign(**{column: 1.0 for column in data.columns})
    return audit_function(
        named.fit, data, named.claim, witness=witness, seconds=seconds, pairs=pairs
    )


def outcomes() -> dict[str, Attacked]:
    """The attack on every function, those with faults first; what is kept is not repeated."""
    place = os.environ.get("YOURS_KEPT", "")
    kept, code = Path(place), _code()
    lines = kept.read_text(encoding="utf-8").splitlines() if place and kept.exists() else []
    known = {told["name"]: told for told in map(json.loads, lines) if told["code"] == code}
    found = {}
    for name in sorted(FUNCTIONS, key=lambda name: FUNCTIONS[name].holds):
        if name not in known:
            done = dataclasses.asdict(attacked(FUNCTIONS[name]))
            known[name] = {"name": name, "code": code, "allowed": SECONDS, "attack": done}
            if place:
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(known[name]) + "\n")
        told = dict(known[name]["attack"])
        found[name] = Attacked(**{**told, "claim": Claim(**told["claim"])})
    return found


def _code() -> str:
    """The digest of the modules that a result depends on."""
    parts = [Path(str(module.__file__)).read_bytes() for module in CODE]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def attacks() -> list[Row]:
    """Faults found, right functions blamed, and how long a finding takes."""
    done = outcomes()
    wrong = [name for name, named in FUNCTIONS.items() if not named.holds]
    right = [name for name, named in FUNCTIONS.items() if named.holds]
    found = [name for name in wrong if done[name].broken]
    blamed = [name for name in right if done[name].broken]
    missed = ", ".join(name for name in wrong if name not in found) or "none"
    took = [done[name].seconds for name in found]
    closest = max(right, key=lambda name: done[name].attacked / done[name].claim.level)
    best = done[closest]
    return [
        Row(
            f"faults found, of {len(wrong)}", len(found), None, "functions", f"at least {FOUND}",
            len(found) >= FOUND, f"missed: {missed}",
        ),
        Row(
            f"right functions blamed, of {len(right)}", len(blamed), None, "functions", "none",
            not blamed,
            f"closest: {closest}, {best.claim.symbol} at least {best.attacked:.2f} of "
            f"{best.claim.level:g}; each attacked for at most {SECONDS:g} s",
        ),
        Row(
            "a fault is found within", float(np.median(took)), None, "s", "at most 300",
            max(took) <= 300.0, f"median on one core; longest {max(took):.1f} s",
        ),
    ]  # fmt: skip


# Runs of libraries

RECORDED: tuple[dict[str, Any], ...] = (
    {"noise_multiplier": 1.1, "rate": 0.01, "steps": 1_200, "epsilon_claimed": 1.66},
    {"noise_multiplier": 0.7, "rate": 0.005, "steps": 500, "epsilon_claimed": 5.0},
    {"noise_multiplier": 2.0, "rate": 0.1, "steps": 300, "epsilon_claimed": 5.0},
    {"noise_multiplier": 1.0, "rate": 0.02, "steps": 50, "epsilon_claimed": 1.1},
    {"noise_multiplier": 4.0, "rate": 0.5, "steps": 200, "epsilon_claimed": 10.0},
    {"noise_multiplier": 1.5, "rate": 256 / 60_000, "steps": 3_510, "epsilon_claimed": 1.0},
    {"noise_multiplier": 1.1, "rate": 0.1, "steps": 300, "cycle": 3, "epsilon_claimed": 5.0},
    {"noise_multiplier": 1.1, "rate": 0.01, "steps": 1_200, "sampling": "shuffled"},
    {"noise_multiplier": 3.0, "rate": 1.0, "steps": 40, "sampling": "all"},
    {"noise_multiplier": 20.0, "rate": 1.0, "steps": 5, "sampling": "all",
     "mechanism": "laplace"},
)  # fmt: skip
"""Trainings as Opacus, jax-privacy and others do them."""
COMMON = {
    "library": "a library", "records": 60_000, "clipping_norm": 1.0, "sampling": "poisson",
    "epsilon_claimed": 1.0, "delta": 1e-5,
}  # fmt: skip
NEAR = 0.01
"""Two accountants may differ by such a part."""


def recorded() -> Row:
    """How far the price of a recorded run is from that of dp-accounting, at most."""
    worst, where = 0.0, 0
    for number, told in enumerate(RECORDED):
        ours, peer = library_run.checked({**COMMON, **told}).epsilon(), _peer({**COMMON, **told})
        if abs(ours / peer - 1.0) > worst:
            worst, where = abs(ours / peer - 1.0), number
    return Row(
        f"price of a recorded run, of {len(RECORDED)}: difference from dp-accounting",
        100.0 * worst, None, "%", "at most 1 %", worst <= NEAR,
        f"largest, of {RECORDED[where]}; the peer is its PLD accountant on its usual grid",
    )  # fmt: skip


def _peer(told: dict[str, Any]) -> float:
    """What dp-accounting says of the same training, put together by hand."""
    noise, steps = told["noise_multiplier"], told["steps"]
    gaussian = told.get("mechanism", "gaussian") == "gaussian"
    event: Any = GaussianDpEvent(noise) if gaussian else LaplaceDpEvent(noise)
    if told["sampling"] == "shuffled":
        steps = -(-steps // round(1.0 / told["rate"]))
    elif told["rate"] < 1.0:
        event = PoissonSampledDpEvent(told["rate"], event)
        steps = -(-steps // told.get("cycle", 1))
    whole = PLDAccountant().compose(SelfComposedDpEvent(event, steps))
    return float(whole.get_epsilon(told["delta"]))


# Cards


def cards() -> list[Row]:
    """Shipped cards that are in order after a way through a file and the registry's form."""
    whole, wrong = 0, list[str]()
    with tempfile.TemporaryDirectory() as folder:
        for slug, paper in catalog().items():
            for entry in paper.methods:
                document, place = made(slug, entry.name), Path(folder, "card.json")
                place.write_text(json.dumps(document), encoding="utf-8")
                again = card_file.read(place)
                back = deployments.imported(deployments.exported(again))
                problems = card_file.verify(again)
                if problems or again != json.loads(json.dumps(document)) or back != again:
                    wrong.append(f"{slug} {entry.name}: {'; '.join(problems) or 'changed'}")
                whole += 1
    return [
        Row(
            f"shipped cards in order, of {whole}", whole - len(wrong), None, "cards", "all",
            not wrong, "; ".join(wrong) or "through a file and through the registry's YAML",
        ),
        *(_changed(renewed) for renewed in (False, True)),
    ]  # fmt: skip


def _changed(renewed: bool) -> Row:
    """Changed cards that pass."""
    passed = [way for way, fine in tampered(renewed) if fine]
    with_digest = ", their digest renewed" if renewed else ""
    return Row(
        f"changed cards that pass, of {CHANGED}{with_digest}", len(passed), None, "cards", "none",
        not passed, ", ".join(map(str, passed)) or "one value of each changed",
    )  # fmt: skip


CHANGED = 100
ELSEWHERE = ("program", "paper", "settings", "digest")
"""A card with another of these and a renewed digest is another card, and priced as it stands."""


def made(slug: str, method: str, **values: Any) -> forms.Document:
    """A card of a method as its page opens."""
    paper = catalog()[slug]
    begins, uses = paper.begins(method, paper.datasets[0]), paper.entry(method).uses
    opening = {field: begins[field] for field in paper.opening if field in uses}
    return card_file.of_job(request(slug, method, paper.datasets[0], {**opening, **values}))


def tampered(renewed: bool) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """Cards with one value changed: which, and whether the card passes.

    Args:
        renewed: Whether their digest is computed again.
    """
    rng = random.Random(5)
    documents = [made("mean", "gaussian"), made("survival", "dp_newton"), made("mean", "laplace")]
    for number in range(CHANGED):
        document = json.loads(json.dumps(documents[number % 3]))
        ways = [way for way in places(document) if not renewed or way[0] not in ELSEWHERE]
        *way, last = rng.choice(ways)
        part = document
        for name in way:
            part = part[name]
        part[last] = changed(part[last], rng)
        if renewed:
            document["digest"] = card_file.digest(document)
        yield (*way, last), _passes(document)


def _passes(document: forms.Document) -> bool:
    """Whether a document is in the form of the schema and nothing is wrong with it."""
    try:
        content = json.dumps(document).encode()
        return not card_file.verify(
            forms.checked(content, card_file.SCHEMA, "card", card_file.CardError)
        )
    except ExplorerError:
        return False


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document where a value stands."""
    parts: Any = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    else:
        yield path
    for name, part in parts:
        yield from places(part, (*path, name))


def changed(value: Any, rng: random.Random) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1))
    if isinstance(value, float):
        return value * rng.choice((0.5, 2.0)) or 1.0
    return value[:-1] + "x" if value else "x"


# The notebook's module against the command

BUDGETS = "0.1,0.5,1,5"
ASKED = f"""import epsilon_explorer as ee
ee.run("survival", "dp_newton", epsilon=[{BUDGETS}], seeds=20, progress=False).frame()"""
COMMAND = ("-m", "engine", "run", "survival", "dp_newton", "--sweep", f"epsilon={BUDGETS}")


def overhead() -> Row:
    """Processor time of the same training from a notebook's module and from the command."""
    rivals = {
        "module": lambda: _seconds("-c", ASKED),
        "command": lambda: _seconds(*COMMAND, "--seeds", "20", "--json"),
    }
    took = turns(rivals)
    note = "processor seconds of a fresh process in an empty store, start included"
    return at_most("ee.run of 80 trainings", took["module"], took["command"], 1.05, note)


def _seconds(*command: str) -> float:
    """Processor time of a Python process and of those that it has waited for."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "EXPLORER_HOME": home, "OMP_NUM_THREADS": "1"}
        child = subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{command[0]} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime


def rows() -> list[Row]:
    """Everything that people bring."""
    return [*attacks(), recorded(), *cards(), overhead()]
