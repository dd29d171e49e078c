"""Unemployment duration in Germany: Wichert and Wilke."""

import numpy as np

from datasets.base import Bounds, Card, SurvivalTable, check
from datasets.fetch import File, fetch
from datasets.parse import words
from engine.core.errors import DatasetError

CARD = Card(
    name="wichert",
    title="Unemployment duration (Germany)",
    summary="Persons in Germany aged 26 to 49 who became unemployed in 1996 or 1997, followed "
    "until the spell ended or was censored.",
    records=21_685,
    events=18_615,
    record="a person",
    features=("sex", "age", "wage"),
    units=("1 = male", "years", "wage a day"),
    source="Wichert and Wilke (2008), Simple non-parametric estimators for unemployment duration "
    "analysis, Journal of the Royal Statistical Society C 57:117-126; unemp_duration in the R "
    "package micsr (Y. Croissant), written as comma-separated text without quotes or row names",
    licence="R package micsr: GPL (>= 2); none stated for the data themselves",
    public="The number of records and the bounds of columns and times, which are common knowledge; "
    "values beyond them are clipped. As printed, ranges, the largest row norm and the longest time "
    "are computed from the data instead",
    bounds=Bounds(
        covariates=((0.0, 1.0), (26.0, 49.0), (0.0, 270.0)),
        horizon=2_192.0,
        source="Ages 26 to 49 by the plan of the study. Wages are recorded up to the ceiling of "
        "contributions to the German pension insurance, 8,200 marks a month in 1997, which is 270 "
        "marks a day. Times up to six years, a round number",
    ),
)
HEADER = ("duration", "censored", "gender", "age", "wage")
# The package publishes R's binary form only, and the journal's page lists no stable address.
FILE = File(
    path="wichert/unemp_duration.csv",
    sha256="b82386951c38700d56e662ceb8a06b64292f8e25783cb05d3e870aec2afb51cc",
    text=True,
)


def load() -> SurvivalTable:
    """Returns the 21,685 spells of Wichert and Wilke (2008): x (21685, 3), time in days.

    Columns: 1 for men, age in years, and the last daily wage before unemployment.

    Raises:
        DatasetError: The file is missing, damaged or another one.
    """
    rows = words(fetch(FILE), FILE.path, len(HEADER))
    if tuple(rows[0]) != HEADER:
        raise DatasetError(f"{FILE.path}: expected the columns {HEADER}, got {tuple(rows[0])}")
    duration, censored, gender, age, wage = rows[1:].T
    columns = ((gender == "male").astype(np.float64), age.astype(float), wage.astype(float))
    return check(
        SurvivalTable(
            card=CARD,
            x=np.stack(columns, axis=1),
            time=duration.astype(np.float64),
            event=censored == "no",
        )
    )
