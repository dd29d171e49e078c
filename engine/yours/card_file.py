"""A guarantee card as a file that others can check: releases, guarantee, curve, and a digest.

The format is `card.schema.json`, with a version. `verify` prices the releases that a file lists
again, with this program's accountant, and compares.
"""

import dataclasses
import hashlib
import json
import math
from pathlib import Path
from typing import Any, get_args

from datasets import catalog as data_catalog
from datasets import own
from engine import __version__
from engine.catalog import catalog
from engine.core.errors import BudgetError, ExplorerError, RequestError
from engine.core.spec import Spec
from engine.privacy import mechanisms
from engine.privacy.guarantee import Guarantee, for_persons
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release, cost
from engine.runs import registry, whole
from engine.runs.job import Job, request, sound
from engine.yours import forms
from engine.yours.forms import Document

FORMAT, VERSION = "epsilon-explorer/guarantee-card", 1
SCHEMA = Path(__file__).with_name("card.schema.json")
MOST = 50_000_000
"""Bytes of a file with many cards at most."""
WITHOUT = (
    "{place}: expected a card with its releases, got one without: of a choice, a search, a bundle "
    "or an earlier version"
)
"""What is said of a guarantee that cannot be priced again."""
CLOSE = 1e-6
"""How far a number may be off, as a share of it: another machine's last digits."""
KINDS = {kind.__name__: kind for kind in get_args(mechanisms.Mechanism)}


class CardError(ExplorerError):
    """A card that is not as it should be."""


def of_job(job: Job) -> Document:
    """The card of a job of one setting, as a document.

    Raises:
        RequestError: It has several settings, or promises nothing about its data set.
    """
    specs = set(job.batch().specs)
    if len(specs) != 1:
        raise RequestError(f"card: expected one setting, got a sweep of {len(job.axes)}")
    return of_setting(job, specs.pop())


def of_setting(job: Job, spec: Spec) -> Document:
    """The card of one setting of a job, as a document.

    Raises:
        RequestError: The method promises nothing about the data set (`job.sound`).
    """
    described, entry = data_catalog.card(job.dataset), sound(job).entry()
    releases = entry.releases(spec, described.records)
    return signed(_content(job, spec), releases, entry.promise(spec, described))


def of_release(job: Job, card: Guarantee) -> Document:
    """The card of a release with secret noise, as a document with its curves and gaps.

    Args:
        job: The request, of one setting.
        card: What `engine.runs.release.checked` says of it.
    """
    described, entry, spec = data_catalog.card(job.dataset), job.entry(), job.batch().spec
    # noise on whole numbers has a curve of its own, of which the card's point is proved
    curves = None if card.exact else whole.curves(entry, spec, described, card)
    content = {
        **_content(job, spec), "release": True, "curves": _plain(curves),
        "registry": _plain(registry.of(card, described, f"Epsilon Explorer {__version__}")),
    }  # fmt: skip
    return signed(content, entry.releases(spec, described.records), card)


def _content(job: Job, spec: Spec) -> Document:
    """What is released of which records, by what."""
    described, entry = data_catalog.card(job.dataset), job.entry()
    row = entry.guarantee(spec, described.records, described.record)
    return {
        "program": f"Epsilon Explorer {__version__}",
        "paper": job.paper, "method": job.method, "dataset": job.dataset,
        "settings": {field: value for field, value in spec.values().items() if field in entry.uses},
        "records": described.records, "rows": described.rows, "delta_of_a_row": row.delta,
    }  # fmt: skip


def signed(content: Document, releases: tuple[Release, ...], card: Guarantee) -> Document:
    """A document with its releases, its guarantee, what follows from them, and its digest."""
    document = {
        "format": FORMAT, "version": VERSION, **content,
        "releases": [_release(release) for release in releases],
        "guarantee": _plain(card.json()),
        **_curve(releases, card),
    }  # fmt: skip
    return {**document, "digest": digest(document)}


def digest(document: Document) -> str:
    """SHA-256 of a document without its digest, in sorted JSON."""
    content = {name: value for name, value in document.items() if name != "digest"}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _release(release: Release) -> Document:
    mechanism = release.mechanism
    fields = {one.name: getattr(release, one.name) for one in dataclasses.fields(release)}
    told = {**fields, "mechanism": {"kind": type(mechanism).__name__, **vars(mechanism)}}
    return {name: _plain(value) for name, value in told.items()}


