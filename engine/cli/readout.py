"""What stands beside released arrays for readers without this program: tables, a model, readers."""

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from datasets import own
from datasets.base import Card, Floats
from datasets.own_names import BLANKS
from engine.cli.shared import spreadsheet
from engine.core.spec import Spec
from engine.intervals import Estimate
from engine.method import Arrays, Paper
from engine.runs.estimates import estimates

TABLE, MODEL, PROTOTYPES = "coefficients.csv", "model.json", "prototypes.csv"
SHEET = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
USES: Mapping[str, str] = SHEET["uses"]
"""What each file may be used for."""
AT_RISK = (
    "A person who leaves within an interval counts as at risk to its end: predicted survival is "
    "too high where many leave early, and less so with more intervals."
)
"""What a reader of predicted survival must know: the model is in discrete time, as the paper's."""
RATIOS = {"logit": "odds ratio within an interval", "cloglog": "hazard ratio"}
"""What the exponential of a coefficient is, by the link."""
ONE, OTHERS = "1 = ", "all others"
"""How the unit of a covariate of 0 and 1 begins, and what it is compared with elsewhere."""
EVEN = 1e-9
"""Weights of features that differ by less are those of the usual distance."""
UNKNOWN: Literal["unknown"] = "unknown"
"""A metric that was trained and is too wide to be kept."""
Metric: TypeAlias = list[list[float]] | None
PARTS = ("coefficients", "centre", "span", "norm", "horizon")


def written(
    folder: Path,
    publication: Paper[Any],
    spec: Spec,
    card: Card,
    arrays: Arrays,
    bounds: tuple[Floats, Floats] | None = None,
) -> list[Path]:
    """Writes what can be read without this program, as far as the arrays hold such a thing.

    Args:
        folder: Where.
        publication: The paper whose method has made the arrays.
        spec: Its settings.
        card: The data set's.
        arrays: What was released, one row each.
        bounds: Public lower and upper bounds of the features of a table of classes.
    """
    texts: dict[str, str] = {}
    known = publication.model(spec, card)
    if "basis" in known and all(name in arrays for name in PARTS):
        model = fitted(known, card, {name: arrays[name][0] for name in PARTS})
        found = estimates(arrays, 0, card, spec)
        texts = {
            TABLE: _table(model["link"], found, references(card)),
            MODEL: _json(model),
            **programs("programs"),
        }  # fmt: skip
    elif {"prototypes", "labels"} <= set(arrays):
        rows, labels = arrays["prototypes"][0], arrays["labels"][0]
        if rows.shape[-1] == len(card.features):
            called = own.words(card.name).classes or tuple(map(str, range(card.classes or 0)))
            nearest = [
                (called[int(k)], [*map(float, row)]) for k, row in zip(labels, rows, strict=True)
            ]
            cells = [[word, *row] for word, row in nearest]
            texts = {PROTOTYPES: spreadsheet(["class", *card.features], cells, "\n")}
            if bounds is not None and (metric := _metric(arrays)) is not UNKNOWN:
                model = prototypes(card, bounds, nearest, metric)
                texts |= {MODEL: _json(model), **programs("programs_of_classes")}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def programs(kind: str) -> dict[str, str]:
    """The programs of one kind by file, which read the same blanks as a table that is added."""
    blanks, number = ", ".join(map(json.dumps, BLANKS)), SHEET["number"].rstrip()
    return {
        name: text.replace("@number@", number).replace("@blanks@", blanks)
        for name, text in SHEET[kind].items()
    }


def _json(model: dict[str, Any]) -> str:
    return json.dumps(model, indent=2, ensure_ascii=False) + "\n"


def _metric(arrays: Arrays) -> Metric | Literal["unknown"]:
    """The matrix of the distance, row by row; None of the usual distance, unknown if not kept."""
    if "omega" in arrays:
        rows: Metric = arrays["omega"][0].tolist()
        return rows
    even = float(np.ptp(np.asarray(arrays["relevance"][0], np.float64))) < EVEN
    return None if even else UNKNOWN


def prototypes(
    card: Card, bounds: tuple[Floats, Floats], nearest: Sequence[tuple[str, list[float]]],
    metric: Any,
) -> dict[str, Any]:  # fmt: skip
    """A model of prototypes in the units of its table.

    The class of a record is that of the prototype at the least distance |metric (z - w)|, where
    both are scaled from `low` to `high` of each feature to -1 to 1.
    """
    low, high = (np.broadcast_to(end, len(card.features)).tolist() for end in bounds)
    units = card.units or ("",) * len(card.features)
    about = zip(card.features, columns(card), units, low, high, fills(card), strict=True)
    names = ("name", "column", "unit", "low", "high", "fill")
    return {
        "features": [dict(zip(names, one, strict=True)) for one in about],
        "prototypes": [{"class": word, "values": row} for word, row in nearest],
        "metric": metric,
    }


