"""Reads files of the public registry of deployments: a guarantee that somebody has published.

The form is that of registry.opendp.org (`engine.runs.registry` writes it). An entry states ε but
not what was released, so nothing of it can be proved again, unless it was written from a guarantee
card: then the card is in it, and comes back as it was.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context
from typing import Any

from engine.core.errors import RequestError
from engine.privacy.guarantee import Guarantee, Relation
from engine.privacy.releases import exposed
from engine.runs import registry
from engine.yours import card_file, forms

CARD = "Guarantee card: "
"""Begins the text that holds a card."""
UNKNOWN = "unknown"
MOST = {"epsilon": 1e9, "rho": 1e9, "delta": 1.0}
"""What the numbers of an entry lie below."""
FORMULA = re.compile(r"[\^\\]")
"""A δ that depends on the data, such as n^{-2}."""
RELATION: Relation = "add_or_remove_one"
"""Taken where an entry describes its neighbours in words alone."""


@dataclass(frozen=True)
class Deployment:
    """One published guarantee.

    Attributes:
        who: The organisations.
        what: What is published or collected.
        epsilon: The budget in words; `UNKNOWN` where none is stated.
        unit: For whom or what, and for how long.
        sources: Titles and addresses of the texts that state it.
        told: The whole entry; empty where only the rest is kept.
    """

    who: str
    what: str
    epsilon: str
    unit: str
    sources: tuple[tuple[str, str], ...]
    told: Mapping[str, Any] = field(default_factory=dict)


def read(text: str) -> list[Deployment]:
    """The entries of a YAML file, one for each document in it.

    Raises:
        RequestError: It is none, too large, or lacks a field; one sentence says which.
    """
    return [_deployment(one) for one in _documents(text)]


def _documents(text: str) -> list[Any]:
    """What a YAML file holds, as plain values."""
    import yaml

    faulty = (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError)
    if len(text) > forms.MOST:
        raise RequestError(f"entry: expected at most {forms.MOST / 1e6:g} MB, got more")
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise RequestError("entry: expected YAML without references (*), got one")
        documents = list(yaml.safe_load_all(text))
    except faulty as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise RequestError(f"entry: expected YAML, got: {said}") from None
    if not documents:
        raise RequestError("entry: expected YAML, got nothing")
    return documents


def _deployment(told: Any) -> Deployment:
    basic = _part(told, "deployment", "basic")
    curators = basic.get("data_curators") or []
    if not isinstance(curators, list):
        raise RequestError(f"data_curators: expected a list, got {str(curators)[:60]!r}")
    names = [
        str(_part(one)["data_curator_name"])
        for one in curators
        if "data_curator_name" in _part(one)
    ]
    for name, value in (("name", basic.get("name")), ("data_curators", names)):
        if not value:
            raise RequestError(f"deployment/basic/{name}: expected a value, got none")
    loss = _part(told, "deployment", "privacy_loss")
    evidence = _part(told, "deployment", "administrative", "evidence_sources")
    return Deployment(
        who=", ".join(names), what=str(basic["name"]), epsilon=_epsilon(loss),
        unit=str(loss.get("privacy_unit") or UNKNOWN), told=told,
        sources=tuple(
            (str(one.get("title") or UNKNOWN), str(one["url"]))
            for some in evidence.values() for one in _part(some).values()
            if isinstance(one, Mapping) and one.get("url")
        ),
    )  # fmt: skip


def _part(told: Any, *way: str) -> Mapping[str, Any]:
    """A table within a table; empty where it is not there."""
    for name in way:
        told = {} if not isinstance(told, Mapping) else told.get(name) or {}
    if not isinstance(told, Mapping):
        raise RequestError(f"{'/'.join(way) or 'entry'}: expected a table, got {str(told)[:60]!r}")
    return told


def _epsilon(loss: Mapping[str, Any]) -> str:
    """The stated numbers in words: ε with its δ, else ρ, else the details.

    A δ that depends on the data stands as the formula of its entry.
    """
    given = _part(loss, "privacy_parameters")
    epsilon, rho = _number(given, "epsilon"), _number(given, "rho")
    if epsilon is None:
        details = str(loss.get("privacy_parameters_details") or UNKNOWN)
        return details if rho is None else f"ρ = {rho:g}"
    if not (isinstance(delta := given.get("delta"), str) and FORMULA.search(delta)):
        number = _number(given, "delta")
        delta = _power(number) if number else ""
    return f"{epsilon:g} (δ = {delta})" if delta else f"{epsilon:g}"


def _number(given: Mapping[str, Any], name: str) -> float | None:
    """A stated number, which may stand as a text; None where there is none.

    Raises:
        RequestError: It is no number, or out of range.
    """
    value, most = given.get(name), MOST[name]
    try:
        number = None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if number is not None and not 0.0 <= number < most:
        raise RequestError(f"{name}: expected a number below {most:g}, got {str(value)[:60]!r}")
    return number


def _power(value: float) -> str:
    """A small number as a power of ten, with two digits at most, rounded up."""
    rounded = Context(2, ROUND_CEILING).create_decimal(f"{value:.12g}")
    digits, exponent = f"{rounded:.1e}".split("e")
    digits = digits.removesuffix(".0")
    raised = "".join("⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".index(one)] for one in str(int(exponent)))
    return f"10{raised}" if digits == "1" else f"{digits} × 10{raised}"


def exported(document: forms.Document) -> str:
    """A card as an entry of the registry, with the card in it."""
    known = {name: value for name, value in document["guarantee"].items() if name != "limits"}
    for name in ("epsilon_claimed", "epsilon_proved"):  # an infinite one stands as a word
        known[name] = None if known[name] is None else float(known[name])
    told = registry.entry(
        Guarantee(**known), document["program"], title=document["dataset"],
        records=document["records"],
    )  # fmt: skip
    text = json.dumps(document, ensure_ascii=False)
    told["deployment"]["implementation"]["additional_information"] = CARD + text
    return registry.text(told)


def imported(text: str) -> forms.Document:
    """The card of an entry: the one that is in it, or what its curator claims with nothing proved.

    Raises:
        RequestError: No single entry with an ε.
    """
    documents = _documents(text)
    if len(documents) != 1:
        raise RequestError(f"entry: expected one, got {len(documents)}")
    more = _part(documents[0], "deployment", "implementation").get("additional_information")
    if str(more).startswith(CARD):
        return forms.checked(
            str(more).removeprefix(CARD).encode(), card_file.SCHEMA, "card", card_file.CardError
        )
    return _claimed(_deployment(documents[0]))


def _claimed(one: Deployment) -> forms.Document:
    """The card of an entry that lists no releases."""
    loss = _part(one.told, "deployment", "privacy_loss")
    given = _part(loss, "privacy_parameters")
    epsilon, delta = _number(given, "epsilon"), _number(given, "delta") or 0.0
    if epsilon is None:
        raise RequestError("epsilon: expected a number in privacy_parameters, got none")
    why = "An entry of the registry lists no releases, so nothing can be proved again."
    near = str(loss.get("privacy_unit_details") or "not described")
    card = Guarantee(
        mechanism=str(_part(one.told, "deployment", "implementation").get("mechanisms") or UNKNOWN),
        status="heuristic", epsilon_claimed=epsilon, epsilon_proved=None, delta=delta,
        relation=RELATION, unit=one.unit, released=(one.what,),
        reasons=(why, f"Neighbouring data in the entry's words: {near}."),
        claimant=f"{one.who} states",
    )  # fmt: skip
    units = loss.get("number_of_privacy_units")
    content = {
        "program": "Deployments registry", "paper": one.who, "method": one.what,
        "dataset": one.what, "settings": {}, "rows": 1, "delta_of_a_row": delta,
        "records": units if isinstance(units, int) and units > 0 else None,
    }  # fmt: skip
    return card_file.signed(content, exposed(why), card)