def _plain(value: Any) -> Any:
    """A value in JSON's own types; a number that is not finite is a word."""
    return json.loads(json.dumps(value), parse_constant=lambda word: str(float(word)))


def _curve(releases: tuple[Release, ...], card: Guarantee) -> Document:
    """μ of a row where it is exact, and δ of a row at whole ε.

    Nothing where nothing is proved, and of noise on whole numbers, of which one point is proved.
    """
    import numpy as np

    from engine.privacy import curves

    if card.epsilon_proved is None or card.exact:
        return {"mu": None, "profile": None}
    at = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0])
    event = cost(releases)
    try:
        deltas = curves.deltas(event, at, card.relation)
    except BudgetError:
        return {"mu": curves.mu(event), "profile": None}
    return {
        "mu": curves.mu(event),
        "profile": {"epsilons": at.tolist(), "deltas": [float(one) for one in deltas]},
    }


def read(path: Path) -> Document:
    """The document in a file, in the form of the schema.

    Raises:
        RequestError: There is no such file.
        CardError: It is no card.
    """
    return _conforming(forms.parsed(forms.content(path, "card"), "card", CardError), "card")


def read_all(path: Path) -> dict[str, Document]:
    """The documents in a file by their places: a card, or those of the points of an export.

    Raises:
        RequestError: There is no such file.
        CardError: It holds none.
    """
    given = forms.parsed(forms.content(path, "card", MOST), "card", CardError, MOST)
    points = given.get("points") if isinstance(given, dict) and "format" not in given else None
    if not isinstance(points, list):
        return {"": _conforming(given, "card")}
    if not points:
        raise CardError("points: expected at least one, got none")
    return {f"points/{i}": _of_point(one, f"points/{i}") for i, one in enumerate(points)}


def _of_point(point: Any, place: str) -> Document:
    """The document of a point of an export, which states the same guarantee beside it."""
    if not isinstance(point, dict) or "card" not in point:
        raise CardError(WITHOUT.format(place=place))
    document = _conforming(point["card"], place)
    stated = {
        name: None if value in ("inf", "-inf", "nan") else value
        for name, value in document["guarantee"].items()
    }
    if point.get("guarantee") != stated:
        raise CardError(f"{place}/guarantee: expected that of the card in it, got another")
    return document


def _conforming(given: Any, place: str) -> Document:
    """A document in the form of the schema.

    Raises:
        CardError: It is none; of a guarantee without releases it says so.
    """
    if isinstance(given, dict) and "guarantee" in given and "format" not in given:
        raise CardError(WITHOUT.format(place=place))
    forms.conforms(given, SCHEMA, place, CardError)
    found: Document = given
    return found


def verify(document: Document) -> list[str]:
    """What is wrong with a document, one sentence each; empty where nothing is.

    The digest finds a change by accident. The price finds a guarantee that does not follow from the
    releases. Where the document names a method of this program and this version (`compared`), every
    field is compared with the card that the program makes now; elsewhere what it says of who is
    protected, and why, is its own word.
    """
    wrong = []
    if document["digest"] != digest(document):
        wrong.append("The digest does not match the content: the card was changed.")
    told = document["guarantee"]
    like = Guarantee(
        mechanism="", status=told["status"], epsilon_claimed=None, epsilon_proved=None, delta=0.0,
        relation=told["relation"], unit="", secret=told["secret"], exact=told["exact"],
    )  # fmt: skip
    if told["limits"] != list(like.limits):
        wrong.append("The limits are not those of such a card.")
    try:
        releases = tuple(_read_release(one) for one in document["releases"])
        wrong += _prices(document, releases)
    except (BudgetError, TypeError, ValueError, ArithmeticError, MemoryError) as error:
        wrong.append(f"The releases cannot be priced: {error}")
    return wrong + _own(document)


def _read_release(told: Document) -> Release:
    fields = dict(told)
    how = dict(fields.pop("mechanism"))
    kind = KINDS[how.pop("kind")]
    numbers = {
        name: float(value) if value in ("inf", "nan") else value for name, value in how.items()
    }
    return Release(kind(**numbers), **fields)


