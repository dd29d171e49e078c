"""Published tables as somebody's own: each is accepted in one call and gives the peers' numbers.

python -m benchmarks tables

Each table is written as its publisher's reader gives it, added with nothing but `--accept`, and
fitted without privacy. Its peer fits the publisher's own data frame, prepared by pandas alone.
"""

import importlib
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.row import Row
from datasets import catalog, own, own_names
from datasets.base import LabelledTable, SurvivalTable
from engine.core.errors import DatasetError

TOLERANCE = 1e-4
"""Largest difference between two fits, relative to the largest coefficient."""
OTHERS = {
    "c_botulinum_lag_phase": "interval-censored", "diabetes": "interval-censored",
    "mice": "interval-censored", "holly_molly_polly": "three persons, recurrent events",
    "panel_test": "several rows of a person without stretches", "recur": "recurrent events",
    "lcd": "left-censored", "nh4": "left-censored",
}  # fmt: skip
"""lifelines' tables that are not right-censored."""
LATER = {"bmt": "competing events", "cgvhd": "competing events"}
"""Those of scikit-survival."""


def rows() -> list[Row]:
    """One row for each library."""
    with _home():
        return [
            _row("lifelines: right-censored tables", _lifelines()),
            _row("scikit-survival: right-censored tables", _sksurv()),
            _row("scikit-learn: tables of classes", _sklearn()),
        ]


Given = Iterator[tuple[str, pd.DataFrame, dict[str, str]]]


def _lifelines() -> Given:
    module = importlib.import_module("lifelines.datasets")
    for name in sorted(vars(module)):
        one = name.removeprefix("load_")
        if one != name and one not in OTHERS:
            frame = getattr(module, name)()
            if isinstance(frame, pd.DataFrame):
                yield one, frame.reset_index() if frame.index.name else frame, {}


def _sksurv() -> Given:
    module = importlib.import_module("sksurv.datasets")
    for name in sorted(n for n in dir(module) if n.startswith("load_") and "arff" not in n):
        one = name.removeprefix("load_")
        if one not in LATER:
            x, y = getattr(module, name)()
            event, time = y.dtype.names
            yield one, x.assign(**{time: y[time], event: y[event]}), {}


def _sklearn() -> Given:
    module = importlib.import_module("sklearn.datasets")
    for name in ("breast_cancer", "digits", "iris", "wine"):
        frame = getattr(module, f"load_{name}")(as_frame=True).frame
        yield name, frame, {"label": "target"}


def _row(what: str, given: Given) -> Row:
    accepted, lost, worst, number = 0, list[str](), 0.0, 0
    for name, frame, more in given:
        number += 1
        content = frame.to_csv(index=False).encode()
        try:
            columns = own.propose(content, **more)["columns"]
            table = catalog.load(own.keep(f"{name}.csv", content, accept=True, **more))
        except DatasetError as error:
            lost.append(f"{name}: {error}")
            continue
        accepted += 1
        apart = _apart(table, frame, columns)
        worst = max(worst, apart)
        if apart > TOLERANCE:
            lost.append(f"{name}: coefficients differ by {apart:.1e}")
    note = f"coefficients differ by at most {worst:.1e}" + "".join(f"; {one}" for one in lost[:5])
    return Row(f"{what}, accepted in one call and alike", accepted, number, "tables",
               f"all {number}", not lost, note)  # fmt: skip


def _apart(table: Any, frame: pd.DataFrame, columns: dict[str, Any]) -> float:
    """How far our fit and the peer's are apart, relative to the largest coefficient."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit: Callable[..., tuple[Any, Any]] = (
            _cox if isinstance(table, SurvivalTable) else _logistic
        )
        ours, peers = fit(table, frame.rename(columns=lambda name: str(name).lower()), columns)
    return float(np.abs(ours - peers).max() / max(1e-9, np.abs(peers).max()))


def _cox(table: SurvivalTable, frame: pd.DataFrame, columns: dict[str, Any]) -> tuple[Any, Any]:
    """Log hazard ratios for each standard deviation: ours, and lifelines' on the frame itself."""
    from lifelines import CoxPHFitter, CoxTimeVaryingFitter

    from engine.papers.survival.evaluation.evaluate import cox
    from engine.papers.survival.likelihood.scale import scaled

    records = scaled(table)
    roles = {one["role"]: key for key, one in columns.items()}
    x = pd.DataFrame({name: _feature(name, frame, columns) for name in table.card.features})
    size = x.std().to_numpy()
    ours = cox(table).beta / (records.span * records.norm) * size
    value = columns[roles["event"]]["value"]
    event = frame[roles["event"]]
    happened = event.astype(str).str.lower() == value if value else event.astype(float) > 0
    peer = x.assign(_time=frame[roles["time"]].astype(float), _event=happened.astype(float))
    if "start" in roles:
        peer = peer.assign(_id=frame[roles["person"]], _start=frame[roles["start"]])
        names = {"id_col": "_id", "event_col": "_event", "start_col": "_start", "stop_col": "_time"}
        fitted = _fitted(CoxTimeVaryingFitter, peer, names)
    else:
        peer["_time"] = np.maximum(peer["_time"], 1e-6 * float(peer["_time"].max()))
        fitted = _fitted(CoxPHFitter, peer, {"duration_col": "_time", "event_col": "_event"})
    return ours, fitted.params_.to_numpy() * size


def _fitted(fitter: Any, frame: pd.DataFrame, names: dict[str, str]) -> Any:
    from lifelines.exceptions import ConvergenceError

    try:
        return fitter().fit(frame, **names)
    except ConvergenceError:
        return fitter(penalizer=1e-4).fit(frame, **names)


def _feature(name: str, frame: pd.DataFrame, columns: dict[str, Any]) -> Any:
    """A covariate as pandas gives it."""
    numbers = {own_names.plain(key): key for key, one in columns.items() if one["role"] == "number"}
    if name in numbers:
        column = frame[numbers[name]]
        if column.dtype == object or str(column.dtype) == "category":
            column = column.astype(str).str.lower().map(
                {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
            ).fillna(pd.to_numeric(column, errors="coerce"))  # fmt: skip
        fill = columns[numbers[name]]["fill"]
        return column.astype(float).fillna(0.0 if fill is None else fill)
    for key, one in columns.items():
        for level in one["categories"]:
            if own_names.plain(f"{key} {level}") == name:
                return (frame[key].astype(str).str.lower().str.strip() == level).astype(float)
    raise LookupError(f"expected a column of {name}")


def _logistic(
    table: LabelledTable, frame: pd.DataFrame, columns: dict[str, Any]
) -> tuple[Any, Any]:
    """Coefficients of a logistic regression on standardised columns: on ours, on the frame."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    kept = [key for key, one in columns.items() if one["role"] == "number"]
    x, y = frame[kept].to_numpy(float), frame["target"].to_numpy()
    fits = [
        LogisticRegression(max_iter=1_000).fit(StandardScaler().fit_transform(records), classes)
        for records, classes in ((table.x, table.y), (x, y))
    ]
    return fits[0].coef_, fits[1].coef_


@contextmanager
def _home() -> Iterator[None]:
    """A store that is gone afterwards."""
    before = os.environ.get("EXPLORER_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EXPLORER_HOME"] = folder
        try:
            yield
        finally:
            os.environ.pop("EXPLORER_HOME")
            if before is not None:
                os.environ["EXPLORER_HOME"] = before