def fitted(known: Any, card: Card, held: dict[str, Any]) -> dict[str, Any]:
    """A survival model in the units of its table.

    In interval t of equal length the chance of the event is link^-1(baseline[t] + the sum of
    estimate (value - centre)); `held` has the coefficients of covariates that were scaled as
    (value - centre) / span / norm.
    """
    basis = np.asarray(known["basis"], np.float64)
    knots, q = basis.shape[1], len(basis)
    alpha, beta = held["coefficients"][:knots], held["coefficients"][knots:]
    estimates = beta / (held["span"] * held["norm"])
    units = card.units or ("",) * len(card.features)
    bounds = card.bounds.covariates if card.bounds else ((-math.inf, math.inf),) * len(units)
    values = zip(held["centre"], fills(card), bounds, strict=True)
    return {
        "link": known["link"],
        "time_unit": card.time_unit,
        "times": [float(held["horizon"] * (t + 1) / q) for t in range(q)],
        "baseline": [float(one) for one in basis @ alpha],
        "covariates": [
            {
                "name": name, "column": column, "unit": unit, "reference": reference,
                "estimate": float(estimate), "centre": float(centre), "fill": fill,
                "low": low if math.isfinite(low) else None,
                "high": high if math.isfinite(high) else None,
            }
            for name, column, unit, reference, estimate, (centre, fill, (low, high)) in zip(
                card.features, columns(card), units, references(card), estimates, values,
                strict=True,
            )
        ],
    }  # fmt: skip


def meaning(spec: Spec, card: Card, arrays: Arrays) -> list[str]:
    """What a reader must know of the numbers of a release, a sentence each."""
    if classes := own.classes(card.name):
        order = "; ".join(f"{k} is {word}" for k, word in enumerate(classes))
        return [f"Arrays have numbers for the classes: {order}."]
    if "log_rank" in arrays:
        return _groups(card, int(vars(spec)["group"]) - 1)
    if not {"coefficients", "span"} <= set(arrays):
        return []
    pairs = zip(card.features, references(card), strict=True)
    against = [f"`{name}` is compared with {reference}." for name, reference in pairs if reference]
    return [*against, AT_RISK]


def _groups(card: Card, at: int) -> list[str]:
    """Which two groups a log-rank test compares, and what its sign means."""
    name, unit = card.features[at], card.units[at] if card.units else ""
    if unit.startswith(ONE):
        who = f"{unit.removeprefix(ONE)} (`{name}` is 1)"
    else:
        low, high = card.bounds.covariates[at] if card.bounds else (-math.inf, math.inf)
        where = f" {(low + high) / 2:g}," if card.bounds else ""
        named = f"`{name}` ({unit})" if unit else f"`{name}`"
        who = f"{named} is above{where} the middle of its public bounds"
    return [
        "Group 1: all others. It stands first in `log_rank_counts`.",
        f"Group 2: {who}.",
        "A `log_rank` above 0 means that events come earlier in group 2 than in group 1.",
    ]


def references(card: Card) -> tuple[str, ...]:
    """What each covariate of 0 and 1 is compared with; empty for a number."""
    units = card.units or ("",) * len(card.features)
    said = own.words(card.name).references or ("",) * len(units)
    pairs = zip(said, units, strict=True)
    return tuple(one or (OTHERS if unit.startswith(ONE) else "") for one, unit in pairs)


def columns(card: Card) -> tuple[str, ...]:
    """What each feature is called in the table that was added, which may hold signs.

    It is the feature's name where a reader could take it for another feature.
    """
    said = own.words(card.name).columns or card.features
    pairs = zip(said, card.features, strict=True)
    return tuple(name if one in card.features else one for one, name in pairs)


def fills(card: Card) -> tuple[float | None, ...]:
    """What stands for a blank of each feature, which is public; None where nobody has said it."""
    known = card.bounds.missing if card.bounds else ()
    return own.words(card.name).fills or known or (None,) * len(card.features)


def _table(link: str, found: Sequence[Estimate], against: Sequence[str]) -> str:
    """The effects, a row for each covariate, with the ends of the ratio's interval."""
    kind = RATIOS.get(link, "")
    head = ["covariate", "category", "reference", "unit", "estimate"]
    head += ["ratio", "ratio_is", "lower", "upper"]
    rows = []
    for one, reference in zip(found, against, strict=True):
        meaning = one.unit.removeprefix(ONE)
        category = meaning if meaning != one.unit else ""
        unit = "" if category else one.unit
        ratios = [
            "" if value is None or not kind else math.exp(min(value, 700.0))
            for value in (one.estimate, one.low, one.high)
        ]
        words = [one.name, category, reference, unit]
        rows.append([*words, one.estimate, ratios[0], kind, *ratios[1:]])
    return spreadsheet(head, rows, "\n")