def _prices(document: Document, releases: tuple[Release, ...]) -> list[str]:
    """What the releases cost, beside what the guarantee states."""
    from engine.privacy import accounting

    stated = document["guarantee"]
    if stated["epsilon_proved"] is None:
        named = [name for name in ("mu", "profile") if document[name] is not None]
        return [f"Nothing is proved, and the card states {' and '.join(named)}."] if named else []
    relation, row = stated["relation"], document["delta_of_a_row"]
    if relation == "replace_one" and any(map(_unpriced, releases)):
        raise BudgetError(
            "relation: expected one record added, removed or left out for pure noise on samples, "
            "got one replaced by another"
        )
    epsilon = accounting.epsilon(cost(releases), row, relation, tight=True)
    plain = Guarantee(
        mechanism="", status="proved", epsilon_claimed=None, epsilon_proved=epsilon, delta=row,
        relation=relation, unit="", exact=stated["exact"],
    )  # fmt: skip
    whole = for_persons(plain, document["rows"])
    wrong = []
    least, given = whole.epsilon_proved, float(stated["epsilon_proved"])
    if least is None or given < least * (1.0 - CLOSE):
        wrong.append(f"The releases cost ε = {least}, and the card proves {given:g}.")
    if not math.isclose(stated["delta"], whole.delta, rel_tol=CLOSE, abs_tol=0.0):
        wrong.append(
            f"δ is {whole.delta:g} for these releases, and the card says {stated['delta']}."
        )
    curve = _curve(releases, plain)
    if not _alike(curve, {name: document[name] for name in curve}):
        wrong.append("μ or the profile do not follow from the releases.")
    return wrong


def _unpriced(release: Release) -> bool:
    """Whether nothing is proved of a release of a sample where one record replaces another.

    A release states how far that moves its answer. The record that replaces another may be drawn
    where that one is not, and moves the answer by all that it adds itself. Of Gaussian noise the
    accountant takes the scale to be that of one record; for pure noise it has no such bound.
    """
    return release.rate < 1.0 and not isinstance(release.mechanism, Gaussian)


def compared(document: Document) -> bool:
    """Whether a document names a method of this program and version, which can make its card.

    A table of somebody's own may be on another machine; then nothing of it is known here.
    """
    program = f"Epsilon Explorer {__version__}"
    known = document.get("paper") in catalog() and document["program"] == program
    return known and not _elsewhere(document["dataset"])


def _elsewhere(dataset: str) -> bool:
    """Whether a data set is somebody's own table and not on this machine."""
    try:
        data_catalog.card(dataset)
    except ExplorerError:
        return own.mine(dataset)
    return False


def _own(document: Document) -> list[str]:
    """What differs from the card that this program makes of the same settings."""
    if not compared(document):
        return []
    try:
        job = request(*(document[key] for key in ("paper", "method", "dataset", "settings")))
        today = _today(job, document)
    except ExplorerError as error:
        return [f"This program makes no such card: {error}"]
    return [
        f"{name} differs from the card that this program makes."
        for name in today
        if name not in ("digest", "guarantee") and not _alike(today[name], document.get(name))
    ] + [
        f"guarantee/{name} differs from the card that this program makes."
        for name, value in today["guarantee"].items()
        if name != "limits" and not _alike(value, document["guarantee"].get(name))
    ]


def _today(job: Job, document: Document) -> Document:
    """The card that this program makes today: of a release, or of the method alone."""
    if not document.get("release"):
        return of_job(job)
    from engine.runs.release import checked  # loads torch

    exact = document["guarantee"]["exact"]
    return of_release(job, checked(job, data_catalog.card(job.dataset), exact=exact))


def _alike(one: Any, other: Any) -> bool:
    """Whether two values are the same but for last digits."""
    match one, other:
        case bool() | str() | None, _:
            return bool(one == other)
        case int() | float(), int() | float():
            return math.isclose(one, other, rel_tol=CLOSE, abs_tol=1e-300)
        case dict(), dict():
            return one.keys() == other.keys() and all(_alike(one[k], other[k]) for k in one)
        case list() | tuple(), list() | tuple():
            return len(one) == len(other) and all(map(_alike, one, other))
        case _:
            return False
