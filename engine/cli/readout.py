"""What stands beside released arrays for readers without this program: tables, a model, readers."""

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from datasets.base import Card
from engine.core.spec import Spec
from engine.method import Arrays, Paper
from engine.runs.estimates import Estimate, estimates

TABLE, MODEL, PYTHON, R, PROTOTYPES = (
    *("coefficients.csv", "model.json", "predict.py", "predict.R", "prototypes.csv"),
)
USES = {
    TABLE: "each covariate's effect on its own scale, with its odds or hazard ratio: to read, to "
    "print and to compare. Intervals hold the true value in 95 of 100 tables: they count both who "
    "happened to be in the table and the noise. They are left out where the method cannot tell",
    MODEL: "the whole model as numbers with names: to predict with",
    PYTHON: "predicts from model.json for the persons of a CSV file, with Python alone: "
    "`python predict.py persons.csv`",
    R: "the same in R, with the package jsonlite: `Rscript predict.R persons.csv`",
    PROTOTYPES: "the prototypes in the units of the table, a row each with its class",
}
"""What each file may be used for."""
RATIOS = {"logit": "odds ratio within an interval", "cloglog": "hazard ratio"}
"""What the exponential of a coefficient is, by the link."""
PARTS = ("coefficients", "centre", "span", "norm", "horizon")


def written(
    folder: Path, publication: Paper[Any], spec: Spec, card: Card, arrays: Arrays
) -> list[Path]:
    """Writes what can be read without this program, as far as the arrays hold such a thing.

    Args:
        folder: Where.
        publication: The paper whose method has made the arrays.
        spec: Its settings.
        card: The data set's.
        arrays: What was released, one row each.
    """
    texts: dict[str, str] = {}
    known = publication.model(spec, card)
    if "basis" in known and all(name in arrays for name in PARTS):
        model = fitted(known, card, {name: arrays[name][0] for name in PARTS})
        found = estimates(arrays, 0, card)
        texts = {
            TABLE: _table(model["link"], found),
            MODEL: json.dumps(model, indent=2, ensure_ascii=False) + "\n",
            PYTHON: IN_PYTHON, R: IN_R,
        }  # fmt: skip
    elif {"prototypes", "labels"} <= set(arrays):
        rows, labels = arrays["prototypes"][0], arrays["labels"][0]
        if rows.shape[-1] == len(card.features):
            cells = [
                [int(label), *map(float, row)] for label, row in zip(labels, rows, strict=True)
            ]
            texts = {PROTOTYPES: _csv(["class", *card.features], cells)}
    files = []
    for name, text in texts.items():
        files.append(folder / name)
        files[-1].write_text(text, encoding="utf-8")
    return files


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
    return {
        "link": known["link"],
        "time_unit": card.time_unit,
        "times": [float(held["horizon"] * (t + 1) / q) for t in range(q)],
        "baseline": [float(one) for one in basis @ alpha],
        "covariates": [
            {
                "name": name, "unit": unit, "estimate": float(estimate), "centre": float(centre),
                "low": low if math.isfinite(low) else None,
                "high": high if math.isfinite(high) else None,
            }
            for name, unit, estimate, centre, (low, high) in zip(
                card.features, units, estimates, held["centre"], bounds, strict=True
            )
        ],
    }  # fmt: skip


def _table(link: str, found: Sequence[Estimate]) -> str:
    """The effects, a row for each covariate, with the ends of the ratio's interval."""
    kind = RATIOS.get(link, "")
    head = ["covariate", "category", "unit", "estimate", "ratio", "ratio_is", "lower", "upper"]
    rows = []
    for one in found:
        meaning = one.unit.removeprefix("1 = ")
        category = meaning if meaning != one.unit else ""
        unit = "" if category else one.unit
        ratios = [
            "" if value is None or not kind else math.exp(min(value, 700.0))
            for value in (one.estimate, one.low, one.high)
        ]
        rows.append([one.name, category, unit, one.estimate, ratios[0], kind, *ratios[1:]])
    return _csv(head, rows)


def _csv(head: list[str], rows: list[list[Any]]) -> str:
    """Rows as text; a name that a spreadsheet would take for a formula gets a quotation mark."""

    class Lines(list[str]):
        write = list.append

    lines = Lines()
    writer = csv.writer(lines, lineterminator="\n")
    for row in [head, *rows]:
        writer.writerow(
            [
                f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t" and cell else cell
                for cell in row
            ]
        )
    return "".join(lines)


IN_PYTHON = '''\
"""Chance of each person that the event has not happened by each time; needs Python alone.

python predict.py persons.csv, a row for each person and the columns that coefficients.csv names
"""
import csv, json, math, pathlib, statistics, sys

model = json.loads(pathlib.Path(__file__).with_name("model.json").read_text("utf-8"))
HAZARD = {
    "logit": lambda eta: 1 / (1 + math.exp(-eta)) if eta > -700 else 0.0,
    "cloglog": lambda eta: -math.expm1(-math.exp(min(eta, 30))),
    "probit": statistics.NormalDist().cdf,
}[model["link"]]


def survival(person):
    """The chances at model["times"], for a person's values by the names of the covariates."""
    eta, chance, curve = 0.0, 1.0, []
    for one in model["covariates"]:
        value = float(person[one["name"]])
        value = max(value, one["low"]) if one["low"] is not None else value
        value = min(value, one["high"]) if one["high"] is not None else value
        eta += one["estimate"] * (value - one["centre"])
    for baseline in model["baseline"]:
        chance *= 1 - HAZARD(baseline + eta)
        curve.append(chance)
    return curve


if __name__ == "__main__":
    out = csv.writer(sys.stdout)
    out.writerow(model["times"])
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        out.writerows(survival(person) for person in csv.DictReader(file))
'''
IN_R = """\
# Chance of each person that the event has not happened by each time; needs the package jsonlite.
# Rscript predict.R persons.csv, a row for each person and the columns that coefficients.csv names
here <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)[1]))
model <- jsonlite::fromJSON(file.path(here, "model.json"))
persons <- read.csv(commandArgs(trailingOnly = TRUE)[1], check.names = FALSE)
hazard <- switch(model$link, logit = plogis, probit = pnorm,
                 cloglog = function(eta) -expm1(-exp(pmin(eta, 30))))
eta <- 0
for (i in seq_len(nrow(model$covariates))) {
  one <- model$covariates[i, ]
  value <- persons[[one$name]]
  if (!is.na(one$low)) value <- pmax(value, one$low)
  if (!is.na(one$high)) value <- pmin(value, one$high)
  eta <- eta + one$estimate * (value - one$centre)
}
curves <- t(sapply(eta, function(e) cumprod(1 - hazard(model$baseline + e))))
colnames(curves) <- model$times
write.csv(curves, row.names = FALSE)
"""
